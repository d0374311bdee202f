# SPDX-License-Identifier: MIT
"""What is known about the path to a host."""

from __future__ import annotations

import ctypes
import dataclasses
import enum

from . import _library
from ._address import Address, address_from_bytes, address_to_bytes


class Flags(enum.IntFlag):
    """Apple's bits. No bit set: no packet can leave for the host."""

    TRANSIENT_CONNECTION = 1 << 0
    REACHABLE = 1 << 1
    CONNECTION_REQUIRED = 1 << 2
    CONNECTION_ON_TRAFFIC = 1 << 3
    INTERVENTION_REQUIRED = 1 << 4
    CONNECTION_ON_DEMAND = 1 << 5
    IS_LOCAL_ADDRESS = 1 << 16
    IS_DIRECT = 1 << 17
    IS_WWAN = 1 << 18

    def __str__(self) -> str:
        """In the words of Apple's scutil: "Reachable,Directly Reachable Address"."""
        return _library.text(_library.flags_get_string, self.value)


class Flow(enum.IntFlag):
    """What else is known about the packets to a host, or about those of a connection."""

    BETTER_PATH = 1 << 0
    """A new connection, with no address bound, would leave over another interface."""
    SOURCE_FOREIGN = 1 << 1
    """Packets leave over an interface that does not have their source address: an established connection hangs."""
    INCOMPLETE = 1 << 2
    """A policy rule selects by what the watch does not say: transport, port, traffic class, or another user."""


class _OpenEnum(enum.IntEnum):
    """An enumeration to which a later version of the library may add values."""

    @classmethod
    def _missing_(cls, value: object) -> _OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_, member._value_ = f"UNKNOWN_{value}", value
        return member


class Reason(_OpenEnum):
    """Why a host is not reachable."""

    NO_ROUTE = 1
    ROUTE_UNREACHABLE = 2
    ROUTE_PROHIBITED = 3
    ROUTE_BLACKHOLE = 4
    INTERFACE_DOWN = 5
    NO_CARRIER = 6
    NO_SOURCE_ADDRESS = 7
    LOCAL_ADDRESS_NOT_ASSIGNED = 8
    NAME_PENDING = 9
    """The name is not resolved yet: the flags are those of the default path."""
    NAME_NOT_FOUND = 10
    NAME_SERVER_FAILURE = 11
    NAME_SERVER_UNREACHABLE = 12
    INTERFACE_MISSING = 13

    def __str__(self) -> str:
        text: bytes = _library.reason_string(self.value)
        return text.decode()


class InterfaceType(_OpenEnum):
    """The type of an interface. It depends on the device, never on the interface's name."""

    OTHER = 0
    LOOPBACK = 1
    WIRED_ETHERNET = 2
    WIFI = 3
    CELLULAR = 4
    POINT_TO_POINT = 5
    TUNNEL = 6
    VIRTUAL = 7


class NextHop(_OpenEnum):
    """Whether the next hop responds, as the kernel knows it: the gateway, or without one the host itself."""

    UNKNOWN = 0
    CONFIRMED = 1
    UNCONFIRMED = 2
    """It has responded some time ago."""
    FAILED = 3


class Evidence(_OpenEnum):
    """The source of a path."""

    KERNEL = 0
    SOCKET = 1
    """A connected UDP socket, because a sandbox denies rtnetlink."""


@dataclasses.dataclass(frozen=True)
class Interface:
    """The interface that packets leave over."""

    name: str
    index: int
    type: InterfaceType


@dataclasses.dataclass(frozen=True)
class Path:
    """What is known about the path to a host. Two paths are equal if all of it is equal.

    A test makes paths for a Script: Path(Flags.REACHABLE), or Path(Flags(0), Reason.NO_CARRIER).
    """

    flags: Flags
    reason: Reason | None = None
    """None: it is reachable."""
    interface: Interface | None = None
    """The interface that packets leave over, or would leave over if the host is not reachable."""
    destination: Address | None = None
    """The evaluated address. None for the default path."""
    source: Address | None = None
    gateway: Address | None = None
    """None: on-link."""
    mtu: int = 0
    """Bytes. 0: unknown."""
    table: int = 0
    """The routing table of the route. 0: unknown."""
    evidence: Evidence = Evidence.KERNEL
    flow: Flow = Flow(0)
    next_hop: NextHop = NextHop.UNKNOWN
    """As it was when the path was read. A watch with `next_hop` reports when it fails, and when it responds again."""

    @property
    def is_reachable(self) -> bool:
        """Whether a packet can leave for the host now. False while its name is not resolved."""
        return bool(_library.path_is_reachable(self._structure()))

    @property
    def is_viable(self) -> bool:
        """Whether packets can leave, and not with the address of another interface. If not, connect again."""
        return bool(_library.path_is_viable(self._structure()))

    def __str__(self) -> str:
        """In the words of ip-route(8): "reachable dev eth0 via 10.0.0.1 src 10.0.0.2"."""
        return _library.text(_library.path_get_string, self._structure())

    def _structure(self) -> _library.PathStructure:
        """For the rules of the C library."""
        structure = _library.PathStructure(
            size=ctypes.sizeof(_library.PathStructure),
            flags=self.flags,
            reason=self.reason or 0,
            mtu=self.mtu,
            table=self.table,
            evidence=self.evidence,
            flow=self.flow,
            nextHop=self.next_hop,
        )
        if self.interface:
            structure.interfaceName = self.interface.name.encode(errors="surrogateescape")[:15]
            structure.interfaceIndex, structure.interfaceType = self.interface.index, self.interface.type
        for name in ("destination", "source", "gateway"):
            if (address := getattr(self, name)) is not None:
                data = address_to_bytes(address)
                getattr(structure, name)[: len(data)] = data
        return structure


def path_from_structure(path: _library.PathStructure) -> Path:
    interface = None
    if path.interfaceIndex:
        name = path.interfaceName.decode(errors="surrogateescape")
        interface = Interface(name, path.interfaceIndex, InterfaceType(path.interfaceType))
    return Path(
        flags=Flags(path.flags),
        reason=Reason(path.reason) if path.reason else None,
        interface=interface,
        destination=address_from_bytes(bytes(path.destination)),
        source=address_from_bytes(bytes(path.source)),
        gateway=address_from_bytes(bytes(path.gateway)),
        mtu=path.mtu,
        table=path.table,
        evidence=Evidence(path.evidence),
        flow=Flow(path.flow),
        next_hop=NextHop(path.nextHop),
    )
