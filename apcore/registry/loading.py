"""Modules that were found become modules that are registered, each after those that it depends on."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from apcore.discovery import Findings, FoundModule
from apcore.errors import ModuleError
from apcore.modules import ModuleDefinition
from apcore.registry.admission import admit
from apcore.registry.bulk import Origin, dispensable_ids, loading_order, module_to_renew, origin_of, presented
from apcore.registry.lifecycle import load, unload
from apcore.registry.pending import PendingModules
from apcore.registry.published import PublishedModules

logger = logging.getLogger("apcore.registry")


class ModuleLoader:
    """Admits, loads and publishes what was found. Whoever calls it holds the lock of the registry.

    `validate` raises what speaks against a module that is sound in itself.
    """

    def __init__(
        self, published: PublishedModules, pending: PendingModules, validate: Callable[[ModuleDefinition], None]
    ) -> None:
        self._published = published
        self._pending = pending
        self._validate = validate
        self._together: list[ModuleDefinition] | None = None

    def load(
        self, wanted: Iterable[FoundModule], findings: Findings, known: Mapping[str, Origin]
    ) -> Iterator[ModuleDefinition]:
        """Load modules one by one, with those that they depend on and that wait for their first use.

        Of those that are `known` the description is renewed. Raises as `loading_order` and `Registry.register`.
        """
        needed, completed, waited = self._pending.with_needed(wanted, findings)
        for found in loading_order(completed, needed, self._published.versions()):
            module_id = found.module_id
            if module_id in waited and module_id in self._published.definitions:
                continue  # code of another one asked for it
            with self._pending.admitting(waited & {module_id}):
                is_there = self._take_in(found, completed, is_renewal=module_id in known)
            if is_there:
                yield self._published.definitions[module_id]
        self._present_others(completed)

    def load_pending(self, module_id: str) -> Iterator[ModuleDefinition]:
        """As `load()` for one that waits and is ready; raises also what its file raises.

        What code of others asks for within `all_or_none()` belongs to them, and is not among these.
        """
        found = self._pending.load(module_id)
        for definition in self.load([found], Findings((found,), asked_for=module_id), {}):
            if self._together is None:
                yield definition
            else:
                self._together.append(definition)

    @contextmanager
    def all_or_none(self) -> Iterator[list[ModuleDefinition]]:
        """A list for what is loaded within the block. If that fails, all is as before; the latest goes first."""
        definitions, origins = dict(self._published.definitions), dict(self._published.origins)
        waiting, loaded = self._pending.snapshot(), list[ModuleDefinition]()
        outer, self._together = self._together, loaded
        try:
            yield loaded
        except BaseException:
            for each in reversed(loaded):
                self._published.withdraw(each.module_id)
                if each.module_id not in definitions:
                    unload(each)
            for each in definitions.values():
                self._published.publish(each, origins.get(each.module_id))
            self._pending.reset(waiting)
            raise
        finally:
            self._together = outer

    def _take_in(self, found: FoundModule, findings: Findings, *, is_renewal: bool) -> bool:
        """Admit one of many; False for one that failed and that nobody needs."""
        module_id = found.module_id
        current = self._published.definitions.get(module_id) if is_renewal else None
        module = found.module if current is None else module_to_renew(found, current.module)
        taken = () if is_renewal else self._published.taken(module_id)
        try:
            schemas = found.schemas or findings.schemas
            definition = admit(module_id, module, taken, companion=found.companion, schemas=schemas)
            definition = presented(definition, findings.displays.get(module_id))
            self._validate(definition)
            if current is None:
                load(definition)
            elif definition.module is current.module:
                definition = replace(definition, activity=current.activity)
        except ModuleError as error:
            error.add_note(f"While registering {module_id} of {found.file}")
            if module_id not in dispensable_ids(findings):
                raise
            logger.warning("The optional module '%s' failed to load", module_id, exc_info=error)
            return False
        self._published.publish(definition, origin_of(found, findings))
        return True

    def _present_others(self, findings: Findings) -> None:
        found = {each.module_id for each in findings.found} | {each.module_id for each in findings.foretold}
        for module_id, item in findings.displays.items():
            definition = self._published.definitions.get(module_id)
            if definition is None and module_id in self._pending:
                self._pending.present(module_id, item)
            elif definition is None:
                logger.warning("A binding says how '%s' is presented, which is not registered", module_id)
            elif module_id not in found:
                self._published.publish(presented(definition, item))
