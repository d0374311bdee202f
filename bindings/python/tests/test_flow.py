# SPDX-License-Identifier: MIT
"""Ports, connected sockets, and the next hop."""

from __future__ import annotations

import errno
import pathlib
import socket
from typing import Callable, Iterator

import pytest

from conftest import ip
from reachability import (
    Flow,
    NextHop,
    Path,
    ReachabilityError,
    Reason,
    RetryTimer,
    Transport,
    check,
    check_socket,
    watch,
    watch_socket,
)

Route = Callable[[str], None]

pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


@pytest.fixture
def connection(route: Route) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.connect(("192.0.2.1", 4500))
        yield made


@pytest.fixture
def second_interface() -> Iterator[None]:
    ip("addr add 10.0.1.2/24 dev e1")
    yield
    ip("addr del 10.0.1.2/24 dev e1")


def test_connection_behind_a_better_route_is_not_viable(connection: socket.socket, second_interface: None) -> None:
    with watch_socket(connection) as paths:
        path = next(paths)
        assert path.is_viable and path.flow == Flow(0) and str(path.source) == "10.0.0.2"
        ip("route add 192.0.2.0/24 via 10.0.1.1")
        path = next(paths)
        assert path.flow == Flow.BETTER_PATH | Flow.SOURCE_FOREIGN and path.is_reachable and not path.is_viable
        assert path.interface and path.interface.name == "e1"
        ip("route del 192.0.2.0/24")
        assert next(paths).is_viable


def test_connection_without_its_source_is_not_viable(connection: socket.socket) -> None:
    with watch_socket(connection.fileno()) as paths:
        assert next(paths).is_viable
        ip("addr del 10.0.0.2/24 dev e0")
        try:
            path = next(paths)
            assert path.reason == Reason.LOCAL_ADDRESS_NOT_ASSIGNED and not path.is_viable
        finally:
            ip("addr add 10.0.0.2/24 dev e0")
        assert not check_socket(connection).is_viable  # the default route went with the address
        connection.close()
        assert not next(paths).is_viable  # the descriptor is not kept


def test_socket_that_is_not_connected_is_refused() -> None:
    with socket.socket() as unconnected, pytest.raises(ReachabilityError) as caught:
        watch_socket(unconnected)
    assert caught.value.errno == errno.ENOTCONN
    for descriptor, code in ((-1, errno.EBADF), (0, errno.ENOTSOCK)):
        with pytest.raises(ReachabilityError) as caught:
            check_socket(descriptor)
        assert caught.value.errno in (code, errno.EBADF)
    with pytest.raises(AttributeError):
        watch_socket("192.0.2.1")  # type: ignore[arg-type]


@pytest.mark.parametrize("source", [None, "10.0.0.2"])
def test_rule_for_a_port_counts_for_that_port(route: Route, source: str | None) -> None:
    ip("rule add ipproto tcp dport 443 prohibit")
    try:
        for port, transport, reason in (
            (443, Transport.TCP, Reason.ROUTE_PROHIBITED),
            (443, Transport.UDP, None),
            (80, Transport.TCP, None),
        ):
            path = check("192.0.2.1", port=port, transport=transport, source=source)
            assert path.reason == reason and path.flow == Flow(0)
        assert Flow.INCOMPLETE in check("192.0.2.1", source=source).flow
        with watch("192.0.2.1", port=443, transport=Transport.TCP, source=source) as paths:
            assert not next(paths).is_reachable
            ip("rule del ipproto tcp dport 443 prohibit")
            assert next(paths).is_reachable
            ip("rule add ipproto tcp dport 443 prohibit")
            assert not next(paths).is_reachable
    finally:
        ip("rule del ipproto tcp dport 443 prohibit")


def test_rule_for_a_class_counts_for_that_class(route: Route) -> None:
    ip("rule add tos 0x10 blackhole")
    try:
        assert check("192.0.2.1", traffic_class=0x10).reason == Reason.ROUTE_BLACKHOLE
        assert check("192.0.2.1", traffic_class=0x08).is_reachable
    finally:
        ip("rule del tos 0x10 blackhole")


@pytest.mark.parametrize("arguments", [{"port": 80}, {"port": 65536}, {"traffic_class": 256}, {"port": -1}])
def test_port_or_class_that_does_not_fit_is_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        check("192.0.2.1", **arguments)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        RetryTimer("192.0.2.1", **arguments)  # type: ignore[arg-type]


def test_gateway_that_does_not_respond_is_reported() -> None:
    """The interface is a veth pair whose other end never answers."""
    ip("link add v0 type veth peer name v1")
    try:
        for link in ("v0", "v1"):
            ip(f"link set {link} up")
        ip("addr add 10.9.0.2/24 dev v0")
        folder = pathlib.Path("/proc/sys/net/ipv4/neigh/v0")
        (folder / "retrans_time_ms").write_text("10")
        (folder / "mcast_solicit").write_text("1")
        ip("route add 192.0.2.0/24 via 10.9.0.1")
        with watch("192.0.2.1", next_hop=True) as paths, watch("192.0.2.1") as quiet:
            assert next(paths).next_hop == NextHop.UNKNOWN and next(quiet).next_hop == NextHop.UNKNOWN
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(b"x", ("192.0.2.1", 9))
            failed = next(paths)
            assert failed.next_hop == NextHop.FAILED and failed.is_viable
            assert str(failed).endswith(", next hop failed")
            assert quiet.next_change() is None and quiet.path.next_hop in (NextHop.FAILED, NextHop.UNKNOWN)
            ip("neigh replace 10.9.0.1 lladdr 02:00:00:00:00:01 dev v0 nud permanent")
            works: Path = next(paths)
            assert works.next_hop == NextHop.CONFIRMED
    finally:
        ip("link del v0")
