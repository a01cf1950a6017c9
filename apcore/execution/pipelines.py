"""Strategies by configuration: the section ``pipeline`` (§5.16)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from asgiref.sync import iscoroutinefunction

from apcore.errors import ConfigError, ModuleError
from apcore.ids import match_pattern
from apcore.middleware.making import imported, made_from
from apcore.pipeline import STANDARD_STEPS, PipelineState, Step, Strategy

_SECTION: Final = ("name", "steps", "configure", "remove", "order")
_STEP: Final = ("name", "class", "function", "config", "before", "after", "pure", "ignore_errors", "match_modules")
_CONFIGURED: Final = ("class", "function", "config", "ignore_errors", "match_modules")


def configured_strategy(base: Strategy, section: Any) -> Strategy:
    """``base`` as the section ``pipeline`` changes it; ``base`` itself for an empty one.

    ``name`` names the result. ``steps`` are inserted, each ``before`` or ``after`` another: a ``function`` path, or a
    ``class`` path with its ``config``, called or run with the PipelineState; ``match_modules`` are patterns of the
    modules that it is for, ``ignore_errors`` and ``pure`` as in `Step`. ``configure`` replaces inserted steps by name,
    ``remove`` takes them out, ``order`` lists all steps. The standard steps can be neither removed, moved nor changed.

    Raises ConfigError for everything else, with the place.
    """
    if not section:
        return base
    if not isinstance(section, Mapping):
        raise ConfigError(
            f"pipeline must be an object with {', '.join(_SECTION)}, not {type(section).__name__} (§5.16)"
        )
    _require_keys(section, _SECTION, "pipeline")
    name = base.name if section.get("name") is None else section["name"]
    if not isinstance(name, str):
        raise ConfigError(f"pipeline.name must be a text, not {name!r}")
    strategy = base.named(name)
    for number, item in enumerate(_listed(section, "steps")):
        place = f"pipeline.steps[{number}]"
        strategy = _at(place, _inserted, strategy, item, place)
    for name, item in _mapping(section.get("configure"), "pipeline.configure").items():
        place = f"pipeline.configure.{name}"
        strategy = _at(place, _configured, strategy, name, item, place)
    for name in _listed(section, "remove"):
        strategy = _at("pipeline.remove", strategy.without, name)
    order = _listed(section, "order")
    return _at("pipeline.order", strategy.reordered, order) if order else strategy


def _at(place: str, change: Callable[..., Strategy], *arguments: Any) -> Strategy:
    try:
        return change(*arguments)
    except ConfigError:
        raise
    except ModuleError as error:
        raise ConfigError(f"{place}: {error.message}") from error


def _inserted(strategy: Strategy, item: Any, place: str) -> Strategy:
    values = _mapping(item, place)
    _require_keys(values, _STEP, place)
    name = values.get("name")
    if not isinstance(name, str) or not name.isidentifier():
        raise ConfigError(f"{place}.name must be a word for the step, not {name!r}")
    return strategy.insert(_step(name, values, place), before=values.get("before"), after=values.get("after"))


def _configured(strategy: Strategy, name: str, item: Any, place: str) -> Strategy:
    if name in STANDARD_STEPS:
        raise ConfigError(f"{place}: {name!r} is a standard step, which a configuration cannot change (§7.4)")
    values = _mapping(item, place)
    _require_keys(values, _CONFIGURED, place)
    return strategy.configure(name, _step(name, {"pure": strategy[name].pure, **values}, place))


def _step(name: str, values: Mapping[str, Any], place: str) -> Step:
    run = _function(values, place)
    patterns = values.get("match_modules")
    if patterns is not None:
        if not isinstance(patterns, list | tuple) or not all(isinstance(each, str) and each for each in patterns):
            raise ConfigError(f"{place}.match_modules must be a list of patterns of module IDs, not {patterns!r}")
        run = _only_for(tuple(patterns), run)
    flags = {flag: values.get(flag, False) for flag in ("pure", "ignore_errors")}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise ConfigError(f"{place}.{flag} must be true or false, not {value!r}")
    return Step(name, run, **flags)


def _function(values: Mapping[str, Any], place: str) -> Callable[[PipelineState], Any]:
    if ("class" in values) == ("function" in values):
        raise ConfigError(f"{place} needs exactly one of class and function, the path of what runs")
    if "function" in values:
        found = imported(values["function"], f"{place}.function")
    else:
        made = made_from(values["class"], values.get("config"), place)
        found = getattr(made, "run", made)
    if not callable(found):
        raise ConfigError(f"{place}: {type(found).__name__} is neither callable nor has run(state)")
    return found  # type: ignore[no-any-return]  # whatever is callable


def _only_for(patterns: tuple[str, ...], run: Callable[[PipelineState], Any]) -> Callable[[PipelineState], Any]:
    def concerns(state: PipelineState) -> bool:
        return any(match_pattern(pattern, state.module_id) for pattern in patterns)

    async def run_async(state: PipelineState) -> Any:
        return await run(state) if concerns(state) else None

    def run_sync(state: PipelineState) -> Any:
        return run(state) if concerns(state) else None

    return run_async if iscoroutinefunction(run) else run_sync


def _listed(section: Mapping[str, Any], key: str) -> Iterable[Any]:
    values = () if section.get(key) is None else section[key]
    if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
        raise ConfigError(f"pipeline.{key} must be a list, not {type(values).__name__}")
    return tuple(values)


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ConfigError(f"{place} must be an object, not {type(value).__name__}")
    return value


def _require_keys(values: Mapping[str, Any], known: tuple[str, ...], place: str) -> None:
    unknown = sorted(str(key) for key in set(values) - set(known))
    if unknown:
        raise ConfigError(f"{place} has no key {unknown[0]!r}; there are {', '.join(known)} (§5.16)")
