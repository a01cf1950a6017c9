"""The tables of the manual say what the code says, and the lists that were written by hand do, too."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

from apcore.errors import ModuleError
from django_apcore.conf import ApcoreSettings
from django_apcore.exceptions import ConflictReason, ForbiddenReason
from tools.docs_hooks import ROOT, commands, errors, on_page_markdown, requirements, settings, table

DOCS = ROOT / "docs"


def first_column(text: str) -> set[str]:
    return set(re.findall(r"^\| `([A-Za-z_]+)`", text, re.MULTILINE))


def test_every_setting_has_a_row_with_its_meaning() -> None:
    assert first_column(settings()) == {field.name.upper() for field in fields(ApcoreSettings)}
    assert "| `LOCK_TIMEOUT_MS` | `5000` |" in settings() or "| `LOCK_TIMEOUT_MS` | `5_000` |" in settings()


def test_the_errors_of_both_packages_have_rows() -> None:
    codes = first_column(errors())

    assert {"ACL_DENIED", "APPROVAL_PENDING", "APPROVAL_CONFLICT", "SCHEMA_VALIDATION_ERROR"} <= codes


def test_errors_of_users_have_none() -> None:
    class OwnError(ModuleError):
        code = "TESTS_OWN"

    assert OwnError.code not in first_column(errors())


def test_the_reasons_of_conflicts_and_refusals_are_explained() -> None:
    explained = first_column((DOCS / "reference" / "errors.md").read_text(encoding="utf-8"))

    assert explained - {"APPROVAL_CONFLICT", "APPROVAL_FORBIDDEN"} == {
        *get_args(ConflictReason),
        *get_args(ForbiddenReason),
    }


def test_the_environment_variables_of_the_project_are_listed() -> None:
    sources = [ROOT / "project" / "settings.py", ROOT / "project" / "env.py"]
    used = {name for file in sources for name in variables(file)} - {"APCORE_DATABASE_"}
    page = (DOCS / "reference" / "settings.md").read_text(encoding="utf-8")

    assert [name for name in sorted(used) if f"`{name}`" not in page] == []


def variables(file: Path) -> set[str]:
    return set(re.findall(r"(?:APCORE|STORE)_[A-Z_]+(?=[\"'])", file.read_text(encoding="utf-8")))


def test_commands_are_listed_with_their_arguments() -> None:
    assert "| `errors [--limit LIMIT] [module_id]` |" in commands()


def test_requirements_are_summed_up() -> None:
    assert requirements().splitlines()[-1].startswith("| **all** |")


def test_marks_are_replaced_and_other_text_is_not() -> None:
    page = on_page_markdown("before\n\n<!-- generated: settings -->\nSee the code.\n<!-- end -->\n\nafter")

    assert page.startswith("before\n\n| key | default | meaning |\n| --- | --- | --- |\n")
    assert page.endswith("\n\nafter")


def test_bars_inside_cells_do_not_split_them() -> None:
    assert table(("a",), [("str | None",)]).splitlines()[-1] == "| str \\| None |"
