# SPDX-License-Identifier: MIT
"""The run loop that many watches share, and the wait for it.

The number of watches costs no descriptors. One hub serves all threads of the process that block: one of those that wait
leads. It drives the run loop, and wakes the others if their targets have changed. When it stops to wait, the next one
leads.

Another hub serves all event loops. Whoever drives a run loop, or reads a path, may wait for the kernel, which can hold
its RTNL lock for long. So a thread does both, and an event loop is only woken.
"""

from __future__ import annotations

import _thread
import asyncio
import collections
import contextlib
import errno
import itertools
import os
import select
import sys
import threading
import time
from typing import Any, Callable, Iterator

from . import _library

POLL_LIMIT = 2**31 - 1  # milliseconds: poll(2) takes an int
RETRY_AFTER = 100  # milliseconds, after the run loop could not be driven
PIECE = 256  # changes that are read before their tasks are woken


class Member:
    """What a hub knows about a watch. The watch may end before: nothing here refers to it."""

    def __init__(self, target: int, read: Callable[[], Any]) -> None:
        self.target = target  # 0: a script's, which no run loop has; to read it never waits
        self.key: object = target or self  # among the members of a hub
        self.read = read  # the value of the latest evaluation; may wait for the kernel
        self.may_have_news = True
        self.hub: AnyHub | None = None  # on whose run loop the target is
        # Only in the background:
        self.first: Any = None  # what was read first, until the task takes it: a RetryTimer compares with it
        self.latest: Any = None  # what was read last
        self.error: Exception | None = None  # of reading it
        self.waiter: tuple[Callable[..., Any], Any] | None = None  # calls in the event loop, and the event of the task


class AnyHub:
    def __init__(self, key: object) -> None:
        self.key = key
        self.members = 0
        self.is_released = False
        self._loop: int = _library.loop_create()
        self._members: dict[object, Member] = {}

    def schedule(self, member: Member) -> None:
        self._members[member.key] = member
        member.first = member.latest = member.error = None
        try:
            if member.target:
                _library.schedule(member.target, self._loop, _library.MODE)
        except _library.ReachabilityError:
            del self._members[member.key]
            raise

    def unschedule(self, member: Member) -> None:
        if self._members.pop(member.key, None) is not None:
            _library.unschedule(member.target, self._loop, _library.MODE)

    def release(self) -> None:
        self.is_released = True
        _library.loop_release(self._loop)

    def perform(self) -> None:
        """Handles what is due, without a wait."""

    def value(self, member: Member) -> Any:
        """The newest value. None: it was not read yet."""
        raise NotImplementedError

    def value_at_hand(self, member: Member) -> Any:
        """The newest value, if that needs no query. None: it does."""
        return member.latest if member.target else member.read()

    def interrupt(self, member: Member) -> None:
        """Ends the wait of a member. Any thread, task or signal handler may call this."""
        raise NotImplementedError

    def _take_changes(self) -> Iterator[Member]:
        """Each member whose target has changed. Its target lives until the next one is taken."""
        while target := _library.loop_copy_next_change(self._loop, None):
            try:
                if member := self._members.get(target):
                    yield member
            finally:
                _library.release(target)


class Hub(AnyHub):
    """For threads that block."""

    def __init__(self, key: object) -> None:
        super().__init__(key)
        try:
            self.descriptor: int = _library.loop_get_file_descriptor(self._loop)
        except _library.ReachabilityError:
            _library.loop_release(self._loop)
            raise
        # A signal handler, or the garbage collector, may enter while its thread has the lock.
        self._lock = threading.RLock()
        self._leader: Member | None = None
        self._followers: dict[Member, threading.Event] = {}  # the event that ends the wait of each
        self._changed: collections.deque[Member] = collections.deque()  # the leader has not woken these yet

    # ---- News

    def value(self, member: Member) -> Any:
        return member.read()

    def perform(self) -> None:
        with self._lock:
            self._perform()
            if not self._leader:
                self._changed.clear()
        if self._changed:
            _library.loop_wake_up(self._loop)  # this call took changes for which the leader waits

    def _perform(self) -> None:
        with self._losing_nothing():
            _library.loop_perform(self._loop, 0.0)
            for member in self._take_changes():
                member.may_have_news = True
                self._changed.append(member)

    @contextlib.contextmanager
    def _losing_nothing(self) -> Iterator[None]:
        """If a signal handler raises, as that of Ctrl-C does, changes that were taken may be lost: all may have news."""
        try:
            yield
        except BaseException:
            for member in list(self._members.values()):
                member.may_have_news = True
                self._changed.append(member)
            _library.loop_wake_up(self._loop)
            raise

    def interrupt(self, member: Member) -> None:
        member.may_have_news = True
        self._changed.append(member)
        _library.loop_wake_up(self._loop)

    # ---- Waiting

    def wait(self, member: Member, deadline: float | None) -> None:
        """Blocks the thread until the member may have news, or until the deadline on the clock time.monotonic()."""
        with self._waiting(member) as event:
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

    @contextlib.contextmanager
    def _waiting(self, member: Member) -> Iterator[threading.Event | None]:
        """Makes the member the leader; the value is None. Or a follower; the value is the event that ends its wait."""
        event = None
        try:
            with self._lock:
                if not self._leader:
                    self._leader = member
                elif not member.may_have_news:
                    self._followers[member] = event = threading.Event()
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


