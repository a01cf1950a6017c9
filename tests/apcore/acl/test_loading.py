import pytest

from apcore.acl import ACL
from apcore.acl.loading import read_acl
from apcore.context import Context, Identity
from apcore.errors import ACLRuleError

SAMPLE = """
$schema: "https://apcore.dev/acl/v1"
version: "1.0.0"
rules:
  - callers: ["@system"]
    targets: ["*"]
    effect: allow
    description: "System calls are always allowed"
  - callers: ["api.*"]
    targets: ["orchestrator.*"]
    effect: allow
  - callers: ["executor.*"]
    targets: ["api.*"]
    effect: deny
  - callers: ["*"]
    targets: ["common.*"]
    effect: allow
  - callers: ["api.*"]
    targets: ["executor.payment.*"]
    effect: allow
    conditions:
      identity_types: ["user"]
      roles: ["admin", "finance"]
      max_call_depth: 5
default_effect: deny
audit:
  enabled: true
  log_level: info
  include_denied: true
"""
ALIASES = "rules: [{callers: ['*'], targets: ['*'], effect: allow, conditions: {$or: [&l0 {roles: [x]}, " + (
    ", ".join(f"&l{n} {{$or: [*l{n - 1}, *l{n - 1}, *l{n - 1}, *l{n - 1}]}}" for n in range(1, 9)) + "]}}]"
)
"""A dozen lines that stand for a hundred thousand conditions."""
RULE = "{callers: ['*'], targets: ['*'], effect: allow}"


@pytest.fixture
def write(tmp_path):
    def write(text, name="acl.yaml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.req("R-6.1-01")
def test_the_sample_of_the_specification_works(write):
    acl = ACL.load(write(SAMPLE))
    user = Context.create(
        identity=Identity("u", "user", ["finance"]), call_chain=["api.pay", "executor.payment.charge"]
    )
    assert acl.check("any.thing", "deep.inside", Context.create(identity=Identity("s", "system")))
    assert acl.check("api.x", "orchestrator.y")
    assert not acl.check("executor.x", "api.y")
    assert acl.check(None, "common.z")
    assert acl.check("api.pay", "executor.payment.charge", user)
    assert not acl.check("api.pay", "executor.payment.charge", Context.create(identity=Identity("u", "user", ["x"])))
    assert not acl.check("other.x", "orchestrator.y")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("rules: [", "cannot be read"),
        ("", "'rules'"),
        ("[]", "'rules'"),
        ("version: '1.0.0'", "'rules'"),
        ("rules: {}", "'rules'"),
        ("rules:", "'rules'"),
        ("rules: []\ndefault_efect: deny", "default_efect"),
        ("rules: []\ndefault_effect: maybe", "'default_effect'"),
        ("rules: []\nrules: []", "stands twice"),
        ("rules: []\naudit: {level: info}", "audit"),
        (f"rules: [{RULE}, {{callers: ['*'], targets: ['*'], effect: permit}}]", "rule 2: 'effect'"),
        ("rules: [{callers: ['*'], targets: ['*'], effect: allow, effect: deny}]", "stands twice"),
        ("rules: ['*']", "rule 1: 'rule' must be an object"),
        ("rules: [!!python/object:os.system {}]", "cannot be read"),
        ("rules: []\ndefault_effect: true", "'default_effect'"),
        ("rules: []\ndefault_effect: 2020-13-45", "'default_effect'"),
        ("rules: [0x_]", "looks like a number"),
        ("rules: []\naudit: {log_level: [info]}", "log_level"),
        ("rules: [{callers: ['*'], targets: ['*'], effect: allow, conditions: &a {$not: *a}}]", "what contains it"),
        ("rules: []\n---\nrules: []", "cannot be read"),
        ("? [rules]\n: []", "cannot be read"),
        (ALIASES, "'conditions' may be 50 levels deep and 10,000"),
    ],
)
def test_a_file_that_is_not_exactly_right_is_refused_and_named(text, named, write):
    path = write(text)
    with pytest.raises(ACLRuleError, match=named) as caught:
        ACL.load(path)
    assert str(path) in caught.value.message
    assert caught.value.details["file"] == str(path)


@pytest.mark.parametrize("path", [None, 5, b"acl", [], "a\0b"])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(ACLRuleError, match="read"):
        ACL.load(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ACLRuleError, match="cannot be read"):
        ACL.load(tmp_path / "absent.yaml")


def test_a_condition_that_is_not_registered_is_refused(write):
    path = write("rules: [{callers: ['*'], targets: ['*'], effect: allow, conditions: {tenant: acme}}]")
    with pytest.raises(ACLRuleError, match="rule 1: condition 'tenant'"):
        ACL.load(path)
    assert ACL.load(path, conditions={"tenant": lambda value, context: True}).check(None, "a.b", Context.create())


def test_a_file_without_a_default_denies_unless_the_application_says_otherwise(write):
    path = write("rules: []")
    assert not ACL.load(path).check(None, "a.b")
    assert ACL.load(path, default_effect="allow").check(None, "a.b")


def test_the_default_of_the_file_wins(write):
    assert not ACL.load(write("{rules: [], default_effect: deny}"), default_effect="allow").check(None, "a.b")


def test_the_files_of_a_directory_form_one_list_in_the_order_of_their_names(write, tmp_path):
    write("rules: [{callers: ['*'], targets: ['a.*'], effect: deny}]", "10-first.yaml")
    write(f"{{rules: [{RULE}], default_effect: deny}}", "20-second.yml")
    write("not an ACL", "README.txt")
    acl = ACL.load(tmp_path)
    assert not acl.check(None, "a.b")
    assert acl.check(None, "b.c")
    assert read_acl(tmp_path).default_effect == "deny"


def test_files_of_a_directory_that_disagree_are_refused(write, tmp_path):
    write("{rules: [], default_effect: deny}", "a.yaml")
    write("{rules: [], default_effect: allow}", "b.yaml")
    with pytest.raises(ACLRuleError, match="disagree about 'default_effect'"):
        ACL.load(tmp_path)


def test_a_directory_without_files_is_refused(tmp_path):
    with pytest.raises(ACLRuleError, match="holds no ACL file"):
        ACL.load(tmp_path)


@pytest.mark.parametrize("text", ["rules: [hunter2", "rules: *hunter2", "rules: !hunter2 x", "rules: " + "[" * 5000])
def test_a_file_that_cannot_be_read_is_refused_and_not_shown(text, write):
    with pytest.raises(ACLRuleError, match="cannot be read") as caught:
        ACL.load(write(text))
    assert "hunter2" not in f"{caught.value} {caught.value.details} {caught.value.cause!r}"
