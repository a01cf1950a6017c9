"""What a chapter of the story works with: clients, evidence, and the few things that chapters do again and again."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

from project.demo.clients import Browser, Service, View
from project.demo.evidence import Evidence
from project.demo.receiver import Receiver
from project.demo.story import Story

UNDECIDED = frozenset({"pending", "approved"})


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that waits for a person."""

    approval_id: str
    preview: Mapping[str, Any]

    @property
    def digest(self) -> str:
        return str(self.preview["digest"])

    @property
    def rows_by_table(self) -> dict[str, int]:
        """The previewed rows as the database counts them: `store.InvoiceLine:delete` is `store_invoiceline:delete`."""
        counts = self.preview["counts"]
        return {kind.lower().replace(".", "_", 1): n for kind, n in counts.items() if kind.startswith("store.")}

    @property
    def page(self) -> str:
        """Where the approver reads it."""
        return f"/admin/django_apcore/approvalrequest/{self.approval_id}/change/"


@dataclass
class World:
    base_url: str
    story: Story
    evidence: Evidence
    accounts: Mapping[str, Mapping[str, str]]
    receiver: Receiver
    patience_seconds: float = 60

    @cached_property
    def agent(self) -> Service:
        return Service(self.base_url, self.accounts["agent"]["token"])

    @cached_property
    def viewer(self) -> Service:
        return Service(self.base_url, self.accounts["viewer"]["token"])

    @cached_property
    def approver(self) -> Browser:
        return self.browser("approver")

    @cached_property
    def admin(self) -> Browser:
        return self.browser("admin")

    def browser(self, username: str) -> Browser:
        browser = Browser(self.base_url)
        page = browser.log_in(username, self.accounts[username]["password"])
        if page.page.has_button("Log in"):
            raise LookupError(f"{username} cannot log in")
        return browser

    def check(self, holds: bool, text: str, otherwise: object = "") -> None:
        self.story.check(holds, text, otherwise)

    def ask(self, module_id: str, inputs: Mapping[str, Any]) -> Pending:
        """Call an operation that needs approval, and check that it waits for one."""
        answer = self.agent.call(module_id, inputs)
        waits = answer.status == 202 and answer.code == "APPROVAL_PENDING"
        self.check(waits, f"{module_id}: 202, it waits for a person", answer)
        return Pending(answer.body["approval_id"], answer.body["preview"])

    def show(self, pending: Pending) -> None:
        """A few changes of each kind, for the reader."""
        per_kind: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for change in pending.preview["changes"]:
            per_kind.setdefault((change.get("x-kind", ""), change["action"]), []).append(change)
        shown = [change for changes in per_kind.values() for change in changes[:2]]
        self.story.show_changes(shown, pending.preview["total"])

    def request(self, approval_id: str) -> dict[str, Any]:
        """The request as its requester sees it."""
        answer = self.agent.get(f"approvals/{approval_id}/")
        if answer.status != 200:
            raise LookupError(f"approvals/{approval_id}/ answered {answer}")
        return dict(answer.body)

    def approve(self, pending: Pending, reason: str) -> View:
        """Read the request's page as the approver, tick what has to be acknowledged, and click Approve."""
        page = self.approver.open(pending.page)
        return self.approver.click(page, "Approve", {"reason": reason}, tick=True)

    def executed(self, pending: Pending) -> dict[str, Any]:
        """Wait for the worker, and check that it has executed the request."""
        request = self.outcome(pending.approval_id)
        status = request["status"]
        self.check(status == "consumed", "The worker has executed it", request.get("failure") or status)
        return request

    def reopened(self, request: Mapping[str, Any]) -> Pending:
        """The pending request that took the place of a superseded one."""
        successor = self.request(str(request["superseded_by"]))
        self.check(
            successor["status"] == "pending", "A new request waits, with the effect as it is now", successor["status"]
        )
        return Pending(successor["id"], successor["preview"])

    def outcome(self, approval_id: str) -> dict[str, Any]:
        """Wait until the worker has dealt with an approved request, and give it back."""
        deadline = time.monotonic() + self.patience_seconds
        while (request := self.request(approval_id))["status"] in UNDECIDED:
            if time.monotonic() > deadline:
                raise TimeoutError(f"The request is still {request['status']} after {self.patience_seconds:.0f} s")
            time.sleep(0.2)
        return request


Steps = tuple[Callable[[World], None], ...]
"""The steps of a chapter; each one's docstring is its title."""


class Chapter(Protocol):
    def steps(self) -> Steps: ...
