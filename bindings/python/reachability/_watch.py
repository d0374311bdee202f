# SPDX-License-Identifier: MIT
"""Watching a host. No thread of the library calls Python: the watch has a run loop and waits for its descriptor."""

from __future__ import annotations

import contextlib
import ctypes
import select
import threading
import time
import weakref
from types import TracebackType
from typing import Any, Callable, Iterator, TypeVar

from . import _library
from ._address import Address, address_from_bytes, address_to_bytes
from ._path import Path, Reason, path_from_structure
from ._readable import wait_readable

POLL_LIMIT = 2**31 - 1  # milliseconds: poll(2) takes an int

Self = TypeVar("Self", bound="Watch")


def create_target(host: str | None, source: str | None, interface: str | None, mark: int) -> int:
    """A target that the caller releases."""
    options = _library.OptionsStructure(size=ctypes.sizeof(_library.OptionsStructure), routingMark=mark)
    options.options = _library.NOTIFY_PATH
    if interface is not None:
        options.interfaceName = _c_string(interface)
    if source is not None:
        options.localAddress = address_to_bytes(source)
    if host is None:
        host = "::" if source is not None and ":" in source else "0.0.0.0"
    if source is not None:
        options.remoteAddress = address_to_bytes(host)
    else:
        options.nodename = _name(host)
    target: int = _library.create_with_options(None, options)
    return target


def _name(host: str) -> bytes:
    is_address = ":" in host  # of IPv6, and perhaps the name of an interface, which can have any bytes
    if not (host.isascii() or is_address or _library.can_convert(_c_string(host))):
        raise ValueError(f"{host!r} cannot be converted to an international name")
    return _c_string(host)


