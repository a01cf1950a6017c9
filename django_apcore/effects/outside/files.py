"""Files that a run would write, move or remove."""

import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

Target = str | None

_WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _opened(args: tuple[Any, ...]) -> Target:
    path, _mode, flags = args
    if isinstance(path, int) or not flags & _WRITING:
        return None
    found = os.path.realpath(os.fsdecode(path))
    # a directory cannot be written: this is a file without a name, or an opener that asks again with the name;
    # and a pipe, as standard output often is, is open already
    return None if Path(found).is_dir() or (found.startswith("/proc/") and ":[" in found) else _kept(found)


def _made(args: tuple[Any, ...]) -> Target:
    """`os.mkdir`: a directory that is there already stays what it is."""
    path = _resolved(args[0], args[2])
    return None if path is None or os.path.lexists(path) else _kept(path)


def _removed(args: tuple[Any, ...]) -> Target:
    path = _resolved(args[0], args[1])
    return _kept(path) if path is not None and os.path.lexists(path) else None


def _touched(args: tuple[Any, ...]) -> Target:
    path = _resolved(args[0], -1)
    return _kept(path) if path is not None and os.path.lexists(path) else None


def _moved(args: tuple[Any, ...]) -> Target:
    """`os.rename` and `os.link`: both ends, and the directories that they may be relative to."""
    return _kept(_resolved(args[0], args[2])) or _kept(_resolved(args[1], args[3]))


def _linked(args: tuple[Any, ...]) -> Target:
    return _kept(_resolved(args[1], args[2]))


JUDGES: Final[dict[str, Callable[[tuple[Any, ...]], Target]]] = {
    "open": _opened,
    "os.mkdir": _made,
    "os.remove": _removed,
    "os.rmdir": _removed,
    "os.rename": _moved,
    "os.link": _moved,
    "os.symlink": _linked,
    "os.truncate": _touched,
    "os.chmod": _touched,
    "os.chown": _touched,
    "os.utime": _touched,
    "os.setxattr": _touched,
    "os.removexattr": _touched,
}


def _kept(path: str | None) -> Target:
    """The path, unless nobody would miss it: a device, a temporary file, a cache."""
    if path is None or "__pycache__" in path or path.startswith(_scratch()):
        return None
    own = tempfile.tempdir
    return None if own is not None and path.startswith(_directory(os.fsdecode(own))) else path


def _resolved(path: Any, directory: int) -> str | None:
    """Where it is: the path of a link, not of what it points to. None for an open file, or where that is not known."""
    if isinstance(path, int):
        return None
    parent, name = os.path.split(os.fsdecode(path))
    if directory >= 0 and not parent.startswith("/"):
        try:
            parent = str(Path(f"/proc/self/fd/{directory}").readlink() / parent)
        except OSError:
            return None
    return os.path.realpath(parent) + "/" + name


@cache
def _scratch() -> tuple[str, ...]:
    """Directories for what may be gone tomorrow."""
    places = ["/dev", os.environ.get("XDG_CACHE_HOME"), sys.pycache_prefix]
    with suppress(RuntimeError):  # nobody's home
        places.append(str(Path("~/.cache").expanduser()))
    with suppress(OSError):  # there is no place that can be written
        places.append(tempfile.gettempdir())
    return tuple(_directory(place) for place in places if place)


def know_scratch() -> None:
    """Look the places up before a run does: the search for the directory of temporary files writes one."""
    _scratch()


def _directory(path: str) -> str:
    return os.path.join(os.path.realpath(path), "")  # noqa: PTH118 - with its last separator
