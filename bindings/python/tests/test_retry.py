# SPDX-License-Identifier: MIT
"""RetryTimer: what ends its sleep, and how often."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import subprocess
import threading
import time
from typing import Any, Awaitable, Callable, Iterator

import pytest

from conftest import threads_of_the_process
from reachability import Path, Reason, RetryTimer, Wake, check
from reachability._hub import PIECE, Background, Member
from reachability._retry import Trigger

Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
FAR = "192.0.2.1"
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True)


@pytest.fixture
def other_interface() -> Iterator[None]:
    ip("addr add 10.1.0.2/24 dev e1")
    yield
    ip("addr del 10.1.0.2/24 dev e1")


# ---- What is worth an attempt


@pytest.fixture
def reachable(route: Route) -> Path:
    return check(FAR)


def lost(path: Path) -> Path:
    return dataclasses.replace(path, flags=type(path.flags)(0), reason=Reason.NO_ROUTE)


def test_first_path_is_no_change(reachable: Path) -> None:
    trigger = Trigger(0, 1)
    trigger.observe(reachable, 0)
    trigger.observe(dataclasses.replace(reachable, mtu=9000), 0)
    assert math.isinf(trigger.due) and trigger.take(5, 10) is None
    assert trigger.take(10, 10) is Wake.TIME


def test_return_of_the_host_is_a_change_while_it_lasts(reachable: Path) -> None:
    trigger = Trigger(0, 1)
    for path in (lost(reachable), reachable, lost(reachable)):
        trigger.observe(path, 0)
    assert trigger.take(5, 10) is None  # it is lost again
    trigger.observe(reachable, 6)
    assert trigger.take(6, 10) is Wake.REACHABLE
    assert trigger.take(6, 10) is None


def test_another_source_is_a_change(reachable: Path) -> None:
    trigger = Trigger(0, 1)
    trigger.observe(reachable, 0)
    trigger.observe(dataclasses.replace(reachable, source=None), 0)
    assert trigger.take(0, 10) is Wake.PATH


def test_pending_name_says_nothing(reachable: Path) -> None:
    trigger = Trigger(0, 1)
    trigger.observe(dataclasses.replace(lost(reachable), reason=Reason.NAME_PENDING), 0)
    trigger.observe(reachable, 0)
    assert trigger.take(0, 10) is None


def test_storm_of_flaps_ends_one_sleep_in_each_interval(reachable: Path) -> None:
    trigger, wakes = Trigger(0, 1.0), 0
    for millisecond in range(10_000):
        now = millisecond / 1000
        trigger.observe(lost(reachable), now)
        trigger.observe(reachable, now)
        wakes += trigger.take(now, math.inf) is not None
    assert wakes == 10


def test_jitter_spreads_wakes_evenly(reachable: Path) -> None:
    dues = []
    for _ in range(10_000):
        trigger = Trigger(0.25, 1)
        trigger.observe(lost(reachable), 100.0)
        trigger.observe(reachable, 100.0)
        dues.append(trigger.due - 100.0)
    tenths = [sum(tenth <= due / 0.025 < tenth + 1 for due in dues) for tenth in range(10)]
    assert sum(tenths) == len(dues) and min(tenths) > 800 and max(tenths) < 1200


@pytest.mark.parametrize("arguments", [{"jitter": -1.0}, {"jitter": math.nan}, {"min_interval": -0.1}])
def test_bad_argument_is_refused(arguments: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        RetryTimer(FAR, **arguments)


# ---- Sleeping


def test_time_ends_the_sleep(route: Route) -> None:
    with RetryTimer(FAR) as timer:
        begin = time.monotonic()
        assert timer.sleep(0.02) is Wake.TIME
        route("del")
        assert timer.sleep(0.02) is Wake.TIME
        assert time.monotonic() - begin >= 0.04
        assert timer.sleep(0) is Wake.TIME
        with pytest.raises(ValueError):
            timer.sleep(math.nan)


def test_route_that_returns_ends_the_sleep(route: Route) -> None:
    route("del")
    with RetryTimer(FAR) as timer:
        threading.Timer(0.01, route, ["add"]).start()
        assert timer.sleep(TIME_LIMIT) is Wake.REACHABLE


def test_other_interface_ends_the_sleep(route: Route, other_interface: None) -> None:
    with RetryTimer(FAR) as timer:
        ip("route add 192.0.2.1/32 dev e1")
        assert timer.sleep(math.inf) is Wake.PATH
        assert timer.sleep(0.01) is Wake.TIME
        ip("route del 192.0.2.1/32 dev e1")


def test_change_during_the_attempt_ends_the_next_sleep(route: Route) -> None:
    route("del")
    with RetryTimer(FAR) as timer:
        route("add")
        assert timer.sleep(TIME_LIMIT) is Wake.REACHABLE
        assert timer.sleep(0.01) is Wake.TIME


def test_second_change_waits_for_the_interval(route: Route) -> None:
    route("del")
    with RetryTimer(FAR, min_interval=0.2) as timer:
        route("add")
        begin = time.monotonic()
        assert timer.sleep(TIME_LIMIT) is Wake.REACHABLE
        ip("route replace default via 10.0.0.9")  # the timer cannot miss it, as it can a loss that is soon over
        assert timer.sleep(TIME_LIMIT) is Wake.PATH
        assert time.monotonic() - begin >= 0.2


def test_close_ends_the_sleep(route: Route) -> None:
    timer = RetryTimer(FAR)
    threading.Timer(0.01, timer.close).start()
    with pytest.raises(ValueError, match="closed"):
        timer.sleep(TIME_LIMIT)


def first_path_of(timer: RetryTimer) -> Path:
    """What the thread of the hub has read, while the task is busy."""
    member = timer._watch._member
    while member.latest is None:
        pass
    return member.latest  # type: ignore[no-any-return]


def test_task_sleeps_until_the_route_returns(run: Run, route: Route) -> None:
    async def main() -> None:
        with RetryTimer(FAR) as timer:
            assert await timer.sleep_async(0.01) is Wake.TIME
            route("del")
            while not timer._trigger._was_lost:  # a loss that is over before the timer sees it is none
                assert await timer.sleep_async(0.01) is Wake.TIME
            threading.Timer(0.01, route, ["add"]).start()
            assert await timer.sleep_async(TIME_LIMIT) is Wake.REACHABLE

    run(main)


def test_change_during_the_attempt_of_a_task_ends_its_next_sleep(run: Run, route: Route) -> None:
    async def main() -> None:
        with RetryTimer(FAR) as timer:
            first = first_path_of(timer)
            route("add")  # the task was busy: it has taken no path yet
            while timer._watch._member.latest is first:
                pass
            assert await timer.sleep_async(TIME_LIMIT) is Wake.REACHABLE

    route("del")
    run(main)


def test_cancelled_task_sleeps_no_longer(route: Route) -> None:
    async def main() -> None:
        with RetryTimer(FAR) as timer:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(timer.sleep_async(TIME_LIMIT), 0.01)
            assert await timer.sleep_async(0.01) is Wake.TIME

    asyncio.run(main())


def test_cancelled_task_ends_and_loses_no_change_that_came_with_it(route: Route, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        with RetryTimer(FAR) as timer:
            first_path_of(timer)
            sleep = asyncio.ensure_future(timer.sleep_async(TIME_LIMIT))
            next_path = timer._watch.__anext__

            async def cancel_after_path() -> Path:
                path = await next_path()
                sleep.cancel()
                return path

            monkeypatch.setattr(timer._watch, "__anext__", cancel_after_path)
            await asyncio.sleep(0)  # it sleeps
            route("add")
            with pytest.raises(asyncio.CancelledError):
                await sleep
            assert await timer.sleep_async(TIME_LIMIT) is Wake.REACHABLE

    route("del")
    asyncio.run(main())


def test_ten_thousand_sleepers_wake_the_loop_a_few_times(route: Route, monkeypatch: pytest.MonkeyPatch) -> None:
    wakes: list[int] = []
    wake = Background._wake

    def count(hub: Background, members: list[Member]) -> None:
        wakes.append(len(members))
        wake(hub, members)

    async def main() -> None:
        timers = [RetryTimer(FAR) for _ in range(10_000)]
        threads = threads_of_the_process()
        sleeps = [asyncio.ensure_future(timer.sleep_async(10 * TIME_LIMIT)) for timer in timers]
        while any(timer._watch._last is None for timer in timers):
            await asyncio.sleep(0)  # each gets its first path
        monkeypatch.setattr(Background, "_wake", count)
        assert threads_of_the_process() <= threads  # one of an earlier test may end
        route("add")
        assert await asyncio.gather(*sleeps) == [Wake.REACHABLE] * len(timers)
        assert len(wakes) <= 2 * len(timers) / PIECE + 2  # the kernel may send its messages in two pieces
        for timer in timers:
            timer.close()

    route("del")
    asyncio.run(main(), debug=False)  # the debug mode of `-X dev` notes a traceback for each of many thousand calls
