"""What is wrong with a configuration: every error at once, with its path and what to do (§9.3, §9.10)."""

from __future__ import annotations

import difflib
import logging
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from apcore.config.documents import core_schema
from apcore.config.layers import Mount, Snapshot, Source
from apcore.config.namespaces import BUILT_IN_NAMESPACES, CORE, META, Namespace
from apcore.config.trees import at
from apcore.errors import ConfigError, SchemaValidationError
from apcore.redaction import hide_credentials, is_sensitive_key
from apcore.schema import compile_schema
from apcore.versions import effective_version

logger = logging.getLogger("apcore.config")

_META_SCHEMA: Final = {
    "type": "object",
    "properties": {"strict": {"type": "boolean"}, "allow_unknown": {"type": "boolean"}},
}

_ADVICE: Final = {
    ("version", "is required"): 'is required: write version: "1.0.0"',
    ("version", "must be string"): 'must be a text: put it in quotes, as in "1.0.0"',
    ("version", "must match"): 'must be three numbers, as in "1.0.0"',
    ("project.name", "is required"): "is required: write project: {name: my-project}",
    ("project.name", "must match"): "must be lower-case letters, digits, '-' and '_', starting with a letter",
}
"""Better words, by the end of the path and the beginning of the message."""

_VERSION: Final = re.compile(core_schema()["properties"]["version"]["pattern"])

_Data = TypeVar("_Data", bound=Mapping[str, Any])


@dataclass(frozen=True, slots=True)
class Fault:
    """One error: the dotted path from the top of the file, what is wrong there, and where the value comes from."""

    path: str
    message: str
    source: str | None = None

    def __str__(self) -> str:
        return self.message if self.source in (None, "default") else f"{self.message} (from {self.source})"

    def to_dict(self) -> dict[str, str]:
        """The fields that are known, for `details` of the error."""
        known = {"path": self.path, "message": self.message, "source": self.source}
        return {name: value for name, value in known.items() if value is not None}


def validate_config(config: _Data) -> _Data:
    """The data of the namespace `apcore` if it is valid (A12, §9.3). Raises ConfigError with every error."""
    refuse(faults_of_core(config))
    _warn_about_core(config)
    return config


def validate_config_ns(
    config_data: _Data, mode: str, registered_namespaces: Mapping[str, Namespace], meta_config: Mapping[str, Any]
) -> dict[str, Any]:
    """The data if it is valid, without what is not to be stored (A12-NS, §9.10). Raises ConfigError as A12."""
    if mode == "legacy":
        return dict(validate_config(config_data))
    core = config_data.get(CORE)
    refuse([*faults_of_namespaces(config_data, registered_namespaces, meta_config)])
    _warn_about_core(core if isinstance(core, Mapping) else {}, f"{CORE}.")
    unknown = [name for name in config_data if name not in (*registered_namespaces, META, CORE)]
    _warn_about_unknown(unknown, meta_config)
    kept = meta_config.get("allow_unknown", True)
    return {name: data for name, data in config_data.items() if kept or name not in unknown}


def faults_of_namespaces(
    data: Mapping[str, Any],
    namespaces: Mapping[str, Namespace],
    meta: Mapping[str, Any],
    *,
    is_complete: bool = True,
    free_keys: Iterable[str] = (),
) -> Iterator[Fault]:
    """Everything that is wrong in namespace mode; `free_keys` are top-level keys that are no namespaces (§9.8.3)."""
    if META in data and not isinstance(data[META], Mapping | None):
        yield Fault(META, f"{META}: must be a mapping, not {type(data[META]).__name__}")
    yield from _of_section(META, meta, _META_SCHEMA)
    core = data.get(CORE)
    if isinstance(core, Mapping) or core is None:
        yield from faults_of_core(core or {}, f"{CORE}.", is_complete=is_complete)
    elif CORE not in namespaces:
        yield Fault(CORE, f"{CORE}: must be a mapping, not {type(core).__name__}")
    for name, section in data.items():
        if name in namespaces:
            yield from faults_of_namespace(name, section, namespaces[name])
        elif name not in (META, CORE) and meta.get("strict") is True and name not in free_keys:
            yield Fault(name, f"Unknown namespace '{name}' (strict mode enabled){_suggestion(name, namespaces)}")


def faults_of_namespace(name: str, section: Any, namespace: Namespace) -> Iterator[Fault]:
    """What is wrong with the data of one registered namespace; that of `apcore` is for `faults_of_core`."""
    if not isinstance(section, Mapping):
        if not (name == CORE and section is None):
            yield Fault(name, f"{name}: must be a mapping, not {type(section).__name__}")
    elif name != CORE and namespace.schema_document is not None:
        yield from _of_section(name, section, namespace.schema_document)


