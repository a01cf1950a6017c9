"""Modules of the system itself: system.health.*, system.manifest.*, system.usage.*, system.control.* (§6.7)."""
