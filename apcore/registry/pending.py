"""Modules that wait for their first use (§9.1, `extensions.lazy_load`)."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from apcore.discovery import Findings, ForetoldModule, FoundModule
from apcore.errors import ModuleError
from apcore.ids import parse_versioned_name
from apcore.modules import Dependency
from apcore.registry.admission import refuse_id
from apcore.registry.bulk import Origin, origin_of


@dataclass(frozen=True, slots=True)
class Waiting:
    """A module that its file foretells, and what was read beside the file."""

    foretold: ForetoldModule
    origin: Origin


class PendingModules:
    """The modules of a registry that are known by ID, and whose files were not imported yet.

    Reading takes no lock. Whoever changes something or loads a module holds the registry's, so each is loaded by one
    thread; what asks for it meanwhile on that thread is its own code, for which it is not there yet.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, Waiting] = {}
        self._admitting: set[str] = set()
        self._importing: set[str] = set()

    def __contains__(self, module_id: str) -> bool:
        return module_id in self._waiting

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._waiting))

    def keeps(self, module_id: str) -> bool:
        """Whether an ID is taken by a module that is not just being admitted."""
        return module_id in self._waiting and module_id not in self._admitting

    def file_of(self, module_id: str) -> str | None:
        waiting = self._waiting.get(module_id)
        return None if waiting is None else waiting.foretold.file

    def discard(self, module_id: str) -> bool:
        """Wait for it no longer; whether it was there."""
        return self._waiting.pop(module_id, None) is not None

    def present(self, module_id: str, item: Mapping[str, Any]) -> None:
        """How a module is presented, once it is loaded."""
        waiting = self._waiting[module_id]
        self._waiting[module_id] = replace(waiting, origin=replace(waiting.origin, display=item))

    def snapshot(self) -> Mapping[str, Waiting]:
        """What waits now, for `reset()`."""
        return dict(self._waiting)

    def reset(self, waiting: Mapping[str, Waiting]) -> None:
        """As it was before."""
        self._waiting = dict(waiting)

    def take_in(self, findings: Findings, registered: Callable[[str], bool], known: Container[str]) -> list[str]:
        """Let wait what was foretold and is not `known` from an earlier discovery; the IDs that are new or changed.

        What the same files foretold earlier is forgotten. Raises InvalidModuleIdError, and InvalidInputError
        (`details.type` "duplicate_id") for an ID that is there twice or `registered` otherwise, naming the file.
        """
        before, seen = self._waiting, {each.module_id for each in findings.found}
        files = {each.file for each in findings.found} | {each.file for each in findings.foretold}
        waiting = {name: each for name, each in before.items() if name not in seen and each.foretold.file not in files}
        for each in findings.foretold:
            is_taken = each.module_id in seen or (each.module_id not in known and registered(each.module_id))
            try:
                refuse_id(each.module_id, (each.module_id,) if is_taken else ())
            except ModuleError as error:
                error.add_note(f"Foretold by {each.file}")
                raise
            seen.add(each.module_id)
            if each.module_id not in known:
                waiting[each.module_id] = Waiting(each, origin_of(each, findings))
        self._waiting = waiting
        return [name for name, each in waiting.items() if before.get(name) != each]

    def is_ready(self, module_id: str) -> bool:
        """Whether a module can be loaded: it waits, and is not just being imported or admitted."""
        return self.keeps(module_id) and self._waiting[module_id].foretold.file not in self._importing

    def load(self, module_id: str) -> FoundModule:
        """Import the file of a module that is ready. Raises as `ForetoldModule.load()`."""
        waiting = self._waiting[module_id]
        file = waiting.foretold.file
        self._importing.add(file)
        try:
            return replace(waiting.foretold.load(), schemas=waiting.origin.schemas)
        finally:
            self._importing.discard(file)

    @contextmanager
    def admitting(self, module_ids: set[str]) -> Iterator[None]:
        """Within the block these modules are being admitted."""
        self._admitting |= module_ids
        try:
            yield
        finally:
            self._admitting -= module_ids

    def with_needed(
        self, wanted: Iterable[FoundModule], findings: Findings
    ) -> tuple[list[FoundModule], Findings, set[str]]:
        """The wanted modules and those that wait and that they depend on, whose files are imported for it.

        What fails to import is one of the failures of the findings. The last are the IDs of those that waited: code of
        the others may ask for them, and then they have been loaded before their turn.
        """
        found, failures = list(wanted), dict[str, ModuleError]()
        if not self._waiting:
            return found, findings, set()
        waited = {each.module_id for each in found if each.module_id == findings.asked_for}
        for each in found:  # which grows meanwhile
            for module_id in filter(self.is_ready, self._meant_by(each.dependencies)):
                if module_id in waited:
                    continue
                waited.add(module_id)
                try:
                    found.append(self.load(module_id))
                except ModuleError as error:
                    failures[module_id] = error
        needed = [each for each in found if each.module_id not in waited or each.module_id in self._waiting]
        return needed, self._completed(findings, needed, failures), waited

    def _meant_by(self, dependencies: Iterable[Dependency]) -> Iterator[str]:
        """The IDs that may meet them: where a version is asked for, those of other versions as well."""
        for each in dependencies:
            yield each.module_id
            if each.version is not None:
                yield from self.family_of(each.module_id)

    def family_of(self, module_id: str) -> Iterator[str]:
        """The versions of a module that wait, by their IDs alone (§2.4)."""
        return (each for each in self if module_id in (each, parse_versioned_name(each).base_id))

    def _completed(
        self, findings: Findings, found: Sequence[FoundModule], failures: Mapping[str, ModuleError]
    ) -> Findings:
        displays = {
            each.module_id: waiting.origin.display
            for each in found
            if (waiting := self._waiting.get(each.module_id)) is not None and waiting.origin.display is not None
        }
        known = {each.module_id for each in findings.found}
        return replace(
            findings,
            found=(*findings.found, *(each for each in found if each.module_id not in known)),
            failures={**findings.failures, **failures},
            displays={**findings.displays, **displays},
        )
