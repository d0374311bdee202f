# SPDX-License-Identifier: MIT
"""A script in the place of a host."""

from __future__ import annotations

import gc
import ipaddress
import os
import selectors
import socket
import threading
from typing import Awaitable, Callable

import pytest

from reachability import (
    Flags,
    Path,
    Reason,
    RetryTimer,
    Script,
    Transport,
    Wake,
    check,
    check_async,
    wait_until_reachable,
    wait_until_reachable_async,
    watch,
)

Run = Callable[[Callable[[], Awaitable[None]]], None]

TIME_LIMIT = 60
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")
REACHABLE = Path(Flags.REACHABLE)
UNPLUGGED = Path(Flags(0), Reason.NO_CARRIER)


def sockets() -> int:
    links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    return sum(os.path.lexists(link) and os.readlink(link).startswith("socket:") for link in links)


def test_each_path_that_is_played_comes() -> None:
    script = Script(UNPLUGGED)
    seen = []
    for path in watch(script):
        seen.append(path)
        if len(seen) == 3:
            break
        script.play(REACHABLE if path is UNPLUGGED else UNPLUGGED)
    assert seen == [UNPLUGGED, REACHABLE, UNPLUGGED] and script.path is UNPLUGGED


def test_path_that_is_played_ends_the_wait_of_a_thread() -> None:
    script = Script(UNPLUGGED)
    with watch(script) as paths, watch(script) as others:
        assert next(paths) is next(others) is UNPLUGGED
        for leads in (paths, others):
            threading.Timer(0, script.play, [Path(Flags.REACHABLE, mtu=leads is paths)]).start()
            assert next(leads).is_reachable


def test_task_gets_each_path_that_is_played(run: Run) -> None:
    async def main() -> None:
        script = Script()
        async with watch(script) as paths:
            assert (await paths.__anext__()).is_reachable and paths.path is script.path
            for path in (UNPLUGGED, REACHABLE):
                threading.Timer(0, script.play, [path]).start()
                assert await paths.__anext__() is path

    run(main)


def test_watch_that_moves_into_an_event_loop_gets_the_newest_path(run: Run) -> None:
    script = Script(UNPLUGGED)
    paths = watch(script)
    assert next(paths) is UNPLUGGED

    async def main() -> None:
        script.play(REACHABLE)
        assert await paths.__anext__() is REACHABLE
        paths.close()

    run(main)


def test_another_event_loop_waits_for_the_descriptor() -> None:
    script = Script()
    with watch(script) as paths, selectors.DefaultSelector() as selector:
        selector.register(paths, selectors.EVENT_READ)
        assert paths.next_change() and paths.next_change() is None
        script.play(UNPLUGGED)
        assert selector.select(TIME_LIMIT) and paths.next_change() is UNPLUGGED


def test_checks_and_timers_follow_the_script(run: Run) -> None:
    script = Script(UNPLUGGED)
    assert check(script) is UNPLUGGED and wait_until_reachable(script, timeout=0) is None
    with RetryTimer(script) as timer:
        script.play(REACHABLE)
        assert timer.sleep(TIME_LIMIT) is Wake.REACHABLE and wait_until_reachable(script) is REACHABLE

    async def main() -> None:
        assert await check_async(script) is REACHABLE
        script.play(UNPLUGGED)
        with RetryTimer(script) as timer:
            threading.Timer(0, script.play, [REACHABLE]).start()
            assert await timer.sleep_async(TIME_LIMIT) is Wake.REACHABLE
        assert await wait_until_reachable_async(script) is REACHABLE

    run(main)


def test_script_takes_the_arguments_that_a_host_takes() -> None:
    path = Path(Flags.REACHABLE, destination=ipaddress.ip_address("192.0.2.1"))
    with watch(Script(path), source="10.0.0.7", interface="eth7", port=80, transport=Transport.TCP) as paths:
        assert next(paths) is path
    with watch(Script(path), family=socket.AF_INET6, settle_time=1e6) as paths:
        assert next(paths) is path


def test_script_opens_no_socket() -> None:
    before = sockets()
    with watch(Script()) as paths:
        assert next(paths) and sockets() == before


def test_script_knows_how_many_watches_follow_it() -> None:
    script = Script()
    with watch(script), RetryTimer(script):
        dropped = watch(script)
        assert script.watches == 3
        del dropped
        gc.collect()
        assert script.watches == 2
    assert script.watches == 0
    script.play(UNPLUGGED)