def _c_string(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("embedded null character")
    return text.encode(errors="surrogateescape")


def read_path(getter: Callable[[int, Any], object], target: int) -> Path:
    path = _library.PathStructure(size=ctypes.sizeof(_library.PathStructure))
    getter(target, path)
    return path_from_structure(path)


def _close(target: int, loop: int) -> None:
    """Runs once: by Watch.close, or after the last reference to the watch. Also in a child after fork, in which unscheduling
    fails."""
    _library.unschedule(target, loop, _library.MODE)
    _library.release(target)
    _library.loop_release(loop)


class Watch:
    """Iterates over the paths to a host: first the current one, then each that differs from the last.

    If several changes come while the program is busy, it gets only the newest path. The iteration ends after close().
    The context manager closes at its end. A watch that is no longer used closes itself.

    `for` blocks the thread, `async for` the task; asyncio and trio work. Any other event loop waits until the descriptor
    fileno() is readable, and then calls next_change(). One thread or task at a time iterates or calls next_change().
    Another one may call close().
    """

    def __init__(
        self, host: str | None = None, *, source: str | None = None, interface: str | None = None, mark: int = 0
    ) -> None:
        self._last: Path | None = None
        self._lock = threading.RLock()  # a signal handler may call close() while its thread has the lock
        self._users = 0  # calls that use the target and the loop; the last one closes, if close() was called meanwhile
        self._is_iterating = False
        self._is_closed = False
        self._target = create_target(host, source, interface, mark)
        try:
            self._loop: int = _library.loop_create()
        except _library.ReachabilityError:
            _library.release(self._target)
            raise
        self._finalizer = weakref.finalize(self, _close, self._target, self._loop)
        self._finalizer.atexit = False  # a daemon thread may use the target and the loop until the process ends
        try:
            _library.schedule(self._target, self._loop, _library.MODE)
            self._descriptor: int = _library.loop_get_file_descriptor(self._loop)
        except _library.ReachabilityError:
            self._finalizer()
            raise

    # ---- Reading

    @property
    def path(self) -> Path:
        """The path now. Queries the kernel, which takes some microseconds."""
        with self._use():
            return read_path(_library.get_path, self._target)

    @property
    def addresses(self) -> list[Address]:
        """The addresses of the host. Empty while its name is not resolved, and for the default path."""
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

    @property
    def description(self) -> str:
        """A text for people and logs: target, flags, reason, path, resolver state, counters."""
        with self._use():
            return _library.text(_library.get_description, self._target)

    def fileno(self) -> int:
        """The descriptor that is readable when next_change() has something to do. Do not read from it or close it."""
        with self._use():
            return self._descriptor

    def next_change(self) -> Path | None:
        """The newest path, if it differs from the last one that this watch returned. Otherwise None. Does not wait."""
        if not self._begin_iterating():
            raise ValueError("the watch is closed")
        try:
            return self._next_path()
        finally:
            self._end_iterating()

    def _next_path(self) -> Path | None:
        if self._is_closed:
            return None
        _library.loop_perform(self._loop, 0.0)
        while changed := _library.loop_copy_next_change(self._loop, None):
            _library.release(changed)
        path = read_path(_library.get_last_path, self._target)
        if path == self._last:
            return None
        self._last = path
        return path

    # ---- Iterating

    def __iter__(self: Self) -> Self:
        return self

    def __next__(self) -> Path:
        path = self.wait()
        if path is None:
            raise StopIteration
        return path

    def wait(self, timeout: float | None = None) -> Path | None:
        """The next path, as `for` gets it. None: it did not come within `timeout` seconds, or the watch is closed."""
        deadline = None if timeout is None else time.monotonic() + timeout
        if not self._begin_iterating():
            return None
        try:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            while (path := self._next_path()) is None and not self._is_closed:
                left = None if deadline is None else (deadline - time.monotonic()) * 1000
                if left is not None and left <= 0:
                    break
                poll.poll(None if left is None else min(left, POLL_LIMIT))
            return path
        finally:
            self._end_iterating()

    def __aiter__(self: Self) -> Self:
        return self

    async def __anext__(self) -> Path:
        if not self._begin_iterating():
            raise StopAsyncIteration
        try:
            while (path := self._next_path()) is None:
                if self._is_closed:
                    raise StopAsyncIteration
                await wait_readable(self._descriptor)
            return path
        finally:
            self._end_iterating()

    # ---- Closing

    def close(self) -> None:
        """Ends the watch and its iteration. Any thread may call this, and any number of times."""
        with self._lock:
            self._is_closed = True
            if self._users > 0:
                _library.loop_wake_up(self._loop)  # ends the wait of a thread or task, which then closes
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

    def _begin(self) -> bool:
        """Returns False if the watch is closed. Otherwise, close() leaves the closing to _end()."""
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

    def _begin_iterating(self) -> bool:
        """Returns False if the watch is closed."""
        with self._lock:
            if self._is_iterating:
                raise RuntimeError("another thread or task uses this watch")
            self._is_iterating = self._begin()
            return self._is_iterating

    def _end_iterating(self) -> None:
        self._is_iterating = False
        self._end()


def watch(
    host: str | None = None, *, source: str | None = None, interface: str | None = None, mark: int = 0
) -> Watch:
    """Watches a host: a name, or an address. None: the default path.

    A name is looked up in the background. Until the first result the reason is NAME_PENDING, and the flags are those of the
    default path.

    source: only packets from this address count. The host must then be an address, or None.
    interface: only routes out of this interface count.
    mark: SO_MARK of the sockets that the program will use.

    The watch belongs to the network namespace of the calling thread. Raises ReachabilityError, and ValueError if an address
    is not one, or an international name cannot be converted.
    """
    return Watch(host, source=source, interface=interface, mark=mark)


def check(
    host: str | None = None,
    *,
    timeout: float = 5.0,
    source: str | None = None,
    interface: str | None = None,
    mark: int = 0,
) -> Path:
    """The path now. For a name, waits for the first result, at most `timeout` seconds; then the reason is NAME_PENDING.

    The other arguments and the errors are those of watch().
    """
    target = create_target(host, source, interface, mark)
    try:
        path = read_path(_library.get_path, target)
    finally:
        _library.release(target)
    if path.reason != Reason.NAME_PENDING:
        return path
    deadline = time.monotonic() + timeout
    with Watch(host, source=source, interface=interface, mark=mark) as watched:
        while path.reason == Reason.NAME_PENDING and (newer := watched.wait(max(0.0, deadline - time.monotonic()))):
            path = newer
    return path
