"""Who gets in, and what is refused before anybody is asked."""

from project.demo.clients import Browser, Service
from project.demo.world import Steps, World


class Access:
    def steps(self) -> Steps:
        return self.wrong_token, self.wrong_password, self.free_to_read, self.wrong_inputs, self.denied_caller

    def wrong_token(self, world: World) -> None:
        """A wrong token opens nothing"""
        stranger = Service(world.base_url, "0" * 40)
        answer = stranger.call("store.catalogue.search", {"query": "Rock"})
        world.check(answer.status == 401, "A call with a token that nobody has: 401", answer)

    def wrong_password(self, world: World) -> None:
        """A wrong password opens nothing either"""
        browser = Browser(world.base_url)
        answer = browser.log_in("approver", "not the password")
        world.check(answer.page.has_button("Log in"), "The admin shows the login page again", answer.url)
        queue = browser.open("/admin/django_apcore/approvalrequest/")
        world.check("/login/" in queue.url, "The queue of approval requests is not shown", queue.url)

    def free_to_read(self, world: World) -> None:
        """Reading needs no approval"""
        answer = world.agent.call("store.catalogue.search", {"query": "Koyaanisqatsi"})
        found = answer.body["result"].get("total") if answer.status == 200 else answer
        world.check(found == 1, "The agent searches for Koyaanisqatsi: 200, one track", found)

    def wrong_inputs(self, world: World) -> None:
        """Wrong inputs are refused before a person is bothered"""
        waiting = requests_on_file(world)
        answer = world.agent.call("store.catalogue.reprice", {"genre": "Rock", "percent": "ten"})
        wrong = answer.code == "SCHEMA_VALIDATION_ERROR" and 400 <= answer.status < 500
        world.check(wrong, f'percent is "ten": {answer.status}, SCHEMA_VALIDATION_ERROR, nothing is coerced', answer)
        paths = [error.get("path") for error in answer.body.get("errors", [])]
        world.check(paths == ["/percent"], "The answer names the field: /percent", paths)
        world.check(requests_on_file(world) == waiting, "No approval request was opened")

    def denied_caller(self, world: World) -> None:
        """A caller without a rule learns only that"""
        waiting = requests_on_file(world)
        answer = world.viewer.call("store.customers.erase", {"customer_id": 5})
        world.check(
            answer.status == 403 and answer.code == "ACL_DENIED", "The viewer's token may not erase: 403", answer
        )
        silent = not {"preview", "predicted_changes"} & set(answer.body)
        world.check(silent and requests_on_file(world) == waiting, "No preview ran for them, no request was opened")


def requests_on_file(world: World) -> int:
    return int(world.evidence.value("SELECT count(*) FROM django_apcore_approvalrequest"))
