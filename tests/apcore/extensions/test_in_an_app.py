"""Each point takes effect in an App, by object and by path."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from apcore.acl import ACL
from apcore.app import App, build_app
from apcore.approval import ApprovalRequest, ApprovalResult
from apcore.context import Context
from apcore.errors import ACLDeniedError, ApprovalDeniedError, ConfigError, InvalidInputError, ModuleLoadError
from apcore.execution import Executor
from apcore.extensions import ExtensionManager, apply_extensions, load_extensions
from apcore.middleware import Middleware
from apcore.modules import ModuleAnnotations, module
from apcore.registry import Registry

HERE = f"{__name__}."


def double() -> Any:
    @module(id="math.double")
    def function(a: int) -> dict[str, Any]:
        """Double a number"""
        return {"twice": 2 * a}

    return function


class Discovers:
    def __init__(self, name: str = "math.double") -> None:
        self.name = name

    def discover(self, config: Any) -> list[tuple[str, Any]]:
        return [(self.name, double())]


class Refuses:
    def __init__(self, *, word: str = "math") -> None:
        self.word = word

    def validate(self, definition: Any) -> list[str]:
        return [f"no {self.word} in here"] if self.word in definition.module_id else []


class Fails:
    def validate(self, definition: Any) -> None:
        raise OSError("hunter2")


class Allows:
    def check(self, caller_id: str | None, target_id: str, context: Context) -> bool:
        return target_id == "math.double"


class Collects:
    def __init__(self) -> None:
        self.names: list[str] = []

    def export(self, spans: Sequence[Any]) -> Any:
        self.names += [span.name for span in spans]

    def shutdown(self) -> None:
        self.names.append("shut down")


class Asks:
    def __init__(self, status: str = "approved") -> None:
        self.status, self.requests = status, list[ApprovalRequest]()

    def request_approval(self, request: ApprovalRequest) -> ApprovalResult:
        self.requests.append(request)
        return ApprovalResult(self.status)  # type: ignore[arg-type]  # one of the words, as the tests give it

    def check_approval(self, approval_id: str) -> ApprovalResult:
        return ApprovalResult("approved")


class Adds(Middleware):
    def after(self, module_id: str, inputs: Any, output: dict[str, Any], context: Context) -> dict[str, Any]:
        return {"twice": output["twice"] + 1}


@pytest.fixture(params=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Callable[..., Any]:
    def run(executor: Executor, module_id: str = "math.double", inputs: Any = None) -> Any:
        if request.param == "sync":
            return executor.call(module_id, inputs or {"a": 2})
        return asyncio.run(executor.call_async(module_id, inputs or {"a": 2}))

    return run


def manager(**extensions: Any) -> ExtensionManager:
    return load_extensions(None, {name: [each] for name, each in extensions.items()})


def app_with(*, registry: Registry | None = None, **extensions: Any) -> App:
    if registry is None:
        registry = Registry()
        registry.register("math.double", double())
    return build_app(registry=registry, extensions=manager(**extensions))


def configured(**extensions: Any) -> App:
    section = {"discoverer": f"{HERE}Discovers", "acl": f"{HERE}Allows", **extensions}
    return build_app(config={"version": "1.8.0", "project": {"name": "test"}, "extensions": section})


def test_a_discoverer_finds_the_modules() -> None:
    app = app_with(registry=Registry(), discoverer=Discovers("math.found"))
    assert app.registry.discover() == ["math.found"]
    assert configured().registry.list() == ["math.double"]


@pytest.mark.req("R-11.7-05")
def test_without_one_the_directories_are_searched(tmp_path: Path) -> None:
    source = (
        "from apcore import module\n\n@module(id='x')\ndef greet(name: str) -> str:\n    '''Greet'''\n    return name\n"
    )
    (tmp_path / "greet.py").write_text(source)
    app = build_app(extensions=ExtensionManager())
    assert app.registry.discover(str(tmp_path)) == ["x"]


@pytest.mark.parametrize("found", ["text", 5, [5], [("a.b",)], [(1, 2)]])
def test_what_is_no_module_is_refused_with_the_name_of_the_discoverer(found: Any) -> None:
    class Odd:
        def discover(self, config: Any) -> Any:
            return found

    with pytest.raises(ModuleLoadError, match=r"Odd\.discover\(\)"):
        app_with(registry=Registry(), discoverer=Odd()).registry.discover()


@pytest.mark.parametrize("way", ["register", "register_internal", "discover"])
def test_a_validator_keeps_a_module_out_whichever_way_it_comes(way: str) -> None:
    loaded = []

    class Loads:
        description = "Says when it is loaded"
        input_schema = output_schema = {"type": "object"}

        def on_load(self) -> None:
            loaded.append(True)

        def execute(self, inputs: Any, context: Any) -> dict[str, Any]:
            return {}

    class Brings:
        def discover(self, config: Any) -> list[tuple[str, Any]]:
            return [("math.loads", Loads())]

    registry = app_with(registry=Registry(), module_validator=Refuses(), discoverer=Brings()).registry
    with pytest.raises(ModuleLoadError, match="no math in here"):
        registry.discover() if way == "discover" else getattr(registry, way)("math.loads", Loads())
    assert registry.list() == []
    assert loaded == []
    registry.register("other.loads", Loads())
    assert loaded == [True]


def test_a_validator_that_fails_refuses() -> None:
    registry = app_with(registry=Registry(), module_validator=Fails()).registry
    with pytest.raises(ModuleLoadError, match=r"Fails failed \(OSError\)") as caught:
        registry.register("math.double", double())
    assert "hunter2" not in str(caught.value.to_dict())


@pytest.mark.parametrize("answer", [None, True, [], ()])
def test_a_validator_admits_what_it_has_nothing_against(answer: Any) -> None:
    class Admits:
        def validate(self, definition: Any) -> Any:
            return answer

    assert app_with(registry=Registry(), module_validator=Admits()).registry.register("math.double", double())


def test_every_validator_is_asked() -> None:
    extensions = load_extensions(None, {"module_validator": [Refuses(word="math"), Refuses(word="double")]})
    registry = build_app(registry=Registry(), extensions=extensions).registry
    with pytest.raises(ModuleLoadError) as caught:
        registry.register("math.double", double())
    assert caught.value.details["objections"] == ["no math in here", "no double in here"]


def test_an_access_list_of_others_takes_the_place_of_ours(call: Callable[..., Any]) -> None:
    app = app_with(acl=Allows())
    app.registry.register("math.other", double())
    assert call(app.executor) == {"twice": 4}
    with pytest.raises(ACLDeniedError):
        call(app.executor, "math.other")
    assert isinstance(app.acl, Allows)
    assert isinstance(configured().acl, Allows)
    assert configured().executor.call("math.double", {"a": 2}) == {"twice": 4}


@pytest.mark.parametrize("answer", [OSError("hunter2"), None, 1, "yes", False])
def test_whatever_is_not_true_denies(call: Callable[..., Any], answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Odd:
        def check(self, *_: Any) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    executor = app_with(acl=Odd()).executor
    with pytest.raises(ACLDeniedError):
        call(executor)
    assert not executor.validate("math.double", {"a": 2}).valid
    assert "hunter2" not in caplog.text


def test_an_access_list_that_does_not_answer_denies(call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apcore.execution.steps.acl_check.LIMIT_MS", 50)
    release = threading.Event()

    class Slow:
        def check(self, *_: Any) -> bool:
            release.wait(0.3)
            return True

    with pytest.raises(ACLDeniedError):
        call(app_with(acl=Slow()).executor)


@pytest.mark.req("R-11.3-02")
def test_span_exporters_receive_spans_given_by_path_and_by_object(call: Callable[..., Any]) -> None:
    mine = Collects()
    extensions = manager(span_exporter=mine)
    config = {"version": "1.8.0", "project": {"name": "t"}, "extensions": {"span_exporter": f"{HERE}Collects"}}
    registry = Registry()
    registry.register("math.double", double())
    app = build_app(registry=registry, acl=ACL([], "allow"), config=config, extensions=extensions)
    call(app.executor)
    by_path = [each for each in app.extensions.get_all("span_exporter") if each is not mine]
    assert [len(by_path), by_path[0].names] == [1, mine.names]
    assert "apcore.module.execute" in mine.names


def test_who_switched_tracing_off_is_not_traced() -> None:
    config = {"version": "1.8.0", "project": {"name": "t"}, "observability": {"tracing": {"enabled": False}}}
    mine = Collects()
    registry = Registry()
    registry.register("math.double", double())
    app = build_app(registry=registry, acl=ACL([], "allow"), config=config, extensions=manager(span_exporter=mine))
    app.executor.call("math.double", {"a": 1})
    assert mine.names == []


def test_an_approval_handler_is_asked(call: Callable[..., Any]) -> None:
    handler = Asks()
    app = app_with(approval_handler=handler)

    class Gated:
        description = "Needs a signature"
        input_schema = output_schema = {"type": "object"}
        annotations = ModuleAnnotations(requires_approval=True)

        def execute(self, inputs: Any, context: Any) -> dict[str, Any]:
            return {"done": True}

    app.registry.register("math.gated", Gated())
    assert app.approval_handler is handler
    assert call(app.executor, "math.gated") == {"done": True}
    assert [each.module_id for each in handler.requests] == ["math.gated"]
    handler.status = "rejected"
    with pytest.raises(ApprovalDeniedError):
        call(app.executor, "math.gated")


def test_middleware_stands_around_the_calls(call: Callable[..., Any]) -> None:
    app = app_with(middleware=Adds())
    assert call(app.executor) == {"twice": 5}
    assert ("adds", 100) in [(each.id, each.priority) for each in app.executor.middleware]


def test_extensions_can_be_applied_to_an_executor_that_is_there(call: Callable[..., Any]) -> None:
    registry, spans = Registry(), Collects()
    registry.register("math.double", double())
    executor = Executor(registry, acl=ACL([], default_effect="deny"))
    extensions = manager(acl=Allows(), middleware=Adds(), span_exporter=spans, module_validator=Refuses(word="new"))
    extensions.register("approval_handler", Asks())
    apply_extensions(extensions, registry, executor)
    assert call(executor) == {"twice": 5}
    assert isinstance(executor.approval_handler, Asks)
    assert "apcore.module.execute" in spans.names
    with pytest.raises(ModuleLoadError):
        registry.register("math.new", double())


@pytest.mark.req("R-11.2-02")
def test_middleware_can_be_given_to_the_registry_before_and_after_the_executor(call: Callable[..., Any]) -> None:
    registry = Registry()
    registry.register("math.double", double())
    registry.add_middleware(id="early", middleware=Adds(), priority=50)
    executor = Executor(registry)
    executor.use(Adds(), id="by_manager")
    registry.add_middleware(id="late", middleware=Adds(), priority=60)
    assert [(each.id, each.priority) for each in executor.middleware] == [
        ("by_manager", 100),
        ("late", 60),
        ("early", 50),
    ]
    assert call(executor) == {"twice": 7}
    with pytest.raises(InvalidInputError, match="already"):
        registry.add_middleware(id="late", middleware=Adds())
    assert len(Executor(registry).middleware) == 2


@pytest.mark.req("R-11.3-02")
@pytest.mark.parametrize(
    ("section", "text"),
    [
        ({"dicoverer": "x.y"}, "Did you mean 'discoverer'"),
        ({"schema_loader": "x.y"}, "'discoverer' here"),
        ({"acl": "no_such_package.Thing"}, "extensions.acl.class: no_such_package.Thing cannot be imported"),
        ({"acl": f"{HERE}Collects"}, r"Collects is no acl: it lacks check\(\)"),
        ({"acl": [f"{HERE}Allows", {"class": f"{HERE}Allows", "prio": 1}]}, r"extensions.acl\[1\] has no key 'prio'"),
        ({"acl": {"priority": 1}}, "needs a class"),
        ({"acl": {"class": f"{HERE}Allows", "priority": 1_001}}, "0 to 1000"),
        ({"acl": {"class": f"{HERE}Allows", "config": {"a": 1}}}, "does not take"),
        ({"acl": {"implementations": [], "strtegy": "all"}}, "no key 'strtegy'"),
        ({"acl": {"implementations": [], "strategy": "some"}}, "one of first_success"),
        ({"acl": 5}, "class path, a list or an object"),
        ({"strategy": "some"}, "one of first_success"),
        ({"strategy": {"middleware": "fallback"}}, "cannot be combined"),
        ({"entry_points": "everything"}, "must be a list"),
        ({"entry_points": ["no-such-distribution"]}, "not installed"),
    ],
)
def test_mistakes_in_a_configuration_say_where_they_are(section: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        load_extensions({"extensions": section})


def test_strategies_and_priorities_are_read() -> None:
    section = {
        "root": "./extensions",
        "strategy": "fallback",
        "acl": {
            "strategy": "all",
            "implementations": [f"{HERE}Allows", {"class": f"{HERE}Allows", "priority": 900}],
        },
        "discoverer": {"class": f"{HERE}Discovers", "config": {"name": "math.other"}},
    }
    loaded = load_extensions(section)
    assert (loaded.strategy("acl"), loaded.strategy("discoverer")) == ("all", "fallback")
    assert [each.priority for each in loaded.registered("acl")] == [900, 100]
    assert loaded.get("discoverer").name == "math.other"


def test_installed_packages_take_part_only_where_they_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "acme_apcore-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-apcore\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[apcore.extensions.acl]\nacme = acme_apcore_acl:Checker\n")
    (tmp_path / "acme_apcore_acl.py").write_text(
        "class Checker:\n    def check(self, *question):\n        return True\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert load_extensions({"extensions": {}}).get("acl") is None
    loaded = load_extensions({"extensions": {"entry_points": ["acme_apcore"]}})
    assert type(loaded.get("acl")).__name__ == "Checker"


@pytest.mark.req("R-11.3-02")
def test_a_registry_takes_one_implementation_of_each_point(call: Callable[..., Any]) -> None:
    spans, registry = Collects(), Registry()
    early = Executor(registry)
    registry.register("math.double", double())
    for point, implementation in {
        "acl": Allows(),
        "middleware": Adds(),
        "approval_handler": Asks(),
        "span_exporter": spans,
        "module_validator": Refuses(word="new"),
    }.items():
        registry.set_extension(point=point, implementation=implementation)
    for executor in (early, Executor(registry)):
        assert call(executor) == {"twice": 5}
        assert isinstance(executor.acl, Allows)
        assert isinstance(executor.approval_handler, Asks)
    assert spans.names.count("apcore.module.execute") == 2
    with pytest.raises(ModuleLoadError):
        registry.register("math.new", double())


@pytest.mark.parametrize(
    ("point", "implementation", "words"),
    [
        ("schema_loader", object(), "'discoverer' here"),
        ("acl", object(), r"it lacks check\(\)"),
        ("acl", Allows, "is a class"),
    ],
)
def test_a_registry_takes_nothing_else(point: str, implementation: Any, words: str) -> None:
    registry = Registry()
    executor = Executor(registry)
    with pytest.raises(InvalidInputError, match=words):
        registry.set_extension(point, implementation)
    assert executor.acl is None


def test_what_was_replaced_is_not_kept() -> None:
    registry, first, second = Registry(), Allows(), Allows()
    executor, seen = Executor(registry), weakref.ref(first)
    registry.set_extension("acl", first)
    registry.set_extension("acl", second)
    del first
    gc.collect()
    assert seen() is None
    assert executor.acl is Executor(registry).acl is second


@pytest.mark.parametrize("point", ["discoverer", "module_validator", "acls"])
def test_an_executor_takes_nothing_of_other_points_for_middleware(point: str) -> None:
    executor = Executor(Registry())
    with pytest.raises(InvalidInputError, match=f"'{point}' is no extension point of an executor"):
        executor.extend(point, Adds())
    assert not executor.middleware
