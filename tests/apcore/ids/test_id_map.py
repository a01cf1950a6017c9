import pytest

from apcore.errors import InvalidInputError, InvalidModuleIdError
from apcore.ids import IdMap

ID = "executor.validator.db_params"
OVERRIDES = {ID: {"java": {"class": "com.mycompany.DbParamsValidator", "package": "com.mycompany.validators"}}}


@pytest.mark.req("R-2.2-06")
def test_an_override_takes_the_place_of_the_automatic_name():
    id_map = IdMap(OVERRIDES)

    assert id_map.from_canonical(ID, "java") == "com.mycompany.DbParamsValidator"
    assert id_map.package_of(ID, "java") == "com.mycompany.validators"
    assert id_map.to_canonical("com.mycompany.DbParamsValidator", "java") == ID


@pytest.mark.req("R-12.2-01")
def test_other_languages_and_ids_stay_automatic():
    id_map = IdMap(OVERRIDES)

    assert id_map.from_canonical(ID, "rust") == "executor::validator::db_params"
    assert id_map.to_canonical("executor::validator::db_params", "rust") == ID
    assert id_map.from_canonical("a.b", "java") == "a.B"
    assert id_map.package_of("a.b", "java") is None


@pytest.mark.req("R-2.2-04")
def test_detection_can_be_switched_off():
    assert IdMap().language_of("a/b.rs") == "rust"
    assert IdMap(auto_detect=False).language_of("a/b.rs") is None


@pytest.mark.req("R-2.2-04", "R-2.2-06")
def test_it_is_a_section_of_the_configuration():
    id_map = IdMap.from_dict({"auto_detect": False, "overrides": OVERRIDES, "languages": {"python": {}}})

    assert id_map == IdMap(OVERRIDES, auto_detect=False)
    assert IdMap.from_dict({}) == IdMap()


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        ({"Not.An.Id": {}}, InvalidModuleIdError),
        ({ID: {"cobol": {"class": "X"}}}, InvalidInputError),
        ({ID: {"java": {"klass": "X"}}}, InvalidInputError),
    ],
)
def test_an_override_of_nothing_is_refused(overrides, error):
    with pytest.raises(error):
        IdMap(overrides)
