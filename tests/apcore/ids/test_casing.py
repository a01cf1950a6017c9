import pytest

from apcore.ids.casing import camel_case, pascal_case, snake_case


@pytest.mark.req("R-2.1.1-08")
@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("Addition", "addition"),
        ("MathOps", "math_ops"),
        ("HTTPSender", "http_sender"),
        ("already_snake", "already_snake"),
        ("camelCase", "camel_case"),
        ("V2Parser", "v2_parser"),
        ("A", "a"),
        ("Odd-Name", "odd_name"),
        ("Two__Lines", "two_lines"),
        ("_Private_", "private"),
        ("ABC", "abc"),
    ],
)
def test_snake_case(name, snake):
    assert snake_case(name) == snake


@pytest.mark.parametrize(
    ("name", "pascal", "camel"), [("db_params", "DbParams", "dbParams"), ("a", "A", "a"), ("", "", "")]
)
def test_pascal_and_camel_case(name, pascal, camel):
    assert (pascal_case(name), camel_case(name)) == (pascal, camel)
