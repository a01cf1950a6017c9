"""Everything that is heard while a whole application lives has a name of the table."""

import pytest

from apcore import AsyncTaskManager, AutoApproveHandler, build_app, module
from apcore.events import CORE_EVENTS
from apcore.system import register_sys_modules

LEGACY = {
    "module_health_changed",
    "config_changed",
    "module_registered",
    "module_unregistered",
    "apcore.module.registered",
    "apcore.module.unregistered",
    "apcore.error.threshold_exceeded",
    "apcore.latency.threshold_exceeded",
}


@module(id="shop.pay", annotations={"requires_approval": True}, description="Pay")
def pay(cents: int) -> dict:  # type: ignore[type-arg]  # as people write it
    return {"paid": cents}


@pytest.mark.req("R-9.16.1-01", "R-9.16.2-09")
def test_only_canonical_names_are_heard():
    app = build_app(approval_handler=AutoApproveHandler())
    heard = []
    app.events.subscribe(heard.append)
    register_sys_modules(app, {"enabled": True}, config=app.config)
    app.registry.register("shop.pay", pay)
    app.executor.call("shop.pay", {"cents": 5})
    for enabled in (False, True):
        app.executor.call("system.control.toggle_feature", {"module_id": "shop.pay", "enabled": enabled})
    app.executor.call("system.control.update_config", {"key": "executor.default_timeout", "value": 1000})
    with AsyncTaskManager(app.executor, events=app.events) as tasks:
        tasks.wait(tasks.submit("shop.pay", {"cents": 5}), 10)
    app.registry.close()

    names = {event.type for event in heard}
    assert names.isdisjoint(LEGACY)
    assert names <= set(CORE_EVENTS)
    assert {
        "apcore.registry.module_registered",
        "apcore.registry.module_unregistered",
        "apcore.approval.requested",
        "apcore.approval.granted",
        "apcore.module.toggled",
        "apcore.config.updated",
        "apcore.task.completed",
    } <= names
    for event in heard:
        assert set(event.data) == set(CORE_EVENTS[event.type].keys)
        assert event.severity in CORE_EVENTS[event.type].severities
