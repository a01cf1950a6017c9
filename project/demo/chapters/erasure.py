"""The promise: what the approver saw is what commits."""

import json
from collections.abc import Mapping
from typing import Any

from project.demo.world import Pending, Steps, World

CUSTOMER = 5
ERASE = "store.customers.erase"


class Erasure:
    """Customer 5 asks to be forgotten: one request, from the agent's call to the collected result."""

    pending: Pending

    def steps(self) -> Steps:
        return self.ask, self.sign, self.collect

    def ask(self, world: World) -> None:
        """A service asks to erase a customer, and gets a measured preview"""
        before = world.evidence.snapshot()
        self.pending = world.ask(ERASE, {"customer_id": CUSTOMER})
        preview = self.pending.preview
        measured = preview["provenance"] == "measured" and preview["complete"]
        world.check(measured, "The preview is a measurement: the operation ran, and was rolled back", preview)
        world.show(self.pending)
        untouched = world.evidence.rows_changed_since(before)
        world.check(untouched == {}, "The database has not changed by a single row", untouched)

    def sign(self, world: World) -> None:
        """An approver reads the diff and approves; a worker executes exactly that"""
        page = world.approver.open(self.pending.page)
        measured = "Measured" in page.text and "not measured" not in page.text
        world.check(measured, "The page says that the effect was measured", page.text[:600])
        revenue, before = world.evidence.revenue(), world.evidence.snapshot()
        world.approve(self.pending, "The customer's request is on file")
        request = world.executed(self.pending)
        self.compare(world, request, world.evidence.rows_changed_since(before))
        kept = world.evidence.revenue()
        world.check(kept == revenue, f"The accounting totals still come to {revenue}", kept)

    def compare(self, world: World, request: Mapping[str, Any], changed: Mapping[str, int]) -> None:
        """Digest against digest, and the preview's counts against the database's."""
        approved, committed = self.pending.digest, request["committed_digest"]
        predicted = self.pending.rows_by_table
        world.story.figures |= {
            "module_id": ERASE,
            "approval_id": self.pending.approval_id,
            "approved_digest": approved,
            "committed_digest": committed,
            "rows_predicted": sum(predicted.values()),
            "rows_changed": sum(changed.values()),
            "rows_changed_by_table": dict(changed),
        }
        world.story.say(f"approved   {approved}")
        world.story.say(f"committed  {committed}")
        world.check(committed == approved, "What was committed is, digest for digest, what was approved")
        world.check(changed == predicted, f"The database counts the same {sum(changed.values())} rows", changed)

    def collect(self, world: World) -> None:
        """The service collects the result, once; its token is good for nothing else"""
        token = self.pending.approval_id
        other = world.agent.call(ERASE, {"customer_id": CUSTOMER + 1}, approval=token)
        world.check(other.status in {403, 409}, f"The token with another customer: {other.status}, refused", other)
        result = world.agent.call(ERASE, {"customer_id": CUSTOMER}, approval=token)
        told = json.dumps(result.body.get("result"))
        world.check(result.status == 200, f"The token with its own call: 200, {told}", result)
        again = world.agent.call(ERASE, {"customer_id": CUSTOMER}, approval=token)
        world.check(again.status == 409, "The token a second time: 409, it is used up", again)
