"""Whether a schema may follow another one without breaking those who rely on it (§4.12, §13.5)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from apcore.schema.formats import FORMATS
from apcore.schema.kinds import kind_of
from apcore.schema.refs import References, pointer_to

_ALL_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_ANYTHING: Final[Mapping[str, Any]] = {}
_CHOICES: Final = ("anyOf", "oneOf")

# What a limit that allows less than another one is compared with it.
_LIMITS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), operator.gt),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), operator.lt),
}
_PAIRS: Final[Mapping[str, str]] = {
    "minimum": "exclusiveMinimum",
    "exclusiveMinimum": "minimum",
    "maximum": "exclusiveMaximum",
    "exclusiveMaximum": "maximum",
}
_PARTS: Final = (
    "items",
    "additionalProperties",
    "propertyNames",
    "contains",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_UNCOMPARED: Final = (
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependentRequired",
    "minContains",
    "maxContains",
)


@dataclass(frozen=True, slots=True)
class BreakingChange:
    """One thing that the new schema refuses and the old one did not: where (JSON Pointer), by which keyword, why."""

    path: str
    keyword: str
    reason: str


def is_backward_compatible(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether data that fit the old schema fit the new one, and no required field was removed (§4.12).

    What cannot be shown to be compatible (another pattern, another condition) is not. Raises as ``breaking_changes``.
    """
    return next(breaking_changes(old, new), None) is None


def breaking_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[BreakingChange]:
    """Everything that makes the new schema incompatible with the old one.

    Raises ``SchemaNotFoundError`` for a reference without target.
    """
    return _Comparison(References(old), References(new)).compare(old, new, ())


