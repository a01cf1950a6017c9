import itertools

import pytest

from apcore.errors import InvalidInputError, ModuleNotFoundError
from apcore.registry.tool_names import ToolNames

SHARING = ("a.b.c", "a_b.c", "a.b_c")


@pytest.mark.req("R-4.17-08")
@pytest.mark.parametrize("leaving", list(itertools.permutations(SHARING)))
def test_a_name_is_shared_until_one_module_is_left(leaving):
    names = ToolNames()
    names.add("another")
    for module_id in SHARING:
        names.add(module_id)

    for gone in (0, 1):
        with pytest.raises(InvalidInputError) as caught:
            names.module_id_of("a_b_c")
        assert sorted(caught.value.details["module_ids"]) == sorted(leaving[gone:])
        names.remove(leaving[gone])

    assert names.module_id_of("a_b_c") == leaving[2]
    names.remove(leaving[2])
    with pytest.raises(ModuleNotFoundError):
        names.module_id_of("a_b_c")
    assert names.module_id_of("another") == "another"
