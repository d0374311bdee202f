# SPDX-License-Identifier: MIT
"""The settle time of a watch."""

from __future__ import annotations

import math
import selectors
import time
from typing import Awaitable, Callable

import pytest

from conftest import ip
from reachability import watch
from reachability._watch import _Settling

Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
LONG = 1e6
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Sets time.monotonic()."""
    return lambda now: monkeypatch.setattr(time, "monotonic", lambda: now)


def test_change_is_news_when_nothing_has_changed_for_the_settle_time(clock: Callable[[float], None]) -> None:
    settling = _Settling(2)
    clock(100)
    assert settling.is_news("a", None)
    assert not settling.is_news("b", "a") and settling.due == 102
    clock(101)
    assert not settling.is_news("b", "a") and settling.due == 102
    assert not settling.is_news("c", "a") and settling.due == 103
    clock(103)
    assert settling.is_news("c", "a") and settling.due is None


def test_change_that_is_undone_is_no_news(clock: Callable[[float], None]) -> None:
    settling = _Settling(2)
    clock(100)
    assert not settling.is_news("b", "a")
    assert not settling.is_news("a", "a") and settling.due is None
    clock(200)
    assert not settling.is_news("b", "a") and settling.due == 202


def test_changes_that_go_on_are_news_after_ten_times_the_settle_time(clock: Callable[[float], None]) -> None:
    settling = _Settling(2)
    for second in range(20):
        clock(100 + second)
        assert not settling.is_news(second, "a")
    assert settling.due == 120
    clock(120)
    assert settling.is_news(20, "a")


def test_renewal_of_an_address_is_not_reported(route: Route) -> None:
    with watch("192.0.2.1", settle_time=LONG) as settled, watch("192.0.2.1") as paths:
        assert next(settled).is_reachable and next(paths).is_reachable
        for _ in range(10):
            ip("addr del 10.0.0.2/24 dev e0")
            while next(paths).is_reachable:
                pass
            assert settled.next_change() is None and settled.settles_in
            ip("addr add 10.0.0.2/24 dev e0")
            route("add")
            while not next(paths).is_reachable:
                pass
            assert settled.next_change() is None and settled.settles_in is None


def test_change_comes_after_the_settle_time(route: Route) -> None:
    with watch("192.0.2.1", settle_time=0.05) as paths:
        assert next(paths).is_reachable
        start = time.monotonic()
        route("del")
        assert not next(paths).is_reachable
        assert time.monotonic() - start >= 0.05


def test_change_comes_after_the_settle_time_in_a_task(route: Route, run: Run) -> None:
    async def follow() -> None:
        async with watch("192.0.2.1", settle_time=0.05) as paths:
            assert (await paths.__anext__()).is_reachable
            start = time.monotonic()
            route("del")
            assert not (await paths.__anext__()).is_reachable
            assert time.monotonic() - start >= 0.05

    run(follow)


def test_another_event_loop_waits_until_a_change_settles(route: Route) -> None:
    with watch("192.0.2.1", settle_time=0.05) as paths, selectors.DefaultSelector() as selector:
        selector.register(paths, selectors.EVENT_READ)
        assert paths.next_change() and paths.settles_in is None
        route("del")
        while (path := paths.next_change()) is None:
            selector.select(TIME_LIMIT if paths.settles_in is None else paths.settles_in)
        assert not path.is_reachable


def test_timeout_of_wait_comes_before_a_change_settles(route: Route) -> None:
    with watch("192.0.2.1", settle_time=LONG) as paths:
        assert paths.wait()
        route("del")
        assert paths.wait(0.01) is None


@pytest.mark.parametrize("seconds", [-1, math.nan])
def test_settle_time_is_a_number_of_seconds(seconds: float) -> None:
    with pytest.raises(ValueError):
        watch("192.0.2.1", settle_time=seconds)
