import asyncio
import logging
import os
import threading
import time
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore import Event, EventEmitter
from apcore.errors import InvalidInputError
from apcore.events import SEVERITIES, core_event
from apcore.ids import match_pattern
from apcore.redaction import REDACTED_VALUE


def toggled(enabled=False):
    return core_event("apcore.module.toggled", {"module_id": "a.b", "enabled": enabled})


class Recorder:
    def __init__(self):
        self.events = []

    def on_event(self, event):
        self.events.append(event)


class AsyncRecorder(Recorder):
    async def on_event(self, event):
        await asyncio.sleep(0)
        self.events.append(event)


class Failing:
    def __init__(self, error):
        self.error = error

    def on_event(self, event):
        raise self.error


class AsyncFailing(Failing):
    async def on_event(self, event):
        raise self.error


@pytest.fixture
def emitter():
    return EventEmitter()


@pytest.mark.req("R-7.4-10")
@pytest.mark.parametrize("failing", [Failing, AsyncFailing])
@pytest.mark.parametrize(
    "error", [RuntimeError("the password is hunter22"), SystemExit(3), asyncio.CancelledError(), GeneratorExit()]
)
def test_a_failing_subscriber_disturbs_nobody(emitter, caplog, failing, error):
    before, after = Recorder(), Recorder()
    for each in (before, failing(error), after):
        emitter.subscribe(each)
    emitter.emit(Event("a.b"))
    assert len(before.events) == len(after.events) == 1
    [record] = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert type(error).__name__ in record.getMessage()
    assert "hunter22" not in caplog.text


@pytest.mark.parametrize("failing", [Failing, AsyncFailing])
def test_nor_when_coroutines_emit(emitter, failing):
    recorder = AsyncRecorder()
    for each in (failing(ValueError()), failing(SystemExit()), failing(asyncio.CancelledError()), recorder):
        emitter.subscribe(each)
    asyncio.run(emitter.emit_async(Event("a.b")))
    assert len(recorder.events) == 1


def test_an_interrupt_from_the_keyboard_is_no_failure_of_a_subscriber(emitter):
    emitter.subscribe(Failing(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        emitter.emit(Event("a.b"))


def test_a_worker_that_is_told_to_stop_stops(emitter):
    class WorkerShutdown(SystemExit):
        pass

    emitter.subscribe(Failing(WorkerShutdown()))
    with pytest.raises(WorkerShutdown):
        emitter.emit(Event("a.b"))


def test_cancelling_who_waits_for_a_subscriber_cancels(emitter):
    async def never(event):
        await asyncio.Event().wait()

    async def run():
        emitter.subscribe(never)
        emitting = asyncio.create_task(emitter.emit_async(Event("a.b")))
        await asyncio.sleep(0.01)
        emitting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await emitting

    asyncio.run(run())


@pytest.mark.req("R-9.16.1-02")
@pytest.mark.parametrize("name", ["apcore.module.toggled", "apcore.billing.invoice", "apcore.x"])
def test_others_may_not_emit_types_of_the_framework(emitter, name):
    recorder = Recorder()
    emitter.subscribe(recorder)
    with pytest.raises(InvalidInputError, match="use another prefix"):
        emitter.emit(Event(name, {"module_id": "a.b", "enabled": True}))
    with pytest.raises(InvalidInputError, match="use another prefix"):
        asyncio.run(emitter.emit_async(Event(name)))
    assert recorder.events == []


def test_a_type_that_only_begins_with_the_same_letters_is_free(emitter):
    recorder = Recorder()
    emitter.subscribe(recorder)
    emitter.emit(Event("apcore-mcp.tool_called"))
    assert len(recorder.events) == 1


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"types": ["apcore.module.*"]}, True),
        ({"types": ["billing.*", "apcore.module.toggled"]}, True),
        ({"types": ["apcore.health.*"]}, False),
        ({"types": []}, False),
        ({"min_severity": "warn"}, False),
        ({"modules": ["a.*"]}, True),
        ({"modules": ["b.*"]}, False),
    ],
)
def test_subscribers_hear_of_what_they_asked_for(emitter, options, wanted):
    recorder = Recorder()
    emitter.subscribe(recorder, **options)
    emitter.emit(toggled(True))
    assert bool(recorder.events) is wanted


def test_an_event_about_no_module_is_not_for_those_who_asked_for_modules(emitter):
    recorder = Recorder()
    emitter.subscribe(recorder, modules=["*"])
    emitter.emit(Event("a.b"))
    emitter.emit(Event("a.b", module_id="x.y"))
    assert [each.module_id for each in recorder.events] == ["x.y"]


words = st.sampled_from(["a", "b", "apcore-x", "c_1"])
types = st.lists(words.filter(lambda word: "-" not in word), min_size=1, max_size=3).map(
    lambda rest: ".".join(["a", *rest])
)
patterns = st.one_of(types, types.map(lambda name: name.rpartition(".")[0] + ".*"), st.just("*"))


