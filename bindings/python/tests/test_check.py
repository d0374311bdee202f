# SPDX-License-Identifier: MIT
"""check(): one path."""

from __future__ import annotations

import ipaddress
import os
import socket
import subprocess
import sys
from typing import Callable

import pytest

import reachability
from conftest import ip
from reachability import (
    Evidence,
    Flags,
    Flow,
    Interface,
    InterfaceType,
    NextHop,
    Path,
    ReachabilityError,
    Reason,
    check,
    wait_until_reachable,
    watch,
)

Route = Callable[[str], None]

pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def test_own_address_is_reachable_and_local() -> None:
    path = check("127.0.0.1")
    assert path.flags == Flags.REACHABLE | Flags.IS_LOCAL_ADDRESS | Flags.IS_DIRECT
    assert path.interface and path.interface.type == InterfaceType.LOOPBACK
    assert str(path.flags) == "Reachable,Local Address,Directly Reachable Address"


def test_path_over_a_gateway_has_interface_gateway_and_source(route: Route) -> None:
    path = check("192.0.2.1")
    assert path.is_reachable and path.reason is None and path.interface
    assert (path.interface.name, path.interface.type) == ("e0", InterfaceType.VIRTUAL)
    assert path.gateway == ipaddress.ip_address("10.0.0.1")
    assert path.source == ipaddress.ip_address("10.0.0.2")
    assert path.destination == ipaddress.ip_address("192.0.2.1")
    assert str(path) == "reachable dev e0 via 10.0.0.1 src 10.0.0.2"


def test_without_a_route_the_reason_is_no_route() -> None:
    path = check("192.0.2.1")
    assert not path.is_reachable and path.flags == Flags(0) and path.reason == Reason.NO_ROUTE
    assert str(path) == "not reachable: no route"


def test_rules_and_text_of_a_path_are_the_librarys() -> None:
    path = Path(
        Flags.REACHABLE,
        interface=Interface("wl\udcffn0", 3, InterfaceType.WIFI),
        source=ipaddress.ip_address("10.0.0.2"),
        gateway=ipaddress.ip_address("fe80::1%3"),
        evidence=Evidence.SOCKET,
        flow=Flow.SOURCE_FOREIGN,
        next_hop=NextHop.FAILED,
    )
    assert path.is_reachable and not path.is_viable
    route = r"reachable dev wl\xffn0 type wifi via fe80::1 src 10.0.0.2"
    assert str(path) == route + ", foreign source, next hop failed, from a UDP socket"
    flags = Flags.REACHABLE | Flags.CONNECTION_REQUIRED
    assert not Path(flags).is_reachable and Path(flags | Flags.CONNECTION_ON_TRAFFIC).is_viable
    assert not Path(Flags.REACHABLE, Reason.NAME_PENDING).is_reachable


def test_without_a_host_the_default_path_is_checked(route: Route) -> None:
    assert check().is_reachable and check().destination is None
    route("del")
    assert not check().is_reachable


def test_ipv6_address_is_checked() -> None:
    path = check("2001:db8::1")
    assert path.flags == Flags.REACHABLE | Flags.IS_DIRECT
    assert path.source == ipaddress.ip_address("2001:db8::2")


def test_ipv6_zone_is_an_index() -> None:
    path = check("fe80::1%e0")
    assert path.interface and str(path.destination) == f"fe80::1%{path.interface.index}"


def test_name_is_looked_up(route: Route) -> None:
    path = check("known.test", timeout=60)
    assert path.is_reachable and path.destination == ipaddress.ip_address("192.0.2.9")


def test_name_that_is_not_resolved_in_time_is_pending(route: Route) -> None:
    path = check("example.com", timeout=0)
    assert path.reason == Reason.NAME_PENDING and Flags.REACHABLE in path.flags and not path.is_reachable
    assert str(path) == "pending"


def test_name_without_a_name_server_is_reported() -> None:
    assert check("example.com", timeout=60).reason == Reason.NAME_SERVER_UNREACHABLE


