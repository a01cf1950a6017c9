import pytest

from project.demo.options import Options, read_options

NAMES = ("DEMO_SERVE", "DEMO_PORT", "DEMO_PASSWORD")


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "value"), [("DEMO_SERVE", "no"), ("DEMO_PORT", "http"), ("DEMO_PORT", "0"), ("DEMO_PORT", "65536")]
)
def test_a_senseless_value_is_named(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=f"{name}.*{value!r}"):
        read_options()


def test_defaults() -> None:
    assert read_options() == Options(serve=True, port=8000)


def test_what_is_set_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_SERVE", "0")
    monkeypatch.setenv("DEMO_PORT", "8123")
    assert read_options() == Options(serve=False, port=8123)
