# SPDX-License-Identifier: MIT
"""The network: all default paths, and the name servers."""

from __future__ import annotations

from typing import Awaitable, Callable

import pytest

from conftest import ip
from reachability import InterfaceType, Reason, network, watch_network

Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def test_network_has_the_uplinks_and_name_servers(route: Route) -> None:
    now = network()
    assert now.ipv4.is_reachable and str(now.ipv4.gateway) == "10.0.0.1" and str(now.ipv4.source) == "10.0.0.2"
    assert now.ipv6.reason == Reason.NO_ROUTE
    assert [(uplink.interface.name, uplink.interface.type) for uplink in now.uplinks] == [("e0", InterfaceType.VIRTUAL)]
    assert now.uplinks[0].ipv4.is_reachable and now.uplinks[0].ipv4_underlay_types == frozenset()
    assert now.uplinks_are_complete
    assert [str(server) for server in now.name_servers] == ["192.0.2.53"] and now.name_server_is_reachable


def test_network_without_a_default_route_has_no_uplink() -> None:
    now = network()
    assert now.uplinks == () and not now.ipv4.is_reachable and not now.name_server_is_reachable


def test_more_uplinks_than_fit_into_the_first_array_are_read(route: Route) -> None:
    names = [f"w{number}" for number in range(12)]
    try:
        for number, name in enumerate(names):
            ip(f"link add {name} link e0 type macvlan")
            ip(f"addr add 10.1.{number}.2/24 dev {name}")
            ip(f"link set {name} up")
            ip(f"route add default via 10.1.{number}.1 metric {number + 10}")
        uplinks = network().uplinks
        assert [uplink.interface.name for uplink in uplinks] == ["e0", *names]
        assert [uplink.leads_out for uplink in uplinks] == [False] + [True] * 12
    finally:
        for name in names:
            ip(f"link del {name}")


def test_for_gets_the_current_network_and_each_change(route: Route) -> None:
    seen = []
    with watch_network() as networks:
        for now in networks:
            if now.uplinks_are_complete:
                seen.append(len(now.uplinks))
                if len(seen) == 3:
                    break
                route("del" if now.uplinks else "add")
        assert networks.network == now
    assert seen == [1, 0, 1]


def test_async_for_gets_the_network(run: Run, route: Route) -> None:
    async def main() -> None:
        async with watch_network() as networks:
            while not (await networks.__anext__()).ipv4.is_reachable:
                pass
            route("del")
            while (await networks.__anext__()).ipv4.is_reachable:
                pass

    run(main)
