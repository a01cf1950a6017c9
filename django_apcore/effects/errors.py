"""What a governed run refuses."""

from apcore.errors import ModuleError


class UngovernedWriteError(ModuleError):
    """A statement was refused before it ran, since its effect could not be shown to an approver.

    The record of the run is incomplete from then on, even if the module swallows this error.
    """

    code = "UNGOVERNED_WRITE"
    http_status = 500


class OutsideEffectError(ModuleError):
    """Something was refused before it left the process: a connection, or a process to be started.

    It would happen in a preview too, and could not be undone. The record of the run is incomplete from then on, even if
    the module swallows this error. `details` has its `kind` and its `target`.
    """

    code = "OUTSIDE_EFFECT"
    http_status = 500


class TransactionEndedError(ModuleError):
    """The module ended, or broke, the transaction that its effect is measured in; nothing is committed."""

    code = "TRANSACTION_ENDED"
    http_status = 500


class HeldResultError(ModuleError):
    """The task of this result is sent after the commit, so the module cannot wait for it."""

    code = "RESULT_NOT_AVAILABLE"
    http_status = 500


class UnholdableMessageError(ModuleError):
    """A mail or a task message cannot be kept until after the commit, because it is not made of plain data."""

    code = "MESSAGE_NOT_HOLDABLE"
    http_status = 500
