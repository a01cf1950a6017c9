"""Those who may look but not sign, and those who say no."""

from project.demo.world import Pending, Steps, World

MERGE = "store.playlists.merge"
GRUNGE, NINETIES = 16, 5


class Playlists:
    pending: Pending

    def steps(self) -> Steps:
        return self.look_only, self.reject

    def look_only(self, world: World) -> None:
        """Whoever may only view sees the request without buttons, and cannot sign by other means"""
        self.pending = world.ask(MERGE, {"source_id": GRUNGE, "target_id": NINETIES})
        viewer = world.browser("viewer")
        seen = viewer.open(self.pending.page)
        world.check(seen.status == 200 and MERGE in seen.text, "The viewer can read the request", seen.status)
        world.check(not seen.page.has_button("Approve"), "There is no Approve button on their page")
        forged = viewer.forge(world.approver.open(self.pending.page), "Approve", own=seen)
        world.check(forged.status == 403, "The approver's form, sent by the viewer: 403", forged.status)
        status = world.request(self.pending.approval_id)["status"]
        world.check(status == "pending", "The request is still pending", status)

    def reject(self, world: World) -> None:
        """An approver says no, and why; nothing happens"""
        before = world.evidence.snapshot()
        page = world.approver.open(self.pending.page)
        world.approver.click(page, "Reject", {"reason": "Grunge stays a list of its own"})
        status = world.request(self.pending.approval_id)["status"]
        world.check(status == "rejected", "The request is rejected", status)
        token = self.pending.approval_id
        answer = world.agent.call(MERGE, {"source_id": GRUNGE, "target_id": NINETIES}, approval=token)
        refused = answer.status == 403 and answer.code == "APPROVAL_DENIED"
        world.check(refused, "The agent's retry: 403, APPROVAL_DENIED", answer)
        changed = world.evidence.rows_changed_since(before)
        world.check(changed == {}, "The database has not changed by a single row", changed)
