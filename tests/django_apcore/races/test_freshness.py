"""What one process changes, another one obeys within a second."""

import time

from tests.django_apcore.races.conftest import Arena

ECHO = {"module_id": "test.plain.echo", "text": "a"}


def test_a_module_that_is_switched_off_elsewhere(arena: Arena) -> None:
    here, there = arena.start(), arena.start()
    assert there.do("call", **ECHO) == {"result": "a"}
    here.do("toggle", module_id="test.plain.echo", enabled=False)
    here.tell("call", **ECHO)
    assert here.hear() == {"error": "MODULE_DISABLED"}
    time.sleep(1)
    there.tell("call", **ECHO)
    assert there.hear() == {"error": "MODULE_DISABLED"}
    here.do("toggle", module_id="test.plain.echo", enabled=True)


def test_a_rule_that_is_changed_elsewhere(arena: Arena) -> None:
    here, there = (arena.start(RACE_ACL="database") for _ in range(2))
    here.do("save_rule", effect="allow")
    assert there.do("call", **ECHO) == {"result": "a"}
    here.do("save_rule", effect="deny")
    here.tell("call", **ECHO)
    assert here.hear() == {"error": "ACL_DENIED"}
    time.sleep(1)
    there.tell("call", **ECHO)
    assert there.hear() == {"error": "ACL_DENIED"}
