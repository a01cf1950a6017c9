import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidInputError, InvalidModuleIdError, ModuleLoadError
from apcore.ids import RESERVED_WORDS
from apcore.modules import ModuleAnnotations
from apcore.registry.admission import admit


class Plain:
    description = "A plain module"
    input_schema = {"type": "object"}
    output_schema = {"type": "object"}

    def execute(self, inputs, context):
        return {}


def refusal(module_id, *, internal=False):
    try:
        admit(module_id, Plain, (), internal=internal)
    except InvalidModuleIdError as error:
        return error.details.get("segment", "grammar")
    return None


@pytest.mark.req("R-2.5-01", "R-2.5-04", "R-2.5-05", "R-2.5-06", "R-2.5-07", "R-2.6-06")
@pytest.mark.parametrize("word", sorted(RESERVED_WORDS))
def test_a_reserved_word_is_refused_in_any_segment(word):
    assert refusal(f"shop.{word}.x") == word
    assert refusal(f"shop.{word}", internal=True) == word
    assert refusal(f"{word}.x") == (None if word == "ephemeral" else word)
    assert refusal(f"{word}.x", internal=True) == (None if word in {"system", "internal"} else word)


@pytest.mark.req("R-2.5-06")
def test_an_open_namespace_opens_its_first_segment_only():
    assert refusal("ephemeral.system.x") == "system"
    assert refusal("ephemeral.ephemeral") == "ephemeral"
    assert refusal("system.system.x", internal=True) == "system"


@given(word=st.sampled_from(sorted(RESERVED_WORDS)), more=st.from_regex("[a-z]", fullmatch=True))
def test_a_word_that_only_contains_a_reserved_one_is_fine(word, more):
    segment = more + word
    assert refusal(f"shop.{segment}") == (segment if segment in RESERVED_WORDS else None)


@pytest.mark.req("R-2.1-08", "R-2.1-09")
@pytest.mark.parametrize("module_id", ["", "Bad-Id", "Shop.x", "shop..x", "shop.1x", "shop.a__b", "shop.x\n", 5, None])
def test_an_id_outside_the_grammar_is_refused(module_id):
    with pytest.raises(InvalidModuleIdError):
        admit(module_id, Plain, ())


@pytest.mark.req("R-2.6-01", "R-2.6-06", "R-5.11.6-02")
def test_an_id_that_exists_is_refused():
    with pytest.raises(InvalidInputError) as caught:
        admit("shop.x", Plain, {"shop.x": 1})
    assert caught.value.code == "GENERAL_INVALID_INPUT"
    assert caught.value.details == {"type": "duplicate_id", "module_id": "shop.x"}


def test_the_code_of_a_reserved_word_is_that_of_the_grammar():
    with pytest.raises(InvalidModuleIdError) as caught:
        admit("acl.x", Plain, ())
    assert caught.value.code == "INVALID_MODULE_ID"
    assert caught.value.details == {"type": "reserved_word", "segment": "acl", "module_id": "acl.x"}


@pytest.mark.req("R-5.6-03")
def test_what_is_no_module_is_refused():
    with pytest.raises(ModuleLoadError):
        admit("shop.x", object(), ())


@pytest.mark.req("R-4.4-13")
def test_an_ephemeral_module_that_can_be_discovered_gives_a_warning(caplog):
    admit("ephemeral.x", Plain, ())
    assert "discoverable: false" in caplog.text
    caplog.clear()
    admit("ephemeral.x", type("Hidden", (Plain,), {"annotations": ModuleAnnotations(discoverable=False)}), ())
    assert not caplog.records
