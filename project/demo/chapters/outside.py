"""Effects beyond the database: mail that waits for the commit, and money that no preview can promise."""

import time

from project.demo.world import Steps, World

COUNTRY = "Brazil"
INVOICE = 98


class Outside:
    def steps(self) -> Steps:
        return self.notify, self.refund

    def notify(self, world: World) -> None:
        """Mail is part of the preview, and leaves only after the commit"""
        customers = world.evidence.value("SELECT count(*) FROM store_customer WHERE country = ?", COUNTRY)
        inputs = {"country": COUNTRY, "subject": "Opening hours", "body": "From May on we are open on Sundays."}
        pending = world.ask("store.customers.notify", inputs)
        sends = sorted(change["after"]["to"][0] for change in pending.preview["changes"] if change["action"] == "send")
        world.check(len(sends) == customers, f"The preview lists {customers} mails, recipient by recipient", sends)
        world.show(pending)
        world.check(world.evidence.mails() == [], "None of them was sent")
        world.approve(pending, "Text is approved by marketing")
        world.executed(pending)
        delivered = self.delivered(world, customers)
        world.check(
            delivered == sends, f"After the commit: {customers} mails delivered, each to its recipient", delivered
        )

    def delivered(self, world: World, expected: int) -> list[str]:
        """The recipients of all mails, once as many as expected have left or patience has ended."""
        deadline = time.monotonic() + world.patience_seconds
        while len(mails := world.evidence.mails()) < expected and time.monotonic() < deadline:
            time.sleep(0.2)
        return sorted(mail["To"] for mail in mails)

    def refund(self, world: World) -> None:
        """A payment cannot be previewed: the page says so, and one approval pays once"""
        inputs = {"invoice_id": INVOICE, "amount": "0.99", "reason": "The download was broken"}
        pending = world.ask("store.invoices.refund", inputs)
        world.check(pending.preview["provenance"] == "none", "The answer does not pretend to know the effect", pending)
        page = world.approver.open(pending.page)
        honest = "cannot be previewed" in page.text
        world.check(honest, "The page says: this action cannot be previewed", page.text[:600])
        world.check("Charge the card again" in page.text, "It also says what can be done about it afterwards")
        world.approve(pending, "Complaint checked")
        request = world.outcome(pending.approval_id)
        world.check(request["status"] == "consumed", "The worker has executed it", request)
        keys = [payment["key"] for payment in world.evidence.payments()]
        world.check(keys == [pending.approval_id], "The gateway paid once, under the approval's ID", keys)
