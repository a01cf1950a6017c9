"""The demo's site without its story, for whoever needs one that runs: browser tests and screenshots."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from project.demo.processes import Supervisor
from project.demo.stage import Stage, set_the_stage
from project.demo.story import Story
from project.demo.workspace import Workspace, try_lock

FIRST_PORT = 8400


@contextmanager
def running_site(folder: Path) -> Iterator[tuple[Stage, Workspace]]:
    """A web server and a worker over a fresh database in `folder`, ended with the block.

    Raises StartError when a part does not stand, and RuntimeError when the folder is in use.
    """
    lock = try_lock(folder)
    if lock is None:
        raise RuntimeError(f"{folder} is in use")
    story = Story(Console(file=io.StringIO()))
    supervisor = Supervisor(say=story.warn)
    workspace = Workspace(folder, lock, ())
    try:
        yield set_the_stage(story, workspace, supervisor, FIRST_PORT), workspace
    finally:
        supervisor.stop()
        lock.close()
