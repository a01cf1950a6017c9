"""`manage.py apcore new`, in a project that was just started."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.apps import AppConfig, apps
from django.core.management import CommandError, call_command

from apcore.errors import InvalidModuleIdError
from django_apcore.management.scaffold import plan_module

ROOT = Path(__file__).resolve().parents[3]
SETTINGS = """
INSTALLED_APPS += [
    "django_celery_results", "rest_framework", "rest_framework.authtoken", "drf_spectacular", "django_apcore", "stock"
]
"""


class Project:
    """A project of its own, with the app `stock` as `startapp` makes it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        call_command("startproject", "shop", str(directory))
        (directory / "stock").mkdir()
        call_command("startapp", "stock", str(directory / "stock"))
        with (directory / "shop" / "settings.py").open("a") as settings:
            settings.write(SETTINGS)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO_", "PYTEST_"))}
        environment = {**clean, "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=self.directory,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )


def test_a_new_module_and_its_test_work_as_generated(tmp_path: Path) -> None:
    project = Project(tmp_path)
    made = project.run("manage.py", "apcore", "new", "stock.orders.cancel")
    assert "Wrote stock/apcore_modules/orders/cancel.py\nWrote stock/test_orders_cancel.py" in made.stdout, made.stderr
    tested = project.run("manage.py", "test")
    assert tested.returncode == 0, tested.stderr
    assert "Ran 3 tests" in tested.stderr

    (tmp_path / "stock" / "tests.py").unlink()
    made = project.run("manage.py", "apcore", "new", "stock.lambda")
    assert "Wrote stock/tests/test_lambda.py" in made.stdout, made.stderr
    tested = project.run("-m", "pytest", "-q", "-c", "/dev/null", "--rootdir=.", "--ds=shop.settings", "stock")
    assert tested.returncode == 0, tested.stdout
    assert "6 passed" in tested.stdout


@pytest.fixture
def stock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of an app `stock` that is installed in this process."""
    (tmp_path / "stock").mkdir()
    config = AppConfig.create("tests.matrix")
    config.label, config.path = "stock", str(tmp_path / "stock")
    monkeypatch.setitem(apps.app_configs, "stock", config)
    return tmp_path / "stock"


@pytest.mark.parametrize("module_id", ["", "stock..a", "Stock.a", "stock.a-b", "stock.A", "stock.import", "../stock.a"])
def test_an_id_has_to_be_one(stock: Path, module_id: str) -> None:
    with pytest.raises(InvalidModuleIdError):
        plan_module(module_id, ())


def test_the_app_alone_is_no_module(stock: Path) -> None:
    with pytest.raises(CommandError, match=r"stock\.verb"):
        plan_module("stock", ())


@pytest.mark.parametrize("module_id", ["nothing.orders.cancel", "admin.orders.cancel", "django_apcore.orders.cancel"])
def test_the_app_has_to_be_one_of_the_project(stock: Path, module_id: str) -> None:
    with pytest.raises(CommandError, match=r"its apps are .*stock"):
        plan_module(module_id, ())


def test_a_module_that_exists_is_refused(stock: Path) -> None:
    with pytest.raises(CommandError, match="exists already"):
        call_command("apcore", "new", "store.catalogue.reprice", skip_checks=True)


@pytest.mark.parametrize("existing", ["apcore_modules/orders/cancel.py", "tests/test_orders_cancel.py"])
def test_nothing_is_overwritten(stock: Path, existing: str) -> None:
    (stock / existing).parent.mkdir(parents=True)
    (stock / existing).write_text("mine")
    with pytest.raises(CommandError, match="nothing was written"):
        plan_module("stock.orders.cancel", ()).write()
    assert [(file.read_text(), file) for file in stock.rglob("*.py")] == [("mine", stock / existing)]


def test_the_file_of_all_modules_is_not_hidden(stock: Path) -> None:
    (stock / "apcore_modules.py").touch()
    with pytest.raises(CommandError, match=r"would be hidden .*__init__\.py"):
        plan_module("stock.orders.cancel", ())


@pytest.mark.parametrize(
    ("module_id", "expected"),
    [
        ("stock.orders.cancel", "orders_cancel.py"),
        ("stock.orders.old.cancel", "orders_old_cancel.py"),
        ("stock.boxes.small.count", "boxes/small_count.py"),
        ("stock.boxes.count", "boxes/count.py"),
    ],
)
def test_no_file_is_hidden_by_a_new_directory(stock: Path, module_id: str, expected: str) -> None:
    for file in ("orders.py", "boxes/small.py"):
        (stock / "apcore_modules" / file).parent.mkdir(parents=True, exist_ok=True)
        (stock / "apcore_modules" / file).touch()
    plan = plan_module(module_id, ())
    assert plan.module == stock / "apcore_modules" / expected
    assert f'id="{module_id}"' in plan.texts[plan.module]


def test_no_new_file_is_hidden_by_a_directory(stock: Path) -> None:
    (stock / "apcore_modules" / "orders").mkdir(parents=True)
    with pytest.raises(CommandError, match="is a directory"):
        plan_module("stock.orders", ())


def test_init_files_that_exist_are_left_alone(stock: Path) -> None:
    (stock / "apcore_modules").mkdir()
    (stock / "apcore_modules" / "__init__.py").write_text("mine")
    plan_module("stock.orders.cancel", ()).write()
    assert (stock / "apcore_modules" / "__init__.py").read_text() == "mine"
    assert (stock / "apcore_modules" / "orders" / "__init__.py").read_text() == ""