@given(types, st.sampled_from(SEVERITIES), st.lists(patterns, max_size=3), st.sampled_from(SEVERITIES))
def test_the_filter_is_what_patterns_and_severities_say(name, severity, patterns, least):
    emitter, recorder = EventEmitter(), Recorder()
    emitter.subscribe(recorder, types=patterns, min_severity=least)
    emitter.emit(Event(name, severity=severity))
    matches = any(match_pattern(pattern, name) for pattern in patterns)
    assert bool(recorder.events) is (matches and SEVERITIES.index(severity) >= SEVERITIES.index(least))


@pytest.mark.parametrize("wrong", [{"types": "apcore.*"}, {"modules": "a.*"}, {"min_severity": "fatal"}])
def test_a_mistaken_filter_is_refused(emitter, wrong):
    with pytest.raises(InvalidInputError):
        emitter.subscribe(Recorder(), **wrong)


def test_what_cannot_be_called_is_no_subscriber(emitter):
    with pytest.raises(InvalidInputError, match="on_event"):
        emitter.subscribe(object())


def test_callables_subscribe_too_and_leave_as_themselves(emitter):
    events = []
    emitter.subscribe(events.append)
    emitter.emit(Event("a.b"))
    assert emitter.unsubscribe(events.append)
    assert not emitter.unsubscribe(events.append)
    emitter.emit(Event("a.b"))
    assert len(events) == 1


def test_one_of_several_subscriptions_can_end(emitter):
    recorder = Recorder()
    first = emitter.subscribe(recorder, types=["a.*"])
    emitter.subscribe(recorder, types=["a.b"])
    assert emitter.unsubscribe(first)
    emitter.emit(Event("a.b"))
    assert len(recorder.events) == 1


def test_a_subscriber_that_subscribes_another_while_it_hears_is_fine(emitter):
    late = Recorder()
    emitter.subscribe(lambda event: emitter.subscribe(late))
    emitter.emit(Event("a.b"))
    assert late.events == []


def test_secrets_do_not_reach_subscribers(emitter):
    recorder = Recorder()
    emitter.subscribe(recorder)
    given_data = {"user": "eve", "nested": [{"apiToken": "abc", "password": "hunter22"}]}
    emitter.emit(Event("a.b", given_data))
    [event] = recorder.events
    assert event.data["nested"] == [{"apiToken": REDACTED_VALUE, "password": REDACTED_VALUE}]
    assert event.data["user"] == "eve"
    assert given_data["nested"][0]["password"] == "hunter22"


def test_data_of_any_shape_is_told_without_secrets(emitter):
    @dataclass
    class Account:
        password: str

    endless = {}
    endless["again"] = [endless]
    recorder = Recorder()
    emitter.subscribe(recorder)
    emitter.emit(Event("a.b", {"account": Account("hunter2"), "endless": endless, "raw": b"password=hunter2", "n": 1}))
    [event] = recorder.events
    assert event.data["n"] == 1
    assert "hunter2" not in event.to_json()
    assert event.data["endless"] == REDACTED_VALUE


def test_more_keys_can_be_secret():
    emitter, recorder = EventEmitter(sensitive_keys={"iban"}), Recorder()
    emitter.subscribe(recorder)
    emitter.emit(Event("a.b", {"iban": "DE00"}))
    assert recorder.events[0].data["iban"] == REDACTED_VALUE


def test_redaction_keeps_which_event_it_is(emitter):
    recorder = Recorder()
    emitter.subscribe(recorder)
    event = toggled()
    emitter.emit(event)
    assert recorder.events[0].to_dict() == event.to_dict()


def test_coroutines_hear_where_no_loop_runs(emitter):
    recorder = AsyncRecorder()
    emitter.subscribe(recorder)
    emitter.emit(Event("a.b"))
    assert len(recorder.events) == 1


def test_coroutines_hear_soon_where_a_loop_runs(emitter):
    recorder = AsyncRecorder()
    emitter.subscribe(recorder)

    async def run():
        emitter.emit(Event("a.b"))
        heard_at_once = len(recorder.events)
        await asyncio.sleep(0.02)
        return heard_at_once

    assert asyncio.run(run()) == 0
    assert len(recorder.events) == 1


def test_emit_async_waits_for_both_kinds_and_keeps_sync_ones_out_of_the_loop(emitter):
    places, recorder = [], AsyncRecorder()

    def sync(event):
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            places.append("thread")
        else:
            places.append("loop")

    emitter.subscribe(sync)
    emitter.subscribe(recorder)
    asyncio.run(emitter.emit_async(Event("a.b")))
    assert places == ["thread"]
    assert len(recorder.events) == 1


