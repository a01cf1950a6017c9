"""Starting Django with the app."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import apps
from django.db import connection

from django_apcore import runtime
from django_apcore.apps import DjangoApcoreConfig, Terminated, _end_in_order_when_told_to

START = """
import sys
from django.conf import settings
sys.path.insert(0, {path!r})
settings.configure(
    SECRET_KEY="k",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "django_apcore", "shop"],
    DATABASES={{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}}},
    APCORE={apcore!r},
)
import django
django.setup()
from django_apcore import runtime
print(runtime.get().registry.list())
"""
GOOD = """
from apcore import module

@module(id="shop.ship")
def ship(order: int) -> bool:
    '''Ship an order.'''
    return True
"""


def start(directory: Path, modules: str, **apcore: object) -> subprocess.CompletedProcess[str]:
    (directory / "shop").mkdir()
    (directory / "shop" / "__init__.py").touch()
    (directory / "shop" / "apcore_modules.py").write_text(modules)
    code = START.format(path=str(directory), apcore=apcore)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.req("R-9.13.3-01")
def test_the_app_has_its_name() -> None:
    config = apps.get_app_config("django_apcore")
    assert isinstance(config, DjangoApcoreConfig)
    assert config.name == "django_apcore"


@pytest.mark.req("R-9.13.3-08")
def test_the_modules_of_installed_apps_are_registered_when_django_starts(tmp_path: Path) -> None:
    done = start(tmp_path, GOOD)
    assert (done.stdout, done.stderr) == ("['shop.ship']\n", "")


@pytest.mark.req("R-9.13.3-08")
def test_unless_the_settings_say_not_to(tmp_path: Path) -> None:
    done = start(tmp_path, GOOD, AUTO_REGISTER_MODULES=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_broken_module_file_ends_the_start_with_its_traceback(tmp_path: Path) -> None:
    done = start(tmp_path, "def helper():\n    return 1 / 0\n\nhelper()\n")
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stderr
    assert "in helper" in done.stderr
    assert f"While loading the apcore modules of {tmp_path}/shop/apcore_modules.py" in done.stderr


def test_one_start_tells_every_definition_that_is_refused(tmp_path: Path) -> None:
    twin, reserved = (
        GOOD.replace("def ship", "def pack"),
        GOOD.replace("ship", "import_").replace('import_"', 'import"'),
    )
    done = start(tmp_path, GOOD + twin + reserved)
    assert done.returncode == 1
    assert "shop.ship: (django_apcore.E008) Module ID 'shop.ship' exists already" in done.stderr
    assert "shop.import: (django_apcore.E008)" in done.stderr
    assert "HINT: IDs are lower-case words" in done.stderr


@pytest.mark.req("R-9.13.3-06")
def test_getting_ready_twice_changes_nothing() -> None:
    registry = runtime.get_registry()
    apps.get_app_config("django_apcore").ready()
    assert runtime.get_registry() is registry


@pytest.mark.django_db
def test_getting_ready_does_not_query() -> None:
    with connection.execute_wrapper(_refuse):
        runtime.reset()
        apps.get_app_config("django_apcore").ready()
        runtime.get()


def _refuse(*args: object) -> None:
    raise AssertionError("Starting must not query the database")


def test_a_process_that_handles_sigterm_itself_keeps_doing_so() -> None:
    def own(number: int, frame: object) -> None:
        """What a server does."""

    before = signal.signal(signal.SIGTERM, own)
    try:
        _end_in_order_when_told_to()
        assert signal.getsignal(signal.SIGTERM) is own
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _end_in_order_when_told_to()
        with pytest.raises(Terminated):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
