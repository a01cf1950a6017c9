"""Functions that know nothing of modules; binding files of the tests name them."""

import datetime as dt

import pydantic

from apcore import module

INSTANCE_COUNT = 0


def send_email(to: str, subject: str, body: str = "") -> dict[str, bool]:
    """Send an email.

    Args:
        to: Who gets it
    """
    return {"success": bool(to and subject)}


def untyped(a, b=2):
    return {"sum": a + b}


def half_typed(a: int):
    return a


def due(day: dt.date) -> dt.date:
    return day + dt.timedelta(days=1)


class EmailService:
    def __init__(self) -> None:
        self.sender = "shop"

    def send_template(self, name: str) -> dict[str, str]:
        """Send email using a template"""
        return {"sent": f"{self.sender}:{name}"}


class Demanding:
    def __init__(self, connection: str) -> None:
        self.connection = connection

    def run(self) -> dict[str, str]:
        return {}


class Message(pydantic.BaseModel):
    text: str


service = EmailService()
NUMBER = 5


@module(
    id="decorated.refund", annotations={"requires_approval": True, "idempotent": True}, tags=["money"], timeout_ms=50
)
def refund(order: int) -> dict[str, int]:
    """Refund an order"""
    return {"order": order}
