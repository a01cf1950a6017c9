"""Which addresses a webhook may reach: public ones, and the one that was checked is the one that is used."""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final
from urllib.parse import urlsplit

from apcore.errors import InvalidInputError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[Any]]
"""As ``socket.getaddrinfo(host, port, type=SOCK_STREAM)``."""

_PORTS: Final = {"http": 80, "https": 443}
_NAT64: Final = ipaddress.ip_network("64:ff9b::/96")
_ISATAP: Final = (0x00005EFE, 0x02005EFE)
"""The third quarter of an address that leads through a tunnel to the IPv4 address in the last one."""
_NOT_PUBLIC: Final = tuple(
    map(
        ipaddress.ip_network,
        (
            "192.0.0.0/24",  # protocol assignments, and the metadata service of one cloud
            "192.88.99.0/24",  # relays of 6to4
            "fec0::/10",  # site-local, still routed inside
            "3fff::/20",  # documentation
            "64:ff9b:1::/48",  # NAT64 of a network's own
        ),
    )
)
"""What `is_global` of one or another Python version takes for public."""


class ForbiddenAddressError(InvalidInputError):
    """A webhook must not be sent there."""


@dataclass(frozen=True, slots=True)
class Destination:
    """Where to connect (``address``), and whom to ask for (``host``)."""

    scheme: str
    host: str
    port: int
    address: str
    target: str

    @property
    def authority(self) -> str:
        """The value of the ``Host`` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def resolved(
    url: str, *, allow_private: bool = False, resolve: Resolve | None = None, timeout: float = 10.0
) -> Destination:
    """The destination of a URL, after its name was looked up, which may take ``timeout`` seconds.

    Every address of the name must be public, or none is used: who controls a name could otherwise wait for the
    convenient one. Raises ForbiddenAddressError for other schemes than http and https, for a URL with a user name or of
    characters that HTTP cannot carry, for addresses that are private, loopback, link-local or otherwise not public
    unless ``allow_private``, and OSError when the name cannot be looked up in time. Messages name the host and not the
    URL, whose path may hold a secret.
    """
    scheme, host, port, target = _parts(url)
    look_up = partial(_look_up, timeout) if resolve is None else resolve
    try:
        found = [str(info[4][0]) for info in look_up(host, port)]
    except UnicodeError as error:
        raise ForbiddenAddressError("The URL of a webhook names a host that can have no address") from error
    if not found:
        raise OSError(f"{host} has no address")
    forbidden = [] if allow_private else [each for each in found if not is_public(each)]
    if forbidden:
        raise ForbiddenAddressError(
            f"{host} is not a public address; allow private addresses if the receiver is in your own network",
            details={"host": host},
        )
    return Destination(scheme, host, port, found[0], target)


def is_public(address: str) -> bool:
    """Whether an address belongs to the public Internet. Addresses that carry another one inside count as that one."""
    try:
        parsed: IPAddress = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if "%" in address:
        return False  # a zone: the address means something on one link only
    carried = _carried(parsed)
    if carried:
        return all(is_public(str(inner)) for inner in carried)
    if any(parsed in network for network in _NOT_PUBLIC):
        return False
    return parsed.is_global and not (parsed.is_multicast or parsed.is_reserved or parsed.is_unspecified)


def _carried(address: IPAddress) -> list[ipaddress.IPv4Address]:
    """The IPv4 addresses that an IPv6 address leads to: mapped, 6to4, Teredo, NAT64, ISATAP, and the old
    compatible form."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    carried = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _NAT64 or int(address) >> 32 == 0 or (int(address) >> 32) & 0xFFFFFFFF in _ISATAP:
        carried.append(last)
    return [each for each in carried if each is not None]


def _parts(url: str) -> tuple[str, str, int, str]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ForbiddenAddressError("This is no URL that a webhook can be sent to") from error
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ForbiddenAddressError("A webhook takes a URL that begins with https:// or http:// and names a host")
    if parts.username is not None or parts.password is not None:
        raise ForbiddenAddressError("The URL of a webhook must not hold a user name or a password")
    if any(character.isspace() or not character.isprintable() for character in url):
        raise ForbiddenAddressError("The URL of a webhook must not hold blanks or control characters")
    if not (parts.path + parts.query).isascii():
        raise ForbiddenAddressError("The path of a webhook's URL takes ASCII characters; write others as %XX")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme], target


def _look_up(timeout: float, host: str, port: int) -> list[Any]:
    """In a thread that may outlast the wait for it: the system's resolver tries as long as it likes, and cannot be
    told to stop."""
    answer: SimpleQueue[list[Any] | Exception] = SimpleQueue()

    def ask() -> None:
        try:
            answer.put(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except (OSError, UnicodeError) as error:
            answer.put(error)

    threading.Thread(target=ask, name="apcore-look-up", daemon=True).start()
    try:
        found = answer.get(timeout=max(0.0, timeout))
    except Empty:
        raise TimeoutError(f"{host} was not found in time") from None
    if isinstance(found, Exception):
        raise found
    return found
