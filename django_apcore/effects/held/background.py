"""Celery tasks that a governed run sends are held: shown in the preview, sent after the commit."""

import functools
import inspect
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final, NoReturn

from celery import Celery, Task, current_app
from celery.canvas import Signature, _chain, chord, group, signature
from kombu.exceptions import EncodeError
from kombu.utils import json

from django_apcore.effects.active import HeldMessage, Run, active_run
from django_apcore.effects.canonical.values import canonical_value, describe
from django_apcore.effects.errors import HeldResultError, UnholdableMessageError

_PLUMBING: Final = frozenset(
    {"producer", "publisher", "connection", "router", "result_cls", "task_type", "add_to_parent", "self"}
)
"""Options that are objects of the sending process."""


class HeldResult:
    """Stands for the result of a task that is sent after the commit. All it has is the id that the task will have.

    Raises HeldResultError from everything that would have to ask the worker.
    """

    parent = None
    state = status = "HELD"

    def __init__(self, task_id: str) -> None:
        self.id = self.task_id = task_id

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<HeldResult {self.id}: sent after the commit>"

    def ready(self) -> bool:
        """It is not."""
        return False

    def as_tuple(self) -> tuple[tuple[str, None], None]:
        """As a result of Celery says who it is."""
        return (self.id, None), None

    def get(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises HeldResultError."""
        raise HeldResultError(
            "The task is sent after the commit, so its result cannot be waited for inside the transaction.",
            details={"task_id": self.id},
            suggestion="Return the task's id, and read the result by it later.",
        )

    wait = join = collect = iterate = successful = failed = revoke = forget = get
    result = results = children = info = traceback = property(get)


def hold_tasks() -> None:
    """Have everything that sends a Celery task hold it while a run is active. Idempotent."""
    _gate(Task, "apply_async", _hold_task)
    _gate(Celery, "send_task", _hold_named)
    for composite in (Signature, _chain, group, chord):
        _gate(composite, "apply_async", _hold_signature)


def send_task_again(payload: dict[str, Any]) -> None:
    """Send a held task. Raises what the broker raises."""
    call = json.loads(payload["call"])
    task = signature(call["signature"], app=current_app)
    task.apply_async(call["args"], call["kwargs"], **call["options"])


def sends_task(callback: Callable[..., Any]) -> bool:
    """Whether an on_commit callback does nothing but send a task, as `delay_on_commit()` registers it."""
    inner = callback.func if isinstance(callback, functools.partial) else callback
    sender = getattr(inner, "__self__", None)
    return isinstance(sender, Task | Signature) and getattr(inner, "__name__", "") in ("delay", "apply_async")


def _gate(owner: type, name: str, hold: Callable[..., HeldResult]) -> None:
    original = getattr(owner, name)
    if hasattr(original, "holds_tasks"):
        return
    parameters = inspect.signature(original)

    @functools.wraps(original)
    def gated(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = active_run()
        if run is None:
            return original(self, *args, **kwargs)
        call = parameters.bind(self, *args, **kwargs).arguments
        return hold(run, self, **(call | call.pop("options", {})))

    gated.holds_tasks = True  # type: ignore[attr-defined]  # a mark of ours
    setattr(owner, name, gated)


def _hold_task(run: Run, task: Task[Any, Any], args: Any = None, kwargs: Any = None, **options: Any) -> HeldResult:
    app = task.app  # binds the task, which settles whether its arguments are checked
    header = getattr(task, "__header__", None)
    if task.typing and header is not None:
        header(*(args or ()), **(kwargs or {}))  # raises TypeError, as sending would
    return _hold_named(run, app, task.name, args, kwargs, **options)


def _hold_named(run: Run, app: Celery, name: str, args: Any = None, kwargs: Any = None, **options: Any) -> HeldResult:
    return _hold(run, Signature(name, app=app), args, kwargs, options)


def _hold_signature(
    run: Run, signature: Signature[Any], args: Any = None, kwargs: Any = None, **options: Any
) -> HeldResult:
    return _hold(run, signature, args, kwargs, options)


def _hold(run: Run, signature: Signature[Any], args: Any, kwargs: Any, options: dict[str, Any]) -> HeldResult:
    given = {name: value for name, value in options.items() if value is not None and name not in _PLUMBING}
    call = {"signature": dict(signature), "args": list(args or ()), "kwargs": dict(kwargs or {}), "options": given}
    task_id = str(given.get("task_id") or uuid.uuid4())
    text = _encoded({**call, "options": {**given, "task_id": task_id}}, signature)
    name, content = _shown(json.loads(_encoded(call, signature)))
    content = canonical_value({part: value for part, value in content.items() if value})
    run.held.append(HeldMessage("task", f"task:{name}", f"Start task {describe(name)}", content, {"call": text}))
    return HeldResult(task_id)


def _encoded(call: dict[str, Any], signature: Signature[Any]) -> str:
    try:
        return json.dumps(call)
    except (EncodeError, TypeError, ValueError) as error:
        raise UnholdableMessageError(
            f"The arguments of task {signature['task']} are not plain data, so it cannot be held."
        ) from error


def _shown(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What an approver should see: a name, and for a single task its arguments, for a canvas its parts."""
    signature = call["signature"]
    options = {**signature["options"], **call["options"]}
    if not signature.get("subtask_type"):
        args, kwargs = [*call["args"], *signature["args"]], {**signature["kwargs"], **call["kwargs"]}
        return str(signature["task"]), {"args": args, "kwargs": kwargs, "options": options}
    # a chord gets its body with the call, or has it already
    body = {"body": call["kwargs"].pop("body")} if "body" in call["kwargs"] else {}
    canvas = {**signature, "kwargs": {**signature["kwargs"], **body}}
    return _name(canvas), {**call, "signature": None, "canvas": canvas["kwargs"], "options": options}


def _name(signature: Any) -> str:
    """`orders.pack`, or for a canvas `chain(orders.pack, orders.ship)`."""
    if not isinstance(signature, dict):
        return str(signature)
    canvas = signature.get("subtask_type")
    if not canvas:
        return str(signature["task"])
    return f"{canvas}({', '.join(_parts(signature['kwargs']))})"


def _parts(parts: dict[str, Any]) -> Iterator[str]:
    for name in ("tasks", "header", "body"):
        part = parts.get(name)
        if isinstance(part, list):
            yield from map(_name, part)
        elif part is not None:
            yield _name(part)
