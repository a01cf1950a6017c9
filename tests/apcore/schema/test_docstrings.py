import pytest

from apcore.schema.docstrings import parse_docstring

GOOGLE = """Sends a mail.

More about it.

Args:
    to: Who gets it.
    subject (str): The line
        at the top.
    *rest: The others.

Returns:
    dict: nothing: of interest
"""

NUMPY = """Sends a mail.

Parameters
----------
to : str
    Who gets it.
subject
    The line
    at the top.
*rest : list
    The others.

Returns
-------
dict
    Nothing.
"""

SPHINX = """Sends a mail.

:param to: Who gets it.
:param str subject: The line
    at the top.
:param rest: The others.
:returns: nothing: of interest
"""


@pytest.mark.req("R-5.11.4-06", "R-5.11.7-02")
@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX])
def test_parameters_in_three_conventions(text):
    docstring = parse_docstring(text)

    assert docstring.summary == "Sends a mail."
    assert docstring.parameters == {"to": "Who gets it.", "subject": "The line at the top.", "rest": "The others."}


def test_body_is_everything_after_the_first_line():
    assert parse_docstring("One.\n\n    Two.\n      Three.\n").body == "Two.\n  Three."


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_nothing_says_nothing(text):
    docstring = parse_docstring(text)

    assert (docstring.summary, docstring.body, docstring.parameters) == ("", "", {})


@pytest.mark.parametrize(
    "text", ["Args:", "One.\n\nArgs:\n", "One.\n\nArgs:\n    nothing here", "One.\nParameters\n---", "---"]
)
def test_halves_of_sections_are_no_parameters(text):
    assert parse_docstring(text).parameters == {}
