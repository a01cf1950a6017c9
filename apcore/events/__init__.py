"""Events that the core emits, and their subscribers (§9.16)."""