def _set_all(events: list[Any]) -> None:
    for event in events:
        event.set()


class Background(AnyHub):
    """For tasks. Its thread ends after the last member has left."""

    def __init__(self, key: object) -> None:
        super().__init__(key)
        self._unread: collections.deque[Member] = collections.deque()  # each with a reference to its target
        self._process = os.getpid()
        _library.loop_retain(self._loop)  # the thread's
        try:
            # Not of `threading`, whose start() waits: the new thread may collect a watch, which waits for the caller.
            _thread.start_new_thread(self._drive, ())
        except RuntimeError as error:
            self._process = 0
            self.release()
            raise _library.ReachabilityError(errno.EAGAIN, str(error)) from None

    def schedule(self, member: Member) -> None:
        super().schedule(member)
        self._read_soon(member)

    def release(self) -> None:
        self.is_released = True
        if self._process == os.getpid():
            _library.loop_wake_up(self._loop)
        else:  # there is no thread
            _library.loop_release(self._loop)
        super().release()

    def value(self, member: Member) -> Any:
        if not member.target:
            return member.read()
        if error := member.error:
            member.error = None
            self._read_soon(member)
            raise error
        if (first := member.first) is not None:
            member.first = None
            member.may_have_news = True
            return first
        return member.latest

    def interrupt(self, member: Member) -> None:
        self._wake([member])

    async def wait_in_task(self, member: Member) -> None:
        """Suspends the task until the member may have news."""
        if trio := trio_of_this_task():
            call, event = trio.lowlevel.current_trio_token().run_sync_soon, trio.Event()
        else:
            call, event = asyncio.get_running_loop().call_soon_threadsafe, asyncio.Event()
        member.waiter = call, event
        try:
            if not member.may_have_news:
                await event.wait()
        finally:
            member.waiter = None

    def _wake(self, members: list[Member]) -> None:
        """Wakes each event loop once."""
        events: dict[Callable[..., Any], list[Any]] = {}
        for member in members:
            member.may_have_news = True
            if waiter := member.waiter:
                events.setdefault(waiter[0], []).append(waiter[1])
        for call, of_this_loop in events.items():
            with contextlib.suppress(RuntimeError):  # the event loop has ended
                call(_set_all, of_this_loop)

    # ---- The thread

    def _read_soon(self, member: Member) -> None:
        _library.retain(member.target)
        self._unread.append(member)
        _library.loop_wake_up(self._loop)

    def _drive(self) -> None:
        while not self.is_released:
            try:
                _library.loop_perform(self._loop, -1.0)
                if self._unread:  # Schedule has not read all that the value needs
                    _library.loop_perform(self._loop, 0.0)
            except _library.ReachabilityError:
                select.poll().poll(RETRY_AFTER)
            changes = itertools.chain(self._take_unread(), self._take_changes())
            while members := [self._read(member) for member in itertools.islice(changes, PIECE)]:
                self._wake(members)
        for _ in self._take_unread():
            pass
        _library.loop_release(self._loop)

    def _take_unread(self) -> Iterator[Member]:
        while self._unread:
            member = self._unread.popleft()
            try:
                yield member
            finally:
                _library.release(member.target)

    def _read(self, member: Member) -> Member:
        try:
            if self._members.get(member.key) is member:  # it has not left
                value = member.read()
                if member.latest is None:
                    member.first = value
                member.latest, member.error = value, None
        except Exception as error:  # the task raises it
            member.error = error
        return member


# ---- The hubs of this process

BLOCKING = "blocking"  # the key of the hub that threads wait for
BACKGROUND = "background"  # the key of the hub of all event loops


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
_hubs: dict[object, AnyHub] = {}


def _forget_all() -> None:
    """In a child after fork(2). Another thread may have had the lock. The run loops belong to the parent."""
    global _lock
    _lock = threading.RLock()
    _hubs.clear()


os.register_at_fork(after_in_child=_forget_all)


def key_of_this_task() -> object:
    """The key for the calling code: BACKGROUND if an event loop runs it."""
    if trio_of_this_task():
        return BACKGROUND
    try:
        asyncio.get_running_loop()
        return BACKGROUND
    except RuntimeError:
        return BLOCKING


def join(member: Member, key: object) -> AnyHub:
    """Schedules the member's target on the run loop of a hub."""
    with _lock:
        hub = _hubs.get(key)
        if hub:
            hub.members += 1
        if not hub or hub.is_released:  # meanwhile, by the garbage collector on this thread
            _hubs[key] = hub = Background(key) if key is BACKGROUND else Hub(key)
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


def leave(member: Member, hub: AnyHub) -> None:
    """The end of join(). The last one releases the hub. Also in a child after fork(2), where unscheduling fails."""
    with _lock:
        hub.unschedule(member)
        _drop(hub)


def _drop(hub: AnyHub) -> None:
    hub.members -= 1
    if hub.members == 0:
        if _hubs.get(hub.key) is hub:
            del _hubs[hub.key]
        hub.release()
