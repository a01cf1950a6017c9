"""The measurements run; what they find is not judged here."""

import json
from contextlib import nullcontext

import pytest

from benchmarks import __main__ as command
from benchmarks import calls, outside, registration, watching
from benchmarks.timing import Measurement, Settings, seconds_of_each, seconds_per_call

ONE_ROUND = Settings(rounds=1, round_seconds=0)


def test_every_case_of_calls_runs_and_has_a_name_of_its_own() -> None:
    measurements = list(calls.cases(ONE_ROUND))

    assert len({each.name for each in measurements}) == len(measurements)
    assert all(each.seconds > 0 for each in measurements)
    assert {each.compared_with for each in measurements} <= {"", *(each.name for each in measurements)}


@pytest.mark.django_db
def test_what_watching_costs_is_measured_beside_a_call_that_nobody_watches() -> None:
    measurements = {each.name: each for each in watching.cases(ONE_ROUND)}

    assert measurements["call, usage and error history"].compared_with == watching.ALONE
    assert measurements["are the toggles stale?"].target_seconds == 1e-6
    assert all(each.seconds > 0 for each in measurements.values())


def test_registration_is_measured_beside_pydantic_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration, "FEW", 3)

    measurements = {each.name: each for each in registration.cases(ONE_ROUND)}

    assert measurements["plain functions"].compared_with == "plain functions, pydantic alone"
    assert measurements["import apcore"].compared_with in measurements
    assert all(each.seconds > 0 for each in measurements.values())
    assert {name for name, each in measurements.items() if each.megabytes is not None} == set(registration.CASES)


def test_the_median_is_per_call() -> None:
    counted: list[int] = []

    seconds = seconds_per_call(lambda: counted.append(1), Settings(rounds=3, round_seconds=0.001))

    assert 0 < seconds < 0.001
    assert len(counted) > 3


def test_a_target_is_missed_by_what_is_slower() -> None:
    assert Measurement("case", 2.0, target_seconds=1.0).missed
    assert not Measurement("case", 1.0, target_seconds=1.0).missed
    assert not Measurement("case", 2.0).missed


def test_an_unknown_suite_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["nonsense"])

    told = capsys.readouterr().err
    assert "unknown suite nonsense; there are audit, calls, observing, effects, outside, registration, watching" in told


def test_results_are_printed_as_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "temporary_project", nullcontext)
    monkeypatch.setattr(calls, "cases", lambda settings: iter([Measurement("case", 0.5, "base", 1.0)]))

    assert command.main(["calls", "--json", "--check"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"][0]["name"] == "case"


def test_functions_that_take_turns_each_have_their_own_time() -> None:
    turns: list[str] = []

    seconds = seconds_of_each({name: lambda name=name: turns.append(name) for name in ("a", "b")}, ONE_ROUND)

    assert list(seconds) == ["a", "b"]
    assert all(0 < each < 0.001 for each in seconds.values())
    assert "".join(turns).endswith("ab")


def test_the_audit_hook_is_measured_in_a_process_that_did_not_have_it() -> None:
    measurements = {each.name: each for each in outside.cases(ONE_ROUND)}

    assert measurements["id(), the hook is there"].compared_with == "id()"
    assert all(each.seconds > 0 for each in measurements.values())
