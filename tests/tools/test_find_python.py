"""How `make env` finds a Python, and what it says when there is none that will do."""

import subprocess
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT

OLD, WITHOUT_VENV, GOOD = "exit 1", 'case "$2" in *ensurepip*) exit 1;; esac', "exit 0"


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A folder that stands for PATH; `install` puts made-up interpreters into it."""
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def install(machine: Path, name: str, behaviour: str) -> None:
    (machine / name).write_text(f"#!/bin/sh\n{behaviour}\n")
    (machine / name).chmod(0o755)


def find_python(machine: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "tools" / "find-python.sh"
    return subprocess.run(
        ["/bin/sh", str(script)], env={"PATH": str(machine), **environment}, capture_output=True, text=True, check=False
    )


def test_the_first_usable_python_is_taken(machine: Path) -> None:
    install(machine, "python3", OLD)
    install(machine, "python3.12", GOOD)

    assert find_python(machine).stdout == "python3.12\n"


def test_one_without_venv_is_passed_over_for_one_that_has_it(machine: Path) -> None:
    install(machine, "python3", WITHOUT_VENV)
    install(machine, "python3.11", GOOD)

    assert find_python(machine).stdout == "python3.11\n"


def test_without_any_python_it_says_so(machine: Path) -> None:
    done = find_python(machine)

    assert (done.returncode, done.stdout) == (1, "")
    assert "No Python from 3.11 on was found" in done.stderr


def test_without_venv_it_says_what_to_install(machine: Path) -> None:
    install(machine, "python3", WITHOUT_VENV)

    done = find_python(machine)

    assert (done.returncode, done.stdout) == (1, "")
    assert "apt-get install python3-venv" in done.stderr


def test_a_python_may_be_named(machine: Path) -> None:
    install(machine, "python3", GOOD)
    install(machine, "mine", GOOD)

    assert find_python(machine, PYTHON="mine").stdout == "mine\n"


def test_a_named_python_that_is_too_old_is_named_in_the_complaint(machine: Path) -> None:
    install(machine, "python3", GOOD)
    install(machine, "mine", OLD)

    assert "was found as mine" in find_python(machine, PYTHON="mine").stderr
