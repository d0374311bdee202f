# SPDX-License-Identifier: MIT
"""A target of the C library: made from Python's values, and read into them."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, Callable

from . import _library
from ._address import address_to_bytes
from ._network import Network, network_from_structures
from ._path import Path, path_from_structure


def create_target(
    host: str | None, source: str | None, interface: str | None, mark: int, notify: int = _library.NOTIFY_PATH
) -> int:
    """A target that the caller releases."""
    if not 0 <= operator.index(mark) < 2**32:
        raise ValueError(f"mark {mark} does not fit into 32 bits")
    options = _library.OptionsStructure(size=ctypes.sizeof(_library.OptionsStructure), routingMark=mark, options=notify)
    if interface is not None:
        options.interfaceName = _c_string(interface)
    if source is not None:
        options.localAddress = address_to_bytes(source)
    if host is None:
        host = "::" if source is not None and ":" in source else "0.0.0.0"
    if source is not None:
        options.remoteAddress = address_to_bytes(host)
    else:
        options.nodename = _name(host)
    target: int = _library.create_with_options(None, options)
    return target


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
        ways = (_library.WayStructure * capacity)()
        _library.get_network(target, network, ways, ctypes.sizeof(_library.WayStructure), capacity)
        if network.wayCount <= capacity:
            return network_from_structures(network, ways[: network.wayCount])
        capacity = network.wayCount
