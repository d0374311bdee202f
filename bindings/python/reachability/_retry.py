# SPDX-License-Identifier: MIT
"""The sleep of a loop that tries again and again: it ends when the time is over, or when it is worth an attempt."""

from __future__ import annotations

import asyncio
import random
import time
from types import TracebackType

from . import _hub, _library
from ._path import Path, _OpenEnum
from ._target import Question, Script, Transport
from ._watch import Watch


class Wake(_OpenEnum):
    """Why a sleep has ended."""

    TIME = 1
    REACHABLE = 2
    """The host was not reachable, and is."""
    PATH = 3
    """Packets leave over another interface or gateway, or from another source."""


def _nanoseconds(name: str, seconds: float) -> int:
    if not 0 <= seconds:
        raise ValueError(f"{name} is not a number of seconds: {seconds}")
    return int(min(seconds * 1e9, 2.0**63))


class RetryTimer:
    """The sleep between two attempts to connect, which ends early when an attempt has become worth while.

        with RetryTimer("db.internal") as timer:
            pause = 1.0
            while not connect():  # the first attempt is always made
                woken = timer.sleep(pause)
                pause = 1.0 if woken is not Wake.TIME else min(pause * 2, 120.0)

    A sleep ends early if the host becomes reachable, or its path gets another interface, gateway or source while it is
    reachable. An unreachable host only means that the sleep lasts its time. What changes during the attempt ends the next
    sleep, at once. A loss that is over before the sleep begins is none: the timer sees only the newest path. It does not see
    that the host itself comes back: that needs the attempts.

    If changes go on, they end one sleep in `min_interval` seconds. With `jitter`, a change ends the sleep after a random
    part of so many seconds: 0.25 is good for many clients of one server, which must not come all at once.

    One thread or task at a time sleeps. The other arguments and the errors are those of watch().
    """

    def __init__(
        self,
        host: str | Script | None = None,
        *,
        jitter: float = 0.0,
        min_interval: float = 1.0,
        source: str | None = None,
        interface: str | None = None,
        mark: int = 0,
        port: int = 0,
        transport: Transport | None = None,
        traffic_class: int = 0,
        family: int = 0,
    ) -> None:
        self._jitter = _nanoseconds("jitter", jitter)
        self._retry = _library.RetryStructure()
        _library.retry_init(self._retry, _nanoseconds("min_interval", min_interval))
        self._watch = Watch._of(Question(host, source, interface, mark, port, transport, traffic_class, family))
        self._observe(self._watch.next_change())

    def _observe(self, path: Path | None) -> None:
        if path:
            delay = int(random.random() * self._jitter)
            _library.retry_observe(self._retry, path._structure(), time.monotonic_ns(), delay)

    def _begin(self, seconds: float) -> int:
        """Takes what has changed since the last sleep. Returns the end of this one, in nanoseconds."""
        end = time.monotonic_ns() + _nanoseconds("seconds", seconds)
        while path := self._watch.next_change():
            self._observe(path)
        return end

    def _take(self, end: int) -> int:
        """Why to wake up now. 0: sleep on."""
        wake: int = _library.retry_take(self._retry, time.monotonic_ns(), end)
        return wake

    def _left(self, end: int) -> float:
        """Seconds until the next moment that can end the sleep."""
        due: int = _library.retry_get_due(self._retry)
        return max(0, min(end, due) - time.monotonic_ns()) / 1e9

    def sleep(self, seconds: float) -> Wake:
        """Blocks the thread for so many seconds, or until a change. In a coroutine use sleep_async().

        Raises ValueError if the timer is closed, also while it sleeps.
        """
        end = self._begin(seconds)
        while not (wake := self._take(end)):
            path = self._watch.wait(self._left(end))
            self._observe(path)
            if path is None and self._watch.is_closed:
                raise ValueError("the timer is closed")
        return Wake(wake)

    async def sleep_async(self, seconds: float) -> Wake:
        """The same as sleep(), for asyncio and trio: it does not block the event loop, and can be cancelled."""
        end = self._begin(seconds)
        while not (wake := self._take(end)):
            await self._observe_within(self._left(end))
        return Wake(wake)

    async def _observe_within(self, seconds: float) -> None:
        """Takes the next path, if it comes in time."""
        try:
            if trio := _hub.trio_of_this_task():
                with trio.move_on_after(seconds):
                    self._observe(await self._watch.__anext__())
            else:
                await self._observe_within_asyncio(seconds)
        except StopAsyncIteration:
            raise ValueError("the timer is closed") from None

    async def _observe_within_asyncio(self, seconds: float) -> None:
        """Not with wait_for(): up to Python 3.11 it swallows a cancellation that comes with the result."""
        next_path = asyncio.ensure_future(self._watch.__anext__())
        try:
            await asyncio.wait({next_path}, timeout=seconds)
        finally:
            if next_path.cancel():
                await asyncio.wait({next_path})
            elif not next_path.exception():
                self._observe(next_path.result())  # the watch does not return it again
        if not next_path.cancelled():
            next_path.result()  # raises

    def close(self) -> None:
        """Ends the sleep of another thread or task. Any thread may call this, and any number of times."""
        self._watch.close()

    def __enter__(self) -> RetryTimer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
