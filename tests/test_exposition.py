import pytest

from tests.exposition import problems, promtool_problems

CLEAN = '# HELP a_total A.\n# TYPE a_total counter\na_total{b="c"} 1.0\n'

REFUSED = [
    "# HELP a_total A.\n# TYPE a_total counter\na_total 1.0",
    "# HELP a A.\n# TYPE a counter\na 1.0\n",
    "# HELP a_total A.\n# TYPE a_total gauge\na_total 1.0\n",
    "# HELP a_total A.\n# HELP a_total A.\n# TYPE a_total counter\na_total 1.0\n",
    "# TYPE a gauge\na 1.0\n",
    "# HELP a_ms A.\n# TYPE a_ms gauge\na_ms 1.0\n",
]


def test_a_clean_text_has_no_problems():
    assert problems(CLEAN) == []


def test_a_sample_that_comes_twice_is_refused_by_the_server_though_not_by_the_linter():
    assert problems("# HELP a A.\n# TYPE a gauge\na 1.0\na 2.0\n") == ["a: more than once"]


@pytest.mark.parametrize("text", REFUSED)
def test_what_the_linter_would_refuse(text):
    assert problems(text) != []


@pytest.mark.parametrize("text", [CLEAN, *REFUSED])
def test_the_linter_itself_says_the_same(require_service, text):
    require_service("promtool")
    assert bool(promtool_problems(text)) == bool(problems(text))
