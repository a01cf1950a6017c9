"""Access control lists in YAML files (§6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

import yaml

from apcore.acl.audit import AuditSettings
from apcore.acl.rules import EFFECTS, ACLRule, Effect
from apcore.errors import ACLRuleError
from apcore.schema import read_yaml, yaml_fault

_KEYS: Final = frozenset({"$schema", "version", "rules", "default_effect", "audit"})
_SUFFIXES: Final = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class ACLFile:
    """What an ACL file, or a directory of them, says; None where it is silent."""

    rules: tuple[ACLRule, ...]
    default_effect: Effect | None
    audit: AuditSettings | None


def read_acl(path: str | Path) -> ACLFile:
    """Read one file, or all YAML files of a directory in the order of their names, joined to one list.

    Raises ACLRuleError, naming file, rule and field, for everything that is not exactly right, and when two files of a
    directory disagree: an access list that cannot be read must not become an open door.
    """
    if not isinstance(path, (str, PathLike)):
        raise ACLRuleError(f"An ACL is read from a path, not from {type(path).__name__}")
    location = Path(path)
    if not location.is_dir():
        return _read_file(location)
    files = [_read_file(each) for each in sorted(location.iterdir()) if each.suffix in _SUFFIXES]
    if not files:
        raise ACLRuleError(f"{location} holds no ACL file", details={"file": str(location)})
    return ACLFile(
        rules=tuple(rule for file in files for rule in file.rules),
        default_effect=_agreed("default_effect", [file.default_effect for file in files], location),
        audit=_agreed("audit", [file.audit for file in files], location),
    )


def _read_file(path: Path) -> ACLFile:
    try:
        data = read_yaml(path.read_text(encoding="utf-8"))
        return _parse(data)
    except (OSError, ValueError, RecursionError) as error:
        raise ACLRuleError(f"{path} cannot be read: {error}", details={"file": str(path)}, cause=error) from error
    except yaml.YAMLError as error:
        raise ACLRuleError(f"{path} cannot be read: {yaml_fault(error)}", details={"file": str(path)}) from None
    except ACLRuleError as error:
        raise ACLRuleError(f"{path}: {error.message}", details={**error.details, "file": str(path)}) from error


def _parse(data: Any) -> ACLFile:
    if not isinstance(data, Mapping):
        raise ACLRuleError("an ACL file is an object with the key 'rules'", details={"field": "rules"})
    unknown = [str(key) for key in data if key not in _KEYS]
    if unknown:
        raise ACLRuleError(f"unknown key '{unknown[0]}'", details={"field": unknown[0]})
    rules = data.get("rules")
    if not isinstance(rules, list):
        raise ACLRuleError("'rules' must be a list", details={"field": "rules"})
    default_effect = data.get("default_effect")
    if default_effect not in (None, *EFFECTS):
        raise ACLRuleError("'default_effect' must be 'allow' or 'deny'", details={"field": "default_effect"})
    audit = data.get("audit")
    return ACLFile(
        rules=tuple(ACLRule.from_dict(rule, f"rule {number}") for number, rule in enumerate(rules, 1)),
        default_effect=default_effect,
        audit=None if audit is None else AuditSettings.from_dict(audit),
    )


def _agreed(key: str, values: list[Any], location: Path) -> Any:
    given = [value for value in values if value is not None]
    if any(value != given[0] for value in given):
        raise ACLRuleError(f"the files in {location} disagree about '{key}'", details={"field": key})
    return given[0] if given else None
