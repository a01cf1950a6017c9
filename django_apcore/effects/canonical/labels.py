"""What a row is called in a text for people."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from django.db.models import Model

from django_apcore.effects.database.ledger import Gate, Mode
from django_apcore.effects.database.tables import Table


class Labels:
    """Names rows as their models do (`__str__`), as long as that costs no query and gives no secret away.

    `secretive` are the labels of models whose `__str__` may contain values that nobody may see.
    """

    def __init__(self, gate: Gate, secretive: Collection[str]) -> None:
        self._gate, self._secretive = gate, secretive
        self._plain: set[type[Model]] = set()

    def label(self, table: Table, alias: str, values: Callable[[], Sequence[Any]], key: str) -> str:
        """One line; `values` gives those of the table's fields, and `key` is how the row is called otherwise."""
        model = table.model
        if model.__str__ is not Model.__str__ and model not in self._plain and table.label not in self._secretive:
            try:
                with self._gate.set_to(Mode.NOBODY):
                    text = str(model.from_db(alias, [field.attname for field in table.fields], values()))
            except Exception:  # noqa: BLE001 - whatever a model's __str__ does, the record must not depend on it
                self._plain.add(model)
            else:
                return " ".join(text.split()) or key
        return f"{model._meta.verbose_name} {key}"
