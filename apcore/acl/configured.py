"""The access list that a configuration names (§9.1 `acl`)."""

from __future__ import annotations

import logging
from pathlib import Path

from apcore.acl.acl import ACL
from apcore.acl.audit import AuditSettings
from apcore.config import Config
from apcore.errors import ConfigError

logger = logging.getLogger("apcore.acl")


def configured_acl(config: Config) -> ACL:
    """The access list below ``acl.root``. Without one the default effect counts, which is to deny.

    Raises ACLRuleError for one that cannot be read, and ConfigError where a root was named that does not exist.
    """
    section = config.namespace("apcore")["acl"]
    root, audit = Path(section["root"]), AuditSettings.from_dict(section["audit"])
    if root.exists():
        return ACL.load(root, default_effect=section["default_effect"], audit=audit)
    if config.is_set("apcore.acl.root" if config.mode == "namespace" else "acl.root"):
        raise ConfigError(
            f"acl.root is '{root}', which does not exist: without its rules nobody can say who may call what. "
            "Create it, or leave acl.root out to go by acl.default_effect alone",
            details={"path": "acl.root"},
        )
    logger.warning("There is no access list at '%s': acl.default_effect (%s) counts", root, section["default_effect"])
    return ACL((), section["default_effect"], audit=audit)
