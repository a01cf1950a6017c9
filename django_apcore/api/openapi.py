"""How the endpoints describe themselves (OpenAPI 3.1)."""

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, Final, TypeVar

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from django_apcore.api.links import path_to
from django_apcore.api.serializers import ChangeSerializer, EffectSerializer, EffectSummarySerializer

_JSON: Final = "application/json"
_Method = TypeVar("_Method", bound=Callable[..., Any])


class ErrorSerializer(serializers.Serializer[Any]):
    """An error (protocol §8.1). Members that are not known are left out."""

    code = serializers.CharField()
    message = serializers.CharField()
    details = serializers.DictField(required=False)
    errors = serializers.ListField(  # type: ignore[assignment] # a declared field is no attribute of the class
        child=serializers.DictField(), required=False, help_text="Of invalid values (§4.14)."
    )
    cause = serializers.DictField(required=False)
    trace_id = serializers.CharField()
    timestamp = serializers.DateTimeField()
    retryable = serializers.BooleanField(required=False)
    ai_guidance = serializers.CharField(required=False)
    user_fixable = serializers.BooleanField(required=False)
    suggestion = serializers.CharField(required=False)


class ResultSerializer(serializers.Serializer[Any]):
    """What a module returned."""

    result = serializers.DictField(help_text="The module's output, by its `output_schema`.")
    trace_id = serializers.CharField()
    rewrites = serializers.ListField(
        child=serializers.DictField(), required=False, help_text="Which policies changed the inputs, and why."
    )


class PendingSerializer(serializers.Serializer[Any]):
    """A call that waits for a person."""

    code = serializers.ChoiceField(["APPROVAL_PENDING"])
    approval_id = serializers.CharField(help_text="Also the token with which the call is resumed.")
    status_url = serializers.URLField()
    expires_at = serializers.DateTimeField()
    preview = EffectSerializer()
    supersedes = serializers.UUIDField(required=False, help_text="The request whose effect was no longer the same.")


class CheckSerializer(serializers.Serializer[Any]):
    """One check of a call."""

    check = serializers.CharField()
    passed = serializers.BooleanField()
    error = serializers.DictField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())


class PreflightSerializer(serializers.Serializer[Any]):
    """What a call would meet, and what it would change (protocol §12.8)."""

    valid = serializers.BooleanField()
    checks = CheckSerializer(many=True)
    requires_approval = serializers.BooleanField()
    predicted_changes = ChangeSerializer(many=True)
    effect = EffectSummarySerializer(allow_null=True)
    errors = serializers.ListField(child=serializers.DictField())  # type: ignore[assignment] # as above


class SubmittedSerializer(serializers.Serializer[Any]):
    """A call that a worker will make."""

    task_id = serializers.UUIDField()
    status = serializers.CharField()
    status_url = serializers.URLField()
    trace_id = serializers.CharField()


def described(**operation: Any) -> Callable[[_Method], _Method]:
    """`extend_schema` for a view's method, whatever the project's DEFAULT_SCHEMA_CLASS is.

    The first sentence of its docstring is the summary, what follows is the description.
    """

    def describe(method: _Method) -> _Method:
        vars(method)["kwargs"] = {"schema": AutoSchema}  # what `extend_schema` builds upon
        summary, _, description = cleandoc(method.__doc__ or "").removesuffix(".").partition(". ")
        text = f"{description}." if description else ""
        return extend_schema(summary=summary, description=text, **operation)(method)

    return describe


def answers(success: Any, *errors: int, status: int = 200, pending: bool = False) -> dict[Any, Any]:
    """The responses of an operation, for `described`. All may answer 401, and any other error in the same form."""
    responses: dict[Any, Any] = {status: success}
    if pending:
        responses[202] = PendingSerializer
    responses |= dict.fromkeys(sorted({401, *errors}), ErrorSerializer)
    responses["default"] = OpenApiResponse(ErrorSerializer, description="Any other error.")
    return responses


def streaming_answers(streams: dict[str, Any], *errors: int, pending: bool = False) -> dict[Any, Any]:
    """The responses of an operation that answers with a stream, by media type, and with JSON for everything else."""
    described_answers: dict[Any, Any] = {(200, media_type): stream for media_type, stream in streams.items()}
    others = answers(None, *errors, pending=pending)
    del others[200]
    return described_answers | {(status, _JSON): answer for status, answer in others.items()}


def one_event(*names: str) -> dict[str, Any]:
    """One event of a stream, which has any number of them. `data` is JSON: as text in Server-Sent Events."""
    return {
        "type": "object",
        "properties": {
            "event": {"type": "string", "enum": list(names)},
            "data": {"description": "What the event tells, as JSON."},
            "id": {"type": "string"},
            "retry": {"description": "After how many milliseconds to open the stream again."},
        },
    }


def json_body(schema: dict[str, Any]) -> dict[str, Any]:
    """A request body, for `described`."""
    return {_JSON: schema}


def build_document(request: Request) -> dict[str, Any]:
    """The document of this API alone, with paths below the place where the project has mounted it.

    Needs `SPECTACULAR_SETTINGS["OAS_VERSION"] = "3.1.0"`.
    """
    generator: Any = SchemaGenerator(urlconf="django_apcore.api.urls")  # type: ignore[no-untyped-call]  # theirs is untyped
    document: dict[str, Any] = generator.get_schema(request=None, public=True)
    mount = path_to(request, "schema").removesuffix("/schema/")
    return document | {"servers": [{"url": mount}]} if mount else document
