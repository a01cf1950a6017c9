"""How modules are found: directories, entry points, bindings, conventions, display overlays (§3, §5.2, §5.12-5.14)."""
