"""Processes of a run: none is started, in whatever way."""

import asyncio
import ctypes.util
import multiprocessing
import os
import platform
import pty
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from django_apcore.effects import OutsideEffectError, governed
from tests.django_apcore.effects.runs import preview

pytestmark = pytest.mark.django_db(transaction=True, databases="__all__")


def by_asyncio(path: str) -> None:
    async def start() -> None:
        process = await asyncio.create_subprocess_exec("touch", path)
        await process.wait()

    async_to_sync(start)()


def by_multiprocessing(method: str, path: str) -> None:
    process = multiprocessing.get_context(method).Process(target=Path.touch, args=(Path(path),))
    process.start()
    process.join()


def by_pool(path: str) -> None:
    with ProcessPoolExecutor(1) as pool:
        pool.submit(Path.touch, Path(path)).result()


WAYS: dict[str, tuple[Callable[[str], object], str]] = {
    "run": (lambda path: subprocess.run(["touch", path], check=True), "touch"),
    "by its path": (lambda path: subprocess.run(["/usr/bin/touch", path], check=True), "touch"),
    "shell": (lambda path: subprocess.run(f"touch {path}", shell=True, check=True), "sh"),
    "system": (lambda path: os.system(f"touch {path}"), "touch"),
    "popen": (lambda path: os.popen(f"touch {path}").close(), "sh"),
    "posix_spawn": (lambda path: os.posix_spawn("/usr/bin/touch", ["touch", path], {}), "touch"),
    "spawn": (lambda path: os.spawnlp(os.P_WAIT, "touch", "touch", path), "a copy of this one"),
    "exec": (lambda path: os.execv("/usr/bin/touch", ["touch", path]), "touch"),
    "fork": (lambda path: os.fork(), "a copy of this one"),
    "forkpty": (lambda path: pty.fork(), "a copy of this one"),
    "asyncio": (by_asyncio, "touch"),
    "multiprocessing fork": (lambda path: by_multiprocessing("fork", path), "a copy of this one"),
    "multiprocessing spawn": (lambda path: by_multiprocessing("spawn", path), "a copy of this one"),
    "a pool": (by_pool, "a copy of this one"),
}


@pytest.mark.parametrize("way", WAYS)
def test_no_process_is_started(way: str, tmp_path: Path) -> None:
    start, program = WAYS[way]
    path = tmp_path / "touched"
    with governed(commit=False) as run, pytest.raises(OutsideEffectError) as refused:
        start(str(path))
    assert not path.exists()
    assert run.record.gaps == (f"A process was refused before it was started: {program}",)
    assert refused.value.details == {"kind": "process", "target": program}
    assert str(path) not in str(refused.value.to_dict())


@pytest.mark.parametrize("way", ["run", "system", "asyncio", "multiprocessing spawn"])
def test_outside_of_runs_it_is(way: str, tmp_path: Path) -> None:
    path = tmp_path / "touched"
    with governed(commit=False):
        pass
    WAYS[way][0](str(path))
    assert path.exists()


def test_what_the_standard_library_asks_of_the_machine_is_no_effect() -> None:
    def write() -> None:
        uuid.uuid1()
        uuid.getnode()
        ctypes.util.find_library("c")
        platform.platform()
        platform._Processor.from_subprocess()

    assert preview(write).complete


def test_the_interpreter_itself_is_a_process_like_any() -> None:
    with governed(commit=False), pytest.raises(OutsideEffectError):
        subprocess.check_call([sys.executable, "-c", ""])


def test_no_process_is_sent_a_signal() -> None:
    assert preview(lambda: os.kill(os.getpid(), 0)).complete
    with governed(commit=True) as run, pytest.raises(OutsideEffectError):
        os.kill(os.getpid(), signal.SIGURG)  # which does nothing
    assert run.record.gaps == ("A signal to a process was refused before it was sent: SIGURG",)
