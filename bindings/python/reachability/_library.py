# SPDX-License-Identifier: MIT
"""The C calls that this package uses, and their structures. The layouts are those of reachability.h."""

from __future__ import annotations

import ctypes
import locale
import os
from typing import Any

SONAME = "libreachability.so.0"
MODE = b"kSCRunLoopDefaultMode"
NOTIFY_PATH, NOTIFY_NETWORK, NOTIFY_NEXT_HOP, IPV4_ONLY, IPV6_ONLY = 1, 2, 4, 8, 16
ADDRESS_SIZE = 128  # of struct sockaddr_storage


class ReachabilityError(OSError):
    """A call of the library failed.

    `errno` is the value of SCError(): an errno below 1000, or a kSCStatus... constant. `strerror` is its text. `detail`
    says which argument is wrong, and why; it can be empty.
    """

    detail = ""

    def __str__(self) -> str:
        return f"{super().__str__()}: {self.detail}" if self.detail else super().__str__()


class OptionsStructure(ctypes.Structure):
    """SCNetworkReachabilityOptions."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("nodename", ctypes.c_char_p),
        ("localAddress", ctypes.c_char_p),
        ("remoteAddress", ctypes.c_char_p),
        ("interfaceName", ctypes.c_char_p),
        ("localAddressLength", ctypes.c_uint32),
        ("remoteAddressLength", ctypes.c_uint32),
        ("routingMark", ctypes.c_uint32),
        ("options", ctypes.c_uint32),
        ("protocol", ctypes.c_uint8),
        ("trafficClass", ctypes.c_uint8),
        ("remotePort", ctypes.c_uint16),
        ("reserved", ctypes.c_uint32),
    ]


class PathStructure(ctypes.Structure):
    """SCNetworkReachabilityPath."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("flags", ctypes.c_uint32),
        ("reason", ctypes.c_uint32),
        ("interfaceIndex", ctypes.c_uint32),
        ("interfaceType", ctypes.c_uint32),
        ("interfaceName", ctypes.c_char * 16),
        ("mtu", ctypes.c_uint32),
        ("table", ctypes.c_uint32),
        ("addressCount", ctypes.c_uint32),
        ("evidence", ctypes.c_uint32),
        ("destination", ctypes.c_ubyte * ADDRESS_SIZE),
        ("source", ctypes.c_ubyte * ADDRESS_SIZE),
        ("gateway", ctypes.c_ubyte * ADDRESS_SIZE),
        ("flow", ctypes.c_uint32),
        ("nextHop", ctypes.c_uint32),
    ]


class RetryStructure(ctypes.Structure):
    """SCNetworkReachabilityRetry."""

    _fields_ = [("state", ctypes.c_uint64 * 16)]


class DefaultPathStructure(ctypes.Structure):
    """SCNetworkReachabilityDefaultPath."""

    _fields_ = [
        ("flags", ctypes.c_uint32),
        ("reason", ctypes.c_uint32),
        ("interfaceIndex", ctypes.c_uint32),
        ("metric", ctypes.c_uint32),
        ("source", ctypes.c_ubyte * ADDRESS_SIZE),
        ("gateway", ctypes.c_ubyte * ADDRESS_SIZE),
    ]


class UplinkStructure(ctypes.Structure):
    """SCNetworkReachabilityUplink."""

    _fields_ = [
        ("interfaceIndex", ctypes.c_uint32),
        ("interfaceType", ctypes.c_uint32),
        ("interfaceName", ctypes.c_char * 16),
        ("ipv4UnderlayTypes", ctypes.c_uint32),
        ("ipv6UnderlayTypes", ctypes.c_uint32),
        ("ipv4", DefaultPathStructure),
        ("ipv6", DefaultPathStructure),
        ("interfaceTypeIsKnown", ctypes.c_uint32),
        ("interfaceLeadsOut", ctypes.c_uint32),
        ("ipv4UnderlayLeadsOut", ctypes.c_uint32),
        ("ipv6UnderlayLeadsOut", ctypes.c_uint32),
    ]


