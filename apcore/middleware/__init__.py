"""Code around every call, outermost first by priority (§11)."""

from apcore.middleware.base import Middleware
from apcore.middleware.chain import MiddlewareChain, Passage

__all__ = ["Middleware", "MiddlewareChain", "Passage"]
