"""A WebSocket client and server, for reconnect.py. It needs websockets, from PyPI.

    echo.py serve PORT
    echo.py ours|stock ADDRESS PORT    connects, and prints when the server has replied

stock is the loop that websockets has, `async for ... in connect()`, with its own back-off.
"""
from __future__ import annotations

import asyncio
import sys
import time

import websockets
from reachability import RetryTimer
from reconnect import connect_when_worth_it
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve


def report(what: str) -> None:
    print(what, time.monotonic_ns(), flush=True)


async def echo(connection: ServerConnection) -> None:
    async for message in connection:
        await connection.send(message)


async def exchange(websocket: websockets.ClientConnection) -> None:
    await websocket.send("hello")
    await websocket.recv()
    report("done")
    await websocket.close()


async def main(mode: str, *arguments: str) -> None:
    if mode == "serve":
        async with serve(echo, None, int(arguments[0])) as server:
            await server.serve_forever()
    address, port = arguments
    url = f"ws://[{address}]:{port}" if ":" in address else f"ws://{address}:{port}"
    report("first")
    if mode == "stock":
        async for websocket in connect(url, proxy=None, open_timeout=None):
            return await exchange(websocket)
    with RetryTimer(address) as timer:
        await exchange(await connect_when_worth_it(timer, lambda: connect(url, proxy=None, open_timeout=None)))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
