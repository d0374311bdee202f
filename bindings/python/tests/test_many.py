# SPDX-License-Identifier: MIT
"""Many watches share a run loop: one for all event loops, and one for all threads."""

from __future__ import annotations

import asyncio
import functools
import gc
import os
import resource
import selectors
import signal
import threading
import time
from typing import Any, Awaitable, Callable, Iterator

import pytest

from conftest import threads_of_the_process
from reachability import Path, Watch, _hub, _library, wait_until_reachable, watch

Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
MANY = 10_000
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def hosts(count: int) -> list[str]:
    return [f"192.0.{2 + number // 250}.{number % 250 + 1}" for number in range(count)]


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """At most 64 for the process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def start(call: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=call)
    thread.start()
    return thread


def append_next(paths: Watch, seen: list[bool]) -> None:
    seen.append(next(paths).is_reachable)


def until_so_many_wait(count: int, paths: Watch) -> None:
    """Until `count` threads wait in the hub of a watch."""
    hub = paths._place.hub
    while len(hub._followers) + (hub._leader is not None) < count:
        pass


def test_ten_thousand_watches_need_few_descriptors_and_no_thread(few_descriptors: None, route: Route) -> None:
    before, threads = descriptors(), threads_of_the_process()
    watches = [watch(host) for host in hosts(MANY)]
    assert all(next(paths).is_reachable for paths in watches)
    assert descriptors() < before + 20 and threads_of_the_process() <= threads + 1
    route("del")
    assert not any(next(paths).is_reachable for paths in watches)
    del watches
    gc.collect()
    assert descriptors() == before


def test_ten_thousand_tasks_wait_with_few_descriptors(few_descriptors: None, run: Run, route: Route) -> None:
    async def main() -> None:
        before, threads = descriptors(), threads_of_the_process()
        watches = [watch(host) for host in hosts(MANY)]
        for paths in watches:
            assert (await paths.__anext__()).is_reachable
        assert descriptors() < before + 20 and threads_of_the_process() <= threads + 2
        route("del")
        for paths in watches:
            assert not (await paths.__anext__()).is_reachable

    run(main)


def test_all_threads_that_wait_get_the_change(route: Route) -> None:
    watches = [watch(host) for host in hosts(50)]
    assert all(next(paths).is_reachable for paths in watches)
    seen: list[bool] = []
    threads = [start(functools.partial(append_next, paths, seen)) for paths in watches]
    until_so_many_wait(50, watches[0])
    route("del")
    for thread in threads:
        thread.join(TIME_LIMIT)
    assert seen == [False] * 50


def test_thread_that_stops_to_wait_passes_the_lead_on(route: Route) -> None:
    first, second = watch("192.0.2.1"), watch("192.0.2.2")
    assert next(first).is_reachable and next(second).is_reachable
    closes = start(lambda: list(first))
    until_so_many_wait(1, first)
    seen: list[bool] = []
    follows = start(functools.partial(append_next, second, seen))
    until_so_many_wait(2, first)
    first.close()
    closes.join(TIME_LIMIT)
    route("del")
    follows.join(TIME_LIMIT)
    assert seen == [False]


def test_leader_without_news_wakes_the_others(route: Route) -> None:
    first, second = watch("10.0.0.1"), watch("192.0.2.2")  # the default route is only the second one's
    assert next(first).is_reachable and next(second).is_reachable
    leads = start(lambda: list(first))
    until_so_many_wait(1, first)
    seen: list[bool] = []
    follows = start(functools.partial(append_next, second, seen))
    until_so_many_wait(2, first)
    route("del")
    follows.join(TIME_LIMIT)
    assert seen == [False] and leads.is_alive()
    first.close()
    leads.join(TIME_LIMIT)


def test_call_that_takes_the_changes_of_the_leader_wakes_it(route: Route) -> None:
    leads, other = watch("192.0.2.1"), watch("192.0.2.2")
    assert next(leads).is_reachable and next(other).is_reachable
    hub = leads._place.hub
    hub._leader = leads._member  # as if it waited: whether a real one misses the change is a race
    route("del")
    while (path := other.next_change()) is None:
        pass
    assert not path.is_reachable
    with selectors.DefaultSelector() as selector:
        selector.register(hub.descriptor, selectors.EVENT_READ)
        assert selector.select(TIME_LIMIT)
    hub._leader = None
    assert not next(leads).is_reachable


def test_follower_may_wait_without_a_limit(route: Route) -> None:
    first = watch("10.0.0.1")
    assert next(first).is_reachable
    leads = start(lambda: list(first))
    until_so_many_wait(1, first)
    route("del")
    seen: list[Path | None] = []
    follows = start(lambda: seen.append(wait_until_reachable("192.0.2.2")))
    while follows.is_alive() and not first._place.hub._followers:
        pass
    route("add")
    follows.join(TIME_LIMIT)
    assert seen and seen[0]
    first.close()
    leads.join(TIME_LIMIT)


def test_exception_of_a_signal_handler_in_the_leader_loses_no_change(
    route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    watches = [watch("10.0.0.1"), watch("10.0.0.3"), watch("192.0.2.3")]  # only the last one needs the default route
    assert all(next(paths).is_reachable for paths in watches)

    def lead() -> None:
        with pytest.raises(KeyboardInterrupt):
            next(watches[0])

    leads = start(lead)
    until_so_many_wait(1, watches[0])
    unchanged = start(lambda: list(watches[1]))
    until_so_many_wait(2, watches[0])
    seen: list[bool] = []
    follows = start(functools.partial(append_next, watches[2], seen))
    until_so_many_wait(3, watches[0])
    release = _library.release

    hub = watches[0]._place.hub

    def interrupted(target: int) -> None:  # after it has taken the change, and before it wakes anybody
        monkeypatch.setattr(_library, "release", release)
        release(target)
        with selectors.DefaultSelector() as selector:  # nothing else may make the next leader look
            selector.register(hub.descriptor, selectors.EVENT_READ)
            while selector.select(0.2):
                _library.loop_perform(hub._loop, 0.0)
        raise KeyboardInterrupt

    monkeypatch.setattr(_library, "release", interrupted)
    route("del")
    leads.join(TIME_LIMIT)
    follows.join(TIME_LIMIT)
    try:
        assert seen == [False]
    finally:
        for paths in watches:
            paths.close()
        unchanged.join(TIME_LIMIT)


def test_signal_handler_may_wait_while_its_thread_leads(route: Route) -> None:
    first, second = watch("192.0.2.1"), watch("192.0.2.2")
    assert next(first).is_reachable and next(second).is_reachable
    seen: list[Path | None] = []

    def change() -> None:
        hub = second._place.hub
        while hub._leader is not second._member and second._member not in hub._followers:
            hub = second._place.hub
        route("del")

    def handle(*_: object) -> None:
        changes = start(change)
        begin = time.monotonic()
        seen.append(second.wait(TIME_LIMIT))
        assert time.monotonic() - begin < TIME_LIMIT / 2  # the change ended it, not the timeout
        changes.join(TIME_LIMIT)

    def interrupt() -> None:
        until_so_many_wait(1, first)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, handle)
    try:
        interrupts = start(interrupt)
        assert not next(first).is_reachable
        interrupts.join(TIME_LIMIT)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(seen) == 1 and seen[0] and not seen[0].is_reachable


def test_close_during_the_move_to_another_hub_calls_no_released_hub(
    route: Route, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = watch("192.0.2.1")
    joined, closes, left = threading.Event(), threading.Event(), threading.Event()
    released: list[bool] = []
    join, leave, interrupt = _hub.join, _hub.leave, _hub.Hub.interrupt

    def slow_join(member: _hub.Member, key: object) -> _hub.AnyHub:
        hub = join(member, key)
        joined.set()
        assert closes.wait(TIME_LIMIT)
        return hub

    def told_leave(member: _hub.Member, hub: _hub.AnyHub) -> None:
        leave(member, hub)
        left.set()

    def slow_interrupt(hub: _hub.Hub, member: _hub.Member) -> None:
        closes.set()
        left.wait(0.2)  # the other thread may leave this hub now, if it can
        released.append(hub.is_released)
        if not hub.is_released:
            interrupt(hub, member)

    monkeypatch.setattr(_hub, "join", slow_join)
    monkeypatch.setattr(_hub, "leave", told_leave)
    monkeypatch.setattr(_hub.Hub, "interrupt", slow_interrupt)
    moves = start(paths.fileno)
    assert joined.wait(TIME_LIMIT)
    paths.close()
    moves.join(TIME_LIMIT)
    assert released == [False]


def test_busy_event_loop_does_not_delay_a_thread(route: Route) -> None:
    in_thread = watch("192.0.2.1")
    assert next(in_thread).is_reachable
    seen: list[bool] = []
    waits = start(functools.partial(append_next, in_thread, seen))
    until_so_many_wait(1, in_thread)

    async def main() -> None:
        paths = watch("192.0.2.2")
        assert (await paths.__anext__()).is_reachable
        task = asyncio.ensure_future(paths.__anext__())
        await asyncio.sleep(0)  # the task waits
        route("del")
        waits.join(TIME_LIMIT)  # blocks the event loop
        assert seen == [False]
        assert not (await task).is_reachable

    asyncio.run(main())


def test_cancelled_task_takes_no_change_of_the_others(route: Route) -> None:
    async def main() -> None:
        watches = [watch(host) for host in hosts(3)]
        for paths in watches:
            await paths.__anext__()
        tasks = [asyncio.ensure_future(paths.__anext__()) for paths in watches]
        await asyncio.sleep(0)  # all wait
        tasks[0].cancel()
        await asyncio.wait([tasks[0]])
        route("del")
        assert [path.is_reachable for path in await asyncio.gather(*tasks[1:])] == [False, False]

    asyncio.run(main())


def test_watch_moves_to_the_event_loop_that_uses_it(run: Run, route: Route) -> None:
    paths = watch("192.0.2.1")
    assert next(paths).is_reachable

    async def main() -> None:
        route("del")
        assert not (await paths.__anext__()).is_reachable
        route("add")
        assert next(paths).is_reachable  # blocks: not in the event loop's hub
        route("del")
        assert not (await paths.__anext__()).is_reachable

    run(main)


def test_watch_that_was_asked_for_its_descriptor_has_one_of_its_own(route: Route) -> None:
    watches = [watch(host) for host in hosts(3)]
    assert len({paths.fileno() for paths in watches}) == 3
    with selectors.DefaultSelector() as selector:
        for paths in watches:
            selector.register(paths, selectors.EVENT_READ)
            assert paths.next_change()
        route("del")
        lost: set[Any] = set()
        while len(lost) < 3:
            for key, _ in selector.select(TIME_LIMIT):
                ready: Any = key.fileobj
                if path := ready.next_change():
                    assert not path.is_reachable
                    lost.add(ready)


def test_closing_and_collecting_among_waiting_threads_loses_nothing(route: Route) -> None:
    watches = [watch(host) for host in hosts(8)]
    seen: dict[int, bool] = {}

    def follow(number: int, paths: Watch) -> None:
        for path in paths:
            seen[number] = path.is_reachable

    threads = [start(functools.partial(follow, number, paths)) for number, paths in enumerate(watches)]
    for verb, state in [("del", False), ("add", True)] * 25:
        other = [watch(host) for host in hosts(20)]
        assert all(next(paths) for paths in other)
        route(verb)
        other[0].close()
        del other
        end = time.monotonic() + TIME_LIMIT
        while list(seen.values()) != [state] * 8:
            assert time.monotonic() < end, seen
            threading.Event().wait(0.001)
    for paths in watches:
        paths.close()
    for thread in threads:
        thread.join(TIME_LIMIT)
        assert not thread.is_alive()
