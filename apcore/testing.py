"""Fakes for the tests of those who build on the core; nothing in here is meant for production."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from apcore.app import App, build_app
from apcore.approval import ApprovalRequest, ApprovalResult
from apcore.config import REGISTRY
from apcore.context import Context, Identity
from apcore.errors import InvalidInputError


class ScriptedApprovalHandler:
    """Gives the answers that a test wrote down, in order, and keeps what it was asked.

    ``requests`` are the approval requests, ``checked`` the tokens. Raises InvalidInputError when the script is over.
    """

    def __init__(self, *answers: ApprovalResult) -> None:
        self._answers = list(answers)
        self.requests: list[ApprovalRequest] = []
        self.checked: list[str] = []

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        """The next answer."""
        self.requests.append(request)
        return self._next()

    def check_approval(self, approval_id: str) -> ApprovalResult:
        """The next answer."""
        self.checked.append(approval_id)
        return self._next()

    def _next(self) -> ApprovalResult:
        if not self._answers:
            raise InvalidInputError("The script has no answer left: give ScriptedApprovalHandler one per question")
        return self._answers.pop(0)


@contextmanager
def isolated_namespaces(*, empty: bool = True) -> Iterator[None]:
    """Within the block the framework's own configuration namespaces, and those that are registered there.

    The registry belongs to the process (§9.5.3) and has no way back but this one. Without ``empty`` the namespaces of
    before count, too.
    """
    before = REGISTRY.snapshot()
    if empty:
        REGISTRY.restore()
    try:
        yield
    finally:
        REGISTRY.restore(before)


def app_with(*modules: Any, **parts: Any) -> App:
    """An app with these modules registered: function modules under their own ID, others as ``(module_id, module)``.

    ``parts`` go to ``build_app``.
    """
    app = build_app(**parts)
    for module_id, module in _named(modules):
        app.registry.register(module_id, module)
    return app


def context_as(id: str = "tester", *, type: str = "user", roles: Iterable[str] = (), **attrs: Any) -> Context:  # noqa: A002 - the protocol's names
    """A top-level context of a caller with this identity."""
    return Context.create(identity=Identity(id, type, tuple(roles), attrs))


def _named(modules: Iterable[Any]) -> Iterable[tuple[str, Any]]:
    return (entry if isinstance(entry, tuple) else (entry.id, entry) for entry in modules)
