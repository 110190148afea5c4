"""The address of a request, by which limits count."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.requests import Request

from ui.server.callers import address_of


def request_from(address: str, **headers: str) -> Request:
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/", "headers": fields, "client": (address, 1)}
    return Request(scope)


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),  # the same machine, through a socket for both versions
        ("::FFFF:c000:201", "192.0.2.1"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_network_counts_as_one_address(address: str, counted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert address_of(request_from(address)) == counted
    monkeypatch.setenv("SPACE_ID", "user/attend")
    assert address_of(request_from("10.0.0.1", x_forwarded_for=f"10.9.9.9, {address}")) == counted


def test_without_a_client_there_is_no_address() -> None:
    assert address_of(None) == ""
    assert address_of(Request({"type": "http", "headers": [], "client": None})) == ""
