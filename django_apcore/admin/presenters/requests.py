"""Who asks for what, and where the request stands."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from django_apcore.admin.presenters.times import ago, moment, until
from django_apcore.admin.presenters.values import visible
from django_apcore.models import ApprovalPolicy, ApprovalRequest

Status = ApprovalRequest.Status

_SIGNS = {
    Status.PENDING: "○",
    Status.APPROVED: "◐",
    Status.CONSUMED: "✓",
    Status.REJECTED: "✕",
    Status.EXPIRED: "⌛︎",
    Status.CANCELLED: "–",
    Status.SUPERSEDED: "↻",
    Status.FAILED: "!",
}


@dataclass(frozen=True, slots=True)
class StatusMark:
    """A status by sign and word; `style` names its colour."""

    sign: str
    word: str
    style: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One named fact; `code` asks for a typeface in which digits and letters cannot be confused."""

    name: str
    text: str
    code: bool = False


def is_open(approval: ApprovalRequest) -> bool:
    """Whether somebody can still decide."""
    return approval.status == Status.PENDING and not approval.is_expired


def status_mark(approval: ApprovalRequest) -> StatusMark:
    """The status; a pending request whose time is over counts as expired, whether or not that was recorded."""
    status = Status(approval.status)
    if status == Status.PENDING and approval.is_expired:
        status = Status.EXPIRED
    return StatusMark(_SIGNS[status], status_word(status), status.value)


def status_word(status: Status) -> str:
    """What approvers call a status: `pending` and `consumed` are words for programs."""
    words = {Status.PENDING: _("waiting"), Status.CONSUMED: _("executed")}
    return words.get(status, str(status.label))


def timing(approval: ApprovalRequest) -> str:
    asked = _("asked {ago}").format(ago=ago(approval.created_at))
    if not is_open(approval):
        return asked
    return _("{asked}, expires {until}").format(asked=asked, until=until(approval.expires_at))


def requester(approval: ApprovalRequest) -> str:
    """The name of who asks: of the user where there is one, else the identity itself."""
    if approval.requested_by is not None:
        return visible(approval.requested_by.get_username())
    return visible(approval.identity_id) or _("anonymous")


def chain(approval: ApprovalRequest) -> str:
    """The modules through which the call came, from the first to the one that asks for approval."""
    links = [visible(str(link)) for link in approval.call_chain] or [approval.module_id]
    if links[-1] != approval.module_id:
        links.append(approval.module_id)
    return " → ".join([_("from outside"), *links])


def facts(approval: ApprovalRequest) -> list[Fact]:
    kinds = {"service": _("a service"), "agent": _("an agent"), "user": _("a person"), "system": _("the system")}
    kind = kinds.get(approval.identity_type, visible(approval.identity_type)) or _("unknown")
    identity = _("{name}, {kind}, through a token") if approval.is_by_token else _("{name}, {kind}")
    found = [
        Fact(_("Identity"), identity.format(name=requester(approval), kind=kind)),
        Fact(_("Call chain"), chain(approval), code=True),
        Fact(_("Asked at"), moment(approval.created_at)),
        Fact(_("Trace"), approval.trace_id, code=True),
    ]
    if approval.identity_roles:
        found.insert(1, Fact(_("Roles"), ", ".join(visible(str(role)) for role in approval.identity_roles)))
    return found


def binding(approval: ApprovalRequest, policy: ApprovalPolicy | None) -> list[Fact]:
    """What a decision holds for, and for nothing else."""
    governed_by = visible(policy.name) if policy else _("none applies; the defaults hold")
    if approval.provenance == ApprovalRequest.Provenance.NONE:
        effect = [Fact(_("This effect"), _("none: it cannot be previewed"))]
    else:
        effect = [Fact(_("This effect (SHA-256)"), approval.effect_digest, code=True)]
    return [
        *effect,
        Fact(_("The code of the module (SHA-256)"), approval.module_hash, code=True),
        Fact(_("The inputs on this page, from"), requester(approval)),
        Fact(_("Policy"), governed_by),
        Fact(_("Until"), moment(approval.expires_at)),
    ]
