"""Chromium in front of the real site: a web server, a worker, and people who read, click, press keys and err."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect, sync_playwright

from project.demo.clients import Service
from project.demo.site import running_site

pytestmark = pytest.mark.browser

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
STRICT_POLICY = "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
PATIENCE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Site:
    """The running site, the people who may log in, and the service that asks for operations."""

    url: str
    database: Path
    passwords: Mapping[str, str]
    agent: Service

    def ask(self, module_id: str, /, **inputs: Any) -> str:
        """Have the service ask for an operation, and return the ID of the request that waits."""
        answer = self.agent.call(module_id, inputs)
        assert answer.status == 202, answer
        return str(answer.body["approval_id"])

    def page_of(self, approval_id: str) -> str:
        return f"{self.url}/admin/django_apcore/approvalrequest/{approval_id}/change/"

    def status(self, approval_id: str) -> str:
        return str(self.agent.get(f"approvals/{approval_id}/").body["status"])

    def value(self, sql: str) -> Any:
        with sqlite3.connect(self.database, timeout=30) as connection:
            return connection.execute(sql).fetchone()[0]

    def decisions_on(self, approval_id: str) -> int:
        where = f"request_id = '{approval_id.replace('-', '')}'"
        return int(self.value(f"SELECT count(*) FROM django_apcore_approvaldecision WHERE {where}"))

    def change(self, sql: str) -> None:
        with sqlite3.connect(self.database, timeout=30) as connection:
            connection.executescript(sql)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as (stage, workspace):
        passwords = {name: account["password"] for name, account in stage.accounts.items() if account["password"]}
        agent = Service(stage.base_url, stage.accounts["agent"]["token"])
        yield Site(stage.base_url, workspace.database, passwords, agent)


@pytest.fixture(scope="module")
def chromium(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield browser
        browser.close()


LogIn = Callable[..., Page]


@pytest.fixture
def log_in(site: Site, chromium: Browser) -> Iterator[LogIn]:
    """Log somebody in, in a browser of their own; errors of the page fail the test."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def open_browser(user: str, **options: Any) -> Page:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)
        page.goto(f"{site.url}/admin/login/?next=/admin/django_apcore/approvalrequest/")
        page.fill("#id_username", user)
        page.fill("#id_password", site.passwords[user])
        page.click("[type=submit]")
        return page

    yield open_browser
    for context in contexts:
        context.close()
    assert problems == []


def under_strict_policy(page: Page) -> None:
    """Serve every page with a policy that allows nothing but the site's own files."""

    def add_header(route: Route) -> None:
        response = route.fetch(max_redirects=0)
        headers = {**response.headers, "content-security-policy": STRICT_POLICY}
        route.fulfill(response=response, headers=headers)

    page.route("**/admin/**", add_header)


def test_an_approver_reads_the_diff_approves_and_sees_the_result(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.customers.erase", customer_id=11)
    invoices = site.value("SELECT count(*) FROM store_invoice")
    page = log_in("approver")
    under_strict_policy(page)

    page.get_by_role("link", name="store.customers.erase").first.click()
    expect(page.get_by_role("heading", name="What happens if you approve")).to_be_visible()
    expect(page.locator(".apcore-headline")).to_contain_text("45 rows deleted")
    expect(page.locator("tr.is-delete").first).to_contain_text("deleted")
    expect(page.locator("tr.is-delete")).to_have_count(45)
    assert site.value("SELECT count(*) FROM store_invoice") == invoices
    digest = page.locator("input[name=seen_digest]").get_attribute("value")

    page.get_by_label("Reason").fill("The customer asked for it in writing.")
    page.get_by_label("I understand: 45 rows will be deleted.").check()
    page.get_by_role("button", name="Approve").click()

    expect(page.get_by_role("heading", name="Approved and executed")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".apcore-outcome")).to_contain_text("Exactly what was approved was committed.")
    expect(page.locator(".apcore-outcome")).to_contain_text(str(digest))
    expect(page.locator(".apcore-record")).to_contain_text("The customer asked for it in writing.")
    expect(page.locator(".apcore-record")).to_contain_text("approval.consumed")
    assert site.value("SELECT count(*) FROM store_invoice") == invoices - 7
    assert site.status(approval_id) == "consumed"


