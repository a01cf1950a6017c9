"""The access list of the database as the executor sees it."""

from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.test import override_settings

from apcore import Identity
from apcore.errors import ACLDeniedError, ACLRuleError
from django_apcore import services
from django_apcore.models import ACLRule
from django_apcore.runtime import Runtime
from django_apcore.stores import DatabaseACL
from django_apcore.testing import override_runtime
from tests.django_apcore.stage import MODULES, echo

ALLOW = {"callers": ["@external"], "targets": ["test.*"], "effect": "allow"}


@pytest.fixture
def runtime(db: None) -> Iterator[Runtime]:
    with override_runtime(modules=MODULES, installed=False) as built:
        yield built


def test_without_rules_everything_is_denied(runtime: Runtime) -> None:
    with pytest.raises(ACLDeniedError):
        runtime.executor.call("test.plain.echo", {"text": "a"})


@override_settings(APCORE={"ACL_DEFAULT_EFFECT": "allow"})
def test_the_default_can_be_turned_round(db: None) -> None:
    with override_runtime(modules=[echo], installed=False) as runtime:
        assert runtime.executor.call("test.plain.echo", {"text": "a"}) == {"result": "a"}


def test_the_writing_process_sees_a_change_at_once(runtime: Runtime) -> None:
    rule = services.save_rule(ACLRule(**ALLOW), actor=None)
    assert runtime.executor.call("test.plain.echo", {"text": "a"}) == {"result": "a"}
    services.delete_rule(rule, actor=None)
    with pytest.raises(ACLDeniedError):
        runtime.executor.call("test.plain.echo", {"text": "a"})


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_what_a_transaction_took_back_was_never_in_force(runtime: Runtime) -> None:
    from django.db import transaction

    with transaction.atomic():
        services.save_rule(ACLRule(**ALLOW), actor=None)
        assert runtime.executor.call("test.plain.echo", {"text": "a"})
        transaction.set_rollback(True)
    with pytest.raises(ACLDeniedError):
        runtime.executor.call("test.plain.echo", {"text": "a"})


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_a_snapshot_costs_no_query_until_it_is_stale(runtime: Runtime, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]  # fixtures of plugins have no types
    services.save_rule(ACLRule(**ALLOW), actor=None)
    runtime.executor.call("test.plain.echo", {"text": "a"})
    with django_assert_num_queries(0):
        runtime.executor.call("test.plain.echo", {"text": "a"})


def test_rules_stand_in_their_order_and_can_be_switched_off(runtime: Runtime) -> None:
    services.save_rule(ACLRule(**ALLOW, position=2), actor=None)
    deny = services.save_rule(ACLRule(**{**ALLOW, "effect": "deny"}, position=1), actor=None)
    assert runtime.acl is not None
    assert not runtime.acl.check(None, "test.plain.echo")
    deny.enabled = False
    services.save_rule(deny, actor=None)
    assert runtime.acl.check(None, "test.plain.echo")


def test_a_row_that_is_no_rule_opens_nothing(runtime: Runtime) -> None:
    services.save_rule(ACLRule(**ALLOW), actor=None)
    ACLRule.objects.create(callers=["*"], targets=["*"], effect="allow", conditions={"unknown": True})
    services.toggle("test.other", enabled=True, actor=None)  # any change makes snapshots look again
    acl = DatabaseACL()
    with pytest.raises(ACLRuleError):
        acl.refresh()
    assert not acl._policy.first_match(None, "test.plain.echo", None).allowed


def is_tuesday(value: object, context: object) -> bool:
    return value is True


@override_settings(APCORE={"ACL_CONDITIONS": {"tuesday": "tests.django_apcore.stores.test_acl.is_tuesday"}})
def test_a_project_may_have_conditions_of_its_own(db: None) -> None:
    with override_runtime(modules=[echo], installed=False) as runtime:
        services.save_rule(ACLRule(**ALLOW, conditions={"tuesday": True}), actor=None)
        assert runtime.executor.call("test.plain.echo", {"text": "a"})


@pytest.mark.django_db(transaction=True, databases=["default", "other"])
def test_asynchronous_callers_get_fresh_rules_too(runtime: Runtime) -> None:
    async def call() -> object:
        return await runtime.executor.call_async("test.plain.echo", {"text": "a"})

    with pytest.raises(ACLDeniedError):
        async_to_sync(call)()
    services.save_rule(ACLRule(**ALLOW), actor=None)
    assert async_to_sync(call)() == {"result": "a"}


def test_conditions_see_the_identity(runtime: Runtime) -> None:
    from apcore import Context

    services.save_rule(ACLRule(**ALLOW, conditions={"roles": ["clerk"]}), actor=None)
    context = Context.create(identity=Identity("1", roles=("clerk",)))
    assert runtime.executor.call("test.plain.echo", {"text": "a"}, context)
    with pytest.raises(ACLDeniedError):
        runtime.executor.call("test.plain.echo", {"text": "a"}, Context.create(identity=Identity("1")))
