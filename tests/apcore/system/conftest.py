import pytest

from apcore import Config, build_app
from apcore.events import EventEmitter
from apcore.system import register_sys_modules

ON = {"enabled": True}


class Module:
    """Adds one."""

    description = "Adds one"
    tags = ("math",)
    version = "1.2.0"
    documentation = "Long text about adding."
    input_schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    output_schema = {"type": "object", "properties": {"n": {"type": "integer"}}}

    def execute(self, inputs, context):
        return {"n": inputs["n"] + 1}


class AppWithConfig:
    """An app, and a configuration that belongs to it."""

    def __init__(self, app, config):
        self._app = app
        self.config = config

    def __getattr__(self, name):
        return getattr(self._app, name)


@pytest.fixture
def heard():
    """The events that were emitted, in order."""
    return []


@pytest.fixture
def make_app(heard):
    """An app with one module and the system modules, whose events are written down."""

    def make_app(settings=ON, *, values=None, **options):
        events = EventEmitter()
        events.subscribe(heard.append, types=["apcore.module.*", "apcore.config.*"])
        app = AppWithConfig(build_app(events=events), Config.from_dict(values or {}))
        app.registry.register("math.add", Module)
        register_sys_modules(app, settings, **options)
        return app

    return make_app


@pytest.fixture
def app(make_app):
    return make_app()


@pytest.fixture
def record():
    """Write calls down as if they had happened."""

    def record(app, module_id, *, calls=0, errors=0, ms=10.0):
        for number in range(calls + errors):
            code = "MODULE_EXECUTE_ERROR" if number >= calls else None
            app.usage.record(module_id, caller_type="user", duration_ms=ms, error_code=code)
            if code:
                app.error_history.record(module_id, ValueError("negative"), trace_id="a" * 32)

    return record
