"""Comparing the record of a run with what really happened to the databases."""

from collections import Counter
from typing import Any

from django.apps import apps

from apcore.effects import EffectRecord
from apcore.modules import Change
from apcore.schema import canonical_json
from django_apcore.effects.canonical.values import canonical_value
from tests.matrix.models import Odd
from tests.matrix.snapshot import Address, Fact, Snapshot


def assert_shows(record: EffectRecord, truth: dict[Address, Fact], start: Snapshot, during: Snapshot) -> None:
    """Every fact is a change and every change is a fact, with the same columns, and with the values that are known."""
    assert record.total == len(record.changes)
    assert Counter(record.counts) == Counter(f"{label(address[1])}:{fact.action}" for address, fact in truth.items())
    left = dict(truth)
    for change in record.changes:
        address = next((each for each in left if fits(change, each, left[each], start, during)), None)
        assert address is not None, f"no row had this change: {change}"
        del left[address]
    assert left == {}


def fits(change: Change, address: Address, fact: Fact, start: Snapshot, during: Snapshot) -> bool:
    alias, table, key = address
    if change.action != fact.action or change.extras["x-kind"] != label(table):
        return False
    if change.extras.get("x-alias", "default") != alias:
        return False
    if "x-pk" in change.extras and key != plain_key(change.extras["x-pk"]):
        return False
    if change.action == "update" and {column(table, name) for name in change.after} != fact.columns:
        return False
    sides = {"insert": [(change.after, during)], "delete": [(change.before, start)]}
    sides["update"] = sides["insert"] + sides["delete"]
    return all(
        agrees(shown, rows[address][name]) for side, rows in sides[change.action] for name, shown in side.items()
    )


def agrees(shown: Any, value: Any) -> bool:
    """Whether a shown value can be this value; markers stand for values that nobody knows."""
    match shown:
        case {"$json": None}:
            return value is None
        case {"$known_after_apply": _} | {"$ref": _} | {"$unchecked": _} | {"$redacted": _}:
            return True
    if isinstance(value, Odd):
        return shown == 2
    return canonical_json(shown) == canonical_json(canonical_value(value))


def shape(found: dict[Address, Fact]) -> Counter[tuple[Any, ...]]:
    """What happened to how many rows; keys only where rows are not new, since sequences go on."""
    return Counter(
        (alias, table, fact, None if fact.action == "insert" else key) for (alias, table, key), fact in found.items()
    )


def label(table: str) -> str:
    return model(table)._meta.label


def model(table: str) -> Any:
    return next(each for each in apps.get_models(include_auto_created=True) if each._meta.db_table == table)


def column(table: str, name: str) -> str:
    return str(model(table)._meta.get_field(name).column)


def plain_key(key: Any) -> tuple[str, ...]:
    parts = key if isinstance(key, list) else [key]
    return tuple(str(part).replace("-", "") for part in parts)
