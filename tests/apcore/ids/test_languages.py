import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.errors import InvalidInputError, InvalidModuleIdError
from apcore.ids import (
    CANONICAL_ID_PATTERN,
    detect_language,
    from_canonical,
    is_canonical_id,
    local_names,
    normalize_to_canonical_id,
)

LANGUAGES = ["python", "rust", "go", "java", "typescript"]

# language, local ID, canonical ID: the way there and back
CASES = [
    ("python", "executor.validator.db_params", "executor.validator.db_params"),
    ("python", "a", "a"),
    ("python", "api.handler.http_json_parser", "api.handler.http_json_parser"),
    ("python", "a1.b2", "a1.b2"),
    ("python", "a.b.c.d_e_f", "a.b.c.d_e_f"),
    ("rust", "executor::validator::db_params", "executor.validator.db_params"),
    ("rust", "a", "a"),
    ("rust", "api::handler::http_json_parser", "api.handler.http_json_parser"),
    ("rust", "a1::b2", "a1.b2"),
    ("rust", "a::b::c::d_e_f", "a.b.c.d_e_f"),
    ("go", "executor.validator.db_params", "executor.validator.db_params"),
    ("go", "a", "a"),
    ("go", "api.handler.http_json_parser", "api.handler.http_json_parser"),
    ("go", "a1.b2", "a1.b2"),
    ("go", "a.b.c.d_e_f", "a.b.c.d_e_f"),
    ("java", "executor.validator.DbParams", "executor.validator.db_params"),
    ("java", "A", "a"),
    ("java", "api.handler.HttpJsonParser", "api.handler.http_json_parser"),
    ("java", "a1.B2", "a1.b2"),
    ("java", "orders.OrderRefund", "orders.order_refund"),
    ("typescript", "executor.validator.dbParams", "executor.validator.db_params"),
    ("typescript", "a", "a"),
    ("typescript", "api.handler.httpJsonParser", "api.handler.http_json_parser"),
    ("typescript", "a1.b2", "a1.b2"),
    ("typescript", "orders.orderRefund", "orders.order_refund"),
]


@pytest.mark.req("R-2.2-01", "R-2.2-02", "R-2.2-05", "R-2.2-07", "R-12.2-01")
@pytest.mark.parametrize(("language", "local_id", "canonical_id"), CASES)
def test_there_and_back(language, local_id, canonical_id):
    assert normalize_to_canonical_id(local_id, language) == canonical_id
    assert from_canonical(canonical_id, language) == local_id


@pytest.mark.req("R-2.2-02")
@pytest.mark.parametrize(
    ("language", "local_id"),
    [
        ("java", "executor.validator.DbParams"),
        ("typescript", "executor.validator.dbParams"),
        ("go", "Executor.Validator.DBParams"),
    ],
)
def test_every_segment_becomes_snake_case(language, local_id):
    assert normalize_to_canonical_id(local_id, language) == "executor.validator.db_params"


@pytest.mark.req("R-2.2-03", "R-12.2-02")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("local_id", ["1bad", "a-b", "", "a b", "é", "_a", "a\n", "a__b"])
def test_ids_against_the_convention_are_refused(local_id, language):
    with pytest.raises(InvalidModuleIdError):
        normalize_to_canonical_id(local_id, language)


@pytest.mark.parametrize(("language", "local_id"), [("rust", "a.b"), ("python", "a::b"), ("python", "a..b")])
def test_the_separator_of_another_language_is_refused(language, local_id):
    with pytest.raises(InvalidModuleIdError):
        normalize_to_canonical_id(local_id, language)


def test_an_unknown_language_is_refused():
    with pytest.raises(InvalidInputError, match="cobol"):
        normalize_to_canonical_id("a.b", "cobol")
    with pytest.raises(InvalidInputError, match="cobol"):
        from_canonical("a.b", "cobol")


def test_only_canonical_ids_are_translated():
    with pytest.raises(InvalidModuleIdError):
        from_canonical("A.b", "java")
    with pytest.raises(InvalidModuleIdError):
        local_names("A.b", "java")


@pytest.mark.req("R-2.2-07")
@given(canonical_id=st.from_regex(CANONICAL_ID_PATTERN, fullmatch=True), language=st.sampled_from(LANGUAGES))
def test_every_id_survives_the_round_trip(canonical_id, language):
    if is_canonical_id(canonical_id):
        assert normalize_to_canonical_id(from_canonical(canonical_id, language), language) == canonical_id


@pytest.mark.req("R-2.2-05")
@pytest.mark.parametrize(
    ("language", "file"),
    [
        ("python", "executor/validator/db_params.py"),
        ("rust", "executor/validator/db_params.rs"),
        ("go", "executor/validator/db_params.go"),
        ("java", "executor/validator/DbParams.java"),
        ("typescript", "executor/validator/dbParams.ts"),
    ],
)
def test_files_and_classes_are_named_as_documented(language, file):
    names = local_names("executor.validator.db_params", language)

    assert (names.file, names.class_name) == (file, "DbParamsValidator")


@pytest.mark.req("R-2.3-01")
@pytest.mark.parametrize("language", LANGUAGES)
def test_abbreviations_are_ordinary_words(language):
    assert local_names("api.handler.http_json_parser", language).class_name == "HttpJsonParser"
    assert local_names("net.tcp_ip", language).class_name == "TcpIp"


@pytest.mark.req("R-2.2-04")
@pytest.mark.parametrize(
    ("file", "language"),
    [
        ("a/b.py", "python"),
        ("b.rs", "rust"),
        ("b.go", "go"),
        ("B.java", "java"),
        ("b.ts", "typescript"),
        ("b.tsx", "typescript"),
        ("b.txt", None),
        ("b", None),
    ],
)
def test_the_extension_tells_the_language(file, language):
    assert detect_language(file) == language
