# SPDX-License-Identifier: MIT
"""RetryTimer: what ends its sleep, and how often."""

from __future__ import annotations

import asyncio
import math
import subprocess
import threading
import time
from typing import Any, Awaitable, Callable, Iterator

import pytest

from conftest import threads_of_the_process
from reachability import Flags, Path, Reason, RetryTimer, Script, Wake
from reachability._hub import PIECE, Background, Member

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


# ---- Arguments


@pytest.mark.parametrize("argument", ["jitter", "min_interval"])
def test_change_waits_for_the_jitter_and_the_interval(argument: str) -> None:
    script = Script(Path(Flags(0), Reason.NO_ROUTE))
    with RetryTimer(script, **{argument: math.inf}) as timer:  # type: ignore[arg-type]
        for wake in (Wake.TIME if argument == "jitter" else Wake.REACHABLE, Wake.TIME):
            script.play(Path(Flags.REACHABLE))
            assert timer.sleep(0.01) is wake
            script.play(Path(Flags(0), Reason.NO_ROUTE))
            assert timer.sleep(0) is Wake.TIME


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
            while timer._watch.path.is_reachable:
                assert await timer.sleep_async(0.01) is Wake.TIME
            assert await timer.sleep_async(0) is Wake.TIME  # a loss that is over before the timer sees it is none
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
