"""Environment variables as configuration (§9.2, §9.8)."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from apcore.config.documents import core_schema, key_tree_of, part_of
from apcore.config.namespaces import CORE, REGISTRY, Namespace
from apcore.config.trees import MISSING, Path, at, copied, with_value
from apcore.errors import require
from apcore.redaction import is_sensitive_key

CONFIG_FILE_VARIABLE: Final = "APCORE_CONFIG_FILE"

_INTEGER: Final = re.compile(r"-?(0|[1-9]\d{0,400})", re.ASCII)
_NUMBER: Final = re.compile(r"-?(\d+\.\d*|\.\d+|\d+)([eE][-+]?\d+)?", re.ASCII)
_CREDENTIALS: Final = re.compile(r"://[^/\s]*@")
_LEADING_ZERO: Final = re.compile(r"-?0\d")


@dataclass(frozen=True, slots=True)
class EnvironmentOverrides:
    """What the environment says: the data as a tree, and which variable each path comes from."""

    data: Mapping[str, Any]
    variables: Mapping[Path, str]


def coerce_env_value(text: str, schema: Mapping[str, Any] | None = None) -> Any:
    """The value that a text means: `true`/`false`, a whole or decimal number, or the text itself (§9.8.1).

    Where the schema of the key wants a text it stays one, so that `012` or `1.0` can be given; where it wants a list or
    an object the text is JSON, and a list may also be written `a,b,c`.
    """
    wanted = _types_of(schema)
    if wanted and "string" in wanted and not wanted & {"boolean", "integer", "number"}:
        return text
    if wanted & {"array", "object"}:
        return _structured(text, wanted)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and not _LEADING_ZERO.match(text):
        number = float(text)
        return number if math.isfinite(number) else text
    return text


def nested_path(suffix: str, max_depth: int) -> str:
    """`API_SERVER__URL` as `api.server_url`: `_` separates, `__` is an underscore; after `max_depth` parts all stay."""
    if max_depth == 1:
        return suffix.replace("__", "_").lower()
    head, separator, rest = _first_part(suffix)
    if not separator:
        return head.lower()
    return f"{head.lower()}.{nested_path(rest, max_depth - 1)}"


def auto_resolve(suffix: str, defaults_tree: Mapping[str, Any] | None, depth: int, max_depth: int) -> str | None:
    """The key of `defaults_tree` that a suffix means, flat keys before nested ones (§9.8.1).

    Without a match the outermost call (`depth` 0) answers with the nested conversion and inner ones with None, so that
    the next way of splitting is tried (C-03).
    """
    tree = defaults_tree or {}
    if suffix.lower() in tree:
        return suffix.lower()
    if depth >= max_depth:
        return suffix.lower() or None
    for position in (index for index, letter in enumerate(suffix) if letter == "_"):
        head, rest = suffix[:position].lower(), suffix[position + 1 :]
        below = tree.get(head)
        if isinstance(below, Mapping):
            sub_key = auto_resolve(rest, below, depth + 1, max_depth)
            if sub_key is not None:
                return f"{head}.{sub_key}"
    return nested_path(suffix, max_depth) if depth == 0 else None


def dispatch_env_var(env_key: str, registered_prefixes: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The namespace that owns a variable, and the rest of its name; the longest prefix wins (§9.8.2).

    `registered_prefixes` are pairs of prefix with its final `_` and namespace, in any order.
    """
    owners = [(prefix, name) for prefix, name in registered_prefixes if env_key.startswith(prefix)]
    if not owners:
        return None
    prefix, name = max(owners, key=lambda each: len(each[0]))
    return name, env_key[len(prefix) :]


def key_of(suffix: str, namespace: Namespace) -> str | None:
    """The dotted key within the namespace that the rest of a variable's name means; None if it means none."""
    if namespace.env_style == "flat":
        return suffix.lower() or None
    tree = namespace.key_tree
    nested = nested_path(suffix, namespace.max_depth)
    if namespace.env_style == "nested" or ("__" in suffix and at(tree, nested.split(".")) is not MISSING):
        key: str | None = nested
    else:
        key = auto_resolve(suffix, tree, 0, namespace.max_depth)
    return key if key and all(key.split(".")) else None


