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
from ._target import (
    Connection,
    Question,
    Script,
    Transport,
    create_network_target,
    create_socket_target,
    read_network,
    read_path,
)
from ._watch import Watch

Condition = Callable[[Path], bool]


def _is_known(path: Path) -> bool:
    return path.reason != Reason.NAME_PENDING


def _is_reachable(path: Path) -> bool:
    return path.is_reachable


def _path_now(question: Question) -> Path:
    return question.host.path if isinstance(question.host, Script) else _path_of(question.create())


def _path_of(target: int) -> Path:
    try:
        return read_path(_library.get_path, target)
    finally:
        _library.release(target)


async def _path_now_in_task(question: Question) -> Path:
    """In a thread, as the query may wait for the kernel. It ends even if the task is cancelled: it must release."""
    if isinstance(question.host, Script):
        return question.host.path
    target = question.create()
    if trio := _hub.trio_of_this_task():
        with trio.CancelScope(shield=True):
            path: Path = await trio.to_thread.run_sync(_path_of, target, limiter=trio.CapacityLimiter(1))
        return path
    return await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, _path_of, target))


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
    host: str | Script | None = None,
    *,
    timeout: float | None = 5.0,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
    port: int = 0,
    transport: Transport | None = None,
    traffic_class: int = 0,
    family: int = 0,
) -> Path:
    """The path now. For a name, waits for the first result, at most `timeout` seconds; then the reason is NAME_PENDING.

    Blocks the thread: in a coroutine use check_async(). A timeout of None waits without limit. The other arguments and the
    errors are those of watch().
    """
    question, end = Question(host, source, interface, mark, port, transport, traffic_class, family), _end_of(timeout)
    path = _path_now(question)
    if _is_known(path):
        return path
    with Watch._of(question) as watched:
        return _wait(watched, _is_known, path, end)


async def check_async(
    host: str | Script | None = None,
    *,
    timeout: float | None = 5.0,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
    port: int = 0,
    transport: Transport | None = None,
    traffic_class: int = 0,
    family: int = 0,
) -> Path:
    """The same as check(), for asyncio and trio: it does not block the event loop."""
    question, end = Question(host, source, interface, mark, port, transport, traffic_class, family), _end_of(timeout)
    path = await _path_now_in_task(question)
    if _is_known(path):
        return path
    with Watch._of(question) as watched:
        return await _wait_in_task(watched, _is_known, path, end)


def wait_until_reachable(
    host: str | Script | None = None,
    *,
    timeout: float | None = None,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
    port: int = 0,
    transport: Transport | None = None,
    traffic_class: int = 0,
    family: int = 0,
) -> Path | None:
    """Waits until a packet can leave for the host. Returns the path, or None if `timeout` seconds are over.

    None as the timeout waits without limit; 0 does not wait. Blocks the thread: in a coroutine use
    wait_until_reachable_async(). Reachable does not mean that the host responds: try to connect first, and wait here if
    that fails. The other arguments and the errors are those of watch().
    """
    question, end = Question(host, source, interface, mark, port, transport, traffic_class, family), _end_of(timeout)
    path = _path_now(question)
    if not _is_reachable(path):
        with Watch._of(question) as watched:
            path = _wait(watched, _is_reachable, path, end)
    return path if _is_reachable(path) else None


async def wait_until_reachable_async(
    host: str | Script | None = None,
    *,
    timeout: float | None = None,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
    port: int = 0,
    transport: Transport | None = None,
    traffic_class: int = 0,
    family: int = 0,
) -> Path | None:
    """The same as wait_until_reachable(), for asyncio and trio: it does not block the event loop."""
    question, end = Question(host, source, interface, mark, port, transport, traffic_class, family), _end_of(timeout)
    path = await _path_now_in_task(question)
    if not _is_reachable(path):
        with Watch._of(question) as watched:
            path = await _wait_in_task(watched, _is_reachable, path, end)
    return path if _is_reachable(path) else None


def check_socket(connection: Connection) -> Path:
    """The path of the packets of a connected socket now: see watch_socket(). Does not wait."""
    return _path_of(create_socket_target(connection))


def network() -> Network:
    """All default paths and name servers of the calling thread's network namespace now. Raises ReachabilityError.

    Queries the kernel, at least six queries for each interface. watch_network() follows the changes.
    """
    target = create_network_target()
    try:
        return read_network(target)
    finally:
        _library.release(target)
