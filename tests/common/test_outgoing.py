"""Which addresses may be connected to: one table for webhooks and models, with each address's
reason."""

from __future__ import annotations

import socket
from ipaddress import ip_address
from typing import Any

import pytest

from common.outgoing import AddressNotAllowed, resolve, why_refused

NOBODY = {
    "link-local, where most clouds keep credentials": [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "169.254.42.42",
        "169.254.0.23",
        "fe80::1",
        "fe80::a9fe:a9fe",
        "fe80::1%1",
    ],
    "metadata at other addresses": [
        "100.100.100.200",
        "100.96.0.96",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "fd00:42::42",
        "fd00:a9fe:a9fe::1",
        "fd00:100::100:200",
    ],
    "site-local": ["fec0::1", "fec0::a9fe:a9fe", "feff::1"],
    "no host": ["0.0.0.0", "0.1.2.3", "::"],
    "multicast, broadcast, reserved": [
        "224.0.0.1",
        "239.1.1.1",
        "255.255.255.255",
        "240.0.0.1",
        "ff02::1",
        "4000::1",
        "100::1",
    ],
    "IPv4-mapped": ["::ffff:169.254.169.254", "::ffff:a83f:8110", "::ffff:0.0.0.0"],
    "IPv4-translated": ["::ffff:0:a9fe:a9fe"],
    "IPv4-compatible": ["::169.254.169.254", "::c000:c0"],
    "NAT64": ["64:ff9b::a9fe:a9fe", "64:ff9b::168.63.129.16", "64:ff9b::c000:c0"],
    "NAT64 local to a network, by length of its prefix": [
        "64:ff9b:1:a9fe:a9:fe00::",
        "64:ff9b:1:a9:fe:a9fe::",
        "64:ff9b:1::a9:fea9:fe00:0",
        "64:ff9b:1::a9fe:a9fe",
        "64:ff9b:1:abcd::a83f:8110",
    ],
    "6to4": ["2002:a9fe:a9fe::1", "2002:a83f:8110::"],
    "Teredo, of its server and its client": ["2001:0:a9fe:a9fe::", "2001:0:101:101:0:0:5601:5601"],
    "ISATAP": [
        "2001:db8::5efe:169.254.169.254",
        "2606:4700::200:5efe:168.63.129.16",
        "fd12::5efe:c000:c0",
    ],
}
PRIVATE = {
    "this machine": ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"],
    "private networks": [
        "10.0.0.1",
        "172.16.5.5",
        "192.168.1.1",
        "fd00::1",
        "fc00::1",
        "::ffff:10.0.0.1",
    ],
    "shared by a provider's customers": ["100.64.0.1", "100.127.255.254"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "benchmarking": ["198.18.0.1", "198.19.255.255", "2001:2::1"],
    "IETF protocols": ["192.0.0.1", "192.0.0.170", "192.88.99.1"],
    "the IPv4 inside": [
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2002:7f00:1::",
        "::10.0.0.1",
        "2606:4700::5efe:10.0.0.1",
    ],
    "tunnels and networks' own NAT64": [
        "2001:0:101:101::fefe:fefe",
        "64:ff9b:1::101:101",
        "64:ff9b:1:ffff::a00:1",
    ],
}
PUBLIC = [
    "1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1",
    "2002:101:101::1",
]  # fmt: skip


def rows(table: dict[str, list[str]]) -> list[Any]:
    return [
        pytest.param(one, id=f"{why}: {one}")
        for why, addresses in table.items()
        for one in addresses
    ]


@pytest.mark.parametrize("address", rows(NOBODY))
def test_an_address_that_nobody_may_be_sent_to(address: str) -> None:
    assert why_refused(ip_address(address), allow_private=True)
    assert why_refused(ip_address(address), allow_private=False)


@pytest.mark.parametrize("address", rows(PRIVATE))
def test_an_address_for_models_but_not_for_webhooks(address: str) -> None:
    assert why_refused(ip_address(address), allow_private=True) == ""
    assert why_refused(ip_address(address), allow_private=False)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_for_everybody(address: str) -> None:
    assert why_refused(ip_address(address), allow_private=False) == ""
    assert why_refused(ip_address(address), allow_private=True) == ""


@pytest.mark.parametrize(
    "host",
    [
        "169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.16689662",
        "0xa9.0xfe.43518", "１６９.２５４.１６９.２５４", "fe80::1%lo", "::ffff:a9fe:a9fe", "0", "0x0",
    ],
)  # fmt: skip
def test_a_spelling_is_checked_as_what_the_resolver_reads(host: str) -> None:
    with pytest.raises(AddressNotAllowed):
        resolve(host, 80, allow_private=True)


def test_one_forbidden_address_among_others_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(2, 1, 6, "", (address, 80)) for address in ("10.0.0.1", "192.0.0.192")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(AddressNotAllowed, match="Oracle"):
        resolve("two.example", 80, allow_private=True)


def test_addresses_come_in_the_resolvers_order_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(2, 1, 6, "", (address, 80)) for address in ("10.0.0.2", "10.0.0.1", "10.0.0.2")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert resolve("two.example", 80, allow_private=True) == ["10.0.0.2", "10.0.0.1"]
