"""Events in a Redis stream: XADD, XREAD and XRANGE."""

import sys
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PEERS / "redis-events" / "target" / "lib"), str(PEERS / "event-clients")]
sys.dont_write_bytecode = True
import redis  # noqa: E402
from event_client import Json, main  # noqa: E402

STREAM = "test.event"


class Connection(Json):
    def __init__(self, host, port):
        self.address = {"host": host, "port": port}
        self.redis = None
        self.last = None

    async def connect(self):
        self.redis = redis.Redis(**self.address)
        self.redis.ping()

    async def close(self):
        self.redis.close()

    async def submit(self, event):
        self.redis.xadd(STREAM, {"event": event})

    async def subscribe(self):
        newest = self.redis.xrevrange(STREAM, count=1)
        self.last = newest[0][0] if newest else "0-0"

    async def receive(self, note, patience):
        goes_on = True
        while goes_on:
            answer = self.redis.xread({STREAM: self.last}, block=patience * 1000)
            if not answer:
                return
            for self.last, fields in streams(answer):
                goes_on = note(fields[b"event"])

    async def query(self, count):
        return [fields[b"event"] for _, fields in self.redis.xrange(STREAM, count=count)]


def streams(answer):
    """The entries of the one stream that was asked for, in the answer of either version of the protocol."""
    return answer[STREAM.encode()][0] if isinstance(answer, dict) else answer[0][1]


main(Connection, "redis-py", redis.__version__)
