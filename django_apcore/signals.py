"""Signals of the governance. All are sent after the commit, so a receiver sees what is in the database.

Every approval signal has `sender=ApprovalRequest` and the keyword `request`, the request as it was committed. Receivers
that raise are logged and do not disturb the caller or other receivers.
"""

from django.dispatch import Signal

approval_requested = Signal()
"""A request was opened. Keywords: request."""
approval_decided = Signal()
"""A person approved or rejected. Keywords: request, decision."""
approval_consumed = Signal()
"""An approved call was executed and committed. Keywords: request."""
approval_failed = Signal()
"""An approved call failed; nothing was committed. Keywords: request."""
approval_expired = Signal()
"""Nobody decided, or nobody executed, in time. Keywords: request."""
approval_cancelled = Signal()
"""The requester or a decider withdrew the request. Keywords: request."""
approval_superseded = Signal()
"""The effect was no longer the approved one. Keywords: request (the old one), successor (the new one)."""
approval_remeasured = Signal()
"""The effect of a pending request was measured again. Keywords: request, changed (bool)."""
policy_published = Signal()
"""Access rules or approval policies were changed. Keywords: name (`acl` or `policies`), revision."""
toggle_changed = Signal()
"""A module was switched on or off. Keywords: toggle, trace_id (of the call that did it, None if a person did)."""
override_changed = Signal()
"""A configuration value was overridden, or is as configured again. Keywords: key."""
task_submitted = Signal()
"""A call waits for a worker. Keywords: task."""
task_started = Signal()
"""A worker began with it. Keywords: task."""
task_finished = Signal()
"""An asynchronous task completed, failed or was cancelled. Keywords: task."""
outbox_written = Signal()
"""Mail or tasks of a committed call wait in the outbox. No keywords."""
webhooks_written = Signal()
"""Events for webhooks wait in the outbox. No keywords."""
