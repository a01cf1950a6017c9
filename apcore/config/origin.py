"""Where a configuration is read from, so that it can be read again (§9.11)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apcore.config.environment import EnvironmentOverrides, environment_overrides
from apcore.config.files import discover_config_file, read_config_file
from apcore.config.layers import Snapshot, detect_config_mode
from apcore.config.namespaces import REGISTRY, Namespace


@dataclass(frozen=True, slots=True)
class Origin:
    """A file, the file that is found at the moment (`is_searched`), or data that was given."""

    given: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    is_searched: bool = False

    def read(self) -> Snapshot:
        """File, environment and namespaces as they are now. Raises ConfigNotFoundError and ConfigError."""
        path = discover_config_file() if self.is_searched else self.path
        content = self.given if path is None else read_config_file(path)
        namespaces = REGISTRY.namespaces
        return Snapshot(
            content=content,
            namespaces=namespaces,
            environment=overrides_of_environment(namespaces, content),
            global_keys=frozenset(key.split(".")[0] for key in REGISTRY.global_env_map.values()),
            file=path,
        )


def overrides_of_environment(namespaces: Mapping[str, Namespace], content: Mapping[str, Any]) -> EnvironmentOverrides:
    """What the environment says at the moment about these namespaces, beside a file with this content."""
    mode = detect_config_mode(content)
    return environment_overrides(namespaces, os.environ, REGISTRY.global_env_map, mode=mode, content=content)
