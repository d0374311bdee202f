# SPDX-License-Identifier: MIT
"""What is known about all default paths of a network namespace."""

from __future__ import annotations

import dataclasses
from typing import Sequence

from . import _library
from ._address import Address, address_from_bytes
from ._path import Evidence, Flags, Interface, InterfaceType, Reason


@dataclasses.dataclass(frozen=True)
class DefaultPath:
    """The way of packets of one family for which only a default route matches."""

    flags: Flags
    reason: Reason
    interface_index: int
    """0: none, or not known."""
    metric: int
    """Of the default route. The kernel prefers the smaller."""
    source: Address | None
    gateway: Address | None

    @property
    def is_reachable(self) -> bool:
        return bool(self.flags & Flags.REACHABLE)


@dataclasses.dataclass(frozen=True)
class Way:
    """An interface that is up, has a carrier, and has a usable default path in one family or in both."""

    interface: Interface
    ipv4: DefaultPath
    ipv6: DefaultPath
    ipv4_carrier_types: frozenset[InterfaceType]
    """For a tunnel, the types of the interfaces that carry its packets, as far as the kernel shows."""
    ipv6_carrier_types: frozenset[InterfaceType]


@dataclasses.dataclass(frozen=True)
class Network:
    """All default paths of a network namespace, and its name servers. Two networks are equal if all of it is equal."""

    ipv4: DefaultPath
    """The way that the kernel chooses."""
    ipv6: DefaultPath
    ipv4_loopback_flags: Flags
    ipv6_loopback_flags: Flags
    ways: tuple[Way, ...]
    """First the one that the kernel chooses for IPv4, then the one for IPv6, then all others by metric."""
    ways_are_complete: bool
    """False: only the ways that the kernel chooses are known."""
    name_servers: tuple[Address, ...]
    """At most three: those of /etc/resolv.conf, or those that systemd-resolved uses."""
    name_server_is_reachable: bool
    """Whether a packet can leave for at least one."""
    evidence: Evidence


def _default_path(path: _library.DefaultPathStructure) -> DefaultPath:
    return DefaultPath(
        flags=Flags(path.flags),
        reason=Reason(path.reason),
        interface_index=path.interfaceIndex,
        metric=path.metric,
        source=address_from_bytes(bytes(path.source)),
        gateway=address_from_bytes(bytes(path.gateway)),
    )


def _types(bits: int) -> frozenset[InterfaceType]:
    return frozenset(InterfaceType(number) for number in range(32) if bits & 1 << number)


def _way(way: _library.WayStructure) -> Way:
    name = way.interfaceName.decode(errors="surrogateescape")
    return Way(
        interface=Interface(name, way.interfaceIndex, InterfaceType(way.interfaceType)),
        ipv4=_default_path(way.ipv4),
        ipv6=_default_path(way.ipv6),
        ipv4_carrier_types=_types(way.ipv4CarrierTypes),
        ipv6_carrier_types=_types(way.ipv6CarrierTypes),
    )


def network_from_structures(network: _library.NetworkStructure, ways: Sequence[_library.WayStructure]) -> Network:
    servers = (address_from_bytes(bytes(server)) for server in network.nameServers[: network.nameServerCount])
    return Network(
        ipv4=_default_path(network.ipv4),
        ipv6=_default_path(network.ipv6),
        ipv4_loopback_flags=Flags(network.ipv4LoopbackFlags),
        ipv6_loopback_flags=Flags(network.ipv6LoopbackFlags),
        ways=tuple(map(_way, ways)),
        ways_are_complete=bool(network.waysAreComplete),
        name_servers=tuple(server for server in servers if server is not None),
        name_server_is_reachable=bool(network.nameServerIsReachable),
        evidence=Evidence(network.evidence),
    )