class NetworkStructure(ctypes.Structure):
    """SCNetworkReachabilityNetwork."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("ipv4", DefaultPathStructure),
        ("ipv6", DefaultPathStructure),
        ("ipv4LoopbackFlags", ctypes.c_uint32),
        ("ipv6LoopbackFlags", ctypes.c_uint32),
        ("evidence", ctypes.c_uint32),
        ("uplinkCount", ctypes.c_uint32),
        ("uplinksAreComplete", ctypes.c_uint32),
        ("nameServerCount", ctypes.c_uint32),
        ("nameServerIsReachable", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("nameServers", ctypes.c_ubyte * ADDRESS_SIZE * 3),
    ]


def can_convert(name: bytes) -> bool:
    """Whether the C library can convert an international name to ASCII. musl cannot, nor can glibc without libidn2. Converts
    it as its look-up does, in a UTF-8 locale of this thread. Sends nothing: only a numeric address would be a result."""
    ctype, none, numeric_host, idn, no_name = 1 << locale.LC_CTYPE, 0, 4, 0x40, -2
    c = ctypes.CDLL(None)
    c.newlocale.restype = c.uselocale.restype = ctypes.c_void_p
    utf8 = ctypes.c_void_p(c.newlocale(ctype, b"C.UTF-8", None))
    if not utf8:
        return False
    hints, found = (ctypes.c_int * 16)(numeric_host | idn), ctypes.c_void_p()  # struct addrinfo begins with its flags
    before = ctypes.c_void_p(c.uselocale(utf8))
    error: int = c.getaddrinfo(name, None, hints, ctypes.byref(found))
    c.uselocale(before)
    c.freelocale(utf8)
    if error == none:
        c.freeaddrinfo(found)
    return error in (none, no_name)


Pointer, U32, U64, Size, Text = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t, ctypes.c_char_p
Status, Int = ctypes.c_ubyte, ctypes.c_int
PathPointer, RetryPointer = ctypes.POINTER(PathStructure), ctypes.POINTER(RetryStructure)
OptionsPointer, UplinkPointer = ctypes.POINTER(OptionsStructure), ctypes.POINTER(UplinkStructure)
NetworkPointer = ctypes.POINTER(NetworkStructure)
ANY = object()  # no call returns it

# The name in Python: the result that means failure, the name in C, the type of the result, and those of the arguments.
FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "error_code": (ANY, "SCError", Int),
    "error_string": (ANY, "SCErrorString", Text, Int),
    "error_detail": (ANY, "SCErrorDetail", Text),
    "get_version": (ANY, "SCNetworkReachabilityGetVersion", Text),
    "reason_string": (ANY, "SCNetworkReachabilityReasonString", Text, U32),
    "flags_get_string": (ANY, "SCNetworkReachabilityFlagsGetString", Size, U32, Text, Size),
    "create_with_options": (None, "SCNetworkReachabilityCreateWithOptions", Pointer, Pointer, OptionsPointer),
    "create_with_socket": (None, "SCNetworkReachabilityCreateWithSocket", Pointer, Pointer, Int),
    "retain": (ANY, "SCNetworkReachabilityRetain", Pointer, Pointer),
    "release": (ANY, "SCNetworkReachabilityRelease", None, Pointer),
    "get_path": (0, "SCNetworkReachabilityGetPath", Status, Pointer, PathPointer),
    "get_last_path": (0, "SCNetworkReachabilityGetLastPath", Status, Pointer, PathPointer),
    "path_is_reachable": (ANY, "SCNetworkReachabilityPathIsReachable", Status, PathPointer),
    "path_is_viable": (ANY, "SCNetworkReachabilityPathIsViable", Status, PathPointer),
    "path_get_string": (ANY, "SCNetworkReachabilityPathGetString", Size, PathPointer, Text, Size),
    "retry_init": (ANY, "SCNetworkReachabilityRetryInit", None, RetryPointer, U64),
    "retry_observe": (ANY, "SCNetworkReachabilityRetryObserve", None, RetryPointer, PathPointer, U64, U64),
    "retry_get_due": (ANY, "SCNetworkReachabilityRetryGetDue", U64, RetryPointer),
    "retry_take": (ANY, "SCNetworkReachabilityRetryTake", U32, RetryPointer, U64, U64),
    "get_network": (0, "SCNetworkReachabilityGetNetwork", Status, Pointer, NetworkPointer, UplinkPointer, Size, Size),
    "get_addresses": (ANY, "SCNetworkReachabilityGetResolvedAddresses", Size, Pointer, Text, Size),
    "get_description": (ANY, "SCNetworkReachabilityGetDescription", Size, Pointer, Text, Size),
    "schedule": (0, "SCNetworkReachabilityScheduleWithRunLoop", Status, Pointer, Pointer, Text),
    "unschedule": (ANY, "SCNetworkReachabilityUnscheduleFromRunLoop", Status, Pointer, Pointer, Text),
    "loop_create": (None, "SCRunLoopCreate", Pointer),
    "loop_retain": (ANY, "SCRunLoopRetain", Pointer, Pointer),
    "loop_release": (ANY, "SCRunLoopRelease", None, Pointer),
    "loop_get_file_descriptor": (-1, "SCRunLoopGetFileDescriptor", Int, Pointer),
    "loop_perform": (-1, "SCRunLoopPerform", Int, Pointer, ctypes.c_double),
    "loop_copy_next_change": (ANY, "SCRunLoopCopyNextChange", Pointer, Pointer, ctypes.POINTER(U32)),
    "loop_wake_up": (ANY, "SCRunLoopWakeUp", None, Pointer),
}


def __getattr__(name: str) -> Any:
    """The first use of a function loads the library: without it, a program can still import this package."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals().update(_load())
    return globals()[name]


