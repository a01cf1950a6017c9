from __future__ import annotations

import io
import json
import logging
from collections import OrderedDict
from datetime import date, datetime
from types import MappingProxyType

import pytest

from apcore import Config
from apcore.telemetry.logs import (
    TRACE,
    JsonFormatter,
    RedactingFilter,
    TextFormatter,
    configure_logging,
    level_name,
    level_number,
    log_handler,
)
from apcore.telemetry.settings import LOG_LEVELS, LoggingSettings, ObservabilitySettings


@pytest.fixture
def logger(request):
    logger = logging.getLogger(f"tests.{request.node.name}")
    logger.setLevel(1)
    logger.propagate = False
    before = list(logger.handlers)
    yield logger
    logger.handlers[:] = before


@pytest.fixture
def written(logger):
    stream = io.StringIO()
    logger.addHandler(log_handler(LoggingSettings(level="trace"), stream))
    return lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.req("R-10.2-02")
def test_the_fields_of_a_line(logger, written):
    logger.info("hello %s", "world", extra={"trace_id": "a" * 32, "module_id": "m.one", "rows": 3})
    [line] = written()
    assert list(line) == ["timestamp", "level", "message", "trace_id", "module_id", "extra"]
    assert datetime.fromisoformat(line["timestamp"]).utcoffset() is not None
    assert (line["level"], line["message"]) == ("info", "hello world")
    assert (line["trace_id"], line["module_id"]) == ("a" * 32, "m.one")
    assert line["extra"] == {"logger": logger.name, "rows": 3}


@pytest.mark.req("R-10.2-01")
@pytest.mark.parametrize("level", LOG_LEVELS)
def test_each_level_can_be_set_and_logged(logger, level):
    stream = io.StringIO()
    logger.addHandler(log_handler(LoggingSettings(level=level), stream))
    for each in LOG_LEVELS:
        logger.log(level_number(each), each)
    levels = [json.loads(line)["level"] for line in stream.getvalue().splitlines()]
    assert levels == list(LOG_LEVELS[LOG_LEVELS.index(level) :])


def test_numbers_between_the_levels_belong_to_the_lower_one():
    assert [level_name(number) for number in (1, TRACE, 9, 10, 25, 39, 50, 99)] == [
        "trace",
        "trace",
        "trace",
        "debug",
        "info",
        "warn",
        "fatal",
        "fatal",
    ]


@pytest.mark.req("R-10.2-03")
def test_no_password_and_no_token_is_written(logger, written):
    logger.warning("login with password=%s", "hunter2-s", extra={"headers": {"Authorization": "hunter2-h"}})
    logger.warning("GET https://user:hunter2-u@example.org/?token=hunter2-q with Bearer hunter2.bearer")
    try:
        try:
            raise KeyError("hunter2-k")
        except KeyError as error:
            raise ValueError("hunter2-v") from error
    except ValueError:
        logger.exception("failed", stack_info=True)
    lines = written()
    assert "hunter2" not in json.dumps(lines)
    assert lines[2]["extra"]["exception"].startswith("ValueError\n")
    assert "caused by KeyError" in lines[2]["extra"]["exception"]
    assert "in test_no_password_and_no_token_is_written" in lines[2]["extra"]["exception"]


@pytest.mark.req("R-10.2-03")
def test_the_text_of_an_exception_that_somebody_else_wrote_down_is_left_out(logger, written):
    text = "Traceback (most recent call last):\nValueError: hunter2"
    logger.handle(logging.makeLogRecord({"msg": "from another process", "levelno": 40, "exc_text": text}))
    [line] = written()
    assert line["message"] == "from another process"
    assert "hunter2" not in json.dumps(line)


