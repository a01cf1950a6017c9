"""What queries say: switches, and what the lists of requests and of tasks are narrowed to."""

from collections.abc import Collection
from typing import Final, TypeVar

from django.db.models import QuerySet
from django.http import QueryDict

from apcore.errors import InvalidInputError
from django_apcore.models import ApprovalRequest, AsyncTask

Row = TypeVar("Row", ApprovalRequest, AsyncTask)


_FLAGS: Final = {"": True, "1": True, "true": True, "0": False, "false": False}


def flag(query: QueryDict, name: str) -> bool:
    """Whether a switch such as `?strict=true` is on; it is off when it is not there. Raises InvalidInputError."""
    given = query.get(name, "false").lower()
    if given not in _FLAGS:
        raise InvalidInputError(f"{name} must be true or false.")
    return _FLAGS[given]


def narrowed(rows: QuerySet[Row], query: QueryDict, statuses: Collection[str]) -> QuerySet[Row]:
    """The rows that `?module_id=` and `?status=` leave. Raises InvalidInputError for what neither can be."""
    if module_id := query.get("module_id"):
        if "\0" in module_id:  # PostgreSQL takes no NUL, not even to compare with
            raise InvalidInputError("module_id may not contain NUL.")
        rows = rows.filter(module_id=module_id)
    if status := query.get("status"):
        if status not in statuses:
            raise InvalidInputError(f"status must be one of {', '.join(statuses)}.")
        rows = rows.filter(status=status)
    return rows
