"""The world moves between the preview and the signature."""

from project.demo.clients import View
from project.demo.world import Pending, Steps, World

REPRICE = "store.catalogue.reprice"
TRACK = 1


class Repricing:
    """All Rock gets dearer, but somebody changes one of those tracks while the request waits."""

    pending: Pending
    stale_page: View

    def steps(self) -> Steps:
        return self.ask_for_many, self.drift, self.sign_again

    def ask_for_many(self, world: World) -> None:
        """A bulk price change over a whole genre is previewed track by track"""
        tracks = world.evidence.value("SELECT count(*) FROM store_track WHERE genre_id = 1")
        self.pending = world.ask(REPRICE, {"genre": "Rock", "percent": 10})
        counted = self.pending.rows_by_table
        world.check(counted == {"store_track:update": tracks}, f"The preview has all {tracks} tracks", counted)
        world.show(self.pending)
        self.stale_page = world.approver.open(self.pending.page)

    def drift(self, world: World) -> None:
        """A row is changed between preview and approval: nothing commits, and the approver is asked anew"""
        self.correct_a_price(world)
        before = world.evidence.snapshot()
        world.approver.click(self.stale_page, "Approve", {"reason": "As discussed"}, tick=True)
        request = world.outcome(self.pending.approval_id)
        world.check(
            request["status"] == "superseded", "The worker found another effect, and rolled back", request["status"]
        )
        changed = world.evidence.rows_changed_since(before)
        world.check(changed == {}, "The database has not changed by a single row", changed)
        self.pending = world.reopened(request)
        world.story.say(f"A new request takes its place: {self.pending.approval_id}")

    def correct_a_price(self, world: World) -> None:
        form = world.admin.open(f"/admin/store/track/{TRACK}/change/")
        world.admin.click(form, "Save", {"unit_price": "1.49"})
        price = world.evidence.value("SELECT unit_price FROM store_track WHERE id = ?", TRACK)
        world.check(price == 1.49, "Meanwhile the admin corrects the price of one Rock track to 1.49", price)

    def sign_again(self, world: World) -> None:
        """The new request shows what is different; approved, it commits"""
        page = world.approver.open(self.pending.page)
        world.check("1.49" in page.text, "The new page shows the track that has changed", page.text[:600])
        before = world.evidence.snapshot()
        world.approve(self.pending, "Seen: one track had another price")
        request = world.executed(self.pending)
        world.check(request["committed_digest"] == self.pending.digest, "Committed is what the second page showed")
        changed = world.evidence.rows_changed_since(before)
        world.check(changed == self.pending.rows_by_table, f"The database counts {sum(changed.values())} rows", changed)
