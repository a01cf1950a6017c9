"""The one base class of every framework error, and its wire format (§8.1, §8.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, ClassVar, Final, Self, TypeVar

from apcore.errors.codes import FRAMEWORK_CODES, RENAMED_CODES, ErrorCodes
from apcore.plain import plain


class _Unset(Enum):
    UNSET = "unset"


_UNSET: Final = _Unset.UNSET

_OPTIONAL_FIELDS: Final = ("trace_id", "timestamp", "retryable", "ai_guidance", "user_fixable", "suggestion")
_NESTED_CAUSES: Final = 20


class ModuleError(Exception):
    """Base of all errors that leave the framework (§8.7); modules extend it for their own errors.

    ``code``, ``http_status`` and ``retryable`` are class attributes, so that a subclass is three lines; each may be
    given per instance. A plain ``ModuleError`` with a code of the framework has the status and the retryability of that
    code (§8.2, §8.6). ``retryable=None`` means "depends on the context" (§8.1.1).
    """

    code: str = ErrorCodes.MODULE_EXECUTE_ERROR
    http_status: int = 500
    retryable: bool | None = None
    default_message: ClassVar[str] = "The call failed"

    details: dict[str, Any]
    trace_id: str | None
    module_id: str | None
    call_chain: list[str]
    ai_guidance: str | None
    user_fixable: bool | None
    suggestion: str | None
    chain: list[str]
    timestamp: str

    def __new__(cls, *args: Any, **fields: Any) -> Self:
        """Every field is there even when a subclass forgets to call this constructor: errors must not fail."""
        error = super().__new__(cls, *args)
        error.details = {}
        error.trace_id = error.module_id = error.ai_guidance = error.user_fixable = error.suggestion = None
        error.call_chain = []
        error.chain = []
        error.timestamp = datetime.now(UTC).isoformat()
        return error

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        details: Mapping[str, Any] | None = None,
        cause: BaseException | None = None,
        trace_id: str | None = None,
        module_id: str | None = None,
        call_chain: Sequence[str] = (),
        retryable: bool | _Unset | None = _UNSET,
        ai_guidance: str | None = None,
        user_fixable: bool | None = None,
        suggestion: str | None = None,
        http_status: int | None = None,
    ) -> None:
        super().__init__(message or self.default_message)
        if code is not None:
            self.code = code
            if type(self) is ModuleError and code in FRAMEWORK_CODES:
                owner = _owner_of(code, ModuleError)
                self.http_status, self.retryable = owner.http_status, owner.retryable
        if http_status is not None:
            self.http_status = http_status
        if retryable is not _UNSET:
            self.retryable = retryable
        if cause is not None:
            self.__cause__ = cause
        told: object = details or {}
        self.details = dict(told) if isinstance(told, Mapping) else {"details": told}  # errors must not fail
        self.trace_id = trace_id
        self.module_id = module_id
        self.call_chain = [*call_chain]
        self.ai_guidance = ai_guidance
        self.user_fixable = user_fixable
        self.suggestion = suggestion

    @property
    def message(self) -> str:
        """The text for people; it never repeats the text of a foreign exception."""
        return str(self.args[0]) if self.args else self.default_message

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructors of subclasses differ, so copies and pickles restore what is there instead of calling them.
        return _restored, (type(self), self.args, self.__dict__)

    @property
    def cause(self) -> BaseException | None:
        """The original error; the same object as ``__cause__``, so ``raise … from`` sets it too."""
        return self.__cause__

    def to_dict(self) -> dict[str, Any]:
        """The error as JSON-ready data, without the fields that are null (§8.1, §8.1.1, §8.5).

        A cause is nested only if it is itself a ``ModuleError``: the text of any other exception may hold secrets. Of
        causes that go on for ever, or go round in a circle, the first 20 are told.
        """
        data: dict[str, Any] = {}
        for error in reversed(self.with_causes()):
            nested = {"cause": data} if data else {}
            data = error.own_fields() | nested
        written: dict[str, Any] = plain(data)
        return written

    def with_causes(self) -> list[ModuleError]:
        """This error and those of its causes that ``to_dict()`` tells of, the latest first."""
        told: list[ModuleError] = [self]
        cause = self.cause
        while isinstance(cause, ModuleError) and len(told) <= _NESTED_CAUSES:
            if any(cause is each for each in told):
                break
            told.append(cause)
            cause = cause.cause
        return told

    def own_fields(self) -> dict[str, Any]:
        """What ``to_dict()`` tells of this error alone."""
        data: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            data["details"] = self.details
        given = ((field, getattr(self, field)) for field in _OPTIONAL_FIELDS)
        return data | {field: value for field, value in given if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild an error from ``to_dict()`` data, as the class that owns its code; nulls and old codes are accepted.

        A code that no subclass owns gives an instance of the class it was called on, which keeps the code. Raises
        ModuleError (GENERAL_INVALID_INPUT) for data of another form.
        """
        code = _code_in(data)
        owner = _owner_of(code, cls)
        if owner is not cls:
            return owner.from_dict(data)
        # The constructors of subclasses differ, and what to_dict() wrote is all that is restored.
        error = cls.__new__(cls)
        cause = data.get("cause")
        ModuleError.__init__(
            error,
            data.get("message") or "",
            code=code,
            details=data.get("details"),
            cause=ModuleError.from_dict(cause) if cause else None,
            trace_id=data.get("trace_id"),
            retryable=data.get("retryable", _UNSET),
            ai_guidance=data.get("ai_guidance"),
            user_fixable=data.get("user_fixable"),
            suggestion=data.get("suggestion"),
        )
        error.timestamp = data.get("timestamp") or error.timestamp
        return error


def _code_in(data: Any) -> str:
    """The code of a written error, by its name of today; by the way, whether it is a written error at all."""
    if not isinstance(data, Mapping) or not isinstance(code := data.get("code"), str):
        raise _no_error("it must be an object whose code is a text")
    for field, kind in _WRITTEN.items():
        if data.get(field) is not None and not isinstance(data[field], kind):
            raise _no_error(f"its {field} is of type {type(data[field]).__name__}")
    return RENAMED_CODES.get(code, code)


def _no_error(problem: str) -> ModuleError:
    return ModuleError(
        f"This is no error as to_dict() writes it: {problem} (§8.1)",
        code=ErrorCodes.GENERAL_INVALID_INPUT,
    )


_WRITTEN: Final[Mapping[str, type]] = {
    "message": str,
    "details": Mapping,
    "cause": Mapping,
    "trace_id": str,
    "timestamp": str,
    "retryable": bool,
    "ai_guidance": str,
    "user_fixable": bool,
    "suggestion": str,
}


def _restored(cls: type[ModuleError], args: tuple[Any, ...], fields: Mapping[str, Any]) -> ModuleError:
    error = cls.__new__(cls, *args)
    error.__dict__.update(fields)
    return error


_Error = TypeVar("_Error", bound=ModuleError)


def _owner_of(code: str, base: type[_Error]) -> type[_Error]:
    return next((each for each in _with_subclasses(base) if vars(each).get("code") == code), base)


def _with_subclasses(base: type[_Error]) -> Iterator[type[_Error]]:
    for each in base.__subclasses__():
        yield from _with_subclasses(each)
    yield base
