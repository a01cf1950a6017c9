"""What leaves a failed call: an error of the protocol, without the secrets of its inputs (§8.3, §11.4)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from apcore.errors import ModuleError, SchemaValidationError, propagate_error
from apcore.plain import plain
from apcore.redaction import DEFAULT_SENSITIVE_KEYS, SensitiveValues, redact


class ErrorWrapperMiddleware:
    """Every failure leaves as a ModuleError; what a module put of its sensitive inputs into one is hidden.

    The executor wraps what modules raise. This also wraps what a middleware's ``around_call()`` raises further in, and
    takes PINs and passwords out of the message, details and hints of all of them, and of the causes that they tell of.
    """

    id: ClassVar[str] = "error_wrapper"
    priority: int = 800

    def __init__(self, sensitive_keys: Collection[str] = ()) -> None:
        self._keys = DEFAULT_SENSITIVE_KEYS.union(sensitive_keys)

    async def around_call(self, strategy: Any, state: Any, proceed: Any) -> Any:
        """The call; of a failure only what may leave."""
        try:
            return await proceed(strategy, state)
        except Exception as error:
            context = getattr(state, "context", None)
            if context is None:
                raise
            wrapped = error if isinstance(error, ModuleError) else propagate_error(error, state.module_id, context)
            self._clean(wrapped, state)
            if wrapped is error:
                raise
            raise wrapped from error

    def _clean(self, error: ModuleError, state: Any) -> None:
        definition = getattr(state, "definition", None)
        schema = None if definition is None else definition.input_schema
        secrets = SensitiveValues(state.inputs, schema, self._keys)

        def shown(value: Any) -> Any:
            return redact(secrets.hide(value), None, self._keys)

        for told in error.with_causes():
            told.args = tuple(shown(each) if isinstance(each, str) else each for each in told.args)
            told.details = _named_without(secrets, shown(told.details))
            told.ai_guidance, told.suggestion = shown(told.ai_guidance), shown(told.suggestion)
            if isinstance(told, SchemaValidationError):
                told.errors = shown(told.errors)
            if told.code != (code := secrets.hide(told.code)):
                told.code = code


def _named_without(secrets: SensitiveValues, value: Any) -> Any:
    """The value without secrets in the names of its fields, at any depth; as JSON if there are secrets at all."""
    if not secrets:
        return value
    return _renamed(secrets, plain(value))


def _renamed(secrets: SensitiveValues, value: Any) -> Any:
    if isinstance(value, dict):
        return {secrets.hide(name): _renamed(secrets, each) for name, each in value.items()}
    return [_renamed(secrets, each) for each in value] if isinstance(value, list) else value
