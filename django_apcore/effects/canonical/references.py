"""Which values of a run stand for new rows, whose real keys differ from one run to the next."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import Field, ForeignKey, Model

from django_apcore.effects.canonical.names import RowId
from django_apcore.effects.database.tables import concrete


class Reference(dict[str, str]):
    """`{"$ref": name}`, where the name is filled in when all new rows have got theirs."""

    __slots__ = ("rows",)

    def __init__(self, *rows: RowId) -> None:
        super().__init__({"$ref": ""})
        self.rows = rows

    def resolve(self, names: dict[RowId, str]) -> None:
        """Write the names in. Several, if the value fits the keys of several new rows."""
        self["$ref"] = " | ".join(sorted(names[row] for row in self.rows))


class NewRows:
    """The new rows whose keys are not known before the run, by the values that identify them."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, type[Model], str, Any], RowId] = {}
        self._texts: dict[str, RowId] = {}
        self._numbers: defaultdict[int, list[RowId]] = defaultdict(list)

    def __bool__(self) -> bool:
        return bool(self._rows)

    def add(self, row: RowId, alias: str, model: type[Model], field: Field[Any, Any], value: Any) -> None:
        """`value` of `field` identifies a new row."""
        self._rows[alias, model, field.attname, value] = row
        if isinstance(value, UUID):
            self._texts[str(value)] = self._texts[value.hex] = row
        elif isinstance(value, int) and field.primary_key:
            self._numbers[value].append(row)

    def referred(self, alias: str, field: Field[Any, Any], value: Any) -> Reference | None:
        """The new row that a foreign key means; a key that is itself a foreign key leads on to its own target."""
        while isinstance(field, ForeignKey):
            field = field.target_field
            if (row := self._find(alias, field, value)) is not None:
                return Reference(row)
        return None

    def meant(self, alias: str, model: type[Model] | None, value: Any) -> Reference | None:
        """The new row of a model with this key, as generic foreign keys write it."""
        if model is None:
            return None
        key = concrete(model)._meta.pk
        try:
            value = key.to_python(value)
        except ValidationError:
            return None
        row = self._find(alias, key, value)
        return self.referred(alias, key, value) if row is None else Reference(row)

    def replace(self, canonical: Any, path: str, found: list[tuple[str, Reference]], *, numbers: bool = False) -> Any:
        """Replace what can only mean a new row inside a canonical value: the exact text of its UUID, and, where
        `numbers` is true, its integer key. Notes the references that it puts in."""
        match canonical:
            case str() if canonical in self._texts:
                reference = Reference(self._texts[canonical])
            case int() if numbers and not isinstance(canonical, bool) and canonical in self._numbers:
                reference = Reference(*self._numbers[canonical])
            case dict():
                return {
                    key: self.replace(item, f"{path}.{key}", found, numbers=numbers) for key, item in canonical.items()
                }
            case list():
                return [
                    self.replace(item, f"{path}[{place}]", found, numbers=numbers)
                    for place, item in enumerate(canonical)
                ]
            case _:
                return canonical
        found.append((path, reference))
        return reference

    def _find(self, alias: str, field: Field[Any, Any], value: Any) -> RowId | None:
        return self._rows.get((alias, concrete(field.model), field.attname, value))


def flattened(found: list[tuple[str, Reference]]) -> Iterator[tuple[str, RowId]]:
    """Each path with each row that may be meant there."""
    for path, reference in found:
        for row in reference.rows:
            yield path, row
