# SPDX-License-Identifier: MIT
"""wait_until_reachable(), and the calls that do not block an event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import Awaitable, Callable

import pytest

from reachability import Reason, check_async, wait_until_reachable, wait_until_reachable_async, watch

Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def test_host_that_is_reachable_is_returned_at_once(route: Route) -> None:
    path = wait_until_reachable("192.0.2.1", timeout=0)
    assert path and path.is_reachable


def test_wait_ends_when_the_route_comes(route: Route) -> None:
    route("del")
    threading.Timer(0.01, route, ["add"]).start()
    path = wait_until_reachable("192.0.2.1", timeout=TIME_LIMIT)
    assert path and path.interface and path.interface.name == "e0"


def test_wait_ends_after_the_timeout() -> None:
    assert wait_until_reachable("192.0.2.1", timeout=0) is None
    assert wait_until_reachable("192.0.2.1", timeout=0.01) is None


def test_wait_for_a_name_waits_for_its_look_up(route: Route) -> None:
    path = wait_until_reachable("known.test", timeout=TIME_LIMIT)
    assert path and str(path.destination) == "192.0.2.9"
    assert wait_until_reachable("example.com", timeout=0) is None  # pending: the flags are the default path's


def test_task_waits_until_the_route_comes(run: Run, route: Route) -> None:
    async def main() -> None:
        assert await wait_until_reachable_async("192.0.2.1", timeout=0)
        route("del")
        assert await wait_until_reachable_async("192.0.2.1", timeout=0.01) is None
        threading.Timer(0.01, route, ["add"]).start()
        assert await wait_until_reachable_async("192.0.2.1", timeout=TIME_LIMIT)

    run(main)


def test_check_in_a_task_waits_for_the_look_up(run: Run, route: Route) -> None:
    async def main() -> None:
        assert str((await check_async("known.test", timeout=TIME_LIMIT)).destination) == "192.0.2.9"
        assert (await check_async("192.0.2.1")).is_reachable

    run(main)


def test_check_in_a_task_does_not_block_the_event_loop(route: Route) -> None:
    async def main() -> None:
        silent = asyncio.ensure_future(check_async("example.com", timeout=TIME_LIMIT))  # nobody is at 192.0.2.53
        async with watch("192.0.2.1") as paths:
            assert (await paths.__anext__()).is_reachable
            assert not silent.done()
        silent.cancel()
        with pytest.raises(asyncio.CancelledError):
            await silent

    asyncio.run(main())


def test_check_in_a_task_ends_after_the_timeout(run: Run, route: Route) -> None:
    async def main() -> None:
        assert (await check_async("example.com", timeout=0.01)).reason == Reason.NAME_PENDING

    run(main)
