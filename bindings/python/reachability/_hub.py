# SPDX-License-Identifier: MIT
"""The run loop that many watches share, and the wait for it.

One hub serves all threads of the process that block, and one each event loop. So the number of watches costs no
descriptors. One of those that wait leads: it waits for the descriptor of the run loop, and wakes the others if their
targets have changed. When it stops to wait, the next one leads. An event loop that is busy delays only its own tasks, as
its hub is its own.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
import select
import sys
import threading
import time
from typing import Any, Callable, Iterator

from . import _library

POLL_LIMIT = 2**31 - 1  # milliseconds: poll(2) takes an int


class Member:
    """What a hub knows about a watch. The watch may end before: nothing here refers to it."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.may_have_news = True
        self.hub: Hub | None = None  # on whose run loop the target is


class Hub:
    def __init__(self, key: object) -> None:
        self.key = key
        self.members = 0
        self.is_released = False
        self._loop: int = _library.loop_create()
        try:
            self.descriptor: int = _library.loop_get_file_descriptor(self._loop)
        except _library.ReachabilityError:
            _library.loop_release(self._loop)
            raise
        # A signal handler, or the garbage collector, may enter while its thread has the lock.
        self._lock = threading.RLock()
        self._by_target: dict[int, Member] = {}
        self._leader: Member | None = None
        self._followers: dict[Member, Any] = {}  # the event that ends the wait of each
        self._changed: collections.deque[Member] = collections.deque()  # the leader has not woken these yet

    # ---- Members

    def schedule(self, member: Member) -> None:
        self._by_target[member.target] = member
        try:
            _library.schedule(member.target, self._loop, _library.MODE)
        except _library.ReachabilityError:
            del self._by_target[member.target]
            raise

    def unschedule(self, member: Member) -> None:
        if self._by_target.pop(member.target, None) is not None:
            _library.unschedule(member.target, self._loop, _library.MODE)

    def release(self) -> None:
        self.is_released = True
        _library.loop_release(self._loop)

    # ---- News

    def perform(self) -> None:
        """Handles what is due, without a wait."""
        with self._lock:
            self._perform()
            if not self._leader:
                self._changed.clear()
        if self._changed:
            _library.loop_wake_up(self._loop)  # this call took changes for which the leader waits

    def _perform(self) -> None:
        with self._losing_nothing():
            _library.loop_perform(self._loop, 0.0)
            while target := _library.loop_copy_next_change(self._loop, None):
                try:
                    if member := self._by_target.get(target):
                        member.may_have_news = True
                        self._changed.append(member)
                finally:
                    _library.release(target)

    @contextlib.contextmanager
    def _losing_nothing(self) -> Iterator[None]:
        """If a signal handler raises, as that of Ctrl-C does, changes that were taken may be lost: all may have news."""
        try:
            yield
        except BaseException:
            for member in list(self._by_target.values()):
                member.may_have_news = True
                self._changed.append(member)
            _library.loop_wake_up(self._loop)
            raise

    def interrupt(self, member: Member) -> None:
        """Ends the wait of a member. Any thread, task or signal handler may call this."""
        member.may_have_news = True
        self._changed.append(member)
        _library.loop_wake_up(self._loop)

    # ---- Waiting

    def wait(self, member: Member, deadline: float | None) -> None:
        """Blocks the thread until the member may have news, or until the deadline on the clock time.monotonic()."""
        with self._waiting(member, threading.Event) as event:
            if event:
                _wait_for_event(event, deadline)
            readable = select.poll()
            readable.register(self.descriptor, select.POLLIN)
            while self._must_lead(member):
                left = None if deadline is None else (deadline - time.monotonic()) * 1000
                if left is not None and left <= 0:
                    return
                readable.poll(None if left is None else min(left, POLL_LIMIT))
                self._lead()

    async def wait_in_task(self, member: Member) -> None:
        """Suspends the task until the member may have news."""
        trio = trio_of_this_task()
        with self._waiting(member, trio.Event if trio else asyncio.Event) as event:
            if event:
                await event.wait()
            while self._must_lead(member):
                await (trio.lowlevel.wait_readable(self.descriptor) if trio else _wait_readable(self.descriptor))
                self._lead()

    @contextlib.contextmanager
    def _waiting(self, member: Member, make_event: Callable[[], Any]) -> Iterator[Any]:
        """Makes the member the leader; the value is None. Or a follower; the value is the event that ends its wait."""
        event = None
        try:
            with self._lock:
                if not self._leader:
                    self._leader = member
                elif not member.may_have_news:
                    self._followers[member] = event = make_event()
            yield event
        finally:
            with self._lock:
                self._followers.pop(member, None)
                if self._leader is member:
                    self._leader = next(iter(self._followers), None)
                    if self._leader:
                        self._followers.pop(self._leader).set()

    def _must_lead(self, member: Member) -> bool:
        return self._leader is member and not member.may_have_news

    def _lead(self) -> None:
        with self._lock, self._losing_nothing():
            self._perform()
            while self._changed:
                if event := self._followers.get(self._changed[0]):
                    event.set()
                self._followers.pop(self._changed.popleft(), None)


