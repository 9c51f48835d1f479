"""Where a worker must not be sent by an address that somebody typed into a form.

An endpoint may well be on a private network: that is where a group's own model runs. But a machine in a cloud is told
its keys at link-local addresses, which no model has."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import urlsplit

METADATA = frozenset({ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200")})
"""Of clouds whose address for keys is not link-local."""


def leads_to_keys(base_url: str) -> bool:
    """Whether the host, as the machine's own resolver reads it (names, decimal and hexadecimal figures, IPv6 that holds
    IPv4), is link-local, multicast or nothing. A host that is not found leads nowhere: False."""
    try:
        found = socket.getaddrinfo(urlsplit(base_url).hostname or "", None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError, ValueError):
        return False
    return any(_is_no_place(ipaddress.ip_address(str(place[4][0]).partition("%")[0])) for place in found)


def _is_no_place(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return _is_no_place(inner)
    return address.is_link_local or address.is_multicast or address.is_unspecified or address in METADATA
