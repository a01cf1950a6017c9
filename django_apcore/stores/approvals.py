"""The approval handler that keeps requests in the database."""

from apcore.approval import ApprovalRequest, ApprovalResult
from django_apcore.exceptions import ApprovalNotFound
from django_apcore.services import find_request, open_request, present, result_of


class DatabaseApprovalHandler:
    """Stores what needs a decision, and checks that a token is used for the very call it was given for (§7.8)."""

    emits_events = True
    """The services tell of requests and decisions, after the commit and when they are made."""

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        """Open a request: `pending`, with its ID as the token. Raises InsideTransactionError, ApprovalForbidden."""
        return result_of(open_request(request))

    def check_approval(self, approval_id: str) -> ApprovalResult:
        """Where a request stands now. Whether a call may use it is answered by `check_approval_for`."""
        try:
            return result_of(find_request(approval_id))
        except ApprovalNotFound:
            return _unknown(approval_id)

    def check_approval_for(self, approval_id: str, request: ApprovalRequest) -> ApprovalResult:
        """Where a request stands for this very call.

        Raises ApprovalForbidden (binding_mismatch) for another module, other inputs or another identity, and
        ApprovalConflict for an approval that was used, is out of time or out of date.
        """
        try:
            return result_of(present(approval_id, request))
        except ApprovalNotFound:
            return _unknown(approval_id)


def _unknown(approval_id: str) -> ApprovalResult:
    return ApprovalResult("rejected", approval_id=approval_id, reason="There is no such approval request.")