def _wait_for_event(event: threading.Event, deadline: float | None) -> None:
    while not event.is_set():
        left = threading.TIMEOUT_MAX if deadline is None else deadline - time.monotonic()
        if left <= 0:
            return
        event.wait(min(left, threading.TIMEOUT_MAX))  # more raises OverflowError


def trio_of_this_task() -> Any:
    """The module trio, if it runs the calling task. In its guest mode, an asyncio loop runs, too."""
    trio: Any = sys.modules.get("trio")
    try:
        return trio and trio.lowlevel.current_task() and trio
    except RuntimeError:
        return None


def _set_result(readable: asyncio.Future[None]) -> None:
    if not readable.done():  # it may be cancelled
        readable.set_result(None)


async def _wait_readable(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _set_result, readable)
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)


# ---- The hubs of this process

BLOCKING = "blocking"  # the key of the hub that threads wait for


class _ThisThread(threading.local):
    waits = 0


_this_thread = _ThisThread()


@contextlib.contextmanager
def blocking() -> Iterator[object]:
    """Around a wait that blocks the thread. The value is the key of its hub.

    A signal handler may wait while its thread waits. The wait below it can neither lead nor follow until the handler returns,
    and may have the lock of its hub. So the handler's wait has another hub.
    """
    before = _this_thread.waits
    _this_thread.waits = before + 1
    try:
        yield (BLOCKING, before) if before else BLOCKING
    finally:
        _this_thread.waits = before


_lock = threading.RLock()
_hubs: dict[object, Hub] = {}


def _forget_all() -> None:
    """In a child after fork(2). Another thread may have had the lock. The run loops belong to the parent."""
    global _lock
    _lock = threading.RLock()
    _hubs.clear()


os.register_at_fork(after_in_child=_forget_all)


def key_of_this_task() -> object:
    """The event loop that runs the calling code. Without one: BLOCKING."""
    if trio := trio_of_this_task():
        return trio.lowlevel.current_trio_token()
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return BLOCKING


def join(member: Member, key: object) -> Hub:
    """Schedules the member's target on the run loop of a hub."""
    with _lock:
        hub = _hubs.get(key)
        if hub:
            hub.members += 1
        if not hub or hub.is_released:  # meanwhile, by the garbage collector on this thread
            _hubs[key] = hub = Hub(key)
            hub.members += 1
        try:
            if member.hub:  # a target is on one run loop
                member.hub.unschedule(member)
            hub.schedule(member)
        except _library.ReachabilityError:
            _drop(hub)
            raise
        member.hub = hub
    return hub


def leave(member: Member, hub: Hub) -> None:
    """The end of join(). The last one releases the hub. Also in a child after fork(2), where unscheduling fails."""
    with _lock:
        hub.unschedule(member)
        _drop(hub)


def _drop(hub: Hub) -> None:
    hub.members -= 1
    if hub.members == 0:
        if _hubs.get(hub.key) is hub:
            del _hubs[hub.key]
        hub.release()
