"""Validation of values (§4.2, §4.14): jsonschema-rs says yes, jsonschema explains every no."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, Protocol

import jsonschema_rs

from apcore.errors import SchemaNotFoundError, SchemaParseError, SchemaValidationError
from apcore.schema.canonical import canonical_json, text_hash
from apcore.schema.deprecation import DeprecatedFields
from apcore.schema.formats import FORMATS
from apcore.schema.preparation import prepare
from apcore.schema.refs import References, pointer_to
from apcore.schema.sensitive import SensitiveMask

logger = logging.getLogger("apcore.schema")

_CACHED_SCHEMAS: Final = 2048


class Explainer(Protocol):
    """What ``apcore.schema.explanation`` offers for one schema."""

    @property
    def is_explainable(self) -> bool: ...

    def explain(self, value: Any, masked: Any) -> list[dict[str, Any]]: ...


class CompiledSchema:
    """A schema that is ready to validate; immutable, and shared by all who compile equal documents."""

    def __init__(
        self,
        document: Mapping[str, Any],
        content_hash: str,
        prepared: dict[str, Any],
        deprecated: DeprecatedFields | None = None,
    ) -> None:
        self.document = document
        self.content_hash = content_hash
        self._deprecated = deprecated
        self._prepared = prepared
        self._engine = _build_engine(prepared)
        self._accepts = self._engine.is_valid

    def validate(self, value: Any) -> None:
        """Raises ``SchemaValidationError`` with every violation (§4.14); nothing in it repeats a sensitive value."""
        try:
            if self._accepts(value):
                if self._deprecated is not None:
                    self._warn_about_deprecated(value, self._deprecated)
                return
        except ValueError:  # a value that JSON cannot hold
            pass
        raise self._refusal_of(value)

    def is_valid(self, value: Any) -> bool:
        """Whether the value fits."""
        try:
            return self._accepts(value)
        except ValueError:
            return False

    @cached_property
    def mask(self) -> SensitiveMask:
        """Called with a value, gives it without what the schema marks as sensitive (§10.6)."""
        return SensitiveMask(self.document)

    @cached_property
    def _explainer(self) -> Explainer:
        explainer: Explainer = _load_explainers().Explainer(self._prepared)
        return explainer

    def _warn_about_deprecated(self, value: Any, deprecated: DeprecatedFields) -> None:
        for field in deprecated.in_value(value):
            logger.warning("%s", field)

    def _refusal_of(self, value: Any) -> SchemaValidationError:
        violations = (self._explainer.is_explainable and self._explained(value)) or self._reported(value)
        first = violations[0]
        others = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
        message = f"{first['path'] or 'The value'} {first['message']}{others}"
        return SchemaValidationError(message, errors=violations, user_fixable=True)

    def _explained(self, value: Any) -> list[dict[str, Any]]:
        try:
            return self._explainer.explain(value, self.mask(value))
        except RecursionError:  # the fast validator would explain it until its native stack is full
            return [{"path": "", "message": "does not fit, and is nested too deeply to say where"}]
        except (TypeError, ValueError):  # what is no JSON stays refused, also where the reference stumbles over it
            return []

    def _reported(self, value: Any) -> list[dict[str, Any]]:
        """What the fast validator says, for what the reference lets pass: a line break before "$", for example."""
        try:
            return [_in_short(error) for error in self._engine.iter_errors(value)]
        except ValueError:
            return [{"path": "", "message": "cannot be expressed in JSON", "constraint": "type"}]


def compile_schema(document: Mapping[str, Any], *, strict_inputs: bool = False) -> CompiledSchema:
    """The validator for a document; equal documents share one.

    ``nullable: true`` accepts null, ``{}`` is any object. With ``strict_inputs`` an object that declares properties and
    says nothing about others takes no others (§4.9); explicit ``additionalProperties`` stay as they are; and a valid
    value that uses a field marked with ``x-deprecated`` is logged (§4.12). Raises ``SchemaParseError``,
    ``SchemaNotFoundError`` (a reference without target) and ``SchemaCircularRefError``.
    """
    return _compile(_text_of(document), strict_inputs)


def check_schema(document: Mapping[str, Any]) -> None:
    """Raises as ``compile_schema`` if the document is not a usable schema of Draft 2020-12."""
    if not _is_plainly_right(document):
        compile_schema(document)


def _is_plainly_right(document: Mapping[str, Any]) -> bool:
    """Whether the document says nothing special and the metaschema accepts it, as most do.

    At the registration of thousands, compiling each for a call that may never come would take most of the time.
    """
    try:
        text = jsonschema_rs.canonical.json.to_string(document)
        if "null" in text:  # it is written for NaN and infinities, too, and what is no JSON is no schema
            canonical_json(document)
        return isinstance(document, dict) and not _is_special(text) and jsonschema_rs.meta.is_valid(document)
    except ValueError:
        return False


def _is_special(text: str) -> bool:
    """Whether something is said whose rightness the metaschema alone cannot tell."""
    return '"$' in text or '"nullable"' in text or '"format"' in text or '"pattern' in text


def _text_of(document: Mapping[str, Any]) -> str:
    try:
        return canonical_json(document)
    except (TypeError, ValueError) as error:
        raise SchemaParseError("The schema holds something that JSON cannot express", cause=error) from error


# A cache of immutable values by their content, so that sharing it between applications changes nothing.
@lru_cache(maxsize=_CACHED_SCHEMAS)
def _compile(text: str, strict_inputs: bool) -> CompiledSchema:
    document = json.loads(text)
    if not isinstance(document, dict):
        raise SchemaParseError("A schema is an object")
    References(document).check()
    deprecated = DeprecatedFields(document) if strict_inputs else None
    return CompiledSchema(
        document, text_hash(text), prepare(document, strict_inputs=strict_inputs), deprecated if deprecated else None
    )


# Loaded when a value is refused for the first time: jsonschema takes as long to load as most of this package.
def _load_explainers() -> Any:
    return importlib.import_module("apcore.schema.explanation")


def _build_engine(prepared: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    try:
        # offline: a reference must never make this process fetch anything
        return jsonschema_rs.Draft202012Validator(prepared, formats=dict(FORMATS), validate_formats=True, offline=True)
    except jsonschema_rs.ValidationError as error:
        if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Referencing):
            raise SchemaNotFoundError(f"The schema refers to something unknown: {error.message}") from error
        place = pointer_to(error.instance_path)
        raise SchemaParseError(
            f"Not a JSON Schema: {error.message}" + (f" (at '{place}')" if place else ""), details={"path": place}
        ) from error
    except ValueError as error:  # half a character, more levels than the fast validator goes down
        raise SchemaParseError(f"Not a JSON Schema that can be read: {error}", cause=error) from error


def _in_short(error: jsonschema_rs.ValidationError) -> dict[str, Any]:
    constraint = str(error.kind.name)
    return {
        "path": pointer_to(error.instance_path),
        "message": f"does not satisfy '{constraint}'",
        "constraint": constraint,
    }
