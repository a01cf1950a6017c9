"""Which modules a file defines, told without running it (§9.1, `extensions.lazy_load`)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from apcore.discovery.foretelling.top_level import TopLevel, read_top_level
from apcore.discovery.foretelling.values import Kind, Unsure
from apcore.discovery.loading import named_in_errors
from apcore.ids import snake_case


def foretold_ids(
    file: Path, module_id: str, *, entry: str | None = None, multi_class: bool = False
) -> list[str] | None:
    """The IDs of the modules that an import of the file would give; None if only the import can tell.

    `module_id` is that of the file; `entry` names the class or function in it that is its only module (§5.2). A file
    that defines no module, or too many, has to be imported as well: then it is an error, which the import tells best.

    Raises ModuleLoadError for a file that cannot be read or is no Python.
    """
    if file.suffix != ".py" or file.with_suffix("").joinpath("__init__.py").exists():
        return None  # not what an import of this name would find
    tree = _parsed(file)
    try:
        level = read_top_level(tree)
        if entry is not None:
            return [module_id] if level.names.values[entry].kind in (Kind.CLASS, Kind.MODULE) else None
        found = [*_class_ids(level, module_id, multi_class=multi_class), *_function_ids(level, module_id)]
    except (Unsure, KeyError, RecursionError):  # no such entry; expressions that nobody wrote by hand
        return None
    return found if found and len(set(found)) == len(found) else None


def _parsed(file: Path) -> ast.Module:
    with named_in_errors(file):
        source = file.read_bytes()
        tree = ast.parse(source, str(file))
        compile(tree, str(file), "exec", dont_inherit=True)  # finds what the grammar alone lets through
    return tree


def _class_ids(level: TopLevel, module_id: str, *, multi_class: bool) -> list[str]:
    """As `candidates.module_classes` and `entry_points.classes_with_ids`. Raises Unsure."""
    names = dict.fromkeys(value.text or "" for _, value in level.public() if value.kind is Kind.CLASS)
    facts = {name: level.classes[name] for name in names}
    runnable = []
    for name, each in facts.items():
        if each is None:
            raise Unsure
        if each.is_runnable:
            runnable.append((name, each))
    chosen = [name for name, each in runnable if each.declares_schemas] or [name for name, _ in runnable]
    if len(chosen) > 1 and not multi_class:
        raise Unsure
    return [f"{module_id}.{snake_case(name)}" for name in chosen] if len(chosen) > 1 else [module_id][: len(chosen)]


def _function_ids(level: TopLevel, module_id: str) -> Iterator[str]:
    """As `candidates.function_modules`. Raises Unsure."""
    for name, value in level.public():
        if value.kind is Kind.UNKNOWN:
            raise Unsure
        if value.kind is Kind.MODULE:
            yield value.text or f"{module_id}.{snake_case(name)}"
    yield from level.unnamed
