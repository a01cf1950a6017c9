"""The values of ``format`` that are checked, by the same functions in both validators.

Only formats that the framework turns into Python values, or that people rely on, are in the table; every other format
is an annotation, as Draft 2020-12 has it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

_DATE: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME: Final = re.compile(r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})?")
_DURATION: Final = re.compile(
    r"-?P(?=.)(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?)"
)
_UUID: Final = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s.]+(\.[^@\s.]+)*")


def _parses(parse: Callable[[str], object], text: str) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _parses(date.fromisoformat, text)


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None and _parses(time.fromisoformat, text.upper())


def _is_date_time(text: str) -> bool:
    day, separator, clock = text[:10], text[10:11], text[11:]
    return (
        bool(separator)
        and separator in "Tt "
        and _is_date(day)
        and _is_time(clock)
        and _parses(datetime.fromisoformat, f"{day}T{clock.upper()}")
    )


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None


def _is_uuid(text: str) -> bool:
    return _UUID.fullmatch(text) is not None and _parses(UUID, text)


def _is_email(text: str) -> bool:
    return len(text) <= 254 and _EMAIL.fullmatch(text) is not None


def _is_ipv4(text: str) -> bool:
    return text.isascii() and _parses(ipaddress.IPv4Address, text)


def _is_ipv6(text: str) -> bool:
    return text.isascii() and "%" not in text and _parses(ipaddress.IPv6Address, text)


def _is_uri(text: str) -> bool:
    if not text.isascii() or any(character.isspace() for character in text):
        return False
    return _parses(urlsplit, text) and bool(urlsplit(text).scheme)


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = MappingProxyType(
    {
        "date": _is_date,
        "time": _is_time,
        "date-time": _is_date_time,
        "duration": _is_duration,
        "uuid": _is_uuid,
        "email": _is_email,
        "ipv4": _is_ipv4,
        "ipv6": _is_ipv6,
        "uri": _is_uri,
    }
)
