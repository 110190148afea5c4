"""The host names under which a page answers.

A foreign page can give its own name the address of this machine (DNS rebinding) and so let a visitor's browser drive a
page that was meant for this machine alone; and any page can send requests to any address. The request's Host and Origin
headers tell them apart. IP addresses are always allowed, since nobody can make them lead elsewhere.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from urllib.parse import urlsplit

_SHARED = ".gradio.live"  # the domain of pages with --share
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")  # with or without a port


def own_names(host: str, *, added: Iterable[str] = (), share: bool = False) -> frozenset[str]:
    """The names of a page that is not public; one that begins with a dot stands for all its subdomains.

    Args:
        host: the address on which the server listens.
        added: what the user allows: host names, whole addresses, or `*.example.org`.
        share: whether the page also has a temporary address on gradio.live.
    """
    machine = () if is_loopback(host) else (socket.gethostname(), socket.getfqdn())
    shared = (_SHARED,) if share else ()
    return frozenset(name.lower() for name in ("localhost", host, *machine, *shared, *map(_plain, added)) if name)


def is_own(host: str, origin: str | None, names: frozenset[str]) -> bool:
    """Whether a request is meant for this page and, if a web page sent it, was sent by this page.

    Args:
        host, origin: the request's headers; without an Origin, no web page sent it.
    """
    name = name_of(f"//{host}")
    if name is None or not (_is_address(name) or _is_among(name, names)):
        return False
    sender = name if origin is None else name_of(origin)
    return sender is not None and (sender == name or _is_among(sender, names) or is_loopback(sender))


def is_host(value: str) -> bool:
    """Whether a header is the name of a host, perhaps with a port, from which an address can be built."""
    if _HOST.fullmatch(value) is None:
        return False
    try:
        return urlsplit(f"//{value}").port != 0
    except ValueError:  # a port that is too large, or an invalid IPv6 address
        return False


def is_added(host: str, names: frozenset[str]) -> bool:
    """Whether a host is one of the page's names, except for those of this machine alone."""
    name = name_of(f"//{host}") or ""
    return is_host(host) and not is_loopback(name) and _is_among(name, names)


def _plain(name: str) -> str:
    """The host name in what the user typed, which may be a whole address."""
    suffix = name.removeprefix("*")
    address = suffix if "//" in suffix else f"//{suffix}"
    return name_of(address) or suffix


def name_of(address: str) -> str | None:
    """The host of an address, without its port."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _is_among(name: str, names: frozenset[str]) -> bool:
    return any(name.endswith(own) if own.startswith(".") else name == own for own in names)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def is_loopback(name: str) -> bool:
    """Whether a name or an address leads to this machine from this machine only."""
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)
