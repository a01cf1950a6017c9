"""The first use of a module inside of a measured run (decision 0034)."""

from pathlib import Path
from textwrap import dedent

import pytest
from django.conf import settings

from apcore import Registry
from django_apcore.effects import governed
from project.store.models import Genre

FILE = """
from pathlib import Path

{top}


class Worker:
    description = "Works"
    input_schema = output_schema = {{"type": "object"}}

    def on_load(self):
        {load}

    def execute(self, inputs, context):
        return {{}}
"""


@pytest.fixture
def lazy(tmp_path):
    """A registry with one module that waits for its first use."""

    def lazy(top="", load="pass"):
        (tmp_path / "extensions").mkdir()
        (tmp_path / "extensions/a.py").write_text(dedent(FILE).format(top=top, load=load))
        registry = Registry()
        registry.discover({"extensions": {"root": tmp_path / "extensions", "lazy_load": True}})
        assert registry.get_loaded("a") is None
        return registry

    return lazy


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_what_a_file_does_when_it_is_imported_is_not_refused(lazy):
    mark = Path(settings.VAR_DIR, "lazy-load-mark")
    write = f"Path({str(mark)!r}).write_text('imported')"
    registry = lazy(write, write.replace("imported", "loaded"))
    try:
        with governed(commit=False) as run:
            registry.get("a")
        assert mark.read_text() == "loaded"
    finally:
        mark.unlink(missing_ok=True)
    assert (run.record.complete, list(run.record.changes)) == (True, [])


@pytest.mark.django_db(transaction=True, databases="__all__")
def test_what_it_asks_of_the_database_is_in_the_transaction_of_the_run(lazy):
    load = "from project.store.models import Genre; Genre.objects.create(name='Lazy')"
    registry = lazy(load=load)

    with governed(commit=False) as run:
        registry.get("a")

    assert [change.action for change in run.record.changes] == ["insert"]
    assert not Genre.objects.filter(name="Lazy").exists()
    assert registry.get_loaded("a") is not None
