"""Do the databases answer, can they be written, and do they have our tables?"""

from collections.abc import Iterator
from functools import partial

from django.db import DEFAULT_DB_ALIAS, connections, transaction
from django.db.migrations import Migration
from django.db.migrations.executor import MigrationExecutor

from django_apcore.services.health.finding import Finding, within

_SECONDS = 3.0


def databases() -> Iterator[Finding]:
    """One finding for each database of the project."""
    for alias in connections:
        name = _named("database", alias)
        if connections[alias].in_atomic_block:
            # On SQLite nobody else could begin to write now.
            yield Finding(name, "ok", f"The database {alias!r} is in use by this call.")
            continue
        hint = f"The database {alias!r} cannot be used: look whether it runs, is reachable and is not locked."
        yield within(_SECONDS, name, partial(_usable, name, alias), hint)


def migrations() -> Iterator[Finding]:
    """One finding for each database: whether its tables are those of this version."""
    for alias in connections:
        name = _named("migrations", alias)
        hint = f"Nobody knows which migrations database {alias!r} has: look at the database first."
        yield within(_SECONDS * 3, name, partial(_migrated, name, alias), hint)


def _usable(name: str, alias: str) -> Finding:
    # SQLite takes its lock for writing when the transaction begins.
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()
    return Finding(name, "ok", f"The database {alias!r} answers.", {"vendor": connections[alias].vendor})


def _migrated(name: str, alias: str) -> Finding:
    executor = MigrationExecutor(connections[alias])
    missing = [f"{migration.app_label}.{migration.name}" for migration, _ in _plan(executor)]
    if not missing:
        return Finding(name, "ok", f"All migrations are applied to database {alias!r}.")
    option = "" if alias == DEFAULT_DB_ALIAS else f" --database {alias}"
    sentence = f"{len(missing)} migrations are not applied to database {alias!r}: run manage.py migrate{option}."
    return Finding(name, "error", sentence, {"missing": missing[:20]})


def _plan(executor: MigrationExecutor) -> list[tuple[Migration, bool]]:
    plan: list[tuple[Migration, bool]] = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return plan


def _named(check: str, alias: str) -> str:
    return check if alias == DEFAULT_DB_ALIAS else f"{check}:{alias}"
