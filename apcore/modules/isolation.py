"""How far a module is kept apart from others, and what it may use (§5.2, §5.5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from apcore import errors

IsolationLevel = Literal["none", "process", "container"]
FileAccess = Literal["readonly", "readwrite", "none"]

DEFAULT_TIMEOUT_MS: Final = 30_000


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """The limits of one execution: milliseconds, bytes and cores; None is no limit (§5.5).

    Only the timeout is enforced here; memory and cores are stated for whoever runs the process. Raises ValueError.
    """

    timeout_ms: int = DEFAULT_TIMEOUT_MS
    memory_bytes: int | None = None
    cpu_cores: float | None = None

    def __post_init__(self) -> None:
        for name in ("timeout_ms", "memory_bytes", "cpu_cores"):
            value = getattr(self, name)
            is_number = isinstance(value, int | float if name == "cpu_cores" else int) and not isinstance(value, bool)
            if not (is_number and value > 0) and not (value is None and name != "timeout_ms"):
                raise ValueError(f"{name} must be a positive number, not {value!r}")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ResourceLimits:
        """Read `timeout`, `memory_limit` (or `memory`) and `cpu`. Raises ValueError for anything else."""
        unknown = sorted(str(key) for key in data.keys() - {"timeout", "memory_limit", "memory", "cpu"})
        if unknown:
            raise ValueError(f"resources has no {', '.join(unknown)}")
        timeout = data.get("timeout")
        return cls(
            DEFAULT_TIMEOUT_MS if timeout is None else timeout,
            data.get("memory_limit", data.get("memory")),
            data.get("cpu"),
        )


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What an isolated module may reach (§5.5). Raises ValueError for an unknown kind of access to files."""

    network: bool = True
    filesystem: FileAccess = "readonly"
    allowed_paths: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.filesystem not in get_args(FileAccess):
            raise ValueError(f"filesystem is one of {', '.join(get_args(FileAccess))}, not {self.filesystem!r}")


@dataclass(frozen=True, slots=True)
class Isolation:
    """How a module is isolated: not at all, which is the one level that is offered (§5.5).

    Raises NotImplementedError (GENERAL_NOT_IMPLEMENTED) for the levels `process` and `container`, so that nobody
    believes to be protected who is not, and ValueError for a name that the protocol does not know.
    """

    level: IsolationLevel = "none"
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    sandbox: Sandbox = field(default_factory=Sandbox)

    def __post_init__(self) -> None:
        if self.level not in get_args(IsolationLevel):
            raise ValueError(f"isolation is one of {', '.join(get_args(IsolationLevel))}, not {self.level!r}")
        if self.level != "none":
            raise errors.NotImplementedError(
                f"Modules cannot be isolated in a {self.level}", details={"isolation": self.level}
            )
