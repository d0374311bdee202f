"""asyncio: connects when it is worth an attempt, and not only when the back-off is over.

    with RetryTimer("192.0.2.1") as timer:
        websocket = await connect_when_worth_it(timer, lambda: connect("ws://192.0.2.1:8000"))
"""
from __future__ import annotations

import asyncio
import math
from typing import Awaitable, Callable, TypeVar

from reachability import RetryTimer, Wake

Connection = TypeVar("Connection")


async def connect_when_worth_it(
    timer: RetryTimer,
    connect: Callable[[], Awaitable[Connection]],
    *,
    errors: tuple[type[Exception], ...] = (OSError,),
    shortest: float = 1.0,
    longest: float = 120.0,
) -> Connection:
    """Tries at once, and again after pauses that double, or when the way to the host has changed.

    It never holds back an attempt. One over a way that is gone would last until TCP's time-out, so a change ends it, and
    the next one begins at once.
    """
    pause = shortest
    while True:
        attempt = asyncio.ensure_future(connect())
        change = asyncio.ensure_future(timer.sleep_async(math.inf))
        try:
            await asyncio.wait((attempt, change), return_when=asyncio.FIRST_COMPLETED)
        finally:
            attempt.cancel()
            change.cancel()
            await asyncio.gather(attempt, change, return_exceptions=True)
        if not attempt.cancelled() and not isinstance(attempt.exception(), errors):
            return attempt.result()
        if woken := not change.cancelled():
            change.result()  # raises what the sleep has raised
        if woken or await timer.sleep_async(pause) is not Wake.TIME:
            pause = shortest
        else:
            pause = min(pause * 2, longest)
