"""`manage.py store_setup`: everything that the demo store needs, as often as you like."""

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from project.store import setup


class Command(BaseCommand):
    help = (
        "Load the sample store, and make its accounts, access rules and approval policies. What is there stays. "
        "New accounts get the password in DEMO_PASSWORD, or a random one each, which is printed once."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print what was done as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        loaded = setup.load_music()
        setup.ensure_groups()
        password = os.environ.get("DEMO_PASSWORD") or None
        accounts = [setup.ensure_account(account, password) for account in setup.ACCOUNTS]
        rules, policies = setup.publish_rules(), setup.publish_policies()
        if options["json"]:
            done = {"loaded": loaded, "rules": rules, "policies": policies}
            self.stdout.write(json.dumps(done | {"accounts": [asdict(account) for account in accounts]}))
        else:
            self.report(loaded, rules, policies, accounts)

    def report(self, loaded: bool, rules: bool, policies: bool, accounts: list[setup.Credentials]) -> None:
        for what, done in (("sample data", loaded), ("access rules", rules), ("approval policies", policies)):
            self.stdout.write(f"{what}: {'made' if done else 'already there'}")
        for account in accounts:
            password = account.password or ("unchanged" if account.token is None else "-")
            self.stdout.write(f"{account.username:10} password {password:14} token {account.token or '-'}")