def faults_of_core(data: Mapping[str, Any], prefix: str = "", *, is_complete: bool = True) -> list[Fault]:
    """Everything that is wrong with the data of `apcore`; without `is_complete` version and project may be missing."""
    schema = dict(core_schema())
    if not is_complete:
        del schema["required"]
    faults = [_of_core(each, prefix) for each in _violations(data, schema)]
    wrong = {fault.path for fault in faults}
    own = (Fault(f"{prefix}{path}", f"{prefix}{path} {text}") for path, text in _constraints(data))
    return [*faults, *(each for each in own if each.path not in wrong)]


def refuse(
    faults: Iterable[Fault], file: Path | None = None, find_source: Callable[[str], Source | None] | None = None
) -> None:
    """Raise ConfigError with all of them, if there are any."""
    found = [each if find_source is None else _with_source(each, find_source) for each in _once(faults)]
    if not found:
        return
    where = "The configuration" if file is None else f"Configuration file '{file}'"
    lines = "".join(f"\n- {each}" for each in found)
    message = f"{where} is invalid: {found[0]}" if len(found) == 1 else f"{where} has {len(found)} errors:{lines}"
    details: dict[str, Any] = {"errors": [each.to_dict() for each in found], "paths": [each.path for each in found]}
    if file is not None:
        details["file"] = str(file)
    raise ConfigError(message, details=details, user_fixable=True)


def negotiate(core: Mapping[str, Any]) -> None:
    """Raises VersionIncompatibleError for a file of another version than this package reads (§13.3, C-38)."""
    version = core.get("version")
    if not isinstance(version, str) or not _VERSION.fullmatch(version):
        return
    # Who runs an application reads its log, not the warnings of Python.
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        effective_version(version)
    for notice in notices:
        logger.info("%s", notice.message)


def log_doubts(snapshot: Snapshot) -> None:
    """Log what is allowed and probably a mistake."""
    _warn_about_root(snapshot.core(), _prefix_of(snapshot))
    _warn_about_keys(unknown_keys_of(snapshot))
    if snapshot.mode == "namespace":
        known = {*snapshot.namespaces, *snapshot.global_keys, META}
        _warn_about_unknown([name for name in snapshot.data if name not in known], snapshot.meta)


def log_mount(mount: Mount, namespaces: Iterable[str]) -> None:
    """Log a mount that is allowed and probably a mistake (§9.7.1)."""
    if mount.namespace == CORE and mount.label == "mount":
        logger.warning("Data is mounted to '%s': it takes the place of defaults of the framework", CORE)
    elif mount.namespace not in namespaces:
        _warn_about_unknown([mount.namespace], {})


def _warn_about_core(core: Mapping[str, Any], prefix: str = "") -> None:
    _warn_about_root(core, prefix)
    _warn_about_keys(_under(prefix, unknown_keys(core, core_schema())))


def _warn_about_root(core: Mapping[str, Any], prefix: str) -> None:
    extensions = core.get("extensions")
    root = extensions.get("root") if isinstance(extensions, Mapping) and extensions.get("auto_discover") else None
    if isinstance(root, str) and not Path(root).exists():
        logger.warning(
            "%sextensions.root '%s' does not exist, so no modules are discovered there; create it, or set "
            "extensions.auto_discover to false",
            prefix,
            root,
        )


def _warn_about_keys(found: Iterable[tuple[str, str | None]]) -> None:
    for key, close in found:
        hint = f"; did you mean '{close}'?" if close else ""
        logger.warning("Unknown configuration key '%s' is ignored%s", key, hint)


def _warn_about_unknown(names: Iterable[str], meta: Mapping[str, Any]) -> None:
    if meta.get("allow_unknown") is False:
        return
    for name in names:
        logger.warning("Namespace '%s' is not registered; data stored but not validated", name)


