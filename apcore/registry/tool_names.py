"""Which module a tool name without dots stands for (§4.17, C-27)."""

from __future__ import annotations

from apcore.errors import InvalidInputError, ModuleNotFoundError
from apcore.registry.exports import tool_name


class ToolNames:
    """The names under which modules are exported; two modules that would share one are found, never mixed up."""

    def __init__(self) -> None:
        self._module_ids: dict[str, tuple[str, ...]] = {}

    def add(self, module_id: str) -> None:
        name = tool_name(module_id)
        self._module_ids[name] = (*self._module_ids.get(name, ()), module_id)

    def remove(self, module_id: str) -> None:
        name = tool_name(module_id)
        left = tuple(each for each in self._module_ids[name] if each != module_id)
        if left:
            self._module_ids[name] = left
        else:
            del self._module_ids[name]

    def module_id_of(self, name: str) -> str:
        """Raises ModuleNotFoundError for an unknown name, InvalidInputError for one of several modules."""
        if name not in self._module_ids:
            raise ModuleNotFoundError(f"No module is exported as '{name}'", details={"tool_name": name})
        self.refuse_shared(name)
        return self._module_ids[name][0]

    def refuse_shared(self, name: str) -> None:
        """Raises InvalidInputError (`details.type` "tool_name_conflict") if several modules have this name."""
        module_ids = self._module_ids.get(name, ())
        if len(module_ids) > 1:
            raise InvalidInputError(
                f"{' and '.join(map(repr, module_ids))} would both be exported as '{name}'",
                details={"type": "tool_name_conflict", "tool_name": name, "module_ids": list(module_ids)},
                suggestion="Give one of them another ID",
            )
