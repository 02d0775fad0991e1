"""Submits, receives or asks for events by a messaging system: a run for each line of the standard input, until its end.

A system gives a class `Connection` to `main`: `connect` and `close`; `event` (what is submitted) and `time_of` (when it was created);
`submit` (returns once the event is acknowledged), `subscribe` and `receive`, `query`. Those that have no clients of asyncio just block.
"""

import asyncio
import json
import os
import random
import sys
import time


def given(name):
    return os.environ["LASTMILE_" + name]


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Json:
    """Events as JSON, for systems that carry bytes."""

    def event(self, time_ns, text, value):
        return json.dumps({"time_ns": time_ns, "text": text, "value": value}).encode()

    def time_of(self, event):
        return json.loads(event)["time_ns"]


async def submit(connection):
    """Submits the events of a run, each after the acknowledgement of the one before."""
    count, least, pause = int(given("EVENTS")), int(given("TEXT_BYTES")), int(given("INTERVAL_US")) * 1000
    create = send = 0
    start = time.perf_counter_ns()
    for step in range(count):
        early = start + step * pause - time.perf_counter_ns()
        if early > 0 and pause:
            await asyncio.sleep(early / 1e9)
        begun = time.perf_counter_ns()
        text = f"Test event {step}".ljust(least, ".")
        event = connection.event(time.time_ns(), text, random.randrange(1_000_001))
        created = time.perf_counter_ns()
        await connection.submit(event)
        create += created - begun
        send += time.perf_counter_ns() - created
    say("run", events=count, create_ns=create, send_ns=send, span_ns=time.perf_counter_ns() - start)


async def receive(connection):
    """Receives the events of a run; gives up when none has come for some seconds."""
    count, patience = int(given("EVENTS")), int(given("TIMEOUT_SECONDS"))
    created, arrived, timing = [], [], 0

    def note(event):
        nonlocal timing
        at = time.time_ns()
        arrived.append(at)
        created.append(connection.time_of(event))
        timing += time.time_ns() - at
        return len(arrived) < count

    say("receiving")
    await connection.receive(note, patience)
    say("run", events=len(arrived), created_ns=created, arrived_ns=arrived, timing_ns=timing)


async def query(connection):
    """Asks for all events at once, over a new connection unless one is kept, and reads them."""
    begun = time.perf_counter_ns()
    if given("PERSISTENT") == "off":
        await connection.connect()
    answer = await connection.query(int(given("EVENTS")))
    events = sum(connection.time_of(event) > 0 for event in answer)
    span = time.perf_counter_ns() - begun
    if given("PERSISTENT") == "off":
        await connection.close()
    say("run", events=events, span_ns=span)


async def converse(connection, version):
    operation = given("OPERATION")
    say("hello", version=version)
    connects_once = operation != "query" or given("PERSISTENT") == "on"
    if connects_once:
        await connection.connect()
    if operation == "subscribe":
        await connection.subscribe()
    say("ready")
    run = {"submit": submit, "subscribe": receive, "query": query}[operation]
    while sys.stdin.readline():
        await run(connection)
    if connects_once:
        await connection.close()
    say("end")


def main(connection, title, version):
    """The program of a peer's client; `connection` makes one to the address that is given."""
    if sys.argv[1:] == ["--version"]:
        print(f"{title}: {version}, Python {sys.version.split()[0]}")
    else:
        asyncio.run(converse(connection(given("HOST"), int(given("PORT"))), version))
