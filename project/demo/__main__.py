"""The guided demonstration, from an empty folder to an audit trail that verifies."""

import signal
import sys
import time
from functools import partial
from types import FrameType

from rich.console import Console
from rich.text import Text

from project.demo.chapters import Access, Erasure, Figures, Operation, Outside, Playlists, Reports, Repricing
from project.demo.evidence import Evidence
from project.demo.options import Options, read_options
from project.demo.processes import StartError, Supervisor
from project.demo.receiver import Receiver, listening_receiver
from project.demo.stage import set_the_stage, show_accounts
from project.demo.story import Story
from project.demo.workspace import REPORT, Workspace, open_workspace, shown
from project.demo.world import Chapter, World

INTERRUPTED = 130


def main() -> int:
    """Returns the exit status: 0 when every step held, 1 when one did not, 2 when it could not start."""
    console = Console(highlight=False, soft_wrap=False)
    try:
        options = read_options()
    except ValueError as error:
        console.print(str(error), style="bold red", markup=False)
        return 2
    listen_for_signals()
    REPORT.unlink(missing_ok=True)
    story = Story(console)
    supervisor = Supervisor(say=story.warn)
    try:
        with listening_receiver() as receiver:
            return run(story, supervisor, open_workspace(), options, receiver)
    except StartError as error:
        console.print(str(error), style="bold red", markup=False)
        return 2
    except KeyboardInterrupt:
        console.print("\nInterrupted.", style="yellow")
        return INTERRUPTED
    finally:
        end(console, supervisor)


def run(story: Story, supervisor: Supervisor, workspace: Workspace, options: Options, receiver: Receiver) -> int:
    stage = set_the_stage(story, workspace, supervisor, options.port)
    world = World(stage.base_url, story, Evidence(workspace), stage.accounts, receiver)
    story.figures |= {"url": stage.base_url, "database": shown(workspace.database)}
    tell(world)
    story.write(REPORT)
    show_result(story)
    if options.serve:
        serve(story, world)
    return 0 if story.ok else 1


def tell(world: World) -> None:
    for chapter in (Access(), Erasure(), Repricing(), Outside(), Playlists(), Reports(), Operation()):
        tell_chapter(world, chapter)
    world.story.tell("leave_pending", "A last request is left for you", partial(leave_one_pending, world))
    tell_chapter(world, Figures())


def tell_chapter(world: World, chapter: Chapter) -> None:
    for step in chapter.steps():
        world.story.tell(step.__name__, step.__doc__ or step.__name__, partial(step, world))


def leave_one_pending(world: World) -> None:
    pending = world.ask("store.playlists.merge", {"source_id": 8, "target_id": 1})
    world.story.figures["left_pending"] = {"approval_id": pending.approval_id, "url": world.base_url + pending.page}
    world.show(pending)
    world.check(True, f"It would change {pending.preview['total']} rows, and waits to be read")


def show_result(story: Story) -> None:
    story.headline("Result")
    held = sum(step.ok for step in story.steps)
    style = "bold green" if story.ok else "bold red"
    story.console.print(f"  {held} of {len(story.steps)} steps held. The report is {shown(REPORT)}.", style=style)


def serve(story: Story, world: World) -> None:
    """Keep everything running until the reader has seen enough."""
    story.headline("Your turn")
    left = story.figures.get("left_pending", {}).get("url")
    show_accounts(story, world.base_url, world.accounts)
    if left:
        story.say("A request waits for you to read, and to approve or reject:")
        story.console.print(f"  {left}", style="bold cyan", soft_wrap=True)
    if token := world.accounts.get("agent", {}).get("token"):
        story.say("What the agent may call:")
        command = f"curl -H 'Authorization: Token {token}' {world.base_url}/api/apcore/modules/"
        story.console.print(Text(f"  {command}", style="cyan"), soft_wrap=True)
    story.say("Ctrl-C ends the web server and the worker.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        story.console.print()


def end(console: Console, supervisor: Supervisor) -> None:
    """End the children; a second Ctrl-C must not leave them behind."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if supervisor.children:
        console.print("  Ending the web server and the worker.", style="dim")
        supervisor.stop()


def listen_for_signals() -> None:
    """Every way of ending the demo takes its children along. What runs under nohup goes on when the terminal closes."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, interrupt)


def interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
