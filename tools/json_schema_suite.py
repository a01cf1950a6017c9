"""Fetches the public JSON Schema test suite: the source distribution of the `jsonschema` package carries it.

    python tools/json_schema_suite.py

It is downloaded by name and version with pip, once, into var/cache, and never committed.
"""

import json
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

CACHE = Path(__file__).resolve().parents[1] / "var" / "cache"
_DRAFT = "/json/tests/draft2020-12/"


def archive() -> Path:
    """Where the source distribution of the installed version lies, or would lie."""
    return CACHE / f"jsonschema-{version('jsonschema')}.tar.gz"


def fetch() -> Path:
    """Download the archive unless it is there. Raises CalledProcessError when pip cannot get it."""
    target = archive()
    if not target.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        package = f"jsonschema=={version('jsonschema')}"
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--no-binary", "jsonschema", "--dest", str(CACHE), package], check=True)  # noqa: S603 - our own words
    return target


def required_cases() -> dict[str, Any]:
    """The required tests of Draft 2020-12 by file: `{"enum": [{"schema", "tests"}, …]}`; empty when not fetched."""
    if not archive().exists():
        return {}
    with tarfile.open(archive()) as source:
        return {Path(each.name).stem: _read(source, each) for each in source.getmembers() if _is_required(each.name)}


def _is_required(name: str) -> bool:
    _, found, rest = name.partition(_DRAFT)
    return bool(found) and "/" not in rest and rest.endswith(".json")


def _read(source: tarfile.TarFile, member: tarfile.TarInfo) -> Any:
    file = source.extractfile(member)
    return json.load(file) if file is not None else []


if __name__ == "__main__":
    print(fetch().name)
