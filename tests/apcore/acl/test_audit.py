import json
import logging
import re

import pytest

from apcore.acl import ACL, AuditSettings
from apcore.context import Context, Identity
from apcore.errors import ACLRuleError

ALLOW_API = [{"callers": ["api.*"], "targets": ["*"], "effect": "allow", "description": "The API"}]


@pytest.fixture
def entries(caplog):
    caplog.set_level(logging.DEBUG, logger="apcore.acl.audit")
    return lambda: [record.acl_audit for record in caplog.records if record.name == "apcore.acl.audit"]


@pytest.mark.req("R-6.1-20", "R-6.3-05")
def test_every_decision_gives_one_entry_in_snake_case(entries, caplog):
    context = Context.create(identity=Identity("7", "service"))
    ACL(ALLOW_API).check("api.x", "a.b", context)
    ACL(ALLOW_API).check("web.x", "a.b")
    allowed, denied = entries()
    assert allowed == {
        "caller_id": "api.x",
        "target_id": "a.b",
        "effect": "allow",
        "rule_index": 0,
        "reason": "allow by rule 1 (The API)",
        "identity_id": "7",
        "identity_type": "service",
        "trace_id": context.trace_id,
    }
    assert (denied["effect"], denied["rule_index"]) == ("deny", None)
    assert all(re.fullmatch("[a-z_]+", key) for key in denied)
    assert json.loads(caplog.messages[0].removeprefix("ACL decision ")) == allowed
    assert {record.levelname for record in caplog.records} == {"INFO"}


@pytest.mark.req("R-6.5-01")
def test_a_call_from_outside_is_logged_as_external(entries):
    ACL().check(None, "a.b")
    assert entries()[0]["caller_id"] == "@external"


@pytest.mark.req("R-6.1-20")
def test_denied_calls_may_be_left_out(entries):
    acl = ACL(ALLOW_API, audit=AuditSettings(include_denied=False))
    acl.check("web.x", "a.b")
    acl.check("api.x", "a.b")
    assert [entry["effect"] for entry in entries()] == ["allow"]


def test_a_disabled_audit_logs_nothing(entries):
    ACL(ALLOW_API, audit=AuditSettings(enabled=False)).check("api.x", "a.b")
    assert entries() == []


@pytest.mark.parametrize(("name", "level"), [("trace", 10), ("debug", 10), ("warn", 30), ("error", 40), ("fatal", 50)])
def test_the_level_is_that_of_the_settings(name, level, caplog):
    caplog.set_level(logging.DEBUG, logger="apcore.acl.audit")
    ACL(audit=AuditSettings(log_level=name)).check(None, "a.b")
    assert [record.levelno for record in caplog.records] == [level]


@pytest.mark.parametrize(
    "wrong", [{"enabled": "no"}, {"include_denied": 0}, {"log_level": "loud"}, {"level": "info"}, 5]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(ACLRuleError, match="audit"):
        AuditSettings.from_dict(wrong)
