# SPDX-License-Identifier: MIT
"""Asking once: the path now, or as soon as a host is reachable."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Callable

from . import _hub, _library
from ._network import Network
from ._path import Path, Reason
from ._target import create_target, read_network, read_path
from ._watch import Watch

Condition = Callable[[Path], bool]


def _is_known(path: Path) -> bool:
    return path.reason != Reason.NAME_PENDING


def _is_reachable(path: Path) -> bool:
    return path.is_reachable


def _path_now(host: str | None, source: str | None, interface: str | None, mark: int) -> Path:
    target = create_target(host, source, interface, mark)
    try:
        return read_path(_library.get_path, target)
    finally:
        _library.release(target)


def _end_of(timeout: float | None) -> float:
    """The time on the clock time.monotonic()."""
    if timeout is None:
        return math.inf
    if math.isnan(timeout):
        raise ValueError("timeout is not a number")
    return time.monotonic() + timeout


def _wait(watched: Watch, condition: Condition, path: Path, end: float) -> Path:
    """The first path that meets the condition. If it does not come in time, the newest."""
    while not condition(path) and (newer := watched.wait(max(0.0, end - time.monotonic()))):
        path = newer
    return path


async def _wait_in_task(watched: Watch, condition: Condition, path: Path, end: float) -> Path:
    async def follow() -> None:
        nonlocal path
        while not condition(path):
            path = await watched.__anext__()

    left = max(0.0, end - time.monotonic())
    if trio := _hub.trio_of_this_task():
        with trio.move_on_after(left):
            await follow()
    else:
        try:
            await asyncio.wait_for(follow(), None if math.isinf(left) else left)
        except asyncio.TimeoutError:
            pass
    return path


def check(
    host: str | None = None,
    *,
    timeout: float | None = 5.0,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
) -> Path:
    """The path now. For a name, waits for the first result, at most `timeout` seconds; then the reason is NAME_PENDING.

    Blocks the thread: in a coroutine use check_async(). A timeout of None waits without limit. The other arguments and the
    errors are those of watch().
    """
    end, path = _end_of(timeout), _path_now(host, source, interface, mark)
    if _is_known(path):
        return path
    with Watch(host, source=source, interface=interface, mark=mark) as watched:
        return _wait(watched, _is_known, path, end)


async def check_async(
    host: str | None = None,
    *,
    timeout: float | None = 5.0,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
) -> Path:
    """The same as check(), for asyncio and trio: it does not block the event loop."""
    end, path = _end_of(timeout), _path_now(host, source, interface, mark)
    if _is_known(path):
        return path
    with Watch(host, source=source, interface=interface, mark=mark) as watched:
        return await _wait_in_task(watched, _is_known, path, end)


def wait_until_reachable(
    host: str | None = None,
    *,
    timeout: float | None = None,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
) -> Path | None:
    """Waits until a packet can leave for the host. Returns the path, or None if `timeout` seconds are over.

    None as the timeout waits without limit; 0 does not wait. Blocks the thread: in a coroutine use
    wait_until_reachable_async(). Reachable does not mean that the host responds: try to connect first, and wait here if
    that fails. The other arguments and the errors are those of watch().
    """
    end, path = _end_of(timeout), _path_now(host, source, interface, mark)
    if not _is_reachable(path):
        with Watch(host, source=source, interface=interface, mark=mark) as watched:
            path = _wait(watched, _is_reachable, path, end)
    return path if _is_reachable(path) else None


async def wait_until_reachable_async(
    host: str | None = None,
    *,
    timeout: float | None = None,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
) -> Path | None:
    """The same as wait_until_reachable(), for asyncio and trio: it does not block the event loop."""
    end, path = _end_of(timeout), _path_now(host, source, interface, mark)
    if not _is_reachable(path):
        with Watch(host, source=source, interface=interface, mark=mark) as watched:
            path = await _wait_in_task(watched, _is_reachable, path, end)
    return path if _is_reachable(path) else None


def network() -> Network:
    """All default paths and name servers of the calling thread's network namespace now. Raises ReachabilityError.

    Queries the kernel, two queries for each interface. watch_network() follows the changes.
    """
    target = create_target(None, None, None, 0, _library.NOTIFY_NETWORK)
    try:
        return read_network(target)
    finally:
        _library.release(target)
