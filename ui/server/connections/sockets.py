"""The sockets on which the page listens, and how many files it may open. Imports nothing slow."""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import socket
import sys
from dataclasses import replace

from model.errors import AttendError
from ui.limits import Limits

if sys.platform != "win32":  # where sockets don't count as files
    import resource

_RESERVED_FILES = 256  # for everything but connections: models, sandboxes, and connections about to be refused
_NO_INTERFACE = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT, errno.EINVAL)  # errors for addresses of no interface here


def bind(host: str, port: int) -> list[socket.socket]:
    """One listening socket for each address of the host; `::` accepts IPv4 as well.

    `AttendError` if the host is not this machine or the port can't be used.
    """
    if not 0 < port < 65536:
        raise AttendError(f"The port is {port}, but must be between 1 and 65535: choose another with --port.")
    bound: list[socket.socket] = []
    missing: OSError | None = None
    for family, address in _resolved(host, port):
        try:
            bound.append(_bound(family, address))
        except OSError as error:
            if error.errno in _NO_INTERFACE:  # such as ::1, the second address of localhost, on a machine without IPv6
                missing = error
                continue
            for each in bound:
                each.close()
            reason = error.strerror or error
            raise AttendError(f"Port {port} on {host} can't be used ({reason}): choose another with --port.") from error
    if not bound:
        raise _not_here(host) from missing
    return bound


def address_of_page(host: str, port: int) -> str:
    """Where a browser on this machine finds the page."""
    plain = host.strip("[]")
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(plain).is_unspecified:
            plain = "localhost"
    return f"http://[{plain}]:{port}/" if ":" in plain else f"http://{plain}:{port}/"


def within_open_files(limits: Limits) -> Limits:
    """The limits with as many connections as files may be open, of which one address may use half.

    The limit of open files is raised as far as that is necessary and allowed.
    """
    files = _raised_files(limits.all_connections + _RESERVED_FILES)
    connections = min(limits.all_connections, max(files - _RESERVED_FILES, files // 2))
    return replace(limits, all_connections=connections, connections=max(1, min(limits.connections, connections // 2)))


def _raised_files(needed: int) -> int:
    """How many files may be open now."""
    if sys.platform == "win32":
        return needed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    raised = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    with contextlib.suppress(OSError, ValueError):  # the kernel may allow less than it says
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return soft


def _resolved(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[str, int]]]:
    plain = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not plain.strip() or "*" in plain:  # the system would take these for all addresses of both kinds
        raise _not_here(host)
    try:
        addresses = socket.getaddrinfo(plain, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, ValueError) as error:  # also of names that are too long, or have a null character
        raise _not_here(host) from error
    return list(dict.fromkeys((family, address) for family, _, _, _, address in addresses))  # type: ignore[misc]


def _bound(family: socket.AddressFamily, address: tuple[str, int]) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # else asyncio would delay small packets
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            everywhere = ipaddress.ip_address(address[0].partition("%")[0]).is_unspecified
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, not everywhere)
        listener.bind(address)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _not_here(host: str) -> AttendError:
    name = f"{host[:80]!r}" if not host.strip() or not host.isprintable() else host[:80]
    return AttendError(f"{name} is not an address of this machine: choose another with --host.")
