"""The two ways in: a service with a token at the REST API, and a person with a browser at the admin."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import requests

from project.demo.forms import Button, Form, Page

TIMEOUT_SECONDS = 60
API = "/api/apcore/"
CSRF = "csrfmiddlewaretoken"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: Any

    @property
    def code(self) -> str:
        return str(self.body.get("code", "")) if isinstance(self.body, dict) else ""


def local_session() -> requests.Session:
    """A session that talks to this machine directly, whatever proxy the reader's environment names."""
    session = requests.Session()
    session.trust_env = False
    return session


class Service:
    """A program that calls operations over REST."""

    def __init__(self, base_url: str, token: str) -> None:
        self._api = urljoin(base_url, API)
        self._session = local_session()
        self._session.headers["Authorization"] = f"Token {token}"

    def call(self, module_id: str, inputs: Mapping[str, Any], *, approval: str = "", key: str = "") -> Answer:
        headers = {"Apcore-Approval-Token": approval, "Idempotency-Key": key}
        given = {name: value for name, value in headers.items() if value}
        return self.post(f"modules/{module_id}/call/", {"inputs": inputs}, given)

    def submit(self, module_id: str, inputs: Mapping[str, Any]) -> Answer:
        return self.post(f"modules/{module_id}/submit/", {"inputs": inputs})

    def get(self, path: str) -> Answer:
        return self._answer(self._session.get(urljoin(self._api, path), timeout=TIMEOUT_SECONDS))

    def post(self, path: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Answer:
        url = urljoin(self._api, path)
        return self._answer(self._session.post(url, json=body, headers=headers, timeout=TIMEOUT_SECONDS))

    @staticmethod
    def _answer(response: requests.Response) -> Answer:
        try:
            return Answer(response.status_code, response.json())
        except requests.JSONDecodeError:
            return Answer(response.status_code, {"text": response.text[:500]})


@dataclass(frozen=True, slots=True)
class View:
    """A page that the browser shows: where it is, and what is on it."""

    url: str
    status: int
    html: str

    @property
    def page(self) -> Page:
        return Page(self.html)

    @property
    def text(self) -> str:
        return self.page.text

    def form(self, word: str) -> tuple[Form, Button, str]:
        """The form with this word on a button, that button, and the address it sends to. Raises LookupError."""
        for form in self.page.forms:
            if button := form.button(word):
                return form, button, urljoin(self.url, button.action or form.action or self.url)
        raise LookupError(f"The page {self.url} ({self.status}) has no button {word!r}")


class Browser:
    """A person at the admin: logs in, reads pages, fills in forms and clicks buttons, CSRF token and all."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url
        self._session = local_session()

    def log_in(self, username: str, password: str) -> View:
        login = self.open("/admin/login/?next=/admin/")
        return self.click(login, "Log in", {"username": username, "password": password})

    def open(self, path: str) -> View:
        return self._view(self._session.get(urljoin(self._base_url, path), timeout=TIMEOUT_SECONDS))

    def click(self, view: View, word: str, answers: Mapping[str, str] | None = None, *, tick: bool = False) -> View:
        """Click the button with this word on it, after filling in `answers` and, if told to, ticking every box."""
        form, button, url = view.form(word)
        return self._post(url, form.data(button, answers or {}, tick=tick), referer=view.url)

    def forge(self, others: View, word: str, *, own: View) -> View:
        """Send the form of a page that somebody else sees, with this person's own cookies and CSRF token."""
        form, button, url = others.form(word)
        token = next(each.fields[CSRF] for each in own.page.forms if CSRF in each.fields)
        return self._post(url, form.data(button, {CSRF: token}, tick=True), referer=own.url)

    def _post(self, url: str, data: Mapping[str, str], *, referer: str) -> View:
        return self._view(self._session.post(url, data=data, headers={"Referer": referer}, timeout=TIMEOUT_SECONDS))

    @staticmethod
    def _view(response: requests.Response) -> View:
        return View(response.url, response.status_code, response.text)
