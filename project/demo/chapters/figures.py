"""The end of a day: what was written down, whether all is well, and how much was done."""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from project.demo.clients import Answer
from project.demo.processes import manage
from project.demo.world import Steps, World

EXECUTED = frozenset(
    {"store.catalogue.reprice", "store.customers.erase", "store.customers.notify", "store.invoices.refund"}
)


class Figures:
    def steps(self) -> Steps:
        return self.audit, self.export, self.health, self.usage

    def audit(self, world: World) -> None:
        """The audit trail proves that nothing was edited"""
        done = manage(world.evidence.workspace, "apcore", "audit", "verify", "--json")
        report = json.loads(done.stdout or "{}")
        verified, entries = done.returncode == 0 and report.get("ok") is True, report.get("entries")
        world.story.figures |= {"audit_chain_verified": verified, "audit_entries": entries}
        world.check(verified, f"The chain of {entries} audit entries is unbroken", report or done.stderr[-500:])

    def export(self, world: World) -> None:
        """An auditor takes it along, and checks it with nothing but SHA-256"""
        file = world.evidence.workspace.folder / "audit.jsonl"
        done = manage(world.evidence.workspace, "apcore", "audit", "export", "--output", str(file))
        world.check(done.returncode == 0, "Exported as JSON Lines", done.stderr[-500:])
        lines, entries = file.read_text(encoding="utf-8").splitlines(), world.story.figures["audit_entries"]
        whole = len(lines) == entries and first_broken_line(lines) is None
        world.check(whole, f"Each of the {entries} lines has its hash, and the hash of the one before it", lines[-1:])
        edited = [line.replace("approval.approved", "approval.rejected") for line in lines]
        world.check(first_broken_line(edited) is not None, "With an approval turned into a rejection, it does not hold")
        world.story.figures["audit_export_verified"] = True

    def health(self, world: World) -> None:
        """Everything that keeps this running is well"""
        answer = self.when(world, "health/", lambda body: body.get("status") == "ok")
        checks = answer.body.get("checks", [])
        world.check(answer.status == 200 and answer.body["status"] == "ok" and checks, "GET health/ says: ok", answer)
        for check in checks:
            world.story.say(f"    {check['name']:<11} {check['sentence']}")
        world.story.figures["health"] = answer.body["status"]

    def usage(self, world: World) -> None:
        """How often was what called, and how long did it take?"""
        usage = self.when(world, "usage/", lambda body: figures_by_module(body).keys() >= EXECUTED).body
        figures = figures_by_module(usage)
        world.check(figures.keys() >= EXECUTED, f"GET usage/ has counted {usage['total_calls']} calls", figures)
        world.story.table(
            "",
            ["module", "calls", "errors", "median", "95 % within"],
            [row(name, each) for name, each in figures.items()],
        )
        world.story.figures["calls_counted"] = usage["total_calls"]

    def when(self, world: World, path: str, hoped_for: Callable[[dict[str, Any]], bool]) -> Answer:
        """The answer once it is as hoped for, or the last one: processes write every few seconds what they know."""
        deadline = time.monotonic() + world.patience_seconds
        while True:
            answer = world.viewer.get(path)
            if hoped_for(answer.body) or time.monotonic() > deadline:
                return answer
            time.sleep(0.2)


def first_broken_line(lines: Sequence[str]) -> int | None:
    """The number of the first line of an export that does not hold, found out without any of the framework's code."""
    last: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines, start=1):
        entry = json.loads(line)
        written, chain, place = entry.pop("hash"), entry["partition"], entry["sequence"]
        content = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        follows = last.get(chain, (0, "0" * 64)) == (place - 1, entry["previous_hash"])
        if hashlib.sha256(content.encode()).hexdigest() != written or not follows:
            return number
        last[chain] = (place, written)
    return None


def figures_by_module(usage: Mapping[str, Any]) -> dict[str, Any]:
    return {each["module_id"]: each for each in usage.get("modules", [])}


def row(module_id: str, figures: Mapping[str, Any]) -> list[str]:
    latencies = (f"{figures[name]:.0f} ms" for name in ("p50_latency_ms", "p95_latency_ms"))
    return [module_id, str(figures["call_count"]), str(figures["error_count"]), *latencies]