@pytest.mark.req("R-7.4-09")
def test_a_slow_subscriber_in_the_background_keeps_nobody_waiting(emitter):
    go, recorder, quick = threading.Event(), Recorder(), Recorder()

    def slow(event):
        go.wait(10)
        recorder.on_event(event)

    emitter.subscribe(slow, background=True)
    emitter.subscribe(quick)
    begin = time.perf_counter()
    emitter.emit(Event("a.b"))
    emitter.emit(Event("a.c"))
    assert time.perf_counter() - begin < 5
    assert len(quick.events) == 2
    assert recorder.events == []
    assert not emitter.flush(0.01)
    go.set()
    assert emitter.flush(10)
    assert [each.type for each in recorder.events] == ["a.b", "a.c"]


def test_a_slow_subscriber_that_holds_up_the_caller_is_named(emitter, caplog):
    def dawdle(event):
        time.sleep(0.3)

    emitter.subscribe(dawdle)
    emitter.emit(Event("a.b"))
    assert "dawdle" in caplog.text
    assert "background=True" in caplog.text


def test_coroutines_and_failures_are_fine_in_the_background_too(emitter, caplog):
    recorder = AsyncRecorder()
    emitter.subscribe(AsyncFailing(ValueError()), background=True)
    emitter.subscribe(recorder, background=True)
    for _ in range(3):
        emitter.emit(Event("a.b"))
    assert emitter.flush(10)
    assert len(recorder.events) == 3
    assert caplog.text.count("ValueError") == 3


def test_what_a_slow_subscriber_cannot_take_any_more_is_dropped_and_counted(emitter, caplog, monkeypatch):
    monkeypatch.setattr("apcore.events.subscription._QUEUED", 2)
    go, recorder = threading.Event(), Recorder()

    def slow(event):
        go.wait(10)
        recorder.on_event(event)

    subscription = emitter.subscribe(slow, background=True)
    for number in range(10):
        emitter.emit(Event(f"a.n{number}"))
        time.sleep(0.01)
    go.set()
    assert emitter.flush(10)
    assert subscription.queue.dropped == 7
    assert [each.type for each in recorder.events] == ["a.n0", "a.n1", "a.n2"]
    assert "was dropped" in caplog.text


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_delivers_its_own_events_in_the_background(emitter, tmp_path):
    path = tmp_path / "heard"

    def note(event):
        path.write_text(f"{os.getpid()}")

    emitter.subscribe(note, background=True)
    emitter.emit(Event("a.b"))
    assert emitter.flush(10)
    child = os.fork()
    if child == 0:
        emitter.emit(Event("a.b"))
        os._exit(0 if emitter.flush(10) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert path.read_text() == str(child)


def test_a_subscriber_that_answers_every_event_with_one_ends_by_itself(emitter, caplog):
    recorder = Recorder()
    emitter.subscribe(lambda event: emitter.emit(Event("loop.again")))
    emitter.subscribe(recorder, types=["a.b"])
    emitter.emit(Event("a.b"))
    assert len(recorder.events) == 1
    assert "RecursionError" in caplog.text


def test_events_from_many_threads_all_arrive(emitter):
    recorder = Recorder()
    emitter.subscribe(recorder)

    def emit():
        for _ in range(200):
            emitter.emit(Event("a.b"))

    threads = [threading.Thread(target=emit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({each.event_id for each in recorder.events}) == 1600


@pytest.mark.parametrize("types", [[3], [None], [""], 3, [b"a.*"]], ids=str)
def test_a_pattern_that_could_not_be_compared_is_refused_and_keeps_no_event_from_others(types):
    emitter, recorder = EventEmitter(), Recorder()
    emitter.subscribe(recorder)
    for name in ("types", "modules"):
        with pytest.raises(InvalidInputError, match=name):
            emitter.subscribe(recorder, **{name: types})
    emitter.emit(Event("billing.x", module_id="a.b"))
    assert [each.type for each in recorder.events] == ["billing.x"]


def test_a_class_is_no_subscriber():
    with pytest.raises(InvalidInputError, match="Recorder is a class"):
        EventEmitter().subscribe(Recorder)


@pytest.mark.parametrize("event", [None, "billing.x", {"type": "billing.x"}], ids=str)
def test_what_is_no_event_is_refused(event):
    with pytest.raises(InvalidInputError, match="is an Event"):
        EventEmitter().emit(event)


def test_subscribing_from_many_threads_loses_nobody():
    emitter, ready = EventEmitter(), threading.Barrier(8)
    recorders = [Recorder() for _ in range(400)]

    def subscribe(part):
        ready.wait()
        for each in part:
            emitter.subscribe(each)

    threads = [threading.Thread(target=subscribe, args=(recorders[n::8],)) for n in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    emitter.emit(Event("billing.x"))
    assert [len(each.events) for each in recorders] == [1] * 400
