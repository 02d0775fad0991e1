"""A WebSocket server on Python's websockets: delivers messages, or sends back what it gets. The contract is ../README.md's."""

import ast
import asyncio
import base64
import json
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "target", "lib"))

import websockets
from websockets.asyncio.server import serve
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory


def extension():
    """permessage-deflate as LASTMILE_MESSAGE_COMPRESSION has it; None for identity."""
    written = os.environ["LASTMILE_MESSAGE_COMPRESSION"]
    if written == "identity":
        return None
    settings = re.fullmatch(r"deflate:(\d)/w(\d+)/m(\d)(/no-takeover)?", written)
    if settings is None:
        sys.exit(f"LASTMILE_MESSAGE_COMPRESSION is {written}; it is identity or like deflate:6/w15/m8 or deflate:6/w15/m8/no-takeover")
    level, window_bits, memory_level = (int(setting) for setting in settings.groups()[:3])
    without_takeover = settings.group(4) is not None
    return ServerPerMessageDeflateFactory(
        server_no_context_takeover=without_takeover,
        client_no_context_takeover=without_takeover,
        server_max_window_bits=window_bits,
        client_max_window_bits=window_bits,
        compress_settings={"level": level, "memLevel": memory_level},
    )


def messages():
    """What is delivered: each message with its time in seconds, where it has one."""
    with open(os.path.join(os.environ["LASTMILE_DATA"], "messages.jsonl"), encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            is_text = message["opcode"] == 1
            yield message.get("time"), message["data"] if is_text else base64.b64decode(message["data"])


async def drop(connection):
    async for _ in connection:
        pass


def deliver(all_messages):
    async def handle(connection):
        loop = asyncio.get_running_loop()
        opened = loop.time()
        dropping = asyncio.create_task(drop(connection))
        try:
            for time, message in all_messages:
                if time is not None:
                    await asyncio.sleep(opened + time - loop.time())
                await connection.send(message)
            await connection.close()
        except ConnectionClosed:
            pass
        finally:
            dropping.cancel()

    return handle


async def echo(connection):
    try:
        async for message in connection:
            await connection.send(message)
    except ConnectionClosed:
        pass


async def configured():
    """The server that the configuration of the data folder makes, which is a statement of a coroutine."""
    with open(os.path.join(os.environ["LASTMILE_DATA"], "configuration"), encoding="utf-8") as printed:
        program = compile(printed.read(), "configuration", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    names = {"handler": echo, "host": os.environ["LASTMILE_HOST"], "port": int(os.environ["LASTMILE_PORT"])}
    serving = asyncio.create_task(eval(program, names))
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    while not serving.done():
        try:
            _, writer = await asyncio.open_connection(names["host"], names["port"])
        except OSError:
            await asyncio.sleep(0.01)
        else:
            writer.close()
            print("READY", flush=True)
            break
    try:
        await serving
    except asyncio.CancelledError:
        pass


async def main():
    handlers = {"deliver": lambda: deliver(list(messages())), "echo": lambda: echo}
    handler = handlers[os.environ["LASTMILE_OPERATION"]]()
    offered = extension()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    host, port = os.environ["LASTMILE_HOST"], int(os.environ["LASTMILE_PORT"])
    extensions = [] if offered is None else [offered]
    # Neither pings nor limits of the library's own: what is asked is what delivering costs.
    async with serve(
        handler, host, port, compression=None, extensions=extensions, ping_interval=None, max_size=None, server_header=None
    ):
        print("READY", flush=True)
        await ended.wait()


if sys.argv[1:] == ["--version"]:
    print(f"Python {sys.version.split()[0]}, websockets: {websockets.__version__}")
else:
    asyncio.run(configured() if os.environ["LASTMILE_OPERATION"] == "configured" else main())
