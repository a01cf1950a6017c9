"""Where extension points take effect: who finds modules, who may refuse one, and what its executors are given."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from weakref import WeakSet

from apcore.discovery import Findings, FoundModule
from apcore.errors import ModuleError, ModuleLoadError
from apcore.modules import ModuleDefinition
from apcore.registry.points import extension_point, require_interface


class RegistryExtensions:
    """``discoverer`` replaces the search in directories, ``validators`` are asked before a module is loaded (§11.3)."""

    def __init__(self) -> None:
        self.discoverer: Any = None
        self.validators: tuple[Any, ...] = ()
        self._given: dict[object, Callable[[Any], Any]] = {}
        self._executors: WeakSet[Any] = WeakSet()
        self._changing = threading.Lock()

    def findings(self, config: Any) -> Findings | None:
        """What the discoverer finds, None without one. Raises what it raises, ModuleLoadError for what is no module."""
        if self.discoverer is None:
            return None
        name = type(self.discoverer).__name__
        return Findings(tuple(_found(each, name) for each in _all(self.discoverer.discover(config), name)))

    def validate(self, definition: ModuleDefinition) -> None:
        """Raises ModuleLoadError with every objection of every validator; one that fails refuses as well."""
        objections = [text for validator in self.validators for text in _objections(validator, definition)]
        if objections:
            raise ModuleLoadError(
                f"Module '{definition.module_id}' is refused: {'; '.join(objections)}",
                module_id=definition.module_id,
                details={"objections": objections},
            )

    def set(self, point: str, implementation: Any) -> None:
        """Put an implementation into force (§11.3). Raises InvalidInputError; see `Registry.set_extension()`."""
        require_interface(extension_point(point), implementation)
        if point == "discoverer":
            self.discoverer = implementation
        elif point == "module_validator":
            with self._changing:
                self.validators = (*self.validators, implementation)
        elif point == "middleware":
            self._give(partial(_extend, point, implementation))
        else:
            self._give(partial(_extend, point, implementation), in_place_of=point)

    def add_middleware(self, id: str, middleware: Any, priority: int | None) -> None:  # noqa: A002 - §11.2
        """Pass a middleware to every executor that follows, now and later. Raises what `Executor.use()` raises."""
        self._give(partial(_use, id, middleware, priority))

    def _give(self, change: Callable[[Any], Any], in_place_of: str | None = None) -> None:
        with self._changing:
            for executor in self._executors:
                change(executor)
            self._given[in_place_of or change] = change

    def follow(self, executor: Any) -> None:
        """Pass ``executor`` what was given to others, and what will be. It is held weakly."""
        with self._changing:
            for change in self._given.values():
                change(executor)
            self._executors.add(executor)


def _extend(point: str, implementation: Any, executor: Any) -> None:
    executor.extend(point, implementation)


def _use(id: str, middleware: Any, priority: int | None, executor: Any) -> None:  # noqa: A002 - §11.2
    executor.use(middleware, id=id, priority=priority)


def _all(found: Any, name: str) -> Iterable[Any]:
    if found is None:
        return ()
    if isinstance(found, str) or not isinstance(found, Iterable):
        raise ModuleLoadError(f"{name}.discover() must return modules, not {type(found).__name__} (§11.3)")
    return found


def _found(each: Any, name: str) -> FoundModule:
    if isinstance(each, FoundModule):
        return each
    if isinstance(each, tuple) and len(each) == 2 and isinstance(each[0], str):
        return FoundModule(each[0], each[1], file=f"({name})")
    raise ModuleLoadError(
        f"{name}.discover() must return FoundModule objects or pairs of ID and module, not {type(each).__name__}"
    )


def _objections(validator: Any, definition: ModuleDefinition) -> list[str]:
    name = type(validator).__name__
    try:
        answer = validator.validate(definition)
        if answer is None or answer is True:
            return []
        if answer is False:
            return [f"{name} does not admit it"]
        return [answer] if isinstance(answer, str) else [str(text) for text in answer]
    except ModuleError as error:
        return [error.message]
    except Exception as error:  # noqa: BLE001 - a validator that fails has not admitted anything
        return [f"{name} failed ({type(error).__name__})"]
