import pickle
import sys

import pytest

from apcore.discovery import load_python_file, python_name
from apcore.errors import ModuleLoadError


def test_relative_imports_dataclasses_and_forward_references_work(extensions, write):
    write("extensions/common/_tools.py", "def double(n: int) -> int:\n    return n * 2\n")
    file = write(
        "extensions/shop/cart.py",
        """
        from __future__ import annotations

        from dataclasses import dataclass, fields
        from typing import get_type_hints

        from ..common._tools import double
        from . import _prices


        @dataclass
        class Line:
            cart: Cart
            number: int


        @dataclass
        class Cart:
            lines: list[Line]


        TOTAL = double(_prices.PRICE)
        HINTS = get_type_hints(Line)
        """,
    )
    write("extensions/shop/_prices.py", "PRICE = 21")

    python = load_python_file(file, extensions)

    assert python.TOTAL == 42
    assert python.HINTS["cart"] is python.Cart
    assert sys.modules[python.__name__] is python
    assert pickle.loads(pickle.dumps(python.Line(None, 1))) == python.Line(None, 1)


def test_the_name_is_stable_and_a_file_is_imported_once(extensions, write, monkeypatch, tmp_path):
    file = write("extensions/a/b.py", "VALUES = []")
    monkeypatch.chdir(tmp_path)

    first = load_python_file(file, extensions)

    assert load_python_file("extensions/a/b.py", "./extensions") is first
    assert first.__name__ == python_name(file, extensions) == python_name("extensions/a/b.py", "extensions")
    assert first.__name__.endswith(".a.b")
    assert first.__file__ == str(file)


def test_two_roots_do_not_share_names(write, tmp_path):
    one, two = write("one/a.py", "X = 1"), write("two/a.py", "X = 2")

    assert (load_python_file(one, one.parent).X, load_python_file(two, two.parent).X) == (1, 2)


def test_packages_run_their_init(extensions, write):
    write("extensions/__init__.py", "ROOT = 'root'")
    write("extensions/a/__init__.py", "from .. import ROOT\nNAME = ROOT + '.a'")
    file = write("extensions/a/b.py", "from . import NAME")

    assert load_python_file(file, extensions).NAME == "root.a"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("import no_such_package_at_all", ModuleNotFoundError),
        ("1 / 0", ZeroDivisionError),
        ("def (", SyntaxError),
        ("raise SystemExit(3)", SystemExit),
        ("from . import nothing", ImportError),
    ],
)
def test_a_file_that_fails_is_named_with_its_cause(extensions, write, text, cause):
    file = write("extensions/broken.py", text)

    with pytest.raises(ModuleLoadError, match=r"broken\.py") as caught:
        load_python_file(file, extensions)
    assert isinstance(caught.value.cause, cause)
    assert caught.value.cause.__traceback__ is not None
    assert caught.value.details == {"file": str(file), "type": cause.__name__}
    assert python_name(file, extensions) not in sys.modules


def test_a_root_whose_init_fails_can_be_mended(extensions, write):
    write("extensions/__init__.py", "raise ValueError('not yet')")
    file = write("extensions/a.py", "X = 1")
    with pytest.raises(ModuleLoadError, match=r"a\.py"):
        load_python_file(file, extensions)

    write("extensions/__init__.py", "# that is better now")
    assert load_python_file(file, extensions).X == 1
