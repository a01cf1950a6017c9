"""What an approver has to know before the diff: what will happen, how that is known, and what is not known."""

from dataclasses import dataclass
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from django_apcore.admin.presenters.changes import Act, totals
from django_apcore.admin.presenters.times import ago, capital, moment
from django_apcore.admin.presenters.values import visible
from django_apcore.models import ApprovalPolicy, ApprovalRequest

Tone = Literal["good", "note", "warn", "bad"]
Provenance = ApprovalRequest.Provenance
SIGNS: dict[Tone, str] = {"good": "✓", "note": "i", "warn": "!", "bad": "✕"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A lead of a few words, a sentence, and the points it makes; the tone is shown by sign and colour."""

    tone: Tone
    lead: str
    text: str
    points: tuple[str, ...] = ()

    @property
    def sign(self) -> str:
        return SIGNS[self.tone]


@dataclass(frozen=True, slots=True)
class Tally:
    """`38 rows deleted`, with the sign of deletions."""

    act: Act
    text: str


def statements(approval: ApprovalRequest, policy: ApprovalPolicy | None) -> list[Statement]:
    """Provenance, completeness and what nobody watched, in that order."""
    found = [*_removed(approval), provenance(approval)]
    if approval.provenance == Provenance.NONE:
        return [*found, compensation(approval)]
    return [*found, completeness(approval, policy), *unwatched(approval)]


def _removed(approval: ApprovalRequest) -> list[Statement]:
    if approval.details_removed_at is None:
        return []
    text = _("Inputs, single changes and the result were removed {ago} ({moment}). Counts, digests, decisions remain.")
    when = approval.details_removed_at
    return [Statement("note", _("Details removed"), text.format(ago=ago(when), moment=moment(when)))]


def headline(approval: ApprovalRequest) -> str:
    """In one sentence, what there is instead of changes."""
    if approval.provenance == Provenance.NONE:
        return _("This action cannot be previewed.")
    return _("Nothing would change.")


def tallies(approval: ApprovalRequest) -> list[Tally]:
    """How many changes of each sort there are, in words."""
    return [Tally(kind, phrase(kind, number)) for kind, number in totals(approval.effect_counts)]


def phrase(kind: Act, number: int) -> str:
    """`38 rows deleted`, `1 mail sent`."""
    count = f"{number:,}"
    match kind.action:
        case "delete":
            return ngettext("{n} row deleted", "{n} rows deleted", number).format(n=count)
        case "update":
            return ngettext("{n} row changed", "{n} rows changed", number).format(n=count)
        case "insert":
            return ngettext("{n} row inserted", "{n} rows inserted", number).format(n=count)
        case "send":
            return ngettext("{n} mail sent", "{n} mails sent", number).format(n=count)
        case "enqueue":
            return ngettext("{n} background task queued", "{n} background tasks queued", number).format(n=count)
        case "run":
            return ngettext("{n} function run afterwards", "{n} functions run afterwards", number).format(n=count)
    return f"{count} × {kind.word}"


def consequence(approval: ApprovalRequest, policy: ApprovalPolicy | None, *, is_decider: bool) -> str:
    """What approving sets in motion, and what stops it; to whoever may approve, or to somebody who reads along."""
    condition = _("If you approve") if is_decider else _("If it is approved")
    if policy is None or policy.execute_on_approval:
        first = _("{condition}, a worker runs this at once, with exactly these inputs.").format(condition=condition)
    else:
        until = moment(approval.expires_at)
        first = _("{condition}, the caller may run this once, until {until}.").format(condition=condition, until=until)
    match approval.provenance:
        case Provenance.NONE:
            return first
        case Provenance.DECLARED:
            guard = _("If the module then says something else, it does not run, and a new request asks again.")
        case _:
            guard = _(
                "If its effect is then not the one shown here, nothing is committed, and a new request asks again."
            )
    return f"{first} {guard}"


def confirmation(approval: ApprovalRequest) -> str:
    """What an approver has to acknowledge, if anything."""
    if not approval.needs_confirmation:
        return ""
    if approval.provenance == Provenance.NONE:
        return _("I know that nobody can show beforehand what this does.")
    deleted = sum(number for kind, number in totals(approval.effect_counts) if kind.action == "delete")
    parts = []
    if deleted:
        parts.append(ngettext("{n} row will be deleted", "{n} rows will be deleted", deleted).format(n=f"{deleted:,}"))
    if not approval.effect_complete:
        parts.append(_("part of the effect is not known"))
    return _("I understand: {what}.").format(what=_join(parts))


def provenance(approval: ApprovalRequest) -> Statement:
    when = ago(approval.measured_at)
    match approval.provenance:
        case Provenance.MEASURED:
            text = _("{when} the module's own code ran on the real data and was rolled back. This is what it did.")
            return Statement("good", _("Measured"), text.format(when=capital(when)))
        case Provenance.PLANNED:
            text = _("The module computed this plan {when}. What is applied is the plan itself, not a new calculation.")
            return Statement("good", _("Planned"), text.format(when=when))
        case Provenance.DECLARED:
            text = _("This is what the module says it will do. Nobody has measured whether it does that.")
            return Statement("warn", _("Declared, not measured"), text)
    text = _("What it will do is only known after it was done. Judge by the inputs, and by who is asking.")
    return Statement("bad", _("No preview"), text)


def completeness(approval: ApprovalRequest, policy: ApprovalPolicy | None) -> Statement:
    if approval.effect_complete and approval.provenance == Provenance.MEASURED:
        text = _("The database's own row counters agree with what is listed here: no other row was written.")
        return Statement("good", _("Complete"), text)
    if approval.effect_complete:
        return Statement("note", _("No known gaps"), _("The module names nothing that is missing from this list."))
    if approval.has_forbidden_gaps(policy):
        text = _("Something could not be accounted for, and no policy allows approving that for this module.")
    else:
        text = _("Something could not be accounted for. The policy allows approving it, if you confirm the gap.")
    return Statement("bad", _("Incomplete"), text, tuple(visible(str(gap)) for gap in approval.effect_gaps))


def unwatched(approval: ApprovalRequest) -> list[Statement]:
    if not approval.effect_unwatched:
        return []
    names = _join([_unwatched_name(str(name)) for name in approval.effect_unwatched])
    text = _("{names}. If the module uses them, you do not see it here.").format(names=capital(names))
    return [Statement("note", _("Not watched"), text)]


def compensation(approval: ApprovalRequest) -> Statement:
    """What is known about undoing an action that cannot be previewed."""
    idempotent = bool(approval.annotations.get("idempotent"))
    points = (_("Running it twice, it says, has the same effect as running it once."),) if idempotent else ()
    if approval.compensation:
        return Statement(
            "warn", _("How to undo it, in the words of the module"), visible(approval.compensation), points
        )
    return Statement("bad", _("No way back is known"), _("The module does not say how this could be undone."), points)


def _unwatched_name(name: str) -> str:
    names = {
        "network": _("network connections"),
        "already_open": _("connections and files that were open before"),
        "native_code": _("what C libraries do on their own"),
        "files": _("files"),
        "threads": _("threads and tasks that libraries start"),
        "cache": _("what was written to caches"),
    }
    kind, colon, host = name.partition(":")
    if kind == "network" and colon:
        return _("connections to {host}").format(host=visible(host))
    return names.get(name, visible(name))


def _join(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return _("{first} and {last}").format(first=", ".join(parts[:-1]), last=parts[-1])