def test_a_double_click_decides_once_and_shows_no_error(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.playlists.merge", source_id=16, target_id=17)
    page = log_in("approver")
    page.goto(site.page_of(approval_id))
    page.get_by_label("I understand").check()

    page.get_by_role("button", name="Approve").dblclick()

    expect(page.get_by_role("heading", name="Approved and executed")).to_be_visible(timeout=PATIENCE_MS)
    expect(page.locator(".apcore-note.is-bad, .apcore-note.is-warn:visible")).to_have_count(0)
    assert site.decisions_on(approval_id) == 1


def test_without_javascript_a_second_click_is_answered_kindly(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.playlists.merge", source_id=10, target_id=3)
    first, second = (log_in("approver", java_script_enabled=False) for _ in range(2))
    for page in (first, second):
        page.goto(site.page_of(approval_id))
        page.get_by_label("Reason").fill("No.")

    first.get_by_role("button", name="Reject").click()
    expect(first.get_by_role("heading", name="Rejected")).to_be_visible()
    with second.expect_response("**/reject/") as answer:
        second.get_by_role("button", name="Reject").click()

    assert answer.value.status == 409
    expect(second.get_by_role("alert")).to_contain_text("You have already rejected this.")


def test_an_open_page_notices_what_somebody_else_decided(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.playlists.merge", source_id=10, target_id=3)
    mine, theirs = log_in("approver"), log_in("admin")
    for page in (mine, theirs):
        page.goto(site.page_of(approval_id))

    theirs.get_by_label("Reason").fill("Not this one.")
    theirs.get_by_role("button", name="Reject").click()
    expect(theirs.get_by_role("heading", name="Rejected")).to_be_visible()

    expect(mine.get_by_text("This page is out of date.")).to_be_visible(timeout=PATIENCE_MS)
    expect(mine.get_by_role("button", name="Approve")).to_be_disabled()
    mine.get_by_role("link", name="Load it again").click()
    expect(mine.get_by_text("The reason given: Not this one.")).to_be_visible()


def test_a_rejection_without_a_reason_stays_on_the_page(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.playlists.merge", source_id=10, target_id=3)
    page = log_in("approver")
    page.goto(site.page_of(approval_id))

    page.get_by_role("button", name="Reject").click()
    assert page.evaluate("document.activeElement.name") == "reason"
    assert site.status(approval_id) == "pending"

    page.get_by_label("Reason").fill("Wrong playlist.")
    page.get_by_role("button", name="Reject").click()
    expect(page.get_by_role("heading", name="Rejected")).to_be_visible()
    assert site.status(approval_id) == "rejected"


def test_everything_can_be_done_with_the_keyboard(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.playlists.merge", source_id=14, target_id=13)
    page = log_in("approver")
    page.goto(site.page_of(approval_id))

    seen: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            "[document.activeElement.name || document.activeElement.innerText, "
            "getComputedStyle(document.activeElement).outlineStyle]"
        )
        if page.evaluate("document.activeElement.closest('.apcore-approval') !== null"):
            assert outline != "none", name
            seen.append(name)
        if name == "reason":
            page.keyboard.type("Fine.")
        if name == "confirmed":
            page.keyboard.press("Space")
        if name == "Approve":
            page.keyboard.press("Enter")
            break

    assert [name for name in seen if name in ("reason", "confirmed", "Approve")] == ["reason", "confirmed", "Approve"]
    expect(page.get_by_role("heading", name="Approved and executed")).to_be_visible(timeout=PATIENCE_MS)


def test_on_a_narrow_screen_a_link_at_the_top_leads_to_the_decision(site: Site, log_in: LogIn) -> None:
    page = log_in("approver", viewport={"width": 360, "height": 780})
    page.goto(site.page_of(site.ask("store.customers.erase", customer_id=15)))
    link = page.get_by_role("link", name="Go to your decision")
    expect(link).to_be_in_viewport()

    link.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Your decision")).to_be_in_viewport()
    page.keyboard.press("Tab")

    assert page.evaluate("document.activeElement.name") == "reason"
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(link).to_be_hidden()


def test_a_view_only_member_of_staff_has_nothing_to_click(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.customers.erase", customer_id=12)
    page = log_in("viewer")
    page.goto(site.page_of(approval_id))

    expect(page.get_by_text("You may not decide on approval requests.")).to_be_visible()
    for name in ("Approve", "Reject", "Measure again"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_drift_leads_to_a_new_request_that_shows_the_difference(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.catalogue.reprice", genre="Blues", percent=10)
    page = log_in("approver")
    page.goto(site.page_of(approval_id))
    site.change(
        "UPDATE store_track SET unit_price = 1.49 WHERE id = "
        "(SELECT t.id FROM store_track t JOIN store_genre g ON g.id = t.genre_id WHERE g.name = 'Blues' LIMIT 1)"
    )

    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Replaced by a newer request")).to_be_visible(timeout=PATIENCE_MS)
    page.get_by_role("link", name="Go to the request that took its place").click()

    difference = page.locator(".apcore-difference")
    expect(difference).to_contain_text("What is different from what was approved")
    expect(difference.locator("tbody tr")).to_have_count(1)
    expect(difference).to_contain_text(re.compile(r"0\.99.*1\.09.*1\.49.*1\.64", re.DOTALL))
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_role("heading", name="Approved and executed")).to_be_visible(timeout=PATIENCE_MS)


def test_measuring_again_takes_up_what_has_changed(site: Site, log_in: LogIn) -> None:
    approval_id = site.ask("store.catalogue.reprice", genre="Jazz", percent=10)
    page = log_in("approver")
    page.goto(site.page_of(approval_id))
    before = page.locator("input[name=seen_digest]").get_attribute("value")

    page.get_by_role("button", name="Measure again").click()
    expect(page.get_by_text("the effect is still the same")).to_be_visible()
    site.change(
        "UPDATE store_track SET unit_price = 1.99 WHERE genre_id = (SELECT id FROM store_genre WHERE name='Jazz')"
    )
    page.get_by_role("button", name="Measure again").click()
    expect(page.get_by_text("the effect has changed")).to_be_visible()

    assert page.locator("input[name=seen_digest]").get_attribute("value") != before
    page.get_by_text("Cancel this request…").click()
    page.get_by_role("button", name="Cancel the request").click()
    expect(page.get_by_role("heading", name="Cancelled")).to_be_visible()


CUT_OFF = "[...document.querySelectorAll('.results')].filter(each => each.scrollWidth > each.clientWidth).length"
UNLABELLED = """[...document.querySelectorAll('#result_list td:not(.action-checkbox) input:not([type=hidden])')]
    .filter(each => !each.labels.length && !each.ariaLabel).length"""
TWO_ROWS = """
INSERT INTO django_apcore_toggle (module_id, enabled, reason, updated_at)
    VALUES ('store.playlists.merge_and_never_look_back', false, 'Being sorted. Ask before it goes on.', datetime('now'))
    ON CONFLICT DO NOTHING;
INSERT INTO django_apcore_webhooksubscriber
    (name, url, secret_encrypted, types, min_severity, modules, enabled, created_at, last_error, failures)
    VALUES ('The department of refunds', 'https://hooks.example', '', '["apcore.health.latency_threshold_exceeded"]',
        'warn', '[]', false, datetime('now'), 'answered with status 503 after all the time that it had', 7)
    ON CONFLICT DO NOTHING;
"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_it_fits_and_can_be_read(site: Site, log_in: LogIn, width: int, scheme: str) -> None:
    """No page scrolls sideways, and all text has the contrast that WCAG AA asks for."""
    asked = [
        site.ask("store.customers.erase", customer_id=13),
        site.ask("store.invoices.refund", invoice_id=98, amount="0.99", reason="Damaged"),
        site.ask("store.customers.notify", country="Canada", subject="Summer", body="Long. " * 200),
        site.ask("store.catalogue.reprice", genre="Rock", percent=5),
    ]
    page = log_in("approver", viewport={"width": width, "height": 900}, color_scheme=scheme)

    for address in [f"{site.url}/admin/django_apcore/approvalrequest/?status=all", *map(site.page_of, asked)]:
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert page.evaluate(CONTRAST) == [], address


@pytest.mark.parametrize("width", [360, 1280])
def test_no_column_of_a_list_is_cut_off(site: Site, log_in: LogIn, width: int) -> None:
    site.ask("system.control.toggle_feature", module_id="store.invoices.refund", enabled=False, reason="Long. " * 20)
    site.change(TWO_ROWS)
    page = log_in("admin", viewport={"width": width, "height": 900})

    for name in ("auditentry", "approvalrequest", "aclrule", "approvalpolicy", "toggle", "webhooksubscriber"):
        page.goto(f"{site.url}/admin/django_apcore/{name}/")
        expect(page.locator("#result_list tbody tr")).not_to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
        assert page.evaluate(CUT_OFF) == 0, name
        assert page.evaluate(UNLABELLED) == 0, name


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_usage_fits_and_can_be_read(site: Site, log_in: LogIn, width: int, scheme: str) -> None:
    module_id = "store.reports.revenue"
    assert site.agent.call(module_id, {"year": 2012}).status == 200
    assert site.agent.call(module_id, {"year": "never"}).status == 400
    page = log_in("viewer", viewport={"width": width, "height": 900}, color_scheme=scheme)
    under_strict_policy(page)

    page.goto(f"{site.url}/admin/django_apcore/usagebucket/?hours=168")
    check_that_it_fits(page, width)
    page.get_by_role("link", name=module_id).click()
    expect(page.get_by_role("heading", name="By the hour")).to_be_visible()
    expect(page.get_by_role("heading", name="Latest errors")).to_be_visible()
    expect(page.locator(".apcore-usage")).to_contain_text("service")
    check_that_it_fits(page, width)
    page.get_by_role("link", name="30 days").click()
    expect(page.locator("[aria-current=true]")).to_have_text("30 days")
    page.unroute_all(behavior="wait")


def check_that_it_fits(page: Page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []


def test_the_theme_that_was_chosen_in_the_admin_holds_here(site: Site, log_in: LogIn) -> None:
    page = log_in("approver", color_scheme="light")
    page.goto(site.page_of(site.ask("store.customers.erase", customer_id=14)))
    background = "getComputedStyle(document.querySelector('.apcore-card')).backgroundColor"

    light = page.evaluate(background)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")

    assert light == "rgb(255, 255, 255)"
    assert page.evaluate(background) != light
