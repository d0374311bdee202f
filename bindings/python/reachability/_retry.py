# SPDX-License-Identifier: MIT
"""The sleep of a loop that tries again and again: it ends when the time is over, or when it is worth an attempt."""

from __future__ import annotations

import asyncio
import enum
import math
import random
import time
from types import TracebackType

from . import _hub
from ._path import Path, Reason
from ._target import Question, Script, Transport
from ._watch import Watch


class Wake(enum.Enum):
    """Why a sleep has ended."""

    TIME = "time"
    REACHABLE = "reachable"  # the host was not reachable, and is
    PATH = "path"  # packets leave over another interface or gateway, or from another source


class Trigger:
    """Which changes are worth an attempt, and when. The caller brings the paths and the time."""

    def __init__(self, jitter: float, min_interval: float) -> None:
        self._jitter = jitter
        self._min_interval = min_interval
        self._last: Path | None = None  # the last one with which the host was reachable
        self._was_lost = False
        self._wake: Wake | None = None
        self._due = math.inf
        self._not_before = -math.inf

    def observe(self, path: Path, now: float) -> None:
        """A pending name says nothing: its path is the default path."""
        if path.reason == Reason.NAME_PENDING:
            return
        if not path.is_reachable:
            self._was_lost, self._wake = True, None
            return
        wake = None
        if self._was_lost:
            wake = Wake.REACHABLE
        elif self._last and _way(self._last) != _way(path):
            wake = Wake.PATH
        if wake and not self._wake:
            self._wake, self._due = wake, now + random.random() * self._jitter
        self._was_lost, self._last = False, path

    @property
    def due(self) -> float:
        return max(self._due, self._not_before) if self._wake else math.inf

    def take(self, now: float, end: float) -> Wake | None:
        """Why to wake up now. None: sleep on."""
        wake = self._wake
        if wake and self.due <= now:
            self._not_before = now + self._min_interval
        elif now >= end:
            wake = Wake.TIME
        else:
            return None
        self._wake = None
        return wake


def _way(path: Path) -> tuple[object, object, object]:
    return path.interface and path.interface.index, path.gateway, path.source


def _number(name: str, value: float) -> float:
    if not 0 <= value:
        raise ValueError(f"{name} is not a number of seconds: {value}")
    return value


class RetryTimer:
    """The sleep between two attempts to connect, which ends early when an attempt has become worth while.

        with RetryTimer("db.internal") as timer:
            pause = 1.0
            while not connect():  # the first attempt is always made
                woken = timer.sleep(pause)
                pause = 1.0 if woken is not Wake.TIME else min(pause * 2, 120.0)

    A sleep ends early if the host becomes reachable, or its path gets another interface, gateway or source while it is
    reachable. An unreachable host only means that the sleep lasts its time. What changes during the attempt ends the next
    sleep, at once, unless it is undone before the sleep begins. It does not see that the host itself comes back: that needs
    the attempts.

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
        self._trigger = Trigger(_number("jitter", jitter), _number("min_interval", min_interval))
        self._watch = Watch._of(Question(host, source, interface, mark, port, transport, traffic_class, family))
        self._observe(self._watch.next_change())

    def _observe(self, path: Path | None) -> None:
        if path:
            self._trigger.observe(path, time.monotonic())

    def _begin(self, seconds: float) -> float:
        """Takes what has changed since the last sleep. Returns the end of this one."""
        end = time.monotonic() + _number("seconds", seconds)
        while path := self._watch.next_change():
            self._observe(path)
        return end

    def _left(self, end: float) -> float:
        """Until the next moment that can end the sleep."""
        return max(0.0, min(end, self._trigger.due) - time.monotonic())

    def sleep(self, seconds: float) -> Wake:
        """Blocks the thread for so many seconds, or until a change. In a coroutine use sleep_async().

        Raises ValueError if the timer is closed, also while it sleeps.
        """
        end = self._begin(seconds)
        while (wake := self._trigger.take(time.monotonic(), end)) is None:
            left = self._left(end)
            path = self._watch.wait(None if math.isinf(left) else left)
            self._observe(path)
            if path is None and self._watch.is_closed:
                raise ValueError("the timer is closed")
        return wake

    async def sleep_async(self, seconds: float) -> Wake:
        """The same as sleep(), for asyncio and trio: it does not block the event loop, and can be cancelled."""
        end = self._begin(seconds)
        while (wake := self._trigger.take(time.monotonic(), end)) is None:
            await self._observe_within(self._left(end))
        return wake

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
            await asyncio.wait({next_path}, timeout=None if math.isinf(seconds) else seconds)
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
