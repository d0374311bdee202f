# SPDX-License-Identifier: MIT
"""While the kernel holds its RTNL lock, calls that wait for it do not return. An event loop runs on."""

from __future__ import annotations

import asyncio
import functools
import threading
from typing import Any, Awaitable, Callable, Iterator

import pytest

from reachability import Watch, _hub, _library, check_async, wait_until_reachable_async, watch

Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


class Lock:
    """Holds all calls that may wait for RTNL, as the kernel does. They return at once when a test has failed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_free = threading.Event()
        self.is_free.set()
        self.waits = threading.Event()  # a call has waited
        for name in ("loop_perform", "get_path", "get_last_path"):
            monkeypatch.setattr(_library, name, functools.partial(self._call, getattr(_library, name)))

    def hold(self) -> None:
        self.waits.clear()
        self.is_free.clear()

    def free(self) -> None:
        self.is_free.set()

    def free_when_a_call_waits(self) -> None:
        assert self.waits.wait(TIME_LIMIT)
        self.free()

    def _call(self, function: Any, *arguments: Any) -> Any:
        result = function(*arguments)
        if not self.is_free.is_set():
            self.waits.set()
            if threading.current_thread() is threading.main_thread():
                self.free()
                raise AssertionError("the event loop waits for the kernel")
            self.is_free.wait(TIME_LIMIT)
        return result


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lock]:
    lock = Lock(monkeypatch)
    yield lock
    lock.free()


async def turn() -> None:
    """The event loop turns once."""
    if trio := _hub.trio_of_this_task():
        await trio.lowlevel.checkpoint()
    else:
        await asyncio.sleep(0)


async def until_a_call_waits(lock: Lock, paths: Watch) -> None:
    while not lock.waits.is_set():
        assert paths.next_change() is None  # fails in Lock if it waits
        await turn()


def test_event_loop_runs_while_a_watch_waits_for_the_kernel(run: Run, route: Route, lock: Lock) -> None:
    async def main() -> None:
        async with watch("192.0.2.1") as paths:
            assert (await paths.__anext__()).is_reachable
            lock.hold()
            route("del")
            await until_a_call_waits(lock, paths)
            assert paths.path.is_reachable  # the newest that the watch knows
            lock.free()
            assert not (await paths.__anext__()).is_reachable
            assert not paths.path.is_reachable

    run(main)


def test_event_loop_runs_while_a_new_watch_waits_for_the_kernel(run: Run, route: Route, lock: Lock) -> None:
    async def main() -> None:
        lock.hold()
        async with watch("192.0.2.1") as paths:
            await until_a_call_waits(lock, paths)
            lock.free()
            assert (await paths.__anext__()).is_reachable

    run(main)


@pytest.mark.parametrize("call", [check_async, wait_until_reachable_async])
def test_event_loop_runs_while_a_call_waits_for_the_kernel(run: Run, route: Route, lock: Lock, call: Any) -> None:
    async def main() -> None:
        lock.hold()
        frees = threading.Thread(target=lock.free_when_a_call_waits)
        frees.start()
        assert (await call("192.0.2.1")).is_reachable
        frees.join(TIME_LIMIT)

    run(main)


def test_failure_to_read_a_path_is_raised_in_the_task(run: Run, route: Route, monkeypatch: pytest.MonkeyPatch) -> None:
    get_last_path = _library.get_last_path

    def fail(*_: object) -> None:
        monkeypatch.setattr(_library, "get_last_path", get_last_path)
        raise _library.ReachabilityError(5, "failed")

    async def main() -> None:
        monkeypatch.setattr(_library, "get_last_path", fail)
        async with watch("192.0.2.1") as paths:
            with pytest.raises(_library.ReachabilityError):
                await paths.__anext__()
            assert (await paths.__anext__()).is_reachable

    run(main)
