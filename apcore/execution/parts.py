"""What an executor can be made of; anything else is refused in words before a call meets it (§12.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from apcore.acl import ACL, ACLChecker
from apcore.approval import ApprovalHandler
from apcore.config import Config
from apcore.errors import InvalidInputError, require, require_texts
from apcore.errors.requiring import kind_given
from apcore.events import EventEmitter
from apcore.execution.settings import ExecutorSettings
from apcore.registry import Registry
from apcore.toggles import ToggleState


def check_parts(
    registry: Registry,
    toggles: ToggleState | None,
    runners: Any,
    events: EventEmitter | None,
    sensitive_keys: Collection[str],
) -> None:
    """Raises InvalidInputError naming the first part that is none."""
    require("registry", registry, Registry, "a Registry")
    if toggles is not None:
        require("toggles", toggles, ToggleState, "Toggles")
    if not isinstance(runners, (tuple, list)) or len(runners) != 2 or not all(map(callable, runners)):
        raise InvalidInputError("runners must be a pair of functions that make the sync and the async runner")
    if events is not None:
        require("events", events, EventEmitter, "an EventEmitter")
    require_texts("sensitive_keys", sensitive_keys)


def checked_acl(acl: ACL | ACLChecker | None) -> ACL | ACLChecker | None:
    """The access list. Raises InvalidInputError for what has no check(), such as rules without an ``ACL`` around."""
    if acl is not None:
        require("acl", acl, ACLChecker, "an ACL, or an object with check(caller_id, target_id, context)")
    return acl


def checked_handler(handler: ApprovalHandler | None) -> ApprovalHandler | None:
    """The handler. Raises InvalidInputError for what has no request_approval(); without check_approval() it only cannot
    resume a decision later.
    """
    if handler is None:
        return None
    if isinstance(handler, type) or not callable(getattr(handler, "request_approval", None)):
        raise InvalidInputError(
            f"approval_handler must be an object with request_approval(request), not {kind_given(handler)}; "
            "a function becomes one with CallbackApprovalHandler (§7.2)"
        )
    return handler


def listed(middlewares: Iterable[Any] | None) -> Iterable[Any]:
    """The middlewares, if they can be gone through. Raises InvalidInputError."""
    given: object = () if middlewares is None else middlewares
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidInputError(f"middlewares must be a list of middleware objects, not {type(given).__name__}")
    return given


def limits_of(config: Any) -> ExecutorSettings:
    """The limits in whatever says them. Raises ConfigError."""
    if isinstance(config, ExecutorSettings):
        return config
    if isinstance(config, Config):
        return ExecutorSettings.from_config(config)
    return ExecutorSettings.from_mapping({} if config is None else config)
