"""Calling a module: at once, later in a worker, or only to see what would happen."""

from collections.abc import Callable
from typing import Any, Final

from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.status import is_success

from apcore.approval import APPROVAL_TOKEN
from apcore.errors import ApprovalPendingError, InvalidInputError, ModuleExecuteError
from apcore.execution import REWRITE_NOTE
from apcore.pipeline import PipelineState
from django_apcore import runtime, services
from django_apcore.api.base import ApiView
from django_apcore.api.bodies import CALL, read_body
from django_apcore.api.effects import LISTED, record_summary, without_secrets
from django_apcore.api.errors import DATABASE_BUSY
from django_apcore.api.idempotency import HEADER, answer_once, read_key
from django_apcore.api.links import link
from django_apcore.api.openapi import (
    PreflightSerializer,
    ResultSerializer,
    SubmittedSerializer,
    answers,
    described,
    json_body,
)
from django_apcore.api.pending import RETRY_AFTER_SECONDS, pending_response
from django_apcore.stores import DatabaseApprovalHandler

TOKEN_HEADER: Final = "Apcore-Approval-Token"
LAST_STEP_BEFORE_EXECUTION: Final = "input_validation"

KEY_PARAMETER = OpenApiParameter(
    HEADER, location="header", description="Your name for this request: a retry under it gets the same answer."
)
TOKEN_PARAMETER = OpenApiParameter(
    TOKEN_HEADER, location="header", description="The `approval_id` of an earlier pending answer to this very call."
)


class Watch:
    """Follows a call step by step, to know afterwards how far it came."""

    def __init__(self) -> None:
        self.module_may_have_run = False

    def __call__(self, state: PipelineState) -> bool:
        """After each step; never ends the call."""
        self.module_may_have_run |= state.step_name == LAST_STEP_BEFORE_EXECUTION
        return False


class CallView(ApiView):
    """A call whose result is waited for."""

    @described(
        operation_id="call_module",
        parameters=[KEY_PARAMETER, TOKEN_PARAMETER],
        request=json_body(CALL),
        responses=answers(ResultSerializer, 400, 403, 404, 409, 413, 415, 422, pending=True),
    )
    def post(self, request: Request, module_id: str) -> Response:
        """Call a module. 200 has its result; 202 means that a person has to approve the call first."""
        inputs, token = read_call(request)
        key = read_key(request.headers, self.call_context.identity)
        if token is not None:
            return self.resume(module_id, inputs, token, key.text if key else None)
        if key is None:
            return self.call(module_id, inputs)
        watch = Watch()
        return answer_once(
            key,
            {"do": "call", "module_id": module_id, "inputs": inputs},
            act=lambda: self.settled(lambda: self.call(module_id, inputs, watch)),
            is_kept=lambda response: (
                is_success(response.status_code) or (watch.module_may_have_run and not was_undone(response))
            ),
        )

    def call(self, module_id: str, inputs: dict[str, Any], watch: Watch | None = None) -> Response:
        executor = runtime.get().executor
        return self.result_of(lambda: executor.call(module_id, inputs, self.call_context, run_until=watch))

    def resume(self, module_id: str, inputs: dict[str, Any], token: str, key: str | None) -> Response:
        if not isinstance(runtime.get().approval_handler, DatabaseApprovalHandler):
            return self.call(module_id, {**inputs, APPROVAL_TOKEN: token})
        return self.result_of(
            lambda: services.resume(
                token, module_id=module_id, inputs=inputs, context=self.call_context, idempotency_key=key
            )
        )

    def result_of(self, call: Callable[[], dict[str, Any]]) -> Response:
        try:
            result = call()
        except ApprovalPendingError as pending:
            return pending_response(self.request, pending)
        require_json(result)
        body = {"result": result, "trace_id": self.trace_id}
        if rewrites := self.call_context.data.get(REWRITE_NOTE):
            body["rewrites"] = rewrites
        return Response(body)


class ValidateView(ApiView):
    """A call that is checked and previewed, and not made."""

    @described(
        operation_id="validate_call",
        request=json_body(CALL),
        responses=answers(PreflightSerializer, 400, 404, 413, 415),
    )
    def post(self, request: Request, module_id: str) -> Response:
        """Check a call and predict its changes. Nothing happens, and nobody is asked."""
        inputs, _ = read_call(request)
        app = runtime.get()
        app.registry.get_definition(module_id)
        preflight = app.executor.validate(module_id, inputs, self.call_context)
        changes = [without_secrets(change.to_dict()) for change in preflight.predicted_changes[:LISTED]]
        effect = record_summary(preflight.effect) if preflight.effect else None
        return Response(preflight.to_dict(limit=0) | {"predicted_changes": changes, "effect": effect})


class SubmitView(ApiView):
    """A call that a worker makes."""

    @described(
        operation_id="submit_call",
        parameters=[KEY_PARAMETER],
        request=json_body(CALL),
        responses=answers(SubmittedSerializer, 400, 403, 404, 409, 413, 415, 422, status=202),
    )
    def post(self, request: Request, module_id: str) -> Response:
        """Hand a call to a worker. The answer says where its progress and its result can be read."""
        inputs, token = read_call(request)
        if token is not None:
            raise InvalidInputError("An approved call is resumed with call/, not with submit/.")
        key = read_key(request.headers, self.call_context.identity)
        if key is None:
            return self.submit(module_id, inputs)
        return answer_once(
            key,
            {"do": "submit", "module_id": module_id, "inputs": inputs},
            act=lambda: self.settled(lambda: self.submit(module_id, inputs)),
            is_kept=lambda response: is_success(response.status_code),
        )

    def submit(self, module_id: str, inputs: dict[str, Any]) -> Response:
        task = services.submit(module_id, inputs, self.call_context)
        status_url = link(self.request, "task", task.pk)
        return Response(
            {"task_id": str(task.pk), "status": task.status, "status_url": status_url, "trace_id": task.trace_id},
            status=202,
            headers={"Location": status_url, "Retry-After": str(RETRY_AFTER_SECONDS)},
        )


def was_undone(response: Response) -> bool:
    """Whether the database was too busy for what a call did, so that nothing of it is left."""
    return bool(response.data.get("code") == DATABASE_BUSY and response.data.get("retryable"))


def require_json(result: dict[str, Any]) -> None:
    """Raise ModuleExecuteError for a result that cannot be sent. The module has run by now, and the answer says so."""
    try:
        JSONRenderer().render(result)
    except (TypeError, ValueError, RecursionError) as error:
        message = "The module was executed, but its result cannot be written as JSON."
        raise ModuleExecuteError(message, details={"type": type(error).__name__}) from error


def read_call(request: Request) -> tuple[dict[str, Any], str | None]:
    """The inputs of a call and the approval token, which may stand in a header or among the inputs (§7.4).

    Raises SchemaValidationError and InvalidInputError.
    """
    inputs = dict(read_body(request, CALL)["inputs"])
    inside, outside = inputs.pop(APPROVAL_TOKEN, None), request.headers.get(TOKEN_HEADER)
    if inside is not None and not isinstance(inside, str):
        raise InvalidInputError(f"{APPROVAL_TOKEN} must be text: the approval_id of an earlier pending answer.")
    if inside is not None and outside is not None and inside != outside:
        raise InvalidInputError(f"{TOKEN_HEADER} and {APPROVAL_TOKEN} name two different approvals.")
    return inputs, inside if inside is not None else outside
