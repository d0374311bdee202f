# SPDX-License-Identifier: MIT
"""Watch, from threads and event loops that are not asynchronous."""

from __future__ import annotations

import errno
import gc
import os
import selectors
import signal
import subprocess
import sys
import threading
from typing import Callable

import pytest

from conftest import ip
from reachability import ReachabilityError, Reason, Watch, watch

Route = Callable[[str], None]

TIME_LIMIT = 60
pytestmark = pytest.mark.usefixtures("no_descriptor_stays")


def test_for_gets_the_current_path_and_each_change(route: Route) -> None:
    seen = []
    for path in watch("192.0.2.1"):
        seen.append(path.is_reachable)
        if len(seen) == 3:
            break
        route("del" if path.is_reachable else "add")
    assert seen == [True, False, True]


def test_change_of_the_reason_is_a_change(route: Route) -> None:
    with watch("192.0.2.1") as paths:
        assert next(paths).is_reachable
        threading.Timer(0, route, ["del"]).start()
        path = paths.wait(float("inf"))
        assert path and path.reason == Reason.NO_ROUTE
        ip("route add blackhole default")
        assert next(paths).reason == Reason.ROUTE_BLACKHOLE


def test_wait_without_a_change_ends_after_the_timeout() -> None:
    with watch("192.0.2.1") as paths:
        assert paths.wait(TIME_LIMIT) is not None
        assert paths.wait(0) is None
        assert paths.wait(0.01) is None


def test_name_has_addresses_after_its_look_up() -> None:
    with watch("known.test") as paths:
        while next(paths).reason == Reason.NAME_PENDING:
            pass
        assert [str(address) for address in paths.addresses] == ["192.0.2.9"]
        assert paths.path.reason == Reason.NO_ROUTE
        assert "known.test" in paths.description
    with watch() as paths:
        assert paths.addresses == []


def test_another_event_loop_waits_for_the_descriptor(route: Route) -> None:
    with watch("192.0.2.1") as paths, selectors.DefaultSelector() as selector:
        selector.register(paths, selectors.EVENT_READ)
        first = paths.next_change()
        assert first is not None and first.is_reachable and paths.next_change() is None
        route("del")
        while (path := paths.next_change()) is None:
            assert selector.select(TIME_LIMIT)
        assert not path.is_reachable


def test_close_in_another_thread_ends_the_iteration(route: Route) -> None:
    seen = threading.Event()
    with watch("192.0.2.1") as paths:

        def iterate() -> None:
            for _ in paths:
                seen.set()

        thread = threading.Thread(target=iterate)
        thread.start()
        assert seen.wait(TIME_LIMIT)
        paths.close()
        thread.join(TIME_LIMIT)
        assert not thread.is_alive()


def test_second_thread_may_not_iterate(route: Route) -> None:
    with watch("192.0.2.1") as paths:
        assert next(paths)
        thread = threading.Thread(target=lambda: list(paths))
        thread.start()
        while not paths._is_iterating:
            pass
        with pytest.raises(RuntimeError):
            next(paths)
        paths.close()
        thread.join(TIME_LIMIT)


def test_signal_handler_may_close_the_watch(route: Route) -> None:
    seen = []
    with watch("192.0.2.1") as paths:
        before = signal.signal(signal.SIGALRM, lambda *_: paths.close())
        try:
            for path in paths:
                seen.append(path)
                signal.setitimer(signal.ITIMER_REAL, 0.001)
        finally:
            signal.signal(signal.SIGALRM, before)
    assert len(seen) == 1


def test_closing_while_other_threads_read_is_safe(route: Route) -> None:
    for _ in range(20):
        paths = watch("192.0.2.1")
        started = threading.Barrier(3)

        def read() -> None:
            started.wait(TIME_LIMIT)
            with pytest.raises(ValueError):
                while paths.path.is_reachable and paths.addresses:
                    pass

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        started.wait(TIME_LIMIT)
        paths.close()
        for thread in threads:
            thread.join(TIME_LIMIT)


def test_closed_watch_raises_or_ends() -> None:
    paths = watch("192.0.2.1")
    paths.close()
    paths.close()
    assert list(paths) == []
    calls: list[Callable[[], object]] = [paths.fileno, paths.next_change, lambda: paths.path, lambda: paths.addresses]
    for call in calls:
        with pytest.raises(ValueError):
            call()


def test_unreferenced_watch_closes_itself() -> None:
    before = len(os.listdir("/proc/self/fd"))
    paths = watch("192.0.2.1")
    assert len(os.listdir("/proc/self/fd")) > before
    del paths
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_watch_works_until_the_interpreter_ends() -> None:
    # The handler runs after those that are registered later. Meanwhile a daemon thread could do the same.
    script = """if True:
        import atexit
        from reachability import watch
        atexit.register(lambda: print(paths.path.is_reachable, next(paths).is_reachable))
        paths = watch("127.0.0.1")
        """
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=TIME_LIMIT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "True True\n", "")


def test_many_watches_are_independent(route: Route) -> None:
    watches = [watch(f"192.0.2.{number}") for number in range(1, 9)]
    assert all(next(paths).is_reachable for paths in watches)
    route("del")
    assert not any(next(paths).is_reachable for paths in watches)


def test_child_after_fork_can_close_and_make_watches(route: Route) -> None:
    with watch("192.0.2.1") as paths:
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(ReachabilityError) as caught:
                    paths.next_change()
                works = caught.value.errno == errno.ECHILD and "before fork" in str(caught.value)
                paths.close()
                os._exit(0 if works and next(watch("192.0.2.1")).is_reachable else 1)
            except BaseException:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert next(paths).is_reachable


def test_child_after_fork_waits_for_no_lock_of_the_parent(route: Route) -> None:
    paths = watch("192.0.2.1")
    locked, forked = threading.Event(), threading.Event()

    def hold() -> None:
        with paths._lock:
            locked.set()
            forked.wait(TIME_LIMIT)

    holds = threading.Thread(target=hold)
    holds.start()
    assert locked.wait(TIME_LIMIT)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(TIME_LIMIT // 6)  # ends a child that waits
            with pytest.raises(ReachabilityError):
                paths.next_change()
            with pytest.raises(ReachabilityError):
                paths.path
            paths.close()
            os._exit(0)
        except BaseException:
            os._exit(2)
    forked.set()
    holds.join(TIME_LIMIT)
    assert os.waitpid(child, 0)[1] == 0
    assert next(paths).is_reachable


def test_failure_to_watch_raises_and_leaves_nothing() -> None:
    with pytest.raises(ReachabilityError):
        Watch("")