def _load() -> dict[str, Any]:
    """All functions: of the file that REACHABILITY_LIBRARY names, otherwise of the one that the wheel carries. Without one,
    the dynamic loader looks for it."""
    carried = os.path.join(os.path.dirname(__file__), SONAME)
    file = os.environ.get("REACHABILITY_LIBRARY") or (carried if os.path.exists(carried) else SONAME)
    found = {}
    try:
        library = ctypes.CDLL(file)
        for name, (_, symbol, result, *arguments) in FUNCTIONS.items():
            found[name] = library[symbol]  # unlike an attribute, a new object each time
            found[name].restype, found[name].argtypes = result, arguments
    except (OSError, AttributeError) as error:  # no library, or one that is too old
        raise ImportError(
            f"{error}. This package needs the C library libreachability, version 0.1.0 or later: `make install` in its source"
            " installs it, or `pip install libreachability` a wheel that carries it. REACHABILITY_LIBRARY may name its file."
        ) from error

    def raise_on(failure: object) -> Any:
        def check(value: Any, _function: Any, _arguments: Any) -> Any:
            if value == failure:
                code: int = found["error_code"]()
                error = ReachabilityError(code, found["error_string"](code).decode())
                error.detail = found["error_detail"]().decode()
                raise error
            return value

        return check

    for name, (failure, *_) in FUNCTIONS.items():
        if failure is not ANY:
            found[name].errcheck = raise_on(failure)
    return found


def text(getter: Any, *arguments: Any) -> str:
    """The text of a call that writes as snprintf(3) does."""
    size: int = getter(*arguments, None, 0)
    while True:
        buffer = ctypes.create_string_buffer(size + 1)
        size = getter(*arguments, buffer, len(buffer))
        if size < len(buffer):
            return buffer.value.decode(errors="backslashreplace")
