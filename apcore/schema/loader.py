"""Where the schemas of a module come from: its code, or a schema file of its ID (§4.2, §4.9, §12.2)."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, get_args

from apcore.errors import (
    ConfigError,
    ModuleError,
    SchemaNotFoundError,
    SchemaParseError,
    VersionIncompatibleError,
    require,
)
from apcore.schema.files import SchemaFiles
from apcore.schema.refs import MAX_REF_DEPTH
from apcore.schema.resolution import Resolution
from apcore.schema.validate import check_schema
from apcore.versions import Version, negotiate_version

logger = logging.getLogger("apcore.schema")

Strategy = Literal["yaml_first", "native_first", "yaml_only"]

DEFAULT_SCHEMAS_DIR: Final = "./schemas"
DEFAULT_STRATEGY: Final = "yaml_first"

SCHEMA_FORMAT_VERSION: Final = "1.0.0"
"""The version of the format of schema files, as ``$schema: https://apcore.dev/schema/v1`` declares it."""

_FORMAT: Final = re.compile(r"https://apcore\.dev/schema/v(?P<version>[0-9.]+)")
_PARTS: Final = ("input_schema", "output_schema", "error_schema")


class ModuleSchema(NamedTuple):
    """What is known about the contract of a module; None for what is not said.

    Schemas from a file are JSON Schema documents without references; those from code are as the code declares them
    (model classes, mappings). ``changes`` are the entries of the file's change list (§4.12), ``file`` is where it is.
    """

    input_schema: Any = None
    output_schema: Any = None
    description: str | None = None
    error_schema: Mapping[str, Any] | None = None
    module_id: str | None = None
    version: str | None = None
    previous_version: str | None = None
    changes: tuple[Mapping[str, Any], ...] = ()
    file: Path | None = None

    @property
    def error_codes(self) -> tuple[str, ...]:
        """The codes that the error schema lists (§4.2)."""
        code = ((self.error_schema or {}).get("properties") or {}).get("code") or {}
        return tuple(code.get("enum", ()))


