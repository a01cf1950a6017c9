"""Takes the pictures of the manual: a site over the demo's data, driven in Chromium.

    make screenshots

Needs Chromium (`apt-get install chromium`). The pictures go to docs/images.
"""

import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from project.demo.clients import Service
from project.demo.site import running_site
from tests.services import chromium

IMAGES = Path(__file__).parent / "images"
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
PATIENCE_MS = 60_000
QUEUE = "/admin/django_apcore/approvalrequest/"


@dataclass(frozen=True, slots=True)
class Camera:
    """Logs in as the approver, opens pages and takes pictures of them."""

    browser: Browser
    base_url: str
    password: str

    def open(self, path: str, *, width: int = 1280, height: int = 1000, scheme: Any = "light") -> Page:
        page = self.browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(f"{self.base_url}/admin/login/?next={path}")
        page.fill("#id_username", "approver")
        page.fill("#id_password", self.password)
        page.click("[type=submit]")
        page.wait_for_load_state("networkidle")
        return page

    def take(self, name: str, page: Page) -> None:
        """Save what is in the window, and close it."""
        page.screenshot(path=IMAGES / f"{name}.png")
        print(f"docs/images/{name}.png")
        page.close()


def main() -> int:
    path = chromium()
    if path is None:
        print("Chromium is not there; apt-get install chromium")
        return 1
    IMAGES.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_site(Path(folder)) as (stage, workspace),
        sync_playwright() as play,
    ):
        browser = play.chromium.launch(executable_path=path, args=FLAGS)
        agent = Service(stage.base_url, stage.accounts["agent"]["token"])
        camera = Camera(browser, stage.base_url, stage.accounts["approver"]["password"])
        shoot(camera, ask(agent), workspace.database)
        browser.close()
    return 0


def ask(agent: Service) -> Mapping[str, str]:
    """One request of each sort, and the page of each."""
    calls: Mapping[str, tuple[str, dict[str, Any]]] = {
        "drift": ("store.catalogue.reprice", {"genre": "Blues", "percent": 10}),
        "reprice": ("store.catalogue.reprice", {"genre": "Rock", "percent": 10}),
        "merge": ("store.playlists.merge", {"source_id": 16, "target_id": 17}),
        "refund": ("store.invoices.refund", {"invoice_id": 98, "amount": "3.98", "reason": "Damaged download"}),
        "notify": (
            "store.customers.notify",
            {"country": "Canada", "subject": "Summer sale", "body": "All of rock is ten per cent off until Sunday."},
        ),
        "erase": ("store.customers.erase", {"customer_id": 11}),
    }
    answers = {name: agent.call(module_id, inputs) for name, (module_id, inputs) in calls.items()}
    return {name: f"{QUEUE}{answer.body['approval_id']}/change/" for name, answer in answers.items()}


def shoot(camera: Camera, pages: Mapping[str, str], database: Path) -> None:
    change(database, AFTERNOON)  # requests of one afternoon instead of one second
    camera.take("approval-queue", camera.open(QUEUE, height=640))
    camera.take("approval-page", camera.open(pages["erase"], height=1180))
    camera.take("approval-page-dark", camera.open(pages["erase"], height=1180, scheme="dark"))
    camera.take("approval-page-narrow", camera.open(pages["erase"], width=360, height=2200))
    camera.take("approval-page-mail", camera.open(pages["notify"], height=1180))
    camera.take("approval-page-no-preview", camera.open(pages["refund"], height=900))
    camera.take("approval-page-decided", decide(camera.open(pages["erase"], height=1000)))
    camera.take("approval-page-drift", drift(camera.open(pages["drift"], height=1100), database))


AFTERNOON = """
UPDATE django_apcore_approvalrequest SET
    created_at = datetime(created_at, '-' || (rowid * rowid * 3) || ' minutes'),
    measured_at = datetime(measured_at, '-' || (rowid * rowid * 3) || ' minutes')
"""
OTHER_PRICES = """
UPDATE store_track SET unit_price = 1.49 WHERE id IN (
    SELECT track.id FROM store_track track JOIN store_genre genre ON genre.id = genre_id
    WHERE genre.name = 'Blues' LIMIT 2
)
"""


def change(database: Path, sql: str) -> None:
    with sqlite3.connect(database, timeout=30) as connection:
        connection.execute(sql)


def decide(page: Page) -> Page:
    page.get_by_label("Reason").fill("The customer asked for it in writing, ticket 4711.")
    page.get_by_label("I understand").check()
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Approved and executed")).to_be_visible(timeout=PATIENCE_MS)
    return page


def drift(page: Page, database: Path) -> Page:
    """A track gets another price while the approver reads."""
    change(database, OTHER_PRICES)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Replaced by a newer request")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("link", name="Go to the request that took its place").click()
    page.wait_for_load_state("networkidle")
    return page


if __name__ == "__main__":
    sys.exit(main())
