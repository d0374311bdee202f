# SPDX-License-Identifier: MIT
"""Watch in asyncio and trio."""

from __future__ import annotations

import asyncio
import os
from typing import Any, Awaitable, Callable

import pytest

from reachability import Reason, watch

trio: Any = pytest.importorskip("trio")
Route = Callable[[str], None]
Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def test_async_for_gets_the_current_path_and_each_change(run: Run, route: Route) -> None:
    seen = []

    async def main() -> None:
        async for path in watch("192.0.2.1"):
            seen.append(path.is_reachable)
            if len(seen) == 3:
                break
            route("del" if path.is_reachable else "add")

    run(main)
    assert seen == [True, False, True]


def test_async_for_gets_the_result_of_a_look_up(run: Run, route: Route) -> None:
    reasons = []

    async def main() -> None:
        async with watch("known.test") as paths:
            async for path in paths:
                reasons.append(path.reason)
                if path.is_reachable:
                    break

    run(main)
    assert reasons in ([Reason.NAME_PENDING, None], [None])


def test_cancelled_asyncio_task_closes_its_watch() -> None:
    async def iterate(first: asyncio.Event) -> None:
        async with watch("192.0.2.1") as paths:
            async for _ in paths:
                first.set()

    async def main() -> None:
        first = asyncio.Event()
        task = asyncio.create_task(iterate(first))
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_cancelled_trio_scope_closes_its_watch() -> None:
    async def main() -> None:
        with trio.CancelScope() as scope:
            async with watch("192.0.2.1") as paths:
                async for _ in paths:
                    scope.cancel()
        assert scope.cancelled_caught

    trio.run(main)


def test_close_in_another_asyncio_task_ends_the_iteration() -> None:
    async def iterate(paths: Any, first: asyncio.Event) -> None:
        async for _ in paths:
            first.set()

    async def main() -> None:
        first, paths = asyncio.Event(), watch("192.0.2.1")
        task = asyncio.create_task(iterate(paths, first))
        await first.wait()
        paths.close()
        await asyncio.wait_for(task, TIME_LIMIT)

    asyncio.run(main())


def test_two_asyncio_tasks_watch_two_hosts(route: Route) -> None:
    async def second_state(host: str, first: asyncio.Event) -> bool:
        async with watch(host) as paths:
            await paths.__anext__()
            first.set()
            return (await paths.__anext__()).is_reachable

    async def main() -> None:
        events = [asyncio.Event(), asyncio.Event()]
        tasks = [asyncio.create_task(second_state(f"192.0.2.{i + 1}", first)) for i, first in enumerate(events)]
        for first in events:
            await first.wait()
        route("del")
        assert await asyncio.gather(*tasks) == [False, False]

    asyncio.run(main())


def test_child_after_fork_closes_the_watch_of_a_task_and_makes_another(run: Run, route: Route) -> None:
    kept = []

    async def main() -> None:
        kept.append(watch("192.0.2.1"))
        assert (await kept[0].__anext__()).is_reachable

    run(main)
    child = os.fork()
    if child == 0:
        try:
            kept.pop().close()
            run(main)
            os._exit(0)
        except BaseException:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    route("del")
    assert not next(kept.pop()).is_reachable
