from apcore.toggles import Toggles


def test_a_module_that_nobody_switched_is_on():
    assert Toggles().is_enabled("a.b")


def test_a_module_is_off_until_it_is_switched_on_again():
    toggles = Toggles()
    toggles.set("a.b", False)
    toggles.set("a.b", False)
    assert not toggles.is_enabled("a.b")
    assert toggles.is_enabled("a.c")
    toggles.set("a.b", True)
    assert toggles.is_enabled("a.b")


def test_two_sets_of_toggles_know_nothing_of_each_other():
    Toggles().set("a.b", False)
    assert Toggles().is_enabled("a.b")


def test_replacing_switches_exactly_the_given_modules_off():
    toggles = Toggles()
    toggles.set("a.b", False)
    toggles.replace(["a.c"])
    assert toggles.is_enabled("a.b")
    assert not toggles.is_enabled("a.c")


def test_what_lives_in_memory_is_never_stale():
    toggles = Toggles()
    toggles.set("a.b", False)
    assert not toggles.is_stale
    toggles.refresh()
    assert not toggles.is_enabled("a.b")
