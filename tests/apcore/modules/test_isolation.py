import pytest

from apcore import errors
from apcore.modules import Isolation, ResourceLimits, Sandbox


@pytest.mark.req("R-5.5-02", "R-5.5-03", "R-5.5-01")
def test_the_defaults():
    assert Isolation() == Isolation("none", ResourceLimits(30_000, None, None), Sandbox(True, "readonly", ()))


@pytest.mark.req("R-5.5-02")
def test_limits_are_read_from_data():
    assert ResourceLimits.from_dict({}) == ResourceLimits()
    assert ResourceLimits.from_dict({"timeout": None, "memory_limit": None}) == ResourceLimits()
    limits = ResourceLimits.from_dict({"timeout": 5, "memory": 1024, "cpu": 0.5})
    assert limits == ResourceLimits(timeout_ms=5, memory_bytes=1024, cpu_cores=0.5)


@pytest.mark.parametrize("wrong", [{"timeout": 0}, {"timeout": True}, {"memory": "1G"}, {"cpu": -1}, {"disk": 1}])
def test_limits_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match=r"."):
        ResourceLimits.from_dict(wrong)


@pytest.mark.req("R-5.5-03")
def test_an_unknown_access_to_files_is_refused():
    assert Sandbox(filesystem="readwrite").filesystem == "readwrite"
    with pytest.raises(ValueError, match="readonly"):
        Sandbox(filesystem="all")


@pytest.mark.req("R-5.5-01")
@pytest.mark.parametrize("level", ["process", "container"])
def test_nobody_is_led_to_believe_in_an_isolation_that_is_not_there(level):
    with pytest.raises(errors.NotImplementedError) as caught:
        Isolation(level)
    assert caught.value.code == "GENERAL_NOT_IMPLEMENTED"


def test_an_unknown_level_is_refused():
    with pytest.raises(ValueError, match="container"):
        Isolation("vm")
