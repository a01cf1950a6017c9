from __future__ import annotations

from typing import Any

import pytest

from apcore.middleware import Middleware
from apcore.middleware.layers import Layer, Onion


class Plain(Middleware):
    def before(self, *_: Any) -> None:
        """Look."""

    def after(self, *_: Any) -> None:
        """Look."""


class Waits(Middleware):
    async def before(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        """Look."""

    async def after(self, *_: Any) -> None:  # type: ignore[override]  # it may be async
        """Look."""


class Tells(Middleware):
    """It has no hook on the way in and none on the way out."""

    def on_error(self, *_: Any) -> None:
        """Look."""


class Around:
    async def around_call(self, *_: Any) -> None:
        """Look."""


def onion(kinds: str) -> Onion:
    made = {"p": Plain, "w": Waits, "t": Tells, "a": Around}
    return Onion(Layer.of(made[kind](), f"{kind}{index}", 500) for index, kind in enumerate(kinds))


@pytest.mark.parametrize(
    ("kinds", "way_in", "way_out"),
    [
        ("", [[]], [[]]),
        ("ppt", [["p0", "p1", "t2"], ["p1", "t2"], ["t2"], []], [[], ["p0"], ["p1", "p0"], ["t2", "p1", "p0"]]),
        ("pwp", [["p0"], [], ["p2"], []], [[], ["p0"], [], ["p2"]]),
        ("apa", [["p1"], []], [[], ["p1"]]),
    ],
)
def test_from_each_depth_on_the_plain_layers_up_to_the_next_that_is_waited_for(
    kinds: str, way_in: list[list[str]], way_out: list[list[str]]
) -> None:
    made = onion(kinds)
    assert [[layer.id for _, layer, _ in each] for each in made.plain_in] == way_in
    assert [[layer.id for _, layer, _ in each] for each in made.plain_out] == way_out


def test_each_knows_how_deep_it_leads_and_which_hook_is_called() -> None:
    made = onion("pt")
    assert [(depth, hook is None) for depth, _, hook in made.plain_in[0]] == [(1, False), (2, True)]
    assert [(depth, hook is None) for depth, _, hook in made.plain_out[2]] == [(1, True), (0, False)]
