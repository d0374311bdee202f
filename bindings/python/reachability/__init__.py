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

from ._library import ReachabilityError, library_version
from ._path import Evidence, Flags, Interface, InterfaceType, Path, Reason
from ._watch import Watch, check, watch

__all__ = [
    "Evidence",
    "Flags",
    "Interface",
    "InterfaceType",
    "Path",
    "ReachabilityError",
    "Reason",
    "Watch",
    "check",
    "library_version",
    "watch",
]