class SchemaLoader:
    """Reads schema files below ``schemas_dir``, and decides between them and the schemas in code.

    ``yaml_first`` takes from the file what the file has and the rest from code, ``native_first`` the other way round,
    ``yaml_only`` ignores the code (§4.9). A description in code wins over one in the file, unless the strategy is
    ``yaml_only``. Raises ``ConfigError`` for another strategy and for a depth below 1.
    """

    def __init__(
        self,
        schemas_dir: str | Path = DEFAULT_SCHEMAS_DIR,
        max_ref_depth: int = MAX_REF_DEPTH,
        *,
        strategy: Strategy = DEFAULT_STRATEGY,
    ) -> None:
        if strategy not in get_args(Strategy):
            raise ConfigError(
                f"schema.strategy is one of {', '.join(get_args(Strategy))}, not {strategy!r}",
                details={"field": "schema.strategy"},
            )
        depth: object = max_ref_depth  # settings come from files
        if not isinstance(depth, int) or depth < 1:
            raise ConfigError(
                f"schema.max_ref_depth is a number from 1 on, not {max_ref_depth!r}",
                details={"field": "schema.max_ref_depth"},
            )
        require("schemas_dir", schemas_dir, str | PathLike, "the path of a directory")
        self.strategy = strategy
        self._files = SchemaFiles(schemas_dir)
        self._max_ref_depth = max_ref_depth

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> SchemaLoader:
        """The loader that the ``schema`` section of a configuration describes (§9.1).

        The directory is ``root``, or else ``paths.yaml_schemas``, its older name (C-25). Raises ``ConfigError``.
        """
        require("schema settings", settings, Mapping, "an object")
        older = (settings.get("paths") or {}).get("yaml_schemas")
        return cls(
            settings.get("root") or older or DEFAULT_SCHEMAS_DIR,
            settings.get("max_ref_depth", MAX_REF_DEPTH),
            strategy=settings.get("strategy", DEFAULT_STRATEGY),
        )

    def load(self, module_id: str) -> ModuleSchema:
        """The content of a module's schema file.

        Raises ``SchemaNotFoundError`` if there is none or a reference has no target in the directory,
        ``SchemaCircularRefError``, ``VersionIncompatibleError`` for a file format of another major version, and
        ``SchemaParseError`` for everything that is no schema file.
        """
        file = self._files.find(module_id)
        if file is None:
            raise SchemaNotFoundError(
                f"There is no schema file of '{module_id}' in '{self._files.root}'",
                module_id=module_id,
                details={"module_id": module_id, "schemas_dir": str(self._files.root)},
            )
        schema = self._read(file)
        if schema.module_id not in {None, module_id}:
            logger.warning("Schema file '%s' of '%s' names the module '%s'", file, module_id, schema.module_id)
        return schema

    def has(self, module_id: str) -> bool:
        """Whether the module has a schema file."""
        return self._files.find(module_id) is not None

    def select(self, module_id: str, native: ModuleSchema) -> ModuleSchema:
        """The contract of a module whose code says ``native``, by the strategy.

        Raises as ``load``; without a file the code alone decides, unless the strategy is ``yaml_only``.
        """
        if self.strategy == "yaml_only":
            return self.load(module_id)
        is_complete = native.input_schema is not None and native.output_schema is not None
        if (self.strategy == "native_first" and is_complete) or not self.has(module_id):
            return native
        file = self.load(module_id)
        first, second = (file, native) if self.strategy == "yaml_first" else (native, file)
        return ModuleSchema(
            input_schema=_first(first.input_schema, second.input_schema),
            output_schema=_first(first.output_schema, second.output_schema),
            description=native.description or file.description,
            error_schema=file.error_schema,
            module_id=module_id,
            version=native.version or file.version,
            previous_version=file.previous_version,
            changes=file.changes,
            file=file.file,
        )

    def validate(self, schema: ModuleSchema | Mapping[str, Any]) -> list[dict[str, Any]]:
        """What is wrong with a schema or with the parts of a file: items with ``path``, ``message`` and ``code``."""
        if isinstance(schema, ModuleSchema):
            parts = {f"/{name}": part for name in _PARTS if (part := getattr(schema, name)) is not None}
        else:
            parts = {f"/{name}": schema[name] for name in _PARTS if name in schema} or {"": schema}
        return [fault for path, part in parts.items() for fault in _faults_of(part, path)]

    def _read(self, file: Path) -> ModuleSchema:
        try:
            content = self._files.read(file)
            _negotiate_format(content)
            return self._parse(content, file)
        except SchemaParseError as error:
            if "file" not in error.details:
                error = SchemaParseError(
                    f"Schema file '{file}': {error.message}", details={**error.details, "file": str(file)}, cause=error
                )
            raise error

    def _parse(self, content: Mapping[str, Any], file: Path) -> ModuleSchema:
        if "$ref" in content:
            content = Resolution(self._files, self._max_ref_depth).resolve(content, file)
        parts = {name: self._part(content, name, file) for name in _PARTS}
        changes = content.get("changes") or ()
        if not isinstance(changes, Sequence) or not all(isinstance(each, Mapping) for each in changes):
            raise SchemaParseError("'changes' is a list of objects")
        return ModuleSchema(
            **parts,
            description=_text(content, "description"),
            module_id=_text(content, "module_id"),
            version=_version(content, "version"),
            previous_version=_version(content, "previous_version"),
            changes=tuple(changes),
            file=file,
        )

    def _part(self, content: Mapping[str, Any], name: str, file: Path) -> dict[str, Any] | None:
        if content.get(name) is None:
            return None
        resolved: Any = Resolution(self._files, self._max_ref_depth).resolve(content[name], file)
        if not isinstance(resolved, dict):
            raise SchemaParseError(f"'{name}' is no schema")
        try:
            check_schema(resolved)
        except SchemaParseError as error:
            raise SchemaParseError(f"'{name}': {error.message}", details=error.details, cause=error) from error
        return resolved


def _negotiate_format(content: Mapping[str, Any]) -> None:
    declared = _FORMAT.fullmatch(str(content.get("$schema", "")))
    if declared is not None:
        numbers = [*declared["version"].split("."), "0", "0"][:3]
        negotiate_version(".".join(numbers), SCHEMA_FORMAT_VERSION)


def _text(content: Mapping[str, Any], name: str) -> str | None:
    value = content.get(name)
    if value is not None and not isinstance(value, str):
        raise SchemaParseError(f"'{name}' is a text, not {value!r}")
    return value.strip() if value else None


def _version(content: Mapping[str, Any], name: str) -> str | None:
    version = _text(content, name)
    if version is not None:
        try:
            Version.parse(version)
        except VersionIncompatibleError as error:
            raise SchemaParseError(f"'{name}': {error.message}", cause=error) from error
    return version


def _faults_of(part: Any, path: str) -> Iterable[dict[str, Any]]:
    try:
        if not isinstance(part, Mapping):
            raise SchemaParseError("A schema is an object")
        check_schema(part)
    except ModuleError as error:
        yield {"path": path + error.details.get("path", ""), "message": error.message, "code": error.code}


def _first(preferred: Any, other: Any) -> Any:
    return other if preferred is None else preferred
