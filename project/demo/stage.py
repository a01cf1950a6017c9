"""Everything that has to stand before the story begins: database, sample data, accounts, web server, worker."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import requests

from project.demo.clients import local_session
from project.demo.processes import StartError, Supervisor, free_port, manage, web_server, worker
from project.demo.story import Story
from project.demo.workspace import Workspace, shown

Accounts = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Stage:
    base_url: str
    accounts: Accounts


def set_the_stage(story: Story, workspace: Workspace, supervisor: Supervisor, port: int) -> Stage:
    """Raises StartError when a part does not stand."""
    story.headline("Setting the stage")
    for notice in workspace.notices:
        story.warn(notice)
    accounts = fill_database(story, workspace)
    base_url = start_processes(story, workspace, supervisor, port)
    show_accounts(story, base_url, accounts)
    return Stage(base_url, accounts)


def show_accounts(story: Story, base_url: str, accounts: Accounts) -> None:
    people = [[name, who["password"], who["role"]] for name, who in accounts.items() if who["password"]]
    story.table(f"People, at {base_url}/admin/", ["user", "password", ""], people)
    tokens = [[name, who["token"]] for name, who in accounts.items() if who["token"]]
    story.table(f"Tokens, for {base_url}/api/apcore/", ["user", "token"], tokens)


def fill_database(story: Story, workspace: Workspace) -> Accounts:
    story.say(f"Making the database {shown(workspace.database)} and loading the music store")
    succeed(workspace, "migrate", "--verbosity=0")
    made = json.loads(succeed(workspace, "store_setup", "--json"))
    return {account["username"]: account for account in made["accounts"]}


def start_processes(story: Story, workspace: Workspace, supervisor: Supervisor, wanted: int) -> str:
    port = free_port(wanted)
    if port != wanted:
        story.warn(f"Port {wanted} is in use; the web server listens on port {port} instead.")
    base_url = f"http://127.0.0.1:{port}"
    story.say(f"Starting the web server on {base_url}")
    supervisor.start(web_server(workspace, port), lambda: answers(f"{base_url}/admin/login/"))
    story.say("Starting the Celery worker, with beat, over a queue of files")
    child = worker(workspace)
    supervisor.start(child, lambda: child.log.exists() and " ready." in child.log.read_text(errors="replace"))
    supervisor.watch()
    return base_url


def succeed(workspace: Workspace, *arguments: str) -> str:
    """The output of a `manage.py` command. Raises StartError with its last words when it fails."""
    done = manage(workspace, *arguments)
    if done.returncode != 0:
        raise StartError(f"manage.py {' '.join(arguments)} failed:\n{done.stderr[-2000:]}")
    return done.stdout


def answers(url: str) -> bool:
    try:
        with local_session() as session:
            return session.get(url, timeout=5).status_code == requests.codes.ok
    except requests.RequestException:
        return False
