"""Where events can be written to."""

from apcore.events.subscribers.files import FileSubscriber, StdoutSubscriber

__all__ = ["FileSubscriber", "StdoutSubscriber"]
