"""Code around every call, outermost first by priority (§11)."""

from apcore.middleware.base import Middleware, Retry
from apcore.middleware.manager import RESERVED_IDS, MiddlewareEntry, MiddlewareManager
from apcore.middleware.passage import Passage

__all__ = ["RESERVED_IDS", "Middleware", "MiddlewareEntry", "MiddlewareManager", "Passage", "Retry"]
