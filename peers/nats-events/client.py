"""Events in a JetStream stream: a publish that is acknowledged, a consumer that is pushed to, and one that fetches."""

import asyncio
import sys
from importlib.metadata import version
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PEERS / "nats-events" / "target" / "lib"), str(PEERS / "event-clients")]
sys.dont_write_bytecode = True
import nats  # noqa: E402
from event_client import Json, given, main  # noqa: E402
from nats.errors import TimeoutError as NothingCame  # noqa: E402
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, StorageType, StreamConfig  # noqa: E402

SUBJECT = "test.event"


class Connection(Json):
    def __init__(self, host, port):
        self.address = f"nats://{host}:{port}"
        self.nats = self.jetstream = self.note = None
        self.ended = asyncio.Event()
        self.came = 0

    async def connect(self):
        self.nats = await nats.connect(self.address, allow_reconnect=False)
        self.jetstream = self.nats.jetstream()
        if given("OPERATION") != "query":
            storage = StorageType.MEMORY if given("DURABILITY") == "memory" else StorageType.FILE
            # Where the stream is there already, with these settings, nothing changes.
            await self.jetstream.add_stream(StreamConfig(name="EVENTS", subjects=[SUBJECT], storage=storage))

    async def close(self):
        await self.nats.close()

    async def submit(self, event):
        await self.jetstream.publish(SUBJECT, event)

    async def subscribe(self):
        what = ConsumerConfig(deliver_policy=DeliverPolicy.NEW, ack_policy=AckPolicy.NONE)
        await self.jetstream.subscribe(SUBJECT, stream="EVENTS", cb=self.take, config=what)
        await self.nats.flush()

    async def take(self, message):
        self.came += 1
        if not self.note(message.data):
            self.ended.set()

    async def receive(self, note, patience):
        self.note = note
        self.ended.clear()
        before = None
        # Until nothing new has come for so long.
        while before != self.came:
            before = self.came
            try:
                await asyncio.wait_for(self.ended.wait(), patience)
                return
            except asyncio.TimeoutError:
                pass

    async def query(self, count):
        what = ConsumerConfig(deliver_policy=DeliverPolicy.ALL, ack_policy=AckPolicy.NONE, mem_storage=True)
        consumer = await self.jetstream.pull_subscribe(SUBJECT, stream="EVENTS", config=what)
        events = []
        try:
            while len(events) < count:
                events += [message.data for message in await consumer.fetch(count - len(events), timeout=5)]
        except NothingCame:
            pass
        return events


main(Connection, "nats-py", version("nats-py"))
