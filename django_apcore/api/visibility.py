"""What a caller gets to see: modules that it may call, and requests and tasks that are its own or its job."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from django.db.models import Q, QuerySet

from apcore.acl import ACL, caller_is_listed
from apcore.context import Context, Identity
from apcore.errors import ModuleNotFoundError
from apcore.modules import ModuleDefinition
from django_apcore import runtime
from django_apcore.models import ApprovalRequest, AsyncTask
from django_apcore.permissions import DECIDE, MANAGE_TASKS, VIEW


def listed_modules(context: Context, *, prefix: str | None = None, tags: list[str]) -> list[ModuleDefinition]:
    """The discoverable modules that the access rules let this caller call, by ID."""
    registry = runtime.get().registry
    modules = map(registry.get_definition, registry.list(prefix=prefix, tags=tags))
    return [module for module in modules if _may_call(module, context)]


def visible_module(module_id: str, context: Context) -> ModuleDefinition:
    """A module that this caller may call. Any other one is as unknown as one that does not exist (MODULE_NOT_FOUND)."""
    registry = runtime.get().registry
    if registry.has(module_id):
        module = registry.get_definition(module_id)
        if _may_call(module, context):
            return module
    raise ModuleNotFoundError(f"Module '{module_id}' is not registered", details={"module_id": module_id})


def visible_requests(user: Any, identity: Identity | None) -> QuerySet[ApprovalRequest]:
    """All approval requests for who may view or decide; for everybody else their own."""
    requests = ApprovalRequest.objects.all()
    if user.has_perm(VIEW) or user.has_perm(DECIDE):
        return requests
    return requests.filter(_own(user, identity))


def visible_tasks(user: Any, identity: Identity | None) -> QuerySet[AsyncTask]:
    """All tasks for who may manage them; for everybody else their own."""
    tasks = AsyncTask.objects.all()
    return tasks if user.has_perm(MANAGE_TASKS) else tasks.filter(_own(user, identity))


def _own(user: Any, identity: Identity | None) -> Q:
    """Anonymous callers are not told apart, so nothing is theirs."""
    own = Q(pk__in=[])
    if identity is not None:
        own |= Q(identity_type=identity.type, identity_id=identity.id)
    if user.is_authenticated and user.pk is not None:
        own |= Q(requested_by=user.pk)
    return own


def _may_call(module: ModuleDefinition, context: Context) -> bool:
    """What the access check of a call would say. Nobody calls here, so the rules are read and no denial is recorded."""
    acl, call = runtime.get().acl, context.child(module.module_id)
    if module.allowed_callers is not None and not caller_is_listed(module.allowed_callers, call.caller_id, call):
        return False
    if acl is None:
        return True
    if not isinstance(acl, ACL):  # an extension, which may be a coroutine
        answer: object = async_to_sync(_asked)(acl.check, call.caller_id, module.module_id, call)
        return answer is True
    policy = acl.policy
    first_match = async_to_sync(policy.first_match_async) if policy.has_async_conditions else policy.first_match
    return first_match(call.caller_id, module.module_id, call).allowed


async def _asked(check: Callable[..., Any], *question: Any) -> Any:
    if iscoroutinefunction(check):
        return await check(*question)
    return await sync_to_async(check)(*question)
