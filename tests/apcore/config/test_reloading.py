"""reload(): everything anew or nothing (§9.11, §9.12.3)."""

import gc
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from apcore import Config
from apcore.errors import ConfigError, ConfigMountError, ConfigNotFoundError

LEGACY = 'version: "1.0.0"\nproject: {name: a}\nextensions: {auto_discover: false}\n'
NAMESPACES = 'apcore: {version: "1.0.0", project: {name: b}, extensions: {auto_discover: false}}\n'


@pytest.mark.req("R-9.11-01")
def test_mode_file_environment_and_mounts_are_read_again(write, monkeypatch):
    Config.register_namespace("billing", defaults={"port": 1})
    file = write("a.yaml", LEGACY)
    config = Config.load(file)
    config.mount("billing", from_dict={"host": "h"})
    config.set("executor.max_call_depth", 5)
    write("a.yaml", NAMESPACES + "billing: {db: d}\n")
    monkeypatch.setenv("BILLING_PORT", "2")
    monkeypatch.setenv("APCORE_EXECUTOR_MAX_CALL_DEPTH", "6")

    config.reload()

    assert config.mode == "namespace"
    assert config.namespace("billing") == {"port": 2, "host": "h", "db": "d"}
    assert config.get("apcore.executor.max_call_depth") == 6, "what was set is gone"


@pytest.mark.req("R-9.11-02")
@pytest.mark.parametrize("text", ["a: [1", LEGACY + "executor: {max_call_depth: 0}\n", None])
def test_a_failed_reload_changes_nothing(write, text):
    file = write("a.yaml", LEGACY + "executor: {max_call_depth: 7}\n")
    config = Config.load(file)
    config.set("acl.root", "./x")
    before = config.data
    if text is None:
        file.unlink()
    else:
        write("a.yaml", text)

    with pytest.raises(ConfigNotFoundError if text is None else ConfigError):
        config.reload()

    assert config.data == before
    write("a.yaml", LEGACY)
    config.reload()
    assert config.get("executor.max_call_depth") == 32


@pytest.mark.req("R-9.11-03")
def test_mounted_files_are_read_again_and_data_is_not(write):
    file, data = write("billing.yaml", "port: 1\n"), {"port": 1}
    config = Config.from_dict({"apcore": {}})
    config.mount("filed", from_file=file)
    config.mount("given", from_dict=data)
    write("billing.yaml", "port: 2\n")
    data["port"] = 2
    config.reload()

    assert (config.get("filed.port"), config.get("given.port")) == (2, 1)
    file.unlink()
    with pytest.raises(ConfigMountError):
        config.reload()
    assert config.get("filed.port") == 2


def test_mounted_data_is_validated_at_reload(write):
    Config.register_namespace("billing", {"properties": {"port": {"type": "integer"}}})
    file = write("billing.yaml", "port: 1\n")
    config = Config.from_dict({"apcore": {}})
    config.mount("billing", from_file=file)
    write("billing.yaml", "port: x\n")

    with pytest.raises(ConfigError, match="billing: port"):
        config.reload()
    assert config.get("billing.port") == 1


class Store:
    def __init__(self, **values):
        self.values = {key.replace("__", "."): value for key, value in values.items()}

    def load(self):
        return self.values


def test_kept_values_survive_a_reload(monkeypatch):
    config, store = Config.from_defaults(), Store(executor__max_call_depth=5)
    monkeypatch.setenv("APCORE_EXECUTOR_MAX_CALL_DEPTH", "6")
    config.use_overrides(store)
    store.values["executor.max_module_repeat"] = 2
    config.reload()

    assert (config.get("executor.max_call_depth"), config.get("executor.max_module_repeat")) == (5, 2)
    with pytest.raises(ConfigError, match=r"max_call_depth.*override"):
        Config.from_defaults().use_overrides(Store(executor__max_call_depth=0))


def test_kept_values_that_cannot_be_read_change_nothing():
    class Broken:
        def load(self):
            raise OSError("the store is away")

    config = Config.from_defaults()
    config.use_overrides(Store(executor__max_call_depth=5))
    with pytest.raises(OSError, match="away"):
        config.use_overrides(Broken())
    config.reload()

    assert config.get("executor.max_call_depth") == 5


@pytest.mark.req("R-9.11-04", "R-9.12.3-02")
def test_readers_see_whole_trees_while_others_change_them(write):
    pairs = [LEGACY + f"executor: {{max_call_depth: {n}, max_module_repeat: {n}}}\n" for n in (11, 22)]
    file = write("a.yaml", pairs[0])
    config, over = Config.load(file), threading.Event()
    failures: list[object] = []

    def read() -> None:
        while not over.is_set():
            executor = config.get("executor")
            if executor["max_call_depth"] != executor["max_module_repeat"]:
                failures.append(executor)

    def reload() -> None:
        number = 0
        while not over.is_set():
            number += 1
            new = write(f"next{number % 2}.yaml", pairs[number % 2])
            new.replace(file)
            config.reload()

    def mount(name: str) -> None:
        for number in range(20):
            config.mount(name, from_dict={f"k{number}": number})

    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(read), pool.submit(read), pool.submit(reload)]
        mounting = [pool.submit(mount, f"m{number}") for number in range(3)]
        setting = pool.submit(lambda: [config.set(f"free.k{number}", number) for number in range(50)])
        for each in [*mounting, setting]:
            each.result(timeout=60)
        time.sleep(0.2)
        over.set()
        for each in running:
            each.result(timeout=60)

    assert failures == []
    assert all(config.namespace(f"m{number}") == {f"k{n}": n for n in range(20)} for number in range(3))


@pytest.mark.req("R-9.12.3-02")
def test_no_set_is_lost():
    config = Config.from_defaults()

    def work(name: str) -> None:
        for number in range(40):
            config.set(f"free.{name}{number}", number)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, "abcd"))

    assert len(config.get("free")) == 160


def test_whoever_follows_is_told_of_every_change_and_kept_alive_by_nobody(write):
    class Follower:
        def __init__(self):
            self.seen = []

        def look(self):
            self.seen.append(config.get("executor.max_call_depth"))

    config, follower = Config.load(write("a.yaml", LEGACY)), Follower()
    config.on_change(follower.look)
    config.on_change(follower.look)
    config.set("executor.max_call_depth", 5)
    config.mount("billing", from_dict={"a": 1})
    config.use_overrides(Kept({"executor.max_call_depth": 6}))
    config.reload()
    with pytest.raises(ConfigError):
        config.set("executor.max_call_depth", "deep", validate=True)
    assert follower.seen == [5, 5, 6, 6]

    gone = weakref.ref(follower)
    del follower
    gc.collect()
    assert gone() is None
    config.set("executor.max_call_depth", 7)


class Kept:
    """Overrides that do not change."""

    def __init__(self, values):
        self._values = values

    def load(self):
        return self._values