def unknown_keys(data: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Keys that the schema does not know in sections that it knows, each with the closest known one.

    At the top only near misses are reported: a file may hold sections for others.
    """
    for key, close in _unknown(data, schema):
        if close is not None or "." in key:
            yield key, close


def unknown_keys_of(snapshot: Snapshot) -> Iterator[tuple[str, str | None]]:
    """Those of all sections that are the framework's, with whole paths: a misspelt `strict` leaves everything open."""
    yield from _under(_prefix_of(snapshot), unknown_keys(snapshot.core(), core_schema()))
    if snapshot.mode == "namespace":
        yield from _unknown(snapshot.meta, _META_SCHEMA, f"{META}.")
        for name in sorted(BUILT_IN_NAMESPACES - {CORE}):
            section, schema = snapshot.section(name), snapshot.namespaces[name].schema_document
            if isinstance(section, Mapping):
                yield from _unknown(section, schema or {}, f"{name}.")
        yield from _outside_of_core(snapshot)


def _outside_of_core(snapshot: Snapshot) -> Iterator[tuple[str, str | None]]:
    """What stands in a section of the framework beside `apcore` instead of in it, as in a file of legacy mode."""
    for name in sorted(snapshot.data.keys() & core_schema()["properties"].keys() - snapshot.namespaces.keys()):
        section = snapshot.data[name]
        for key in section if isinstance(section, Mapping) else ():
            yield f"{name}.{key}", f"{CORE}.{name}.{key}"


def faults_of_keys(snapshot: Snapshot) -> Iterator[Fault]:
    """The unknown keys as faults, for who sets one: what a file holds beside the known ones is its author's."""
    for key, close in unknown_keys_of(snapshot):
        yield Fault(key, f"'{key}' is not a known key" + (f"; did you mean '{close}'?" if close else ""))


def _prefix_of(snapshot: Snapshot) -> str:
    return f"{CORE}." if snapshot.mode == "namespace" else ""


def _under(prefix: str, found: Iterable[tuple[str, str | None]]) -> Iterator[tuple[str, str | None]]:
    return ((f"{prefix}{key}", close and f"{prefix}{close}") for key, close in found)


def _unknown(data: Mapping[str, Any], schema: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str | None]]:
    properties = schema.get("properties", {})
    for key, value in data.items():
        if key in properties:
            if isinstance(value, Mapping) and properties[key].get("properties"):
                yield from _unknown(value, properties[key], f"{prefix}{key}.")
        elif not key.startswith("x-"):
            close = difflib.get_close_matches(key, properties, 1)
            yield f"{prefix}{key}", f"{prefix}{close[0]}" if close else None


def _of_section(name: str, section: Any, schema: Mapping[str, Any]) -> Iterator[Fault]:
    """With the name of the namespace in front of the message (§9.10)."""
    for each in _violations(section, schema):
        inside = f"{each.path} " if each.path else ""
        yield Fault(f"{name}.{each.path}".rstrip("."), f"{name}: {inside}{each.message}")


def _violations(data: Any, schema: Mapping[str, Any]) -> Iterator[Fault]:
    try:
        compile_schema(schema).validate(data)
    except SchemaValidationError as error:
        for each in error.errors:
            path = _dotted(each["path"])
            yield Fault(path, _safe(path, each))


def _safe(path: str, violation: Mapping[str, Any]) -> str:
    """What is wrong, with the value where it may be shown."""
    message, actual = str(violation["message"]), violation.get("actual")
    if any(is_sensitive_key(part) for part in path.split(".")):
        return f"does not satisfy '{violation.get('constraint', 'its schema')}' (the value is not shown)"
    is_said = violation.get("constraint") in ("type", "required", "additionalProperties") or actual is None
    return message if is_said else f"{message}, not {hide_credentials(repr(actual))}"


def _of_core(fault: Fault, prefix: str) -> Fault:
    # Without a project its name is what is missed.
    path = "project.name" if (fault.path, fault.message) == ("project", "is required") else fault.path
    for (end, beginning), advice in _ADVICE.items():
        if path.endswith(end) and fault.message.startswith(beginning):
            _, comma, actual = fault.message.rpartition(", not ")
            return Fault(f"{prefix}{path}", f"{prefix}{path} {advice}{comma}{actual if comma else ''}")
    return Fault(f"{prefix}{path}", f"{prefix}{path} {fault.message}")


def _constraints(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Steps 3 and 4 of A12, as far as the schema cannot say it."""
    for section in ("extensions", "schema"):
        root = at(data, (section, "root"))
        if isinstance(root, str) and ("\0" in root or not root.strip()):
            yield f"{section}.root", "must be the path of a directory"
        elif isinstance(root, str) and Path(root).is_file():
            yield f"{section}.root", f"must be the path of a directory; '{root}' is a file"
    root = at(data, ("schema", "root"))
    is_yaml_only = at(data, ("schema", "strategy")) == "yaml_only"
    if is_yaml_only and isinstance(root, str) and "\0" not in root and not Path(root).exists():
        yield "schema.root", f"'{root}' does not exist, and schema.strategy is yaml_only; create it, or use yaml_first"


def _once(faults: Iterable[Fault]) -> list[Fault]:
    """Without those of `observability.logging` that are copies of `logging` (C-36)."""
    found = list(faults)
    paths = {fault.path.removeprefix(f"{CORE}.") for fault in found}
    copies = {f"observability.{path}" for path in paths if path.startswith("logging.")}
    return [fault for fault in found if fault.path not in copies]


def _suggestion(name: str, namespaces: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(namespaces), 1)
    return f"; did you mean '{close[0]}'?" if close else "; register it with Config.register_namespace()"


def _with_source(fault: Fault, find_source: Callable[[str], Source | None]) -> Fault:
    source = find_source(fault.path)
    return fault if source is None else replace(fault, source=str(source))


def _dotted(pointer: str) -> str:
    return ".".join(part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
