# SPDX-License-Identifier: MIT
"""From struct sockaddr to the types of the module ipaddress, and back."""

from __future__ import annotations

import ipaddress
import socket
import struct
from typing import Union

Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]

# struct sockaddr_in, and struct sockaddr_in6: family, port, (flow information,) address (, scope).
_IPV4 = struct.Struct("=HH4s8x")
_IPV6 = struct.Struct("=HHI16sI")


def address_from_bytes(data: bytes) -> Address | None:
    """The address in a struct sockaddr_storage. None: AF_UNSPEC."""
    (family,) = struct.unpack_from("=H", data)
    if family == socket.AF_INET:
        return ipaddress.IPv4Address(_IPV4.unpack_from(data)[2])
    if family == socket.AF_INET6:
        *_, packed, scope = _IPV6.unpack_from(data)
        plain = ipaddress.IPv6Address(packed)
        return ipaddress.IPv6Address(f"{plain}%{scope}") if scope else plain
    return None


def address_to_bytes(address: Address, port: int = 0) -> bytes:
    """A struct sockaddr. A zone is the index or the name of an interface."""
    if isinstance(address, ipaddress.IPv4Address):
        return _IPV4.pack(socket.AF_INET, socket.htons(port), address.packed)
    return _IPV6.pack(socket.AF_INET6, socket.htons(port), 0, address.packed, _scope(address.scope_id or "0"))


def _scope(zone: str) -> int:
    if zone.isdecimal() and int(zone) < 2**32:
        return int(zone)
    try:
        return socket.if_nametoindex(zone)
    except OSError:
        raise ValueError(f"{zone!r} is not an interface") from None
