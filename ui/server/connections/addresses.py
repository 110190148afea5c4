"""Addresses as limits count them."""

from __future__ import annotations

import ipaddress


def counted_address(address: str) -> str:
    """The address as limits count it: an IPv4 address itself, the /64 network of an IPv6 address.

    Providers assign at least a /64 network to each IPv6 customer.
    """
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a proxy may send something else
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:  # ::ffff:192.0.2.1
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))
