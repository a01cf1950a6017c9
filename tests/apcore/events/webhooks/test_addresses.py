import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apcore.events.webhooks import ForbiddenAddressError, is_public, resolved

PRIVATE = [
    "127.0.0.1",
    "127.255.255.254",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "192.0.2.1",
    "198.18.0.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd12:3456::1",
    "ff02::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::7f00:1",
    "64:ff9b:1::1",
    "192.0.0.192",
    "192.88.99.1",
    "fec0::1",
    "3fff::1",
    "2606:4700::5efe:7f00:1",
    "2606:4700::200:5efe:a00:1",
    "2002:7f00:1::1",
    "2001:0:7f00:1::",
    "not an address",
    "",
]
PUBLIC = ["8.8.8.8", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]


@pytest.mark.parametrize("address", PRIVATE)
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_addresses_that_are(address):
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_inside_of_another_one_counts_as_itself(address):
    number = int(address)
    for carrier in (f"::ffff:{address}", f"64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}"):
        assert is_public(carrier) is is_public(str(address))
    assert is_public(f"2002:{number >> 16:x}:{number & 0xFFFF:x}::1") is is_public(str(address))


@given(
    st.sampled_from(
        ["10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7", "fe80::/10"]
    )
    .map(ipaddress.ip_network)
    .flatmap(lambda network: st.integers(int(network[0]), int(network[-1])).map(type(network[0])))
)
def test_nothing_of_a_private_network_is_public(address):
    assert not is_public(str(address))


def spellings(address):
    number, parts = int(address), str(address).split(".")
    return [
        str(number),
        hex(number),
        ".".join(hex(int(part)) for part in parts),
        ".".join(f"0{int(part):o}" for part in parts),
        f"{parts[0]}.{number & 0xFFFFFF}",
        f"[::ffff:{address}]",
    ]


@given(st.ip_addresses(network="127.0.0.0/8"), st.sampled_from(range(6)))
def test_no_spelling_of_a_loopback_address_gets_through(address, form):
    try:
        resolved(f"http://{spellings(address)[form]}/")
    except (ForbiddenAddressError, OSError):
        return
    raise AssertionError(f"{spellings(address)[form]} was accepted")


@pytest.mark.parametrize("host", ["2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "localhost", "[::1]", "[::]"])
def test_this_machine_under_any_name_is_refused(host):
    with pytest.raises(ForbiddenAddressError):
        resolved(f"https://{host}:8443/hook")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://example.com/",
        "file:///etc/passwd",
        "//example.com/",
        "https:///hook",
        "https://user:pw@example.com/",
        "https://user@example.com/",
        "https://example.com:99999/",
        "https://[::1/",
        "https://example.com/a b",
        "https://example.com/\r\nX: y",
        "https://example.com/\x7f",
        "https://example.com/caf\u00e9",
        "https://example.com/?\ud800",
        "",
    ],
)
def test_what_is_no_plain_web_address_is_refused_before_any_look_up(url):
    with pytest.raises(ForbiddenAddressError) as caught:
        resolved(url, allow_private=True, resolve=lambda host, port: pytest.fail("looked up"))
    assert "pw" not in caught.value.message


@pytest.mark.parametrize("host", [f"{'a' * 64}.example", "..example", "\u200d.example"])
def test_a_host_that_can_have_no_address_is_refused(host):
    with pytest.raises(ForbiddenAddressError):
        resolved(f"https://{host}/")


def answers(*addresses):
    return lambda host, port: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in addresses]


def test_the_address_that_was_checked_is_the_one_to_use():
    destination = resolved("https://hooks.example/a?b=c", resolve=answers("93.184.216.34"))
    assert (destination.address, destination.host, destination.port) == ("93.184.216.34", "hooks.example", 443)
    assert destination.target == "/a?b=c"


def test_a_name_with_one_private_address_among_others_is_refused():
    with pytest.raises(ForbiddenAddressError) as caught:
        resolved("https://hooks.example/secret-path", resolve=answers("93.184.216.34", "10.0.0.1"))
    assert "hooks.example" in caught.value.message
    assert "secret-path" not in caught.value.message


def test_private_addresses_can_be_allowed():
    assert resolved("http://127.0.0.1:8000", allow_private=True).address == "127.0.0.1"


def test_a_name_without_address_is_away():
    with pytest.raises(OSError, match="no address"):
        resolved("https://hooks.example/", resolve=answers())


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://hooks.example/", "hooks.example"),
        ("https://hooks.example:444/", "hooks.example:444"),
        ("http://hooks.example:80/", "hooks.example"),
        ("http://[2606:4700:4700::1111]:81/", "[2606:4700:4700::1111]:81"),
    ],
)
def test_the_receiver_is_asked_by_its_name(url, authority):
    assert resolved(url, resolve=answers("8.8.8.8")).authority == authority
