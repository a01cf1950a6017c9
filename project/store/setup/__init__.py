"""What the store needs around its tables: people, who may call what, who decides, and the music itself."""

from project.store.setup.accounts import ACCOUNTS, Account, Credentials, ensure_account
from project.store.setup.groups import AGENTS, APPROVERS, VIEWERS, ensure_groups
from project.store.setup.music import load_music
from project.store.setup.rules import publish_policies, publish_rules

__all__ = [
    "ACCOUNTS",
    "AGENTS",
    "APPROVERS",
    "VIEWERS",
    "Account",
    "Credentials",
    "ensure_account",
    "ensure_groups",
    "load_music",
    "publish_policies",
    "publish_rules",
]
