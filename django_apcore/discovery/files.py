"""The modules that one Python file of an app defines, and their IDs."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from apcore.discovery import FoundModule, function_modules, load_metadata, module_classes, module_instances
from apcore.ids import snake_case, validate_canonical_id
from apcore.modules import NO_COMPANION, FunctionModule, own_id


def modules_of(python: ModuleType, path: tuple[str, ...], *, is_directory: bool) -> Iterator[FoundModule]:
    """The modules that a Python module defines: decorated functions, module classes and instances of such.

    A module says its ID (`id`, or the attribute `module_id`), or the place gives it: `path` and the name of the
    function or variable. A class has the ID of its file, if it is the only one there (`path`, §2.1); otherwise, and in
    a file that stands for a directory, the name of the class is added (§2.1.1). Raises InvalidModuleIdError, and
    ModuleLoadError for a metadata file (`{file}_meta.yaml`) that is wrong.
    """
    classes = {each.__name__: each for each in module_classes(python)}
    candidates: dict[str, Any] = {**classes, **module_instances(python), **function_modules(python)}
    is_alone = not is_directory and len(candidates) == 1
    file = str(python.__file__)
    companion = NO_COMPANION if Path(file).stem == "__init__" else load_metadata(file)
    for name, value in sorted(candidates.items(), key=lambda each: _position(each[1], python)):
        has_file_id = is_alone and inspect.isclass(value)
        module_id = _own_id(value) or ".".join(path if has_file_id else (*path, snake_case(name)))
        validate_canonical_id(module_id)
        yield FoundModule(module_id, value, file, companion)


def _position(value: Any, python: ModuleType) -> int:
    """As the file has them."""
    return next(index for index, each in enumerate(vars(python).values()) if each is value)


def _own_id(value: Any) -> str | None:
    """The ID that an author gave, None where the place decides."""
    if isinstance(value, FunctionModule):
        return own_id(value)
    declared: str | None = getattr(value, "module_id", None)
    return declared
