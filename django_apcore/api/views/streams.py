"""Calling a module whose output comes in chunks (§12.2, Streaming Execution Protocol)."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from django.http import StreamingHttpResponse
from drf_spectacular.utils import OpenApiResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from apcore.approval import APPROVAL_TOKEN
from apcore.context import CancelToken
from apcore.errors import ApprovalPendingError, InvalidInputError, ModuleExecuteError
from apcore.execution import REWRITE_NOTE
from apcore.execution.streaming import CONSUMER_LEFT
from django_apcore import runtime, services
from django_apcore.api.base import ApiView
from django_apcore.api.bodies import CALL
from django_apcore.api.errors import error_body
from django_apcore.api.idempotency import HEADER
from django_apcore.api.openapi import described, json_body, one_event, streaming_answers
from django_apcore.api.pending import pending_response
from django_apcore.api.streams import NDJSON, SSE, EventStreamRenderer, NdjsonRenderer, event_writer, streamed
from django_apcore.api.views.calls import TOKEN_PARAMETER, read_call
from django_apcore.stores import DatabaseApprovalHandler

_END: Final = object()

_EVENTS: Final = (
    "Events: `chunk` with one part of the output, any number of times; then `result` with "
    '`{"result", "trace_id", "rewrites"?}`, the whole output as call/ gives it; or `error` with an error object, and '
    'nothing was committed. As Server-Sent Events, or as lines `{"event", "data"}`.'
)


class StreamView(ApiView):
    """A call whose output is read while it is made."""

    renderer_classes = [EventStreamRenderer, NdjsonRenderer]

    @described(
        operation_id="stream_module",
        parameters=[TOKEN_PARAMETER],
        request=json_body(CALL),
        responses=streaming_answers(
            {
                media_type: OpenApiResponse(one_event("chunk", "result", "error"), description=_EVENTS)
                for media_type in (SSE, NDJSON)
            },
            *(400, 403, 404, 406, 409, 413, 415, 422),
            pending=True,
        ),
    )
    def post(self, request: Request, module_id: str) -> Response | StreamingHttpResponse:
        """Call a module and get its output in chunks. What goes wrong before the first one is answered as by call/."""
        inputs, token = read_call(request)
        if HEADER in request.headers:
            raise InvalidInputError(f"{HEADER} needs an answer that can be kept; use call/.")
        parts = CallParts(self, module_id, inputs, token, event_writer(request.accepted_media_type or SSE))
        try:
            parts.begin()
        except ApprovalPendingError as pending:
            request.accepted_renderer, request.accepted_media_type = JSONRenderer(), JSONRenderer.media_type
            return pending_response(request, pending)
        return streamed(request, parts, NDJSON if request.accepted_media_type == NDJSON else SSE)


class CallParts:
    """The events of one call."""

    def __init__(
        self,
        view: ApiView,
        module_id: str,
        inputs: dict[str, Any],
        token: str | None,
        write: Callable[[str, Any], bytes],
    ) -> None:
        self._view, self._write = view, write
        self._context = view.call_context
        self._context.cancel_token = CancelToken(self._context.cancel_token)
        self._result: list[dict[str, Any]] = []
        self._chunks = self._resumed(module_id, inputs, token) if token else self._called(module_id, inputs)
        self._first: bytes | None = None

    def begin(self) -> None:
        """Go as far as the first chunk, or to the end if there is none. Raises whatever stops the call before it."""
        try:
            self._first = self._next()
        except BaseException:
            self._chunks.close()
            raise

    def abandon(self) -> None:
        """Tell the module that the client is gone, while it may still be busy with the next chunk."""
        if self._context.cancel_token is not None:
            self._context.cancel_token.cancel(CONSUMER_LEFT)

    def close(self) -> None:
        """End the call where it is; what has not ended by itself is rolled back."""
        self._chunks.close()

    def __iter__(self) -> Iterator[bytes]:
        try:
            part = self._first
            while part is not None:
                yield part
                part = self._next()
            yield self._written("result", self._answer())
        except Exception as error:  # noqa: BLE001 - the status line has left; every error still has an answer
            self._chunks.close()
            yield self._write("error", error_body(error, self._view))

    def _next(self) -> bytes | None:
        chunk = next(self._chunks, _END)
        return None if chunk is _END else self._written("chunk", chunk)

    def _written(self, event: str, data: Any) -> bytes:
        try:
            return self._write(event, data)
        except (TypeError, ValueError, RecursionError) as error:
            message = "The module made something that cannot be written as JSON."
            raise ModuleExecuteError(message, details={"type": type(error).__name__}) from error

    def _answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"result": self._result[0], "trace_id": self._view.trace_id}
        if rewrites := self._context.data.get(REWRITE_NOTE):
            answer["rewrites"] = rewrites
        return answer

    def _called(self, module_id: str, inputs: dict[str, Any]) -> Any:
        executor = runtime.get().executor
        return executor.stream_sync(module_id, inputs, self._context, on_result=self._result.append)

    def _resumed(self, module_id: str, inputs: dict[str, Any], token: str) -> Any:
        """An approved call is recorded as a whole, and may have been made by a worker: it gives one chunk."""
        if not isinstance(runtime.get().approval_handler, DatabaseApprovalHandler):
            yield from self._called(module_id, {**inputs, APPROVAL_TOKEN: token})
            return
        result = services.resume(token, module_id=module_id, inputs=inputs, context=self._context)
        self._result.append(result)
        yield result
