import pytest

from tests.exposition import problems


def test_a_clean_text_has_no_problems():
    assert problems('# HELP a_total A.\n# TYPE a_total counter\na_total{b="c"} 1.0\n') == []


@pytest.mark.parametrize(
    "text",
    [
        "# HELP a_total A.\n# TYPE a_total counter\na_total 1.0",
        "# HELP a A.\n# TYPE a counter\na 1.0\n",
        "# HELP a_total A.\n# TYPE a_total gauge\na_total 1.0\n",
        "# HELP a_total A.\n# HELP a_total A.\n# TYPE a_total counter\na_total 1.0\n",
        "# HELP a A.\n# TYPE a gauge\na 1.0\na 2.0\n",
        "# TYPE a gauge\na 1.0\n",
        "# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1.0\n",
    ],
)
def test_what_the_linter_would_refuse(text):
    assert problems(text) != []
