"""A module that reaches out of the databases, from the request to the worker."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import requests
from asgiref.sync import async_to_sync, sync_to_async
from django.contrib.auth.models import Group, User

from apcore import Context, module
from apcore.errors import ModuleError
from django_apcore import services
from django_apcore.effects import OutsideEffectError
from django_apcore.exceptions import ApprovalConflict
from django_apcore.models import ApprovalPolicy, ApprovalRequest
from django_apcore.runtime import Runtime
from tests.django_apcore.provider import Provider, open_provider
from tests.django_apcore.stage import GATED, ask, context_for

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "other"])


@pytest.fixture
def provider() -> Iterator[Provider]:
    with open_provider() as provider:
        yield provider


@pytest.fixture(autouse=True)
def modules(runtime: Runtime) -> None:
    for each in (charge, charge_quietly, charge_asynchronously, charge_if_told, charge_openly, charge_in_part):
        runtime.registry.register(each.id, each)
    runtime.registry.register("test.charge.stream", Stream())


@module(id="test.charge.plain", annotations=GATED, effect="transactional")
def charge(url: str) -> bool:
    """Charge a card, which no transaction takes back."""
    Group.objects.create(name="charged")
    requests.post(url, timeout=10)
    return True


@module(id="test.charge.quietly", annotations=GATED, effect="transactional")
def charge_quietly(url: str) -> bool:
    """Charge a card, and do not care."""
    with suppress(Exception):
        charge(url)
    return True


@module(id="test.charge.async", annotations=GATED, effect="transactional")
async def charge_asynchronously(url: str) -> bool:
    """Charge a card on another thread."""
    await Group.objects.acreate(name="charged")
    return bool(await sync_to_async(requests.post, thread_sensitive=False)(url, timeout=10))


@module(id="test.charge.told", annotations=GATED, effect="transactional")
def charge_if_told(url: str) -> bool:
    """Charge a card once somebody has said so."""
    group = Group.objects.create(name="charged")
    if Group.objects.filter(name="told").exists():
        requests.post(url, timeout=10)
    return group.pk is not None


@module(id="test.charge.open", annotations=GATED)
def charge_openly(url: str) -> bool:
    """Charge a card, and claim nothing about it."""
    return charge(url)


@module(id="test.charge.part", annotations=GATED, effect="transactional")
def charge_in_part(url: str, context: Context) -> bool:
    """Have another module charge."""
    return bool(context.executor.call("test.charge.free", {"url": url}, context))


class Stream:
    """Charges a card between two chunks."""

    description = "Charge in parts."
    annotations = {"streaming": True, "requires_approval": True}
    effect = "transactional"
    input_schema: dict[str, Any] = {"type": "object", "properties": {"url": {"type": "string"}}}
    output_schema: dict[str, Any] = {"type": "object"}

    def execute(self, inputs: dict[str, Any], context: Context) -> dict[str, Any]:
        return {key: value for chunk in self.stream(inputs, context) for key, value in chunk.items()}

    def stream(self, inputs: dict[str, Any], context: Context) -> Iterator[dict[str, Any]]:
        yield {"began": True}
        charge(inputs["url"])
        yield {"ended": True}


def approve(request: ApprovalRequest, approver: User) -> ApprovalRequest:
    return services.approve(request.pk, actor=approver, seen_digest=request.effect_digest, confirmed=True)


@pytest.mark.parametrize("module_id", ["plain", "async", "stream"])
def test_who_asks_learns_what_was_refused_and_how_to_mend_it(
    module_id: str, runtime: Runtime, requester: User, provider: Provider
) -> None:
    with pytest.raises(OutsideEffectError) as refused:
        runtime.executor.call(f"test.charge.{module_id}", {"url": provider.url}, context_for(requester))
    assert provider.visits() == 0
    assert provider.address in refused.value.message
    assert "transaction.on_commit()" in str(refused.value.suggestion)
    assert not ApprovalRequest.objects.exists()
    assert not Group.objects.exists()


@pytest.mark.req("DR-10")
def test_a_request_with_a_swallowed_refusal_cannot_be_approved(
    runtime: Runtime, requester: User, approver: User, provider: Provider
) -> None:
    request = ask(runtime, requester, "test.charge.quietly", url=provider.url)
    assert provider.visits() == 0
    assert not request.effect_complete
    assert provider.address in request.effect_gaps[0]
    with pytest.raises(ApprovalConflict):
        approve(request, approver)


def test_nor_is_it_reached_when_a_policy_allows_the_gap(
    runtime: Runtime, requester: User, approver: User, provider: Provider, queue: Callable[[], list[Any]]
) -> None:
    ApprovalPolicy.objects.create(pattern="test.*", allow_incomplete=True)
    request = ask(runtime, requester, "test.charge.quietly", url=provider.url)
    approve(request, approver)
    done = services.execute_approved(request.pk)
    assert done.status == ApprovalRequest.Status.CONSUMED
    assert provider.visits() == 0


def test_a_worker_does_not_do_what_the_preview_did_not(
    runtime: Runtime, requester: User, approver: User, provider: Provider, queue: Callable[[], list[Any]]
) -> None:
    request = ask(runtime, requester, "test.charge.told", url=provider.url)
    assert request.effect_complete
    approve(request, approver)
    Group.objects.create(name="told")
    done = services.execute_approved(request.pk)
    assert done.status == ApprovalRequest.Status.FAILED
    assert done.failure["code"] == "OUTSIDE_EFFECT"
    assert provider.visits() == 0
    assert not Group.objects.filter(name="charged").exists()


def test_a_module_that_claims_nothing_may_do_what_it_does(
    runtime: Runtime, requester: User, approver: User, provider: Provider, queue: Callable[[], list[Any]]
) -> None:
    request = ask(runtime, requester, "test.charge.open", url=provider.url)
    assert provider.visits() == 0
    approve(request, approver)
    assert services.execute_approved(request.pk).status == ApprovalRequest.Status.CONSUMED
    assert provider.visits() == 1


def test_what_another_module_does_for_a_measured_one_is_measured(
    runtime: Runtime, requester: User, provider: Provider
) -> None:
    runtime.registry.register("test.charge.free", module(id="test.charge.free")(charge.function))
    with pytest.raises(ModuleError) as refused:
        runtime.executor.call("test.charge.part", {"url": provider.url}, context_for(requester))
    assert refused.value.code == "OUTSIDE_EFFECT"
    assert runtime.executor.call("test.charge.free", {"url": provider.url}, context_for(requester))
    assert provider.visits() == 1


def test_an_async_caller_is_told_the_same(runtime: Runtime, requester: User, provider: Provider) -> None:
    call = async_to_sync(runtime.executor.call_async)
    with pytest.raises(OutsideEffectError):
        call("test.charge.async", {"url": provider.url}, context_for(requester))
    assert provider.visits() == 0
