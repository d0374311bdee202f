# SPDX-License-Identifier: MIT
"""A target of the C library: made from Python's values, and read into them."""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import ipaddress
import operator
import socket
import threading
import weakref
from typing import Any, Callable, Protocol, Union

from . import _library
from ._address import address_to_bytes
from ._network import Network, network_from_structures
from ._path import Flags, Path, path_from_structure


class Transport(enum.IntEnum):
    """The protocol of the packets to a port."""

    TCP = 6
    UDP = 17


class HasFileno(Protocol):
    """A socket.socket, or an object that has its descriptor, as asyncio's get_extra_info("socket") returns."""

    def fileno(self) -> int: ...


Connection = Union[int, HasFileno]


FAMILIES: dict[int, int] = {socket.AF_UNSPEC: 0, socket.AF_INET: _library.IPV4_ONLY, socket.AF_INET6: _library.IPV6_ONLY}


class Script:
    """Paths that a test gives instead of the kernel's. A script stands in for the host of any call.

        script = Script(Path(Flags(0), Reason.NO_CARRIER))
        downloads = Downloads(script)  # it calls watch(host), check(host), or RetryTimer(host)
        script.play(Path(Flags.REACHABLE))

    No socket is opened. Of the other arguments of the calls, only those of time count, and `next_hop`.
    """

    def __init__(self, path: Path = Path(Flags.REACHABLE)) -> None:
        self._path = path
        self._lock = threading.RLock()  # of the set; a signal handler may call play()
        self._watches: weakref.WeakSet[Any] = weakref.WeakSet()

    @property
    def path(self) -> Path:
        """The path that was played last."""
        return self._path

    @property
    def watches(self) -> int:
        """How many watches and timers follow the script: a test can check that its program has closed all."""
        return sum(not watch.is_closed for watch in self._copy())

    def play(self, path: Path) -> None:
        """Sets the path. Any thread may call this. A watch that is slow gets only the newest path."""
        self._path = path
        for watch in self._copy():
            watch._may_have_news()

    def _follow(self, watch: Any) -> None:
        with self._lock:
            self._watches.add(watch)

    def _copy(self) -> list[Any]:
        with self._lock:
            return list(self._watches)


@dataclasses.dataclass(frozen=True)
class Question:
    """The arguments of watch()."""

    host: str | Script | None
    source: str | None = None
    interface: str | None = None
    mark: int = 0
    port: int = 0
    transport: Transport | None = None
    traffic_class: int = 0
    family: int = socket.AF_UNSPEC
    next_hop: bool = False

    def create(self) -> int:
        """A target that the caller releases. 0: a script has none."""
        if isinstance(self.host, Script):
            return 0
        if self.family not in FAMILIES:
            raise ValueError(f"family {self.family} is not AF_INET or AF_INET6")
        notify = _library.NOTIFY_PATH | (_library.NOTIFY_NEXT_HOP if self.next_hop else 0)
        options = _library.OptionsStructure(
            size=ctypes.sizeof(_library.OptionsStructure),
            routingMark=_number("mark", self.mark, 32),
            trafficClass=_number("traffic_class", self.traffic_class, 8),
            protocol=0 if self.transport is None else Transport(self.transport),
            options=notify | FAMILIES[self.family],
        )
        port = _number("port", self.port, 16)
        if port and self.transport is None:
            raise ValueError("a port needs a transport")
        if self.interface is not None:
            options.interfaceName = _c_string(self.interface)
        host = self.host
        if host is None:
            is_ipv6 = ":" in self.source if self.source is not None else self.family == socket.AF_INET6
            host = "::" if is_ipv6 else "0.0.0.0"
        if self.source is not None:
            options.localAddress = address_to_bytes(ipaddress.ip_address(self.source))
            options.remoteAddress = address_to_bytes(ipaddress.ip_address(host), port)
        else:
            options.nodename = _name(host)
            options.remotePort = port
        return _create(options)


def create_network_target() -> int:
    """A target that the caller releases."""
    size = ctypes.sizeof(_library.OptionsStructure)
    return _create(_library.OptionsStructure(size=size, nodename=b"0.0.0.0", options=_library.NOTIFY_NETWORK))


def create_socket_target(connection: Connection) -> int:
    """A target that the caller releases. It does not keep the descriptor."""
    descriptor = connection if isinstance(connection, int) else connection.fileno()
    target: int = _library.create_with_socket(None, descriptor)
    return target


def _create(options: _library.OptionsStructure) -> int:
    target: int = _library.create_with_options(None, options)
    return target


def _number(name: str, value: int, bits: int) -> int:
    number = operator.index(value)
    if not 0 <= number < 2**bits:
        raise ValueError(f"{name} {value} does not fit into {bits} bits")
    return number


def _name(host: str) -> bytes:
    is_address = ":" in host  # of IPv6, and perhaps the name of an interface, which can have any bytes
    if not (host.isascii() or is_address or _library.can_convert(_c_string(host))):
        raise ValueError(f"{host!r} cannot be converted to an international name")
    return _c_string(host)


def _c_string(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("embedded null character")
    return text.encode(errors="surrogateescape")


def read_path(getter: Callable[[int, Any], object], target: int) -> Path:
    path = _library.PathStructure(size=ctypes.sizeof(_library.PathStructure))
    getter(target, path)
    return path_from_structure(path)


def read_network(target: int) -> Network:
    network = _library.NetworkStructure(size=ctypes.sizeof(_library.NetworkStructure))
    capacity = 8
    while True:
        uplinks = (_library.UplinkStructure * capacity)()
        _library.get_network(target, network, uplinks, ctypes.sizeof(_library.UplinkStructure), capacity)
        if network.uplinkCount <= capacity:
            return network_from_structures(network, uplinks[: network.uplinkCount])
        capacity = network.uplinkCount
