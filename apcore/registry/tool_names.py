"""Which module a tool name without dots stands for (§4.17, C-27)."""

from __future__ import annotations

from collections.abc import Iterable

from apcore.errors import InvalidInputError, ModuleNotFoundError
from apcore.registry.exports import tool_name


class ToolNames:
    """The names under which modules are exported; two modules that would share one are found, never mixed up.

    `pending` are further IDs, some of which may have been added.
    """

    def __init__(self, pending: Iterable[str] = ()) -> None:
        self._pending = pending
        self._owners: dict[str, str] = {}
        self._sharers: dict[str, tuple[str, ...]] = {}  # there are hardly any, so a name costs no object of its own

    def add(self, module_id: str) -> None:
        name = tool_name(module_id)
        if self._owners.setdefault(name, module_id) != module_id:
            self._sharers[name] = (*self._sharers.get(name, ()), module_id)

    def remove(self, module_id: str) -> None:
        name = tool_name(module_id)
        left = [each for each in self._added(name) if each != module_id]
        if not left:
            del self._owners[name]
            return
        self._owners[name] = left[0]
        if left[1:]:
            self._sharers[name] = tuple(left[1:])
        else:
            self._sharers.pop(name, None)

    def module_id_of(self, name: str) -> str:
        """Raises ModuleNotFoundError for an unknown name, InvalidInputError for one of several modules."""
        self.refuse_shared(name)
        for owner in self._all(name):
            return owner
        raise ModuleNotFoundError(f"No module is exported as '{name}'", details={"tool_name": name})

    def refuse_shared(self, name: str) -> None:
        """Raises InvalidInputError (`details.type` "tool_name_conflict") if several modules have this name."""
        module_ids = self._all(name)
        if len(module_ids) > 1:
            raise InvalidInputError(
                f"{' and '.join(map(repr, module_ids))} would both be exported as '{name}'",
                details={"type": "tool_name_conflict", "tool_name": name, "module_ids": list(module_ids)},
                suggestion="Give one of them another ID",
            )

    def _added(self, name: str) -> tuple[str, ...]:
        return (self._owners[name], *self._sharers.get(name, ())) if name in self._owners else ()

    def _all(self, name: str) -> tuple[str, ...]:
        pending = (each for each in self._pending if tool_name(each) == name)
        return tuple(dict.fromkeys((*self._added(name), *pending)))
