"""Which modules a file defines, told by its text alone (§9.1, `extensions.lazy_load`)."""

from apcore.discovery.foretelling.ids import foretold_ids

__all__ = ["foretold_ids"]
