# SPDX-License-Identifier: MIT
"""What is known about all default paths of a network namespace."""

from __future__ import annotations

import dataclasses
from typing import Sequence

from . import _library
from ._address import Address, address_from_bytes
from ._path import Evidence, Flags, Interface, InterfaceType, Path, Reason


@dataclasses.dataclass(frozen=True)
class DefaultPath:
    """The way of packets of one family for which only a default route matches."""

    flags: Flags
    reason: Reason | None
    """None: it is reachable."""
    interface_index: int
    """0: none, or not known."""
    metric: int
    """Of the default route. The kernel prefers the smaller."""
    source: Address | None
    gateway: Address | None

    @property
    def is_reachable(self) -> bool:
        return Path(self.flags, self.reason).is_reachable


@dataclasses.dataclass(frozen=True)
class Uplink:
    """An interface that is up, has a carrier, and has a usable default path in one family or in both."""

    interface: Interface
    leads_out: bool
    """Whether it leads out of a container or a virtual machine: a veth, macvlan, or an interface above one of these."""
    ipv4: DefaultPath
    ipv6: DefaultPath
    ipv4_underlay_types: frozenset[InterfaceType]
    """For a tunnel, the types of the interfaces that carry its packets, as far as the kernel shows."""
    ipv6_underlay_types: frozenset[InterfaceType]


@dataclasses.dataclass(frozen=True)
class Network:
    """All default paths of a network namespace, and its name servers. Two networks are equal if all of it is equal."""

    ipv4: DefaultPath
    """The uplink that the kernel chooses."""
    ipv6: DefaultPath
    ipv4_loopback_flags: Flags
    ipv6_loopback_flags: Flags
    uplinks: tuple[Uplink, ...]
    """First the one that the kernel chooses for IPv4, then the one for IPv6, then all others by metric."""
    uplinks_are_complete: bool
    """False: only the uplinks that the kernel chooses are known."""
    name_servers: tuple[Address, ...]
    """At most three: those of /etc/resolv.conf, or those that systemd-resolved uses."""
    name_server_is_reachable: bool
    """Whether a packet can leave for at least one."""
    evidence: Evidence


def _default_path(path: _library.DefaultPathStructure) -> DefaultPath:
    return DefaultPath(
        flags=Flags(path.flags),
        reason=Reason(path.reason) if path.reason else None,
        interface_index=path.interfaceIndex,
        metric=path.metric,
        source=address_from_bytes(bytes(path.source)),
        gateway=address_from_bytes(bytes(path.gateway)),
    )


def _types(bits: int) -> frozenset[InterfaceType]:
    return frozenset(InterfaceType(number) for number in range(32) if bits & 1 << number)


def _uplink(uplink: _library.UplinkStructure) -> Uplink:
    name = uplink.interfaceName.decode(errors="surrogateescape")
    return Uplink(
        interface=Interface(name, uplink.interfaceIndex, InterfaceType(uplink.interfaceType)),
        leads_out=bool(uplink.interfaceLeadsOut),
        ipv4=_default_path(uplink.ipv4),
        ipv6=_default_path(uplink.ipv6),
        ipv4_underlay_types=_types(uplink.ipv4UnderlayTypes),
        ipv6_underlay_types=_types(uplink.ipv6UnderlayTypes),
    )


def network_from_structures(network: _library.NetworkStructure, uplinks: Sequence[_library.UplinkStructure]) -> Network:
    servers = (address_from_bytes(bytes(server)) for server in network.nameServers[: network.nameServerCount])
    return Network(
        ipv4=_default_path(network.ipv4),
        ipv6=_default_path(network.ipv6),
        ipv4_loopback_flags=Flags(network.ipv4LoopbackFlags),
        ipv6_loopback_flags=Flags(network.ipv6LoopbackFlags),
        uplinks=tuple(map(_uplink, uplinks)),
        uplinks_are_complete=bool(network.uplinksAreComplete),
        name_servers=tuple(server for server in servers if server is not None),
        name_server_is_reachable=bool(network.nameServerIsReachable),
        evidence=Evidence(network.evidence),
    )