class _Comparison:
    """The comparison of two documents; pairs that are being compared are not entered again, so trees are fine."""

    def __init__(self, old: References, new: References) -> None:
        self._old = old
        self._new = new
        self._entered: set[tuple[int, int]] = set()

    def compare(self, old: Any, new: Any, path: tuple[str, ...]) -> Iterator[BreakingChange]:
        pair = (id(old), id(new))
        if pair in self._entered:
            return
        self._entered.add(pair)
        try:
            yield from self._compare_choices(old, new, path)
        finally:
            self._entered.discard(pair)

    def _compare_choices(self, old: Any, new: Any, path: tuple[str, ...]) -> Iterator[BreakingChange]:
        old_forms, new_forms = _forms(_resolved(old, self._old)), _forms(_resolved(new, self._new))
        if len(old_forms) == len(new_forms) == 1:
            yield from self._compare_forms(old_forms[0], new_forms[0], path)
            return
        for form in old_forms:
            if not any(self._fits(form, each, path) for each in new_forms):
                keyword = next((each for each in _CHOICES if each in new), "type")
                yield BreakingChange(pointer_to(path), keyword, "a form that was allowed is no longer")

    def _fits(self, old: Any, new: Any, path: tuple[str, ...]) -> bool:
        return next(self._compare_choices(old, new, path), None) is None

    def _compare_forms(
        self, old: Mapping[str, Any], new: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[BreakingChange]:
        for keyword, reason in _tightened(old, new):
            yield BreakingChange(pointer_to(path), keyword, reason)
        yield from self._compare_fields(old, new, path)
        yield from self._compare_parts(old, new, path)
        for part in new.get("allOf", ()):
            rest = {keyword: value for keyword, value in old.items() if keyword != "allOf"}
            if not any(self._fits(each, part, path) for each in (*old.get("allOf", ()), rest)):
                yield BreakingChange(pointer_to(path), "allOf", "a condition was added")

    def _compare_fields(
        self, old: Mapping[str, Any], new: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[BreakingChange]:
        old_fields, new_fields = old.get("properties", {}), new.get("properties", {})
        required = old.get("required", ())
        for name in new.get("required", ()):
            if name not in required:
                yield BreakingChange(pointer_to((*path, name)), "required", "the field became required")
        for name, field in old_fields.items():
            here = (*path, name)
            if name in new_fields:
                yield from self.compare(field, new_fields[name], here)
            elif name in required:
                yield BreakingChange(pointer_to(here), "properties", "a required field was removed")
            elif new.get("additionalProperties") is False:
                yield BreakingChange(pointer_to(here), "additionalProperties", "the field was removed and is refused")
        for pattern, part in new.get("patternProperties", {}).items():
            yield from self.compare(old.get("patternProperties", {}).get(pattern, _ANYTHING), part, (*path, pattern))

    def _compare_parts(
        self, old: Mapping[str, Any], new: Mapping[str, Any], path: tuple[str, ...]
    ) -> Iterator[BreakingChange]:
        for keyword in _PARTS:
            if keyword in new:
                yield from self.compare(old.get(keyword, _ANYTHING), new[keyword], (*path, keyword))
        old_first, new_first = old.get("prefixItems", ()), new.get("prefixItems", ())
        for index, part in enumerate(new_first):
            before = old_first[index] if index < len(old_first) else old.get("items", _ANYTHING)
            yield from self.compare(before, part, (*path, str(index)))


def _resolved(schema: Any, references: References) -> Mapping[str, Any]:
    """The schema in words: behind its references, with True and False spelt out."""
    if isinstance(schema, bool):
        return {} if schema else {"not": {}}
    target = references.target_of(schema)
    if target is None:
        return dict(schema)
    beside = {keyword: value for keyword, value in schema.items() if keyword not in {"$ref", "$dynamicRef"}}
    return {**_resolved(target, references), **beside}


def _forms(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives that the schema allows, each complete."""
    keyword = next((each for each in _CHOICES if each in schema), None)
    if keyword is None:
        return [schema]
    rest = {name: value for name, value in schema.items() if name != keyword}
    return [{**rest, **form} for form in schema[keyword] if isinstance(form, Mapping)]


def _tightened(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The keywords of the schema itself that allow less than before."""
    if not _types(old) <= _types(new):
        yield "type", "the type was changed or narrowed"
    if _lost_options(old, new):
        yield "enum", "options were removed"
    for keyword, is_tighter in _LIMITS.items():
        if _is_tighter(keyword, old, new, is_tighter):
            yield keyword, "the limit became tighter"
    yield from _added_conditions(old, new)


def _added_conditions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "multipleOf" in new and not _is_multiple(old.get("multipleOf"), new["multipleOf"]):
        yield "multipleOf", "the step was changed"
    if new.get("uniqueItems") is True and old.get("uniqueItems") is not True:
        yield "uniqueItems", "elements must differ now"
    if new.get("format") in FORMATS and new["format"] != old.get("format"):
        yield "format", "a format was added or changed"
    for keyword in ("pattern", *_UNCOMPARED):
        if keyword in new and new[keyword] != old.get(keyword):
            yield keyword, "the condition was added or changed"


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    named = schema.get("type")
    options = _options(schema)
    if named is None and options is None:
        return _ALL_TYPES
    types = {named} if isinstance(named, str) else set(named or map(kind_of, options or ()))
    if "number" in types:
        types.add("integer")
    if schema.get("nullable") is True:
        types.add("null")
    return frozenset(types)


def _lost_options(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    options = _options(new)
    if options is None:
        return False
    before = _options(old)
    return before is None or any(each not in options for each in before)


def _options(schema: Mapping[str, Any]) -> Sequence[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    options: Sequence[Any] | None = schema.get("enum")
    return options


def _is_tighter(
    keyword: str, old: Mapping[str, Any], new: Mapping[str, Any], is_tighter: Callable[[Any, Any], bool]
) -> bool:
    if keyword not in new:
        return False
    if keyword in old:
        return is_tighter(new[keyword], old[keyword])
    if new[keyword] == 0 and keyword in {"minLength", "minItems", "minProperties"}:
        return False
    pair = _PAIRS.get(keyword)
    if pair is None or pair not in old:
        return True
    # "minimum: 5" keeps all that "exclusiveMinimum: 5" lets pass, and not the other way round
    if keyword in {"minimum", "maximum"}:
        return is_tighter(new[keyword], old[pair])
    return not is_tighter(old[pair], new[keyword])


def _is_multiple(old: Any, new: Any) -> bool:
    return old is not None and Fraction(str(old)) % Fraction(str(new)) == 0
