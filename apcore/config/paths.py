"""Dotted paths into a configuration (§9.9.1)."""

from __future__ import annotations

from collections.abc import Collection


def resolve_namespace_path(dot_path: str, mode: str, known_namespaces: Collection[str]) -> tuple[str | None, str]:
    """The namespace that a path begins with, and the rest; in legacy mode there is none and the path stays whole.

    Known namespaces are compared before anything is split, the longest first (C-42). A path that begins with none of
    them begins with a top-level key, which ends at the first dot.
    """
    if mode == "legacy":
        return None, dot_path
    for name in sorted(known_namespaces, key=len, reverse=True):
        if dot_path == name or dot_path.startswith(f"{name}."):
            return name, dot_path[len(name) + 1 :]
    candidate, _, remainder = dot_path.partition(".")
    return candidate, remainder
