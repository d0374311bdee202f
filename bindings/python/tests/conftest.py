# SPDX-License-Identifier: MIT
"""The tests run in a network namespace of their own, in which they may change routes, and see files of their own in /etc."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any, Awaitable, Callable, Iterator

import pytest

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
TIME_LIMIT = 60
DEFAULT = "default via 10.0.0.1"

libc = ctypes.CDLL(None, use_errno=True)


def succeed(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def enter_namespace() -> None:
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNET | CLONE_NEWNS) != 0:
        succeed(libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS))
        pathlib.Path("/proc/self/setgroups").write_text("deny")
        pathlib.Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        pathlib.Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    succeed(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None))


def replace_file(path: str, text: str) -> None:
    with tempfile.NamedTemporaryFile("w", delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    succeed(libc.mount(file.name.encode(), path.encode(), None, MS_BIND, None))
    os.unlink(file.name)


def ip(command: str) -> None:
    subprocess.run(["ip", *command.split()], check=True)


def threads_of_the_process() -> int:
    return len(os.listdir("/proc/self/task"))


def pytest_configure(config: pytest.Config) -> None:
    try:
        enter_namespace()
    except OSError as error:
        pytest.exit(f"SKIP: no network namespace can be made here: {error}", returncode=77)
    replace_file("/etc/hosts", "192.0.2.9 known.test\n")
    replace_file("/etc/resolv.conf", "nameserver 192.0.2.53\noptions timeout:1 attempts:1\n")
    ip("link add e0 type ifb")  # it always has a carrier
    ip("link add e1 type ifb")
    ip("addr add 10.0.0.2/24 dev e0")
    ip("addr add 2001:db8::2/64 dev e0 nodad")
    for link in ("lo", "e0", "e1"):
        ip(f"link set {link} up")


@pytest.fixture
def route() -> Iterator[Callable[[str], None]]:
    """A default route. The value is a function that changes it: route("del"), route("add")."""
    ip(f"route replace {DEFAULT}")
    yield lambda verb: ip(f"route {verb} {DEFAULT}")
    ip("route flush exact default")


@pytest.fixture
def no_descriptor_stays() -> Iterator[None]:
    """The library closes the descriptors of a look-up on a thread of its own, after the last watch of a name."""
    before, end = len(os.listdir("/proc/self/fd")), time.monotonic() + TIME_LIMIT
    yield
    if vars(sys).pop("last_traceback", None):  # it keeps what a failed test had, which would fail the tests that follow
        for name in ("last_value", "last_exc"):
            vars(sys).pop(name, None)
        gc.collect()
    while len(os.listdir("/proc/self/fd")) > before and time.monotonic() < end:
        threading.Event().wait(0.01)  # nothing reports it
    assert len(os.listdir("/proc/self/fd")) <= before


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest) -> Callable[[Callable[[], Awaitable[None]]], None]:
    """Runs an asynchronous function to its end."""
    if request.param == "trio":
        trio: Any = pytest.importorskip("trio")
        return lambda function: trio.run(function)  # type: ignore[no-any-return]
    return lambda function: asyncio.run(asyncio.wait_for(function(), 10 * TIME_LIMIT))
