# SPDX-License-Identifier: MIT
"""Waits for a descriptor in the event loop that runs the calling task: trio or asyncio."""

from __future__ import annotations

import asyncio
import sys
from typing import Any


def _trio_of_this_task() -> Any:
    """The module trio, if it runs the calling task. In its guest mode, an asyncio loop runs, too."""
    trio: Any = sys.modules.get("trio")
    try:
        return trio and trio.lowlevel.current_task() and trio
    except RuntimeError:
        return None


def _set_result(readable: asyncio.Future[None]) -> None:
    if not readable.done():  # it may be cancelled
        readable.set_result(None)


async def wait_readable(descriptor: int) -> None:
    if trio := _trio_of_this_task():
        await trio.lowlevel.wait_readable(descriptor)
        return
    loop = asyncio.get_running_loop()
    readable: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, _set_result, readable)
    try:
        await readable
    finally:
        loop.remove_reader(descriptor)