def apply_namespace_env_overrides(
    config_data: Mapping[str, Any],
    registered_namespaces: Mapping[str, Namespace],
    environ: Mapping[str, str] | None = None,
    global_env_map: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """`config_data` with what the environment overrides, as a new tree (§9.8.3).

    `environ` is that of the process, and `global_env_map` what `Config.env_map()` was told, unless others are given.
    Raises InvalidInputError for data that are no object.
    """
    require("config_data", config_data, Mapping, "an object")
    environ = os.environ if environ is None else environ
    global_env_map = REGISTRY.global_env_map if global_env_map is None else global_env_map
    return dict(environment_overrides(registered_namespaces, environ, global_env_map, data=copied(config_data)).data)


def environment_overrides(
    namespaces: Mapping[str, Namespace],
    environ: Mapping[str, str],
    global_env_map: Mapping[str, str] = MappingProxyType({}),
    *,
    mode: str = "namespace",
    content: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
) -> EnvironmentOverrides:
    """`data` with what the environment overrides, and the variables that did it (§9.8.3).

    In legacy mode the section of `apcore` is the whole tree. A name in an env_map is never dispatched by its prefix;
    where two variables mean one key, a prefixed one beats a bare one and `__` beats `_` (C-02).

    Many programs name their variables `APCORE_…`. One that holds a secret is left alone, unless its key is known to the
    framework or stands in `content`, which is the configuration file.
    """
    changed, variables, core_keys = dict(data or {}), dict[Path, str](), key_tree_of(core_schema())
    for env_key, path, value in _overrides(namespaces, environ, global_env_map):
        place = path[1:] if mode == "legacy" and path[0] == CORE else path
        is_known = at(core_keys, path[1:]) is not MISSING or at(content or {}, place) is not MISSING
        if path[0] == CORE and not is_known and _is_secret(path[1:], environ[env_key]):
            continue
        changed = with_value(changed, place, value)
        variables[place] = env_key
    return EnvironmentOverrides(changed, variables)


def _overrides(
    namespaces: Mapping[str, Namespace], environ: Mapping[str, str], global_map: Mapping[str, str]
) -> Iterator[tuple[str, Path, Any]]:
    """(variable, path, value), the ones that win last."""
    mapped = {name: (namespace, key) for namespace in namespaces.values() for name, key in namespace.env_map.items()}
    prefixes = [(f"{each.env_prefix}_", each.name) for each in namespaces.values()]
    for env_key in sorted(environ.keys() & (global_map.keys() | mapped.keys())):
        if env_key in global_map:
            yield env_key, tuple(global_map[env_key].split(".")), coerce_env_value(environ[env_key])
        else:
            yield _override(env_key, environ[env_key], *mapped[env_key])
    for env_key in sorted(environ.keys() - global_map.keys() - mapped.keys(), key=lambda name: ("__" in name, name)):
        owner = None if env_key == CONFIG_FILE_VARIABLE else dispatch_env_var(env_key, prefixes)
        if owner is not None:
            namespace = namespaces[owner[0]]
            key = key_of(owner[1], namespace)
            if key is not None:
                yield _override(env_key, environ[env_key], namespace, key)


def _override(env_key: str, text: str, namespace: Namespace, key: str) -> tuple[str, Path, Any]:
    parts = key.split(".") if namespace.env_style != "flat" else [key]
    return env_key, (namespace.name, *parts), coerce_env_value(text, part_of(namespace.schema_document, parts))


def _is_secret(path: Path, text: str) -> bool:
    words = "_".join(path).split("_")
    beginnings = ("_".join(words[:length]) for length in range(1, len(words) + 1))
    return any(is_sensitive_key(each) for each in beginnings) or _CREDENTIALS.search(text) is not None


def _first_part(suffix: str) -> tuple[str, str, str]:
    """Up to the first single underscore, with double ones as underscores; the separator; the rest."""
    part, position = "", 0
    while position < len(suffix):
        if suffix.startswith("__", position):
            part, position = part + "_", position + 2
        elif suffix[position] == "_":
            return part, "_", suffix[position + 1 :]
        else:
            part, position = part + suffix[position], position + 1
    return part, "", ""


def _types_of(schema: Mapping[str, Any] | None) -> set[str]:
    if schema is None:
        return set()
    kind = schema.get("type", ())
    return {kind} if isinstance(kind, str) else set(kind)


def _structured(text: str, wanted: set[str]) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict | list):
        return value
    return [part.strip() for part in text.split(",") if part.strip()] if "array" in wanted else text
