"""What stands on the terminal beside the answer of a command."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

import pytest
from django.core.management import call_command

from apcore.context import Context
from apcore.telemetry.export import provider_from
from apcore.telemetry.settings import TracingSettings
from apcore.telemetry.tracing import TracingProvider
from django_apcore.management.console import kept_clean
from django_apcore.testing import allow_all, override_runtime
from tests.django_apcore import stage


@contextmanager
def terminal() -> Iterator[io.StringIO]:
    """Standard error, to which the root logger writes from INFO on."""
    text, root, ours = io.StringIO(), logging.getLogger(), logging.getLogger("apcore")
    handler, level = logging.StreamHandler(text), ours.level
    root.addHandler(handler)
    ours.setLevel(logging.INFO)
    try:
        with redirect_stderr(text):
            yield text
    finally:
        root.removeHandler(handler)
        ours.setLevel(level)


def test_spans_are_kept_out_of_the_answer() -> None:
    tracing = TracingProvider(TracingSettings(enabled=True), fallback=provider_from)
    with terminal() as seen, redirect_stdout(io.StringIO()) as out:
        tracing.end_span(tracing.start_span("before", Context.create()))
        with kept_clean(1):
            tracing.end_span(tracing.start_span("inside", Context.create()))
    assert json.loads(seen.getvalue())["name"] == "inside"
    assert json.loads(out.getvalue())["name"] == "before"


def test_the_terminal_gets_warnings_only_and_everybody_else_gets_all() -> None:
    logger, others = logging.getLogger("apcore.calls"), io.StringIO()
    file = logging.StreamHandler(others)
    logging.getLogger().addHandler(file)
    try:
        with terminal() as seen:
            with kept_clean(1):
                logger.info("quiet")
                logger.warning("loud")
            logger.info("later")
    finally:
        logging.getLogger().removeHandler(file)
    assert seen.getvalue().split() == ["loud", "later"]
    assert others.getvalue().split() == ["quiet", "loud", "later"]


@pytest.mark.django_db(databases=["default", "other"])
@pytest.mark.parametrize(("verbosity", "is_told"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_call_is_logged_from_verbosity_2_on(verbosity: int, is_told: bool) -> None:
    out = io.StringIO()
    words = ("call", "test.plain.echo", "--inputs", '{"text": "a"}', "--json")
    with override_runtime(modules=stage.MODULES, installed=False, acl=allow_all()), terminal() as seen:
        call_command("apcore", *words, stdout=out, skip_checks=True, verbosity=verbosity)
    assert json.loads(out.getvalue()) == {"result": "a"}
    assert ("test.plain.echo" in seen.getvalue()) is is_told
