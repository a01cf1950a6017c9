"""What one check found."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from django.db import connections

Status = Literal["ok", "warn", "error"]
ORDER: Final[tuple[Status, ...]] = ("ok", "warn", "error")


@dataclass(frozen=True, slots=True)
class Finding:
    """`sentence` says what is the case and, unless all is well, what to do. `figures` are what it was read from."""

    name: str
    status: Status
    sentence: str
    figures: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The finding as JSON."""
        return {**asdict(self), "figures": dict(self.figures)}


def within(seconds: float, name: str, find: Callable[[], Finding], otherwise: str) -> Finding:
    """What `find` says, in a thread of its own; `otherwise` is the sentence if it takes longer than that.

    Whoever asks for health must get an answer, also when what is asked for hangs. An error is told by its kind: its
    text may name hosts and users.
    """
    answer: list[Finding] = []

    def ask() -> None:
        try:
            answer.append(find())
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is the finding
            answer.append(Finding(name, "error", f"{otherwise} ({type(error).__name__})"))
        finally:
            connections.close_all()

    thread = threading.Thread(target=ask, name=f"apcore-health-{name}", daemon=True)
    thread.start()
    thread.join(seconds)
    return answer[0] if answer else Finding(name, "error", f"{otherwise} (no answer within {seconds:g} s)")
