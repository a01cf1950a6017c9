"""Running the place: an operation is switched off, another program hears of it, and it is switched on again."""

import secrets
import time

from project.demo.world import Steps, World

TOGGLE = "system.control.toggle_feature"
REFUND = "store.invoices.refund"
GRANTED, TOGGLED = "apcore.approval.granted", "apcore.module.toggled"
INPUTS = {"invoice_id": 98, "amount": "0.99", "reason": "The cover was torn"}


class Operation:
    def __init__(self) -> None:
        self.secret = secrets.token_urlsafe(24)

    def steps(self) -> Steps:
        return self.subscribe, self.switch_off, self.hear, self.switch_on

    def subscribe(self, world: World) -> None:
        """Another program wants to be told: it gets a webhook, and a secret"""
        form = world.admin.open("/admin/django_apcore/webhooksubscriber/add/")
        types = f"apcore.approval.*\n{TOGGLED}"
        answers = {"name": "Shop window", "url": world.receiver.url, "secret": self.secret, "types": types}
        page = world.admin.click(form, "Save", answers)
        world.check("was added successfully" in page.text, "The admin has saved its address", page.text[-600:])
        stored = world.evidence.value("SELECT secret_encrypted FROM django_apcore_webhooksubscriber")
        world.check(self.secret not in stored, "The database keeps the secret encrypted")

    def switch_off(self, world: World) -> None:
        """Switching an operation off is an operation, too: previewed, and signed"""
        inputs = {"module_id": REFUND, "enabled": False, "reason": "The payment gateway is being serviced"}
        pending = world.ask(TOGGLE, inputs)
        world.show(pending)
        world.approve(pending, "Announced by the gateway")
        request = world.executed(pending)
        world.check(request["committed_digest"] == pending.digest, "What was committed is what was approved", request)
        world.check(self.is_offered(world, hoped_for=False) is False, "The web server knows it within a second")
        answer = world.agent.call(REFUND, INPUTS)
        world.check(answer.code == "MODULE_DISABLED", f"A refund now: {answer.status}, MODULE_DISABLED", answer)

    def hear(self, world: World) -> None:
        """The other program was told, and knows by whom"""
        world.receiver.wait_for(GRANTED, world.patience_seconds)  # two workers may send in any order
        deliveries = world.receiver.wait_for(TOGGLED, world.patience_seconds)
        told = sorted({delivery.event["type"] for delivery in deliveries})
        world.check({GRANTED, TOGGLED} <= set(told), f"It was told of {', '.join(told)}", told)
        signed = all(delivery.is_signed_with(self.secret) for delivery in deliveries)
        world.check(signed, f"All {len(deliveries)} deliveries carry its signature", deliveries)
        forged = any(delivery.is_signed_after_a_change(self.secret) for delivery in deliveries)
        world.check(not forged, "With one more blank in the body, no signature fits")
        world.story.figures["webhook_deliveries_verified"] = len(deliveries)

    def switch_on(self, world: World) -> None:
        """A person may do it by hand, on the admin's page of toggles"""
        row = world.evidence.value("SELECT id FROM django_apcore_toggle WHERE module_id = ?", REFUND)
        form = world.admin.open(f"/admin/django_apcore/toggle/{row}/change/")
        world.admin.click(form, "Save", {"enabled": "on", "reason": "The gateway is back"})
        world.check(self.is_offered(world, hoped_for=True), "Refunds can be asked for again")

    def is_offered(self, world: World, *, hoped_for: bool) -> bool:
        """Whether a refund could be asked for; a switch may take a second to reach every process."""
        deadline = time.monotonic() + world.patience_seconds
        while True:
            valid = world.agent.post(f"modules/{REFUND}/validate/", {"inputs": INPUTS}).body["valid"]
            if valid is hoped_for or time.monotonic() > deadline:
                return bool(valid)
            time.sleep(0.1)
