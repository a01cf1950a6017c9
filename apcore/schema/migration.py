"""Bringing a schema from one version to another (§13.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final

from apcore.errors import MigrationFailedError, ModuleError
from apcore.schema.evolution import breaking_changes
from apcore.schema.validate import check_schema
from apcore.versions import Version

Migrate = Callable[[dict[str, Any]], Mapping[str, Any]]

_CONTRACT_PARTS: Final = ("input_schema", "output_schema", "error_schema")
_DEPRECATION_MINORS: Final = 2


@dataclass(frozen=True, slots=True)
class MigrationStep:
    """One step: ``migrate`` gets a copy of the schema and returns the schema of the next version."""

    from_version: str
    to_version: str
    migrate: Migrate


def migrate_schema(
    schema: Mapping[str, Any],
    from_version: str,
    to_version: str,
    steps: Iterable[MigrationStep | tuple[str, str, Migrate]] = (),
) -> Mapping[str, Any]:
    """The schema in another version, by the shortest way through the steps; the given one is not changed (§13.4).

    The schema is a JSON Schema, or the content of a schema file with ``input_schema`` and its neighbours. The result of
    every step must be a valid schema; the type of a field may change only in a step to another major version.

    Raises ``MigrationFailedError`` if no way leads to the version, if a step raises, and if its result is not valid;
    ``details`` name the step. Raises ``VersionIncompatibleError`` for a text that is no version; ``1.1`` is one here.
    """
    start, goal = Version.completed(from_version), Version.completed(to_version)
    if start == goal:
        return schema
    all_steps = [each if isinstance(each, MigrationStep) else MigrationStep(*each) for each in steps]
    path = _shortest_path(start, goal, all_steps)
    if not path:
        raise MigrationFailedError(
            f"No available migration path from {start} to {goal}",
            details={"from_version": from_version, "to_version": to_version},
        )
    current: Mapping[str, Any] = deepcopy(dict(schema))
    for step in path:
        current = _apply(step, current)
    return current


def add_field(name: str, field: Mapping[str, Any], *, default: Any) -> Migrate:
    """A migration that adds an optional field with a default; ``name`` may be a path (``options.retries``)."""

    def migrate(schema: dict[str, Any]) -> dict[str, Any]:
        owner, key = _owner_of(schema, name)
        owner.setdefault("properties", {})[key] = {**field, "default": default}
        return schema

    return migrate


def rename_field(name: str, new_name: str) -> Migrate:
    """A migration that gives a field a new name and keeps the old one, marked as deprecated, as an alias.

    A field that was required may be given under either name. ``new_name`` is the name alone, beside the old one.
    """

    def migrate(schema: dict[str, Any]) -> dict[str, Any]:
        owner, key = _owner_of(schema, name)
        field = _field_of(owner, key)
        owner["properties"][new_name] = field
        owner["properties"][key] = {**field, "x-deprecated": {"replacement": new_name}}
        if key in owner.get("required", ()):
            owner["required"] = [each for each in owner["required"] if each != key]
            either = {"anyOf": [{"required": [new_name]}, {"required": [key]}]}
            owner["allOf"] = [*owner.get("allOf", ()), either]
        return schema

    return migrate


def remove_field(name: str, version: str) -> Migrate:
    """A migration to ``version`` that removes a field, in two goes.

    A field that is not deprecated yet becomes deprecated and optional, and can go two minor versions later, or with the
    next major one; removing it earlier is refused.
    """
    now = Version.completed(version)

    def migrate(schema: dict[str, Any]) -> dict[str, Any]:
        owner, key = _owner_of(schema, name)
        field = _field_of(owner, key)
        owner["required"] = [each for each in owner.get("required", ()) if each != key]
        since = (field.get("x-deprecated") or {}).get("since")
        if since is None:
            removal = Version(now.major, now.minor + _DEPRECATION_MINORS, 0)
            field["x-deprecated"] = {**field.get("x-deprecated", {}), "since": version, "removal": str(removal)}
        elif _is_kept_long_enough(Version.completed(since), now):
            del owner["properties"][key]
        else:
            raise MigrationFailedError(f"Field '{name}' is deprecated since {since}: too early to remove it")
        return schema

    return migrate


def change_type(name: str, field_type: str | Sequence[str]) -> Migrate:
    """A migration that changes the type of a field; ``migrate_schema`` takes it in a step to a major version alone."""

    def migrate(schema: dict[str, Any]) -> dict[str, Any]:
        owner, key = _owner_of(schema, name)
        _field_of(owner, key)["type"] = field_type if isinstance(field_type, str) else list(field_type)
        return schema

    return migrate


def _shortest_path(start: Version, goal: Version, steps: Sequence[MigrationStep]) -> list[MigrationStep]:
    paths: dict[Version, list[MigrationStep]] = {start: []}
    waiting = [start]
    for version in waiting:
        for step in steps:
            target = Version.completed(step.to_version)
            if Version.completed(step.from_version) == version and target not in paths:
                paths[target] = [*paths[version], step]
                waiting.append(target)
    return paths.get(goal, [])


def _apply(step: MigrationStep, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        migrated = step.migrate(deepcopy(dict(schema)))
        _check(migrated)
        _refuse_changed_types(step, schema, migrated)
    except Exception as error:
        reason = error.message if isinstance(error, ModuleError) else f"{type(error).__name__}: {error}"
        raise MigrationFailedError(
            f"Migration from {step.from_version} to {step.to_version} failed: {reason}",
            details={"from_version": step.from_version, "to_version": step.to_version},
            cause=error,
        ) from error
    return migrated


def _check(schema: Any) -> None:
    if not isinstance(schema, Mapping):
        raise MigrationFailedError(f"the step returned no schema but {type(schema).__name__}")
    for part in _parts_of(schema).values():
        check_schema(part)


def _refuse_changed_types(step: MigrationStep, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    if Version.completed(step.from_version).major != Version.completed(step.to_version).major:
        return
    before = _parts_of(old)
    for name, part in _parts_of(new).items():
        for change in breaking_changes(before.get(name, part), part):
            if change.keyword == "type":
                raise MigrationFailedError(f"'{change.path}': {change.reason}, which takes a new major version")


def _parts_of(schema: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    parts = {name: schema[name] for name in _CONTRACT_PARTS if name in schema}
    return parts or {"": schema}


def _owner_of(schema: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The object schema that a field stands in, and the field's own name."""
    *owners, name = path.split(".")
    owner = schema
    for each in owners:
        owner = _field_of(owner, each)
    return owner, name


def _field_of(owner: Mapping[str, Any], name: str) -> dict[str, Any]:
    field = owner.get("properties", {}).get(name)
    if not isinstance(field, dict):
        raise MigrationFailedError(f"there is no field '{name}'")
    return field


def _is_kept_long_enough(since: Version, now: Version) -> bool:
    return now.major > since.major or now.minor - since.minor >= _DEPRECATION_MINORS
