"""Connections of Python's sockets, and the look-up of a name that begins most of them."""

import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final

from django_apcore.conf import get_settings

_INTERNET: Final = frozenset({socket.AF_INET, socket.AF_INET6})
_HERE: Final = frozenset({"", "localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback"})


def _send(args: tuple[Any, ...]) -> str | None:
    """`socket.connect`, `sendto` and `sendmsg`: the socket, and an address, which `sendmsg()` may leave out."""
    connecting, address = args[0], args[1]
    if connecting.family not in _INTERNET:
        is_path = isinstance(address, str | bytes) and connecting.family == getattr(socket, "AF_UNIX", None)
        return _text(address) if is_path else None
    if not address:
        return None
    host, port = _text(address[0]), int(address[1])
    return None if _is_reachable(host, port) else _written(host, port)


def _look_up(args: tuple[Any, ...]) -> str | None:
    """`socket.getaddrinfo` of a name that is not this machine's. An address is judged when it is connected to."""
    host, port = _text(args[0]), args[1]
    if host in _HERE or _is_address(host) or host == socket.gethostname() or _is_named(host, _number(port)):
        return None
    return _written(host, _text(port))


def _request(args: tuple[Any, ...]) -> str | None:
    """`http.client.send`: a request may go over a connection that has been open for long."""
    connection = args[0]
    host, port = str(connection.host), int(connection.port)
    return None if _is_named(host, port) or _is_reachable(host, port) else _written(host, port)


JUDGES: Final[dict[str, Callable[[tuple[Any, ...]], str | None]]] = {
    "socket.connect": _send,
    "socket.sendto": _send,
    "socket.sendmsg": _send,
    "socket.getaddrinfo": _look_up,
    "http.client.send": _request,
}


def _is_named(host: str, port: int | None) -> bool:
    """Whether the settings name this host, or this port of it."""
    names = get_settings().reachable_hosts
    return host in names or (port is not None and _written(host, port) in names)


def _is_reachable(host: str, port: int) -> bool:
    """The same for an address: what the names of the settings mean is looked up, which most projects need not."""
    if _is_named(host, port):
        return True
    for name in get_settings().reachable_hosts:
        named, given_port = _split(name)
        if given_port in (None, port) and host in _addresses(named):
            return True
    return False


def _addresses(host: str) -> set[str]:
    try:
        return {str(found[4][0]) for found in socket.getaddrinfo(host, None)}
    except OSError:
        return set()


def _split(name: str) -> tuple[str, int | None]:
    host, colon, port = name.rpartition(":")
    is_host_alone = not colon or not port.isdecimal() or (":" in host and not host.endswith("]"))
    return (name, None) if is_host_alone else (host.strip("[]"), int(port))


def _written(host: str, port: object) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _number(port: object) -> int | None:
    return int(text) if (text := _text(port)).isdecimal() else None


def _text(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return value.decode(errors="replace")
    return "" if value is None else str(value)