@pytest.mark.req("R-10.2-03")
@pytest.mark.parametrize(
    "value",
    [
        MappingProxyType({"password": "hunter2"}),
        OrderedDict(password="hunter2"),
        [["Authorization", "hunter2"]],
        [{"name": "db.password", "value": "hunter2"}],
        {"postgres://ada:hunter2@db/shop"},
        b"postgres://ada:hunter2@db/shop",
        ValueError("password=hunter2"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_whatever_holds_a_secret_in_a_message_or_beside_it(logger, written, value):
    logger.info("is %s", value, extra={"held": value, "deeper": [{"by": MappingProxyType({"a": value})}]})
    logger.info("is %(held)s", {"held": value})
    assert "hunter2" not in json.dumps(written())


def test_what_is_written_is_one_line_of_json_whatever_it_is(logger, written):
    logger.info("two\nlines %r", "\u2028", extra={"odd": object(), "more": {1, 2}})
    [line] = written()
    assert line["extra"]["odd"] == "<object>"
    endless: dict[str, object] = {}
    endless["again"] = [endless]
    odd = {"at": date(2026, 2, 5), "nan": float("nan"), "huge": 10**5000, "named": {(1, 2): "x"}}
    logger.info("odd", extra={"odd": odd, "endless": endless})
    shown = json.loads(json.dumps(written()[1]["extra"]), parse_constant=pytest.fail)
    assert shown["odd"]["at"] == "2026-02-05"
    assert shown["odd"]["nan"] is None
    assert shown["odd"]["named"] == {"<tuple>": "x"}
    wrong = logging.makeLogRecord({"msg": "%d", "args": ("no number",), "levelno": 20})
    assert "TypeError" in json.loads(JsonFormatter().format(wrong))["message"]


def test_the_text_form(logger):
    stream = io.StringIO()
    logger.addHandler(log_handler(LoggingSettings(format="text"), stream))
    logger.warning("no\nnew entry", extra={"rows": 3, "module_id": "m.one", "trace_id": "b" * 32})
    first, second = stream.getvalue().splitlines()
    assert first.endswith(f"warn  {logger.name}: no")
    assert second == f"    new entry trace_id={'b' * 32} module_id=m.one rows=3"


def test_redaction_can_be_switched_off(logger):
    stream = io.StringIO()
    logger.addHandler(log_handler(LoggingSettings(redact_sensitive=False), stream))
    logger.warning("password=hunter2")
    assert "hunter2" in stream.getvalue()


def test_keys_of_ones_own(logger):
    stream = io.StringIO()
    logger.addHandler(log_handler(LoggingSettings(), stream, {"iban"}))
    logger.warning("iban=PT50", extra={"data": {"iban": "PT51"}})
    assert "PT5" not in stream.getvalue()


def test_the_filter_serves_formatters_of_others(logger):
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter())
    logger.addHandler(handler)
    try:
        raise ValueError("hunter2")
    except ValueError:
        logger.exception("password=%s", "hunter2")
    assert "hunter2" not in stream.getvalue()
    assert "ValueError" in stream.getvalue()


def test_formatters_leave_the_record_alone():
    record = logging.makeLogRecord({"msg": "password=%s", "args": ("hunter2",), "levelno": 20})
    assert "hunter2" not in JsonFormatter().format(record)
    assert "hunter2" not in TextFormatter().format(record)
    assert record.args == ("hunter2",)


@pytest.mark.req("R-10.2-04")
@pytest.mark.parametrize(
    "values",
    [
        {"version": "1.0.0", "project": {"name": "p"}, "logging": {"level": "error", "format": "text"}},
        {
            "apcore": {"version": "1.0.0", "project": {"name": "p"}},
            "observability": {"logging": {"level": "error", "format": "text"}},
        },
    ],
    ids=["legacy", "namespace"],
)
def test_level_and_format_come_from_the_configuration(logger, values):
    stream = io.StringIO()
    settings = ObservabilitySettings.from_mapping(Config.from_dict(values).namespace("observability"))
    assert configure_logging(settings.logging, logger=logger, stream=stream) is not None
    logger.warning("not this")
    logger.error("but this")
    [line] = stream.getvalue().splitlines()
    assert f"error {logger.name}: but this" in line


def test_nothing_is_added_where_logging_is_switched_off(logger):
    before = list(logger.handlers)
    assert configure_logging(LoggingSettings(enabled=False), logger=logger) is None
    assert logger.handlers == before
