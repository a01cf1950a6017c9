"""The Config Bus: namespaces, environment, defaults (§9)."""
