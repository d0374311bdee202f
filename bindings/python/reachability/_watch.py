# SPDX-License-Identifier: MIT
"""Watching a host. No thread of the library calls Python: Python drives the run loops, which watches share."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import dataclasses
import errno
import functools
import os
import threading
import time
import weakref
from types import TracebackType
from typing import Any, Callable, Generic, Iterator, TypeVar

from . import _hub, _library
from ._address import Address, address_from_bytes
from ._network import Network
from ._path import NextHop, Path
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

Value = TypeVar("Value")
Self = TypeVar("Self", bound="BaseWatch[Any]")


class _Place:
    """Where the target of a watch is scheduled. The finalizer of the watch needs it, and must not refer to the watch."""

    def __init__(self, member: _hub.Member, key: object) -> None:
        self.member = member
        self.hub: Any = _hub.join(member, key)  # Background for tasks, otherwise Hub

    def move(self, key: object, lock: threading.RLock) -> None:
        """To the hub with this key. A target is on one run loop, so its name is looked up again.

        Who calls the hub from another thread has the lock meanwhile: leaving the hub may release it.
        """
        before = self.hub
        if before.key != key:
            after = _hub.join(self.member, key)
            with lock:
                self.hub = after
            self.member.may_have_news = True
            _hub.leave(self.member, before)

    def close(self) -> None:
        """Runs once: by Watch.close, or after the last reference to the watch."""
        _hub.leave(self.member, self.hub)
        _library.release(self.member.target)


class _Settling:
    """When a change is reported: when nothing has changed for the settle time, or after ten times as long."""

    def __init__(self, time: float) -> None:
        if not time >= 0:
            raise ValueError(f"settle_time {time} is not a number of seconds")
        self._time = time
        self._limit: float | None = None
        self._latest: object = None
        self.due: float | None = None  # on the clock time.monotonic(); None: there is no change that is not reported

    def is_news(self, news: object, reported: object) -> bool:
        """Whether the newest value is reported now. `reported`: what was last; None: it is the first."""
        now = time.monotonic()
        if news == reported:
            self._reset()
            return False
        if self.due is None or news != self._latest:
            self._limit = self._limit or now + 10 * self._time
            self.due = min(now + self._time, self._limit)
        self._latest = news
        if reported is not None and now < self.due:
            return False
        self._reset()
        return True

    def _reset(self) -> None:
        self.due = self._limit = None


class BaseWatch(Generic[Value]):
    """What Watch and NetworkWatch have in common."""

    def __init__(self, target: int, read: Callable[[], Value], settle_time: float = 0) -> None:
        """`read`: the value of the latest evaluation. It must not refer to the watch."""
        self._last: object = None  # what was news last
        try:
            self._settling = _Settling(settle_time)
        except (TypeError, ValueError):
            _library.release(target)
            raise
        self._lock = threading.RLock()  # a signal handler may call close() while its thread has the lock
        self._users = 0  # calls that use the target; the last one closes, if close() was called meanwhile
        self._is_iterating = False
        self._is_closed = False
        self._process = os.getpid()
        self._target = target
        self._member = _hub.Member(target, read)
        try:
            self._place = _Place(self._member, _hub.key_of_this_task())
        except _library.ReachabilityError:
            _library.release(self._target)
            raise
        self._finalizer = weakref.finalize(self, self._place.close)
        self._finalizer.atexit = False  # a daemon thread may use the target until the process ends

    # ---- Reading

    @property
    def description(self) -> str:
        """A text for people and logs: target, flags, reason, path, resolver state, counters."""
        with self._use():
            return _library.text(_library.get_description, self._target)

    def fileno(self) -> int:
        """The descriptor that is readable when next_change() has something to do. Do not read from it or close it."""
        with self._iterating():
            self._place.move(self._member, self._lock)
            descriptor: int = self._place.hub.descriptor
            return descriptor

    def next_change(self) -> Value | None:
        """The newest value, if it differs from the last one that this watch returned. Otherwise None. Does not wait."""
        with self._iterating():
            return self._next_value()

    @property
    def settles_in(self) -> float | None:
        """The seconds until next_change() may return a change that has to settle. None: there is none."""
        due = self._settling.due
        return None if due is None else max(due - time.monotonic(), 0)

    def _news(self, value: Value) -> object:
        """What must change for the value to be returned."""
        return value

    def _next_value(self) -> Value | None:
        hub = self._place.hub
        hub.perform()
        self._member.may_have_news = False  # before it reads: what comes then is news
        if self._is_closed:
            return None
        value: Value | None = hub.value(self._member)
        if value is None:
            return None
        news = self._news(value)
        if not self._settling.is_news(news, self._last):
            return None
        self._last = news
        return value

    def _may_have_news(self) -> None:
        """A script has played."""
        if self._process == os.getpid():
            with self._lock:
                if not self._is_closed:
                    self._place.hub.interrupt(self._member)

    # ---- Iterating

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> Value:
        value = self.wait()
        if value is None:
            raise StopIteration
        return value

    def wait(self, timeout: float | None = None) -> Value | None:
        """The next value, as `for` gets it. None: it did not come within `timeout` seconds, or the watch is closed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self._begin_iterating():
            return None
        try:
            with _hub.blocking() as key:
                if self._place.hub.key is not self._member:  # otherwise an event loop waits for fileno()
                    self._place.move(key, self._lock)
                while (value := self._next_value()) is None and not self._is_closed:
                    if deadline is not None and time.monotonic() >= deadline:
                        break
                    ends = [end for end in (deadline, self._settling.due) if end is not None]
                    self._place.hub.wait(self._member, min(ends, default=None))
                return value
        finally:
            self._end_iterating()

    def __aiter__(self: Self) -> Self:
        return self

    async def __anext__(self) -> Value:
        if not self._begin_iterating():
            raise StopAsyncIteration
        try:
            self._place.move(_hub.key_of_this_task(), self._lock)
            while (value := self._next_value()) is None:
                if self._is_closed:
                    raise StopAsyncIteration
                await self._wait_in_task()
            return value
        finally:
            self._end_iterating()

    async def _wait_in_task(self) -> None:
        """Until the value may have changed, or has settled."""
        hub, left = self._place.hub, self.settles_in
        if left is None:
            await hub.wait_in_task(self._member)
        elif trio := _hub.trio_of_this_task():
            with trio.move_on_after(left):
                await hub.wait_in_task(self._member)
        else:
            timer = asyncio.get_running_loop().call_later(left, hub.interrupt, self._member)
            try:
                await hub.wait_in_task(self._member)
            finally:
                timer.cancel()

    # ---- Closing

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def close(self) -> None:
        """Ends the watch and its iteration. Any thread may call this, and any number of times."""
        if self._process != os.getpid():  # a thread of the parent may have had the lock
            self._is_closed = True
            self._finalizer()
            return
        with self._lock:
            self._is_closed = True
            if self._users > 0:
                self._place.hub.interrupt(self._member)  # ends the wait of a thread or task, which then closes
                return
        self._finalizer()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _refuse_in_child(self) -> None:
        """Before it takes the lock, which a thread of the parent may have had."""
        if self._process != os.getpid():
            raise _library.ReachabilityError(errno.ECHILD, "the watch was made before fork(2), in the parent process")

    def _begin(self) -> bool:
        """Returns False if the watch is closed. Otherwise, close() leaves the closing to _end()."""
        self._refuse_in_child()
        with self._lock:
            self._users += not self._is_closed
            return not self._is_closed

    def _end(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users > 0 or not self._is_closed:
                return
        self._finalizer()

    @contextlib.contextmanager
    def _use(self) -> Iterator[None]:
        if not self._begin():
            raise ValueError("the watch is closed")
        try:
            yield
        finally:
            self._end()

    @contextlib.contextmanager
    def _iterating(self) -> Iterator[None]:
        if not self._begin_iterating():
            raise ValueError("the watch is closed")
        try:
            yield
        finally:
            self._end_iterating()

    def _begin_iterating(self) -> bool:
        """Returns False if the watch is closed."""
        self._refuse_in_child()
        with self._lock:
            if self._is_iterating:
                raise RuntimeError("another thread or task uses this watch")
            self._is_iterating = self._begin()
            return self._is_iterating

    def _end_iterating(self) -> None:
        self._is_iterating = False
        self._end()


class Watch(BaseWatch[Path]):
    """watch(host, ...) watches a host: a name, or an address. None: the default path. A Script: what a test plays.

    It iterates over the paths to the host: first the current one, then each that differs from the last. If several changes
    come while the program is busy, it gets only the newest path. A name is looked up in the background. Until the first
    result the reason is NAME_PENDING, and the flags are those of the default path. The iteration ends after close(). The
    context manager closes at its end. A watch that is no longer used closes itself.

    source: only packets from this address count. The host must then be an address, or None.
    interface: only routes out of this interface count.
    mark: SO_MARK of the sockets that the program will use.
    port, transport: the packets of this transport to this port, as connect(2) decides. Policy rules can select by port.
    traffic_class: IP_TOS or IPV6_TCLASS of the sockets.
    family: socket.AF_INET or AF_INET6: only addresses of this family count, and the default path is that of the family.
    next_hop: a change comes also when the next hop fails, and when it responds again: see Path.next_hop.
    settle_time: seconds. A change comes when nothing has changed for this time, or after ten times as long. One that is
    undone meanwhile does not come.

    The watch belongs to the network namespace of the calling thread. Raises ReachabilityError, and ValueError if an
    address is not one, or an international name cannot be converted.

    `for` blocks the thread, `async for` the task; asyncio and trio work. Any other event loop waits until the descriptor
    fileno() is readable, or settles_in is over, and then calls next_change(). One thread or task at a time iterates or
    calls next_change() or fileno(). Another one may call close().

    All watches of a process's event loops share a few descriptors and a thread, and all others a few descriptors. A
    watch that was asked for fileno() has its own, until a task iterates. After fork(2), the child can only close the
    watches that it has from its parent.
    """

    def __init__(
        self,
        host: str | Script | None = None,
        *,
        source: str | None = None,
        interface: str | None = None,
        mark: int = 0,
        port: int = 0,
        transport: Transport | None = None,
        traffic_class: int = 0,
        family: int = 0,
        next_hop: bool = False,
        settle_time: float = 0,
    ) -> None:
        question = Question(host, source, interface, mark, port, transport, traffic_class, family, next_hop)
        self._begin_watching(question.create(), host if isinstance(host, Script) else None, next_hop, settle_time)

    @classmethod
    def _of(cls, question: Question) -> Watch:
        return cls(**vars(question))

    @classmethod
    def of_socket(cls, connection: Connection) -> Watch:
        """See watch_socket()."""
        watch = cls.__new__(cls)
        watch._begin_watching(create_socket_target(connection))
        return watch

    def _begin_watching(
        self, target: int, script: Script | None = None, next_hop: bool = False, settle_time: float = 0
    ) -> None:
        self._reports_next_hop = next_hop
        read = (lambda: script.path) if script else (lambda: read_path(_library.get_last_path, target))
        super().__init__(target, read, settle_time)
        if script:
            script._follow(self)

    def _news(self, path: Path) -> object:
        """Whether the next hop has failed counts only if the watch reports it. Nothing reports that it was confirmed."""
        failed = self._reports_next_hop and path.next_hop == NextHop.FAILED
        return dataclasses.replace(path, next_hop=NextHop.UNKNOWN), failed

    @property
    def path(self) -> Path:
        """The path now, by a query to the kernel. In an event loop, the newest that the watch knows, without a wait."""
        with self._use():
            at_hand: Path | None = self._place.hub.value_at_hand(self._member)
            return at_hand or read_path(_library.get_path, self._target)

    @property
    def addresses(self) -> list[Address]:
        """The addresses of the host, of the newest look-up: a path that the watch has returned may be older.

        Empty while its name is not resolved, and for the default path.
        """
        with self._use():
            count: int = _library.get_addresses(self._target, None, 0)
            while True:
                buffer = ctypes.create_string_buffer(max(count, 1) * _library.ADDRESS_SIZE)
                capacity, count = count, _library.get_addresses(self._target, buffer, count)
                if count <= capacity:
                    break
        data = buffer.raw
        pieces = (data[i * _library.ADDRESS_SIZE :] for i in range(count))
        return [address for address in map(address_from_bytes, pieces) if address is not None]


watch = Watch


class NetworkWatch(BaseWatch[Network]):
    """Iterates over the network, as Watch does over the paths to a host."""

    def __init__(self) -> None:
        target = create_network_target()
        super().__init__(target, functools.partial(read_network, target))

    @property
    def network(self) -> Network:
        """The network as it was evaluated last."""
        with self._use():
            return read_network(self._target)


def watch_socket(connection: Connection) -> Watch:
    """Watches the packets of a connected socket: a socket.socket, an object with fileno(), or a descriptor.

        for path in watch_socket(connection):
            if not path.is_viable:  # the source address is gone, or foreign where packets leave
                connection.close()
                break

    Path.flow says whether they leave as those of a new connection would. Nothing is said about the other end: no packet is
    sent. Addresses, ports, mark, interface, traffic class and owner are read now, and the descriptor is not kept. Call this in
    the socket's network namespace. Raises ReachabilityError: ENOTCONN, ENOTSOCK, EBADF.
    """
    return Watch.of_socket(connection)


def watch_network() -> NetworkWatch:
    """Watches all default paths and name servers of the calling thread's network namespace. Raises ReachabilityError."""
    return NetworkWatch()
