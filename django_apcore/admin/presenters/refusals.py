"""What a service refused, as the page says it."""

from collections.abc import Sequence
from http import HTTPStatus

from django.contrib.auth.models import User
from django.forms import Form
from django.utils.translation import gettext as _

from apcore.errors import ModuleError
from django_apcore.admin.presenters.statements import Statement
from django_apcore.admin.presenters.times import ago
from django_apcore.admin.presenters.values import visible
from django_apcore.exceptions import ApprovalConflict, ApprovalForbidden
from django_apcore.models import ApprovalDecision

Verdict = ApprovalDecision.Verdict


def refusal(error: ModuleError, decisions: Sequence[ApprovalDecision], user: User) -> Statement:
    """The answer in the service's words. A second click on the same button is no failure, and is not told as one."""
    reason = error.details.get("reason")
    mine = next((decision for decision in decisions if decision.decided_by_id == user.pk), None)
    if reason == "already_decided" and mine is not None:
        approved = mine.verdict == Verdict.APPROVE
        done = _("You have already approved this.") if approved else _("You have already rejected this.")
        return Statement("note", done, _("That was {ago}. It was not done twice.").format(ago=ago(mine.decided_at)))
    message = visible(error.message)
    if isinstance(error, ApprovalForbidden):
        return Statement("bad", _("You may not do that."), message)
    if isinstance(error, ApprovalConflict):
        return Statement("warn", _("Nothing was decided."), message)
    if error.code == "GENERAL_INVALID_INPUT":
        return Statement("bad", _("Nothing was decided."), message)
    return Statement("bad", _("It could not be done."), message)


def status_of(error: ModuleError) -> int:
    """The HTTP status of a refusal. What fails inside a module is no failure of this server."""
    status = error.http_status
    return status if HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR else HTTPStatus.CONFLICT


def bad_form(form: Form) -> Statement:
    problems = [str(problem) for errors in form.errors.values() for problem in errors]
    return Statement("bad", _("Nothing was decided."), " ".join(problems))


def not_posted() -> Statement:
    text = _("Opening a link decides nothing. Use the buttons on this page.")
    return Statement("note", _("Nothing was decided."), text)
