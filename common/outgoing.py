"""Which addresses this site may connect to when somebody else chose the host (SSRF). Pure.

Webhooks may only reach the public internet. Language models may also run on a private network or
on this machine. Nobody may reach the addresses at which clouds hand out credentials, nor addresses
at which no server can be. A name is resolved here and the connection is made to one of the
addresses that were checked, so a DNS server that answers differently the second time gains nothing.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address

# Where clouds hand out credentials, by their documentation of instance metadata.
_CREDENTIALS: dict[IPv4Network | IPv6Network, str] = {
    IPv4Network("169.254.0.0/16"): "link-local: most clouds",
    IPv6Network("fe80::/10"): "link-local: most clouds",
    IPv4Network("100.100.100.200"): "Alibaba Cloud",
    IPv4Network("100.96.0.96"): "Volcano Engine",
    IPv4Network("168.63.129.16"): "Azure (WireServer)",
    IPv4Network("192.0.0.192"): "Oracle Cloud Classic",
    IPv6Network("fd00:ec2::/32"): "AWS (metadata, EKS credentials, DNS, time)",
    IPv6Network("fd20:ce::254"): "Google Cloud",
    IPv6Network("fd00:c1::a9fe:a9fe"): "Oracle Cloud",
    IPv6Network("fd00:42::42"): "Scaleway",
    IPv6Network("fd00:a9fe:a9fe::1"): "Akamai (Linode)",
    IPv6Network("fd00:100::100:200"): "Alibaba Cloud",
}
_THIS_NETWORK = IPv4Network("0.0.0.0/8")
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# Not on the internet, but Python 3.11's ``is_global`` says so.
_NOT_GLOBAL: tuple[IPv4Network | IPv6Network, ...] = (
    IPv4Network("192.0.0.0/24"),  # IETF protocol assignments
    IPv4Network("192.88.99.0/24"),  # 6to4 relays, deprecated by RFC 7526
    IPv6Network("3fff::/20"),  # documentation, RFC 9637
)
# IPv6 prefixes whose last 32 bits are the IPv4 address that is reached in the end.
_ENDS_IN_IPV4 = (
    IPv6Network("::ffff:0:0/96"),  # IPv4-mapped
    IPv6Network("::ffff:0:0:0/96"),  # IPv4-translated, RFC 2765
    IPv6Network("64:ff9b::/96"),  # NAT64, RFC 6052
    IPv6Network("::/96"),  # IPv4-compatible, deprecated
)
# RFC 8215: the network's owner chose where the IPv4 is
_LOCAL_NAT64 = IPv6Network("64:ff9b:1::/48")
_LOCAL_NAT64_LENGTHS = (48, 56, 64, 96)
_ISATAP = (0x00005EFE, 0x02005EFE)  # RFC 5214: the upper half of the interface identifier


class AddressNotAllowed(Exception):
    """The host leads where nothing may be sent; trying again would not help."""


def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """Return the host's addresses, in the resolver's order, after checking every one of them.

    The system's resolver reads the host, so decimal, octal, hexadecimal and short spellings of an
    address are checked as what they stand for. Connect to one of these addresses, not to the name.

    Raises:
        AddressNotAllowed: one of the addresses may not be asked; the message says why.
        OSError, UnicodeError: there is no such host.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))
    for address in addresses:
        if reason := why_refused(ip_address(address), allow_private=allow_private):
            raise AddressNotAllowed(
                f"the address does not lead to a server that may be asked: {reason}"
            )
    return addresses


def why_refused(address: Address, *, allow_private: bool) -> str:
    """Return why this address may not be connected to, or "" where it may."""
    if isinstance(address, IPv6Address):
        for network in _ENDS_IN_IPV4:
            # :: and ::1 are no IPv4-compatible addresses
            if address in network and int(address) > 1:
                return why_refused(
                    IPv4Address(int(address) & 0xFFFFFFFF), allow_private=allow_private
                )
        if address.sixtofour is not None:
            return why_refused(address.sixtofour, allow_private=allow_private)
        if address in _LOCAL_NAT64:
            if not allow_private:
                return "it is local to a network"
            return next(filter(None, map(_credentials_at, _local_nat64_targets(address))), "")
        if address.teredo is not None:
            if not allow_private:
                return "it is a tunnel (Teredo)"
            return next(filter(None, map(_why_nobody_may, address.teredo)), "")
        if int(address) >> 32 & 0xFFFFFFFF in _ISATAP:
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
            if reason := why_refused(inner, allow_private=allow_private):
                return reason
    if reason := _why_nobody_may(address):
        return reason
    if not allow_private and not _is_public(address):
        return "it is not on the public internet"
    return ""


def _why_nobody_may(address: Address) -> str:
    if reason := _credentials_at(address):
        return reason
    if isinstance(address, IPv6Address) and address.is_site_local:
        return "it is site-local, which no network uses any more"
    if address.is_unspecified or address in _THIS_NETWORK:
        return "it names no host"
    if address.is_multicast or (address.is_reserved and not address.is_loopback):
        return "it is multicast, broadcast or reserved"
    return ""


def _credentials_at(address: Address) -> str:
    for network, cloud in _CREDENTIALS.items():
        if address in network:
            return f"machines read their credentials there ({cloud})"
    return ""


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    return address.is_global and not any(address in network for network in _NOT_GLOBAL)


def _local_nat64_targets(address: IPv6Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses that this may stand for, one for each prefix length (RFC 6052, 2.2)."""
    bits = f"{int(address):0128b}"
    without_u = bits[:64] + bits[72:]  # the octet at bits 64 to 71 is no part of the address
    for length in _LOCAL_NAT64_LENGTHS:
        yield IPv4Address(int((bits if length == 96 else without_u)[length : length + 32], 2))
