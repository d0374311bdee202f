# SPDX-License-Identifier: MIT
"""Can a packet leave this machine for a host now, over which interface, and if not, why not? And when does that change?

    from reachability import check, watch

    print(check("192.0.2.1").is_reachable)

    async for path in watch("example.com"):  # asyncio or trio
        print(path)

    for path in watch("example.com"):  # blocks
        print(path)

"Reachable" means that a packet to the host can leave this machine now. It does not mean that the host responds.
"""

from . import _library
from ._check import check, check_async, check_socket, network, wait_until_reachable, wait_until_reachable_async
from ._library import ReachabilityError
from ._network import DefaultPath, Network, Uplink
from ._path import Evidence, Flags, Flow, Interface, InterfaceType, NextHop, Path, Reason
from ._retry import RetryTimer, Wake
from ._target import Script, Transport
from ._watch import NetworkWatch, Watch, watch, watch_network, watch_socket

__version__ = "0.1.0"

__all__ = [
    "DefaultPath",
    "Evidence",
    "Flags",
    "Flow",
    "Interface",
    "InterfaceType",
    "Network",
    "NetworkWatch",
    "NextHop",
    "Path",
    "ReachabilityError",
    "Reason",
    "RetryTimer",
    "Script",
    "Transport",
    "Uplink",
    "Wake",
    "Watch",
    "__version__",
    "check",
    "check_async",
    "check_socket",
    "library_version",
    "network",
    "wait_until_reachable",
    "wait_until_reachable_async",
    "watch",
    "watch_network",
    "watch_socket",
]


def library_version() -> str:
    """The version of the loaded library: "0.1.0"."""
    version: bytes = _library.get_version()
    return version.decode()
