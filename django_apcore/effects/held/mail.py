"""Mail of a governed run is held: shown in the preview, sent after the commit."""

import email
import email.policy
import inspect
from base64 import b64decode, b64encode
from collections.abc import Iterable
from email.message import Message, MIMEPart
from email.mime.base import MIMEBase
from typing import Any, Final

from django.core import mail
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailAlternative, EmailAttachment, EmailMessage
from django.utils.functional import Promise
from django.utils.module_loading import import_string

from django_apcore.effects.active import HeldMessage, Run, active_run
from django_apcore.effects.canonical.values import canonical_value, describe, redacted
from django_apcore.effects.errors import UnholdableMessageError

_CONNECTIONS: Final = frozenset({"connection", "_connection"})
"""Attributes under which the versions of Django park the backend on a message."""


def hold_mail() -> None:
    """Have every mail backend, however it was made, hold its messages while a run is active. Idempotent."""
    if BaseEmailBackend.__getattribute__ is not _ask_run_first:
        BaseEmailBackend.__getattribute__ = _ask_run_first  # type: ignore[method-assign]  # the hook itself


def send_mail_again(payload: dict[str, Any], idempotency_key: str) -> None:
    """Send a held message, through a backend like the one it was held from. Raises what the backend raises.

    The Message-ID is made from the key, so a mail that is delivered twice can be recognised as one.
    """
    message = _message(payload["message"])
    if not any(name.lower() == "message-id" for name in message.extra_headers):
        domain = str(message.from_email).rpartition("@")[2].strip("> ") or "localhost"
        name = idempotency_key.replace(":", ".")  # a colon is not allowed there
        message.extra_headers = {**message.extra_headers, "Message-ID": f"<{name}@{domain}>"}
    _backend(payload["backend"]).send_messages([message])


def _ask_run_first(backend: Any, name: str) -> Any:
    """Attribute access of all mail backends. Without an active run it is the ordinary one."""
    if name in ("send_messages", "open", "close") and (run := active_run()):
        if name == "send_messages":
            return lambda messages: _hold(run, backend, messages)
        return lambda: None
    return object.__getattribute__(backend, name)


def _hold(run: Run, backend: BaseEmailBackend, messages: Iterable[EmailMessage]) -> int:
    held = [_held(backend, message) for message in messages if message.recipients()]
    run.held += held
    return len(held)


def _held(backend: BaseEmailBackend, message: EmailMessage) -> HeldMessage:
    message.message()  # raises what sending it would, for example for a line break in the subject
    described = _described(backend)
    content = _content(message)
    if described and "path" in described:
        content["backend"] = {"path": described["path"], "options": redacted(described["options"])}
    recipients = ", ".join(sorted(set(map(str, message.recipients()))))
    return HeldMessage(
        kind="mail",
        target=f"mail:{recipients}",
        summary=f"Send mail to {describe(recipients)}: {describe(str(message.subject))}",
        content=content,
        payload={"backend": described, "message": _plain_message(message)},
    )


def _content(message: EmailMessage) -> dict[str, Any]:
    """What an approver should see of a message."""
    content = {
        "subject": message.subject,
        "body": message.body,
        "from": message.from_email,
        "to": message.to,
        "cc": message.cc,
        "bcc": message.bcc,
        "reply_to": message.reply_to,
        "headers": message.extra_headers,
        "alternatives": [{"type": each[1], "content": each[0]} for each in getattr(message, "alternatives", ())],
        "attachments": [_shown_attachment(each) for each in message.attachments],
    }
    return {name: canonical_value(value) for name, value in content.items() if value or name in ("subject", "body")}


def _shown_attachment(attachment: Any) -> dict[str, Any]:
    if isinstance(attachment, Message):
        content = attachment.get_payload(decode=True) or attachment.as_bytes()
        return {"name": attachment.get_filename(), "type": attachment.get_content_type(), "content": content}
    name, content, mimetype = attachment
    return {"name": name, "type": mimetype, "content": content}


# -- messages and backends as plain data ------------------------------------------------------------------------------


def _plain_message(message: EmailMessage) -> dict[str, Any]:
    state = {name: None if name in _CONNECTIONS else _plain(value) for name, value in vars(message).items()}
    return {"class": _path(type(message)), "state": state}


def _message(plain: dict[str, Any]) -> EmailMessage:
    message_class = import_string(plain["class"])
    message: EmailMessage = message_class.__new__(message_class)
    state = {name: _restored(value) for name, value in plain["state"].items()}
    state["attachments"] = [
        each if isinstance(each, Message) else EmailAttachment(*each) for each in state["attachments"]
    ]
    if "alternatives" in state:
        state["alternatives"] = [EmailAlternative(*each) for each in state["alternatives"]]
    vars(message).update(state)
    return message


def _plain(value: Any) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Promise():
            return str(value)
        case bytes():
            return {"$bytes": b64encode(value).decode()}
        case Message():
            return {"$part": b64encode(value.as_bytes()).decode(), "modern": isinstance(value, MIMEPart)}
        case dict():
            return {str(name): _plain(item) for name, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
    raise UnholdableMessageError(
        f"A mail with a value of type {type(value).__qualname__} cannot be held until after the commit."
    )


def _restored(value: Any) -> Any:
    match value:
        case {"$bytes": text}:
            return b64decode(text)
        case {"$part": text, "modern": True}:
            return email.message_from_bytes(b64decode(text), policy=email.policy.default)
        case {"$part": text}:
            part = MIMEBase("application", "octet-stream")
            vars(part).update(vars(email.message_from_bytes(b64decode(text))))
            return part
        case dict():
            return {name: _restored(item) for name, item in value.items()}
        case list():
            return [_restored(item) for item in value]
    return value


def _described(backend: BaseEmailBackend) -> dict[str, Any] | None:
    """How to make this backend again: None for the project's default one."""
    if alias := getattr(backend, "alias", None):
        return {"alias": alias}
    options = _options(backend)
    default = type(backend) is type(_default_backend()) and options == _options(_default_backend())
    return None if default else {"path": _path(type(backend)), "options": options}


def _options(backend: BaseEmailBackend) -> dict[str, Any]:
    """The constructor's arguments, as far as the backend keeps them under the same names."""
    names = inspect.signature(type(backend).__init__).parameters.keys() - {"self", "fail_silently", "stream"}
    return {name: _plain(value) for name, value in sorted(vars(backend).items()) if name in names}


def _backend(described: dict[str, Any] | None) -> BaseEmailBackend:
    match described:
        case None:
            return _default_backend()
        case {"alias": alias}:
            return mail.mailers[alias]  # from Django 6.1 on
    backend: BaseEmailBackend = import_string(described["path"])(**described["options"])
    return backend


def _default_backend() -> BaseEmailBackend:
    mailers = getattr(mail, "mailers", None)  # from Django 6.1 on
    backend: BaseEmailBackend = mailers.default if mailers is not None else mail.get_connection()
    return backend


def _path(one: type) -> str:
    path = f"{one.__module__}.{one.__qualname__}"
    if "<locals>" in path:
        raise UnholdableMessageError(f"{path} cannot be imported, so its mail cannot be sent after the commit.")
    return path
