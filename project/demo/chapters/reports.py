"""Long work, and the record of everything above."""

import time
from typing import Any

from project.demo.world import Steps, World

UNFINISHED = frozenset({"pending", "running"})


class Reports:
    def steps(self) -> Steps:
        return (self.revenue,)

    def revenue(self, world: World) -> None:
        """A long report runs in the worker, and says how far it is"""
        answer = world.agent.submit("store.reports.revenue", {"pause_ms": 40})
        world.check(answer.status == 202, "Submitted: 202, with the address of the task", answer)
        seen, task = self.watch(world, answer.body["task_id"])
        world.check(len(seen) > 2, f"Progress was seen on the way: {', '.join(f'{step}%' for step in seen)}", seen)
        world.check(task["status"] == "completed", "The task is completed", task)
        reported, counted = task["result"]["revenue"], world.evidence.revenue()
        world.check(reported == counted, f"Its revenue is the database's own sum: {counted}", reported)

    def watch(self, world: World, task_id: str) -> tuple[list[int], dict[str, Any]]:
        """Every progress that was seen, in percent, and the finished task."""
        seen: list[int] = []
        deadline = time.monotonic() + world.patience_seconds
        while (task := world.agent.get(f"tasks/{task_id}/").body)["status"] in UNFINISHED:
            if time.monotonic() > deadline:
                raise TimeoutError(f"The task is still {task['status']}")
            if task["progress"] not in seen[-1:]:
                seen.append(task["progress"])
            time.sleep(0.3)
        return seen, task
