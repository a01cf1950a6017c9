"""A schema as the validators read it: what the protocol says on top of JSON Schema, said in JSON Schema.

``nullable`` accepts null (§5.11.5), the empty schema is any object (§4.15), and in strict input schemas an object with
declared properties takes no others (§4.9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from apcore.schema.formats import FORMATS
from apcore.schema.refs import References
from apcore.schema.walk import IN_PLACE_KEYWORDS, subschemas, with_subschemas

# Where a subschema describes a value of its own; under every other keyword it describes a value together with others.
_VALUE_KEYWORDS: Final = frozenset(
    {"additionalProperties", "contains", "items", "patternProperties", "prefixItems", "properties", "unevaluatedItems"}
)
_DECLARING_KEYWORDS: Final = frozenset({"properties", "patternProperties"})
_CLOSING_KEYWORDS: Final = frozenset({"additionalProperties", "unevaluatedProperties"})
_FALSE_KEYWORDS: Final = _CLOSING_KEYWORDS | {"items", "unevaluatedItems"}
_SPEAKING_KEYWORDS: Final = IN_PLACE_KEYWORDS | {"$ref", "$dynamicRef"}
_PASSING_KEYWORDS: Final = frozenset({"$ref", "anyOf", "oneOf"})
_NULL_REFUSING_KEYWORDS: Final = _SPEAKING_KEYWORDS - {"dependentSchemas"} | {"const"}


def prepare(document: Mapping[str, Any], *, strict_inputs: bool) -> dict[str, Any]:
    """The document for the validators; the original is not changed."""
    if not document:
        return {"type": "object"}
    prepared: dict[str, Any]
    if strict_inputs:
        prepared = _rewrite(document, True, _uses(document))
    else:
        prepared = _rewrite(document, False, None)
    # The dialect is always Draft 2020-12, whatever name a schema file gives its own.
    prepared.pop("$schema", None)
    return prepared


def _rewrite(schema: Any, own_value: bool, uses: Mapping[int, bool] | None) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    alone = uses is not None and uses.get(id(schema), own_value)

    def rewrite_inner(keyword: str, inner: Any) -> Any:
        if inner is False and keyword not in _FALSE_KEYWORDS:
            return {"not": {}}  # where no keyword takes care of False, the reference forgets what it stood for
        return _rewrite(inner, _is_alone(keyword, schema, alone), uses)

    rewritten = with_subschemas(schema, rewrite_inner)
    form = rewritten.get("format")
    if isinstance(form, str) and form not in FORMATS:  # what is no text is refused with the schema
        del rewritten["format"]
    if alone:
        _close(rewritten)
    if rewritten.pop("nullable", False) is True:
        _accept_null(rewritten)
    return rewritten


def _is_alone(keyword: str, outer: Mapping[str, Any], outer_alone: bool) -> bool:
    """Whether nothing but the schema under ``keyword`` describes the object that it describes: it may be closed."""
    if keyword in _VALUE_KEYWORDS:
        return True
    return keyword in _PASSING_KEYWORDS and outer_alone and _only_passes_on(outer)


def _only_passes_on(schema: Mapping[str, Any]) -> bool:
    speaking = (_SPEAKING_KEYWORDS | _DECLARING_KEYWORDS | _CLOSING_KEYWORDS) & schema.keys()
    return len(speaking) == 1 and speaking <= _PASSING_KEYWORDS


def _close(schema: dict[str, Any]) -> None:
    if not _DECLARING_KEYWORDS & schema.keys() or _CLOSING_KEYWORDS & schema.keys():
        return
    composed = bool(_SPEAKING_KEYWORDS & schema.keys())
    schema["unevaluatedProperties" if composed else "additionalProperties"] = False


def _accept_null(schema: dict[str, Any]) -> None:
    kind = schema.get("type")
    if kind is not None:
        kinds = kind if isinstance(kind, list) else [kind]
        schema["type"] = kinds if "null" in kinds else [*kinds, "null"]
    values = schema.get("enum")
    if isinstance(values, list) and None not in values:  # what is no list is refused with the schema
        schema["enum"] = [*values, None]
    refusing = {keyword: schema.pop(keyword) for keyword in _NULL_REFUSING_KEYWORDS & schema.keys()}
    if refusing:
        schema["if"] = {"not": {"type": "null"}}
        schema["then"] = refusing


def _uses(document: Mapping[str, Any]) -> dict[int, bool]:
    """For the root and each target of a reference, by identity: whether every use of it is alone."""
    references = References(document)
    uses = {id(document): True}
    waiting: list[Any] = [document]
    while waiting:
        schema = waiting.pop()
        for target, is_alone in _references_in(schema, uses[id(schema)], references):
            known = uses.get(id(target))
            if known is None or (known and not is_alone):
                uses[id(target)] = is_alone
                waiting.append(target)
    return uses


def _references_in(schema: Any, alone: bool, references: References) -> Iterator[tuple[Any, bool]]:
    if not isinstance(schema, Mapping):
        return
    target = references.target_of(schema)
    if target is not None:
        yield target, alone and _only_passes_on(schema)
    for keyword, inner in subschemas(schema):
        if keyword not in {"$defs", "definitions"}:
            yield from _references_in(inner, _is_alone(keyword, schema, alone), references)
