"""`Idempotency-Key`: a retry of the same request gets the answer of the first one, and nothing happens twice."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from apcore.context import Identity
from apcore.errors import InvalidInputError
from django_apcore.api.errors import RequestError
from django_apcore.models import IdempotentResponse
from django_apcore.secrets import decrypt, digest_matches, encrypt, keyed_digest, to_bytes

HEADER: Final = "Idempotency-Key"
KEPT_FOR: Final = timedelta(hours=24)
_KEPT_HEADERS: Final = ("Location", "Retry-After")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_PURGED_AT_ONCE: Final = 100


@dataclass(frozen=True, slots=True)
class Key:
    """A caller's name for one request."""

    identity: Identity
    text: str

    @property
    def owner(self) -> str:
        """Keys of different callers have nothing to do with each other."""
        return f"{self.identity.type}:{self.identity.id}"

    @property
    def row(self) -> dict[str, str]:
        """What finds the stored answer. The hash covers the whole owner, of whom the column may hold a part."""
        digest = hashlib.sha256(f"{self.owner}\n{self.text}".encode()).hexdigest()
        return {"identity_key": self.owner[:300], "key_hash": digest}


def read_key(headers: Mapping[str, str], identity: Identity | None) -> Key | None:
    """The key of a request, if it has one. Raises InvalidInputError for an unusable key or an anonymous caller."""
    text = headers.get(HEADER)
    if text is None:
        return None
    if not _KEY.fullmatch(text):
        raise InvalidInputError(f"{HEADER} must be 1 to 255 visible ASCII characters.")
    if identity is None:
        raise InvalidInputError(f"{HEADER} needs a caller who is known.")
    return Key(identity, text)


def answer_once(
    key: Key, request: Mapping[str, Any], act: Callable[[], Response], is_kept: Callable[[Response], bool]
) -> Response:
    """Answer with `act()`, or with what it answered when this caller sent the same request under this key before.

    An answer that `is_kept` does not want was a refusal: nothing has happened, and a retry is a new attempt. Raises
    RequestError: 422 for another request under the same key, 409 while the first one is still running.
    """
    fingerprint = to_bytes(dict(request))
    _purge(key)
    row, is_first = IdempotentResponse.objects.get_or_create(
        **key.row, defaults={"request_hash": keyed_digest("idempotent-request", fingerprint)}
    )
    if not is_first:
        return _replay(row, fingerprint)
    # Where `act` is cut short, the row stays: nobody knows what happened, so a retry must not make it happen again.
    response = act()
    if is_kept(response):
        _keep(row, response)
    else:
        row.delete()
    return response


def _purge(key: Key) -> None:
    """Forget this key if its time is over, and some others with it."""
    outdated = IdempotentResponse.objects.filter(created_at__lt=timezone.now() - KEPT_FOR)
    outdated.filter(**key.row).delete()
    some = outdated.order_by("created_at").values_list("pk", flat=True)[:_PURGED_AT_ONCE]
    IdempotentResponse.objects.filter(pk__in=list(some)).delete()


def _replay(row: IdempotentResponse, request: bytes) -> Response:
    if not digest_matches(row.request_hash, "idempotent-request", request):
        raise RequestError(
            f"This {HEADER} was used for another request.", code="IDEMPOTENCY_KEY_REUSED", http_status=422
        )
    if row.status_code is None:
        raise _in_use()
    kept = decrypt(row.body_encrypted)
    headers = {**kept["headers"], "Idempotency-Replayed": "true"}
    return Response(json.loads(kept["body"]), status=row.status_code, headers=headers)


def _in_use() -> RequestError:
    message = "The first request with this key has not been answered yet."
    error = RequestError(message, code="IDEMPOTENCY_KEY_IN_USE", http_status=409, retryable=True)
    error.wait = 1
    return error


def _keep(row: IdempotentResponse, response: Response) -> None:
    headers = {name: response[name] for name in _KEPT_HEADERS if response.has_header(name)}
    body = JSONRenderer().render(response.data).decode()
    row.status_code = response.status_code
    row.body_encrypted = encrypt({"body": body, "headers": headers})
    row.save(update_fields=["status_code", "body_encrypted"])
