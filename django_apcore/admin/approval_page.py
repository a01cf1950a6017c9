"""The request page, put together: everything an approver needs, in the order in which it is read."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.forms import Form
from django.urls import reverse
from django.utils.translation import gettext as _

from django_apcore import services
from django_apcore.admin import approval_queries as queries
from django_apcore.admin.approval_queries import ChangeFilter
from django_apcore.admin.presenters import changes, difference, outcome, paging, requests, statements, trail
from django_apcore.models import ApprovalDecision, ApprovalRequest
from django_apcore.permissions import REFUSALS, Refusal, refusal

Status = ApprovalRequest.Status


@dataclass(frozen=True, slots=True)
class CountChoice:
    """A number of changes of one sort, and the link that shows only those."""

    act: changes.Act
    title: str
    number: str
    url: str
    current: bool


@dataclass(frozen=True, slots=True)
class ChangesView:
    title: str
    total: str
    counts: list[CountChoice]
    groups: list[changes.ChangeGroup]
    pages: list[paging.PageLink]
    range: str
    unlisted: str
    all_url: str
    unfiltered: bool


class ApprovalPage:
    """One request as one person may see it. `said` is what a service answered when it refused something just now."""

    def __init__(
        self,
        approval: ApprovalRequest,
        user: User,
        parameters: Mapping[str, str],
        form: Form,
        said: statements.Statement | None = None,
    ) -> None:
        self._approval = approval
        self._user = user
        self.refusal = said
        self._is_open = requests.is_open(approval)
        self._policy = services.policy_for(approval.module_id) if self._is_open else approval.policy
        self._no = self._why_not()
        self._decisions = queries.decisions(approval)
        self._trail = queries.trail(approval)
        self._wanted = ChangeFilter.from_parameters(parameters)
        self.changes = _changes_view(approval, self._wanted, parameters.get("p"))
        self.difference = _difference(approval)
        self.form = form if self._is_open and self._no is None else None

    # -- where it stands -----------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return page_url(self._approval)

    @property
    def state(self) -> str:
        return state(self._approval)

    @property
    def waiting(self) -> bool:
        return outcome.is_waiting(self._approval)

    @property
    def status(self) -> requests.StatusMark:
        return requests.status_mark(self._approval)

    @property
    def timing(self) -> str:
        return requests.timing(self._approval)

    @property
    def outcome(self) -> outcome.Outcome | None:
        withdrawals = [entry for entry in self._trail if entry.kind == "approval.cancelled"]
        return outcome.outcome(self._approval, self._last_decision, withdrawals[-1] if withdrawals else None)

    @property
    def successor_url(self) -> str:
        successor: ApprovalRequest | None = getattr(self._approval, "superseded_by", None)
        return page_url(successor) if successor else ""

    # -- what is asked -------------------------------------------------------------------------------------------------

    @property
    def effect_title(self) -> str:
        if not self._is_open:
            return _("What was asked for")
        return _("What happens if you approve") if self.form else _("What happens if it is approved")

    @property
    def headline(self) -> str:
        return statements.headline(self._approval)

    @property
    def tallies(self) -> list[statements.Tally]:
        return statements.tallies(self._approval)

    @property
    def consequence(self) -> str:
        if not self._is_open:
            return ""
        return statements.consequence(self._approval, self._policy, is_decider=self.form is not None)

    @property
    def statements(self) -> list[statements.Statement]:
        return statements.statements(self._approval, self._policy)

    @property
    def facts(self) -> list[requests.Fact]:
        return requests.facts(self._approval)

    @property
    def binding(self) -> list[requests.Fact]:
        return requests.binding(self._approval, self._policy)

    @property
    def binding_title(self) -> str:
        is_alive = self._is_open or (self._approval.status == Status.APPROVED and not self._approval.is_expired)
        return _("An approval holds only for") if is_alive else _("An approval held only for")

    @property
    def undecided(self) -> str:
        """What is said where decisions would be listed."""
        return _("Nobody has decided yet.") if self._is_open else _("Nobody decided.")

    @property
    def details_removed(self) -> bool:
        """Whether the request was finished so long ago that its details are gone."""
        return self._approval.details_removed_at is not None

    @property
    def inputs(self) -> tuple[changes.FieldRow, ...]:
        return changes.field_rows(None, self._approval.inputs_redacted)

    @property
    def rewritten(self) -> tuple[changes.FieldRow, ...]:
        """Where the effective inputs are not what the caller sent."""
        original = self._approval.original_inputs_redacted
        return changes.field_rows(original, self._approval.inputs_redacted) if original is not None else ()

    @property
    def rewrites(self) -> list[dict[str, str]]:
        """Who changed them, and why."""
        return self._approval.rewrites

    # -- what this person may do ---------------------------------------------------------------------------------------

    @property
    def can_approve(self) -> bool:
        return not self._approval.has_forbidden_gaps(self._policy)

    @property
    def can_remeasure(self) -> bool:
        measurable = self._approval.provenance != ApprovalRequest.Provenance.NONE
        return self._is_open and measurable and self._no in (None, "own_request")

    @property
    def can_cancel(self) -> bool:
        alive = self._is_open or self._approval.status == Status.APPROVED
        return alive and (self._no is None or self._approval.requested_by_id == self._user.pk)

    @property
    def confirmation(self) -> str:
        return statements.confirmation(self._approval) if self.can_approve else ""

    @property
    def signing(self) -> str:
        if self._approval.provenance == ApprovalRequest.Provenance.NONE:
            text = _("You sign as {name}. Your name and your reason are recorded.")
        else:
            text = _("You sign as {name}. Your name, your reason and the digest of this effect are recorded.")
        return text.format(name=self._user.get_full_name() or self._user.get_username())

    @property
    def no_decision(self) -> str:
        """Why there is nothing for this person to decide."""
        if not self._is_open:
            return _("There is nothing left to decide.")
        return REFUSALS[self._no] if self._no else ""

    # -- what happened -------------------------------------------------------------------------------------------------

    @property
    def decisions(self) -> list[trail.DecisionRow]:
        return [trail.decision_row(decision) for decision in self._decisions]

    @property
    def trail(self) -> list[trail.TrailRow]:
        return [trail.trail_row(entry) for entry in self._trail]

    @property
    def _last_decision(self) -> ApprovalDecision | None:
        return self._decisions[-1] if self._decisions else None

    def _why_not(self) -> Refusal | None:
        return refusal(self._user, self._approval, self._policy.deciders_id if self._policy else None)


def page_url(approval: ApprovalRequest) -> str:
    return reverse("admin:django_apcore_approvalrequest_change", args=[approval.pk])


def url_of_subject(subject: str) -> str:
    """The address of the request that an audit entry is about, or nothing for entries about something else."""
    kind, _colon, request_id = subject.partition(":")
    try:
        known = UUID(request_id)
    except ValueError:
        return ""
    return reverse("admin:django_apcore_approvalrequest_change", args=[known]) if kind == "approval" else ""


def state(approval: ApprovalRequest) -> str:
    """A word that changes whenever the page would look different."""
    return f"{requests.status_mark(approval).style}:{approval.effect_digest}"


def _changes_view(approval: ApprovalRequest, wanted: ChangeFilter, number: str | None) -> ChangesView:
    page = queries.changes(approval, wanted, number)
    all_url = paging.url({})
    return ChangesView(
        title=_("Every change, object by object"),
        total=f"{approval.effect_total:,}",
        counts=[_choice(count, wanted) for count in changes.counts(approval.effect_counts)],
        groups=changes.groups(page.object_list),
        pages=paging.page_links(page, wanted.parameters),
        range=paging.page_range(page),
        unlisted=_unlisted(approval),
        all_url=all_url,
        unfiltered=not wanted.action,
    )


def _choice(count: changes.Count, wanted: ChangeFilter) -> CountChoice:
    mine = ChangeFilter(count.kind, count.act.action)
    title = changes.kind_title(count.kind)
    return CountChoice(count.act, title, f"{count.number:,}", paging.url(mine.parameters), mine == wanted)


def _unlisted(approval: ApprovalRequest) -> str:
    if approval.details_removed_at is not None:
        return _("The single changes were removed. Counts and digest covered all of them.")
    if approval.effect_listed >= approval.effect_total:
        return ""
    text = _("{listed} of {total} changes are listed here. Counts and digest cover all of them.")
    return text.format(listed=f"{approval.effect_listed:,}", total=f"{approval.effect_total:,}")


def _difference(approval: ApprovalRequest) -> difference.Difference | None:
    approved = approval.supersedes
    if approved is None or approved.details_removed_at or approval.details_removed_at:
        return None
    gone, before = queries.differing(approved, approval)
    new, after = queries.differing(approval, approved)
    targets = sorted({*before, *after})[: queries.DIFFERENCES_SHOWN]
    rows = difference.rows(queries.changes_of(approved, targets), queries.changes_of(approval, targets))
    sizes = difference.Sizes(approved.effect_total, approval.effect_total, gone, new)
    was_approved = approved.decided_at is not None
    return difference.Difference(
        difference.title(was_approved),
        difference.intro(sizes, approval.superseded_reason, was_approved),
        rows,
        page_url(approved),
        difference.more(sizes, len(targets)),
    )