def test_source_that_is_not_assigned_is_reported(route: Route) -> None:
    assert check("192.0.2.1", source="10.0.0.2").is_reachable
    assert check("192.0.2.1", source="10.0.0.3").reason == Reason.LOCAL_ADDRESS_NOT_ASSIGNED
    assert check("2001:db8::1", source="2001:db8::2").is_reachable
    assert check(source="10.0.0.2").is_reachable


def test_only_routes_of_the_interface_count(route: Route) -> None:
    assert check("192.0.2.1", interface="e0").is_reachable
    assert check("192.0.2.1", interface="e1").reason == Reason.NO_ROUTE
    assert check("192.0.2.1", interface="e7").reason == Reason.INTERFACE_MISSING


def test_only_addresses_of_the_family_count(route: Route) -> None:
    assert check(family=socket.AF_INET).is_reachable
    assert check(family=socket.AF_INET6).reason == Reason.NO_ROUTE
    assert str(check("localhost", family=socket.AF_INET).destination) == "127.0.0.1"
    assert str(check("localhost", family=socket.AF_INET6).destination) == "::1"
    with watch(family=socket.AF_INET6) as paths:
        assert not next(paths).is_reachable
        ip("route add default via 2001:db8::1")
        try:
            assert str(next(paths).gateway) == "2001:db8::1"
        finally:
            ip("route del default via 2001:db8::1")
    for host, family in (("192.0.2.1", socket.AF_INET6), ("::1", socket.AF_INET)):
        with pytest.raises(ReachabilityError):
            check(host, family=family)
    with pytest.raises(ValueError, match="family"):
        check(family=socket.AF_UNIX)


@pytest.mark.parametrize("host", ["", "x" * 1025])
def test_invalid_name_raises_the_code_and_its_text(host: str) -> None:
    with pytest.raises(ReachabilityError) as caught:
        check(host)
    assert (caught.value.errno, caught.value.strerror) == (1002, "Invalid argument")
    assert isinstance(caught.value, OSError)


def test_error_says_which_argument_is_wrong() -> None:
    with pytest.raises(ReachabilityError) as caught:
        check("")
    assert caught.value.detail and str(caught.value) == f"[Errno 1002] Invalid argument: {caught.value.detail}"


@pytest.mark.parametrize("mark", [-1, 2**32, 2**40])
def test_mark_that_does_not_fit_is_refused(mark: int) -> None:
    with pytest.raises(ValueError, match="32 bits"):
        check("192.0.2.1", mark=mark)


def test_argument_of_another_type_is_refused() -> None:
    calls: list[Callable[..., object]] = [check, watch, wait_until_reachable]
    for call in calls:
        with pytest.raises(TypeError):
            call("192.0.2.1", mark="x")
        with pytest.raises(TypeError):
            call("192.0.2.1", unknown=1)
        with pytest.raises((TypeError, AttributeError)):
            call(17)
    with pytest.raises(ValueError):
        check("192.0.2.1", timeout=float("nan"))


def test_bad_arguments_raise_value_error() -> None:
    with pytest.raises(ValueError):
        check("127.0.0.1\0.example")
    with pytest.raises(ValueError, match="international"):
        check("a\ufffe.example")
    with pytest.raises(ValueError):
        check("example.com", source="127.0.0.1")
    for zone in ("4294967296", "nosuch"):
        with pytest.raises(ValueError, match="is not an interface"):
            check("fe80::1", source=f"fe80::2%{zone}")


def test_unknown_values_of_a_later_library_are_kept() -> None:
    assert Reason(77) == 77 and Reason(77).name == "UNKNOWN_77" and str(Reason(77)) == "unknown reason"
    assert str(Flags.REACHABLE | 0x40000000) == "Reachable,0x40000000"


def test_version_of_the_library_is_known() -> None:
    assert reachability.library_version().count(".") == 2
    assert reachability.__version__.count(".") == 2


@pytest.mark.parametrize("file", ["/missing/libreachability.so.0", "libc.so.6"])
def test_package_can_be_imported_without_the_library(file: str) -> None:
    script = "import reachability\ntry: reachability.check()\nexcept ImportError as error: print(error)"
    environment = {**os.environ, "REACHABILITY_LIBRARY": file}
    ended = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert file in ended.stdout and "needs the C library libreachability" in ended.stdout
