import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from project.demo.story import Story


@pytest.fixture
def story() -> Story:
    return Story(Console(file=io.StringIO(), width=100))


def test_no_step_is_no_success(story: Story) -> None:
    assert not story.ok


def test_a_broken_promise_ends_its_step_and_not_the_story(story: Story, tmp_path: Path) -> None:
    reached = []

    def broken() -> None:
        story.check(True, "first")
        story.check(False, "second", otherwise=[404])
        reached.append("never")

    story.tell("broken", "A step that does not hold", broken)
    story.tell("crashed", "A step that crashes", lambda: 1 / 0)
    story.tell("held", "A step that holds", lambda: story.check(True, "third"))
    story.figures["approval_id"] = "x"
    story.write(tmp_path / "var" / "report.json")

    report = json.loads((tmp_path / "var" / "report.json").read_text())
    assert not report["ok"]
    assert report["approval_id"] == "x"
    assert [(step["name"], step["ok"], step["checks"]) for step in report["steps"]] == [
        ("broken", False, ["first"]),
        ("crashed", False, []),
        ("held", True, ["third"]),
    ]
    assert report["steps"][0]["error"] == "Not so: second (instead: [404])"
    assert report["steps"][1]["error"].startswith("ZeroDivisionError")
    assert reached == []


def test_text_from_elsewhere_is_shown_as_it_is(story: Story) -> None:
    story.say("a [bold]password[/bold] with [brackets]")
    assert "[bold]password[/bold] with [brackets]" in story.console.file.getvalue()
