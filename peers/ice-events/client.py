"""An application that submits events to a sensor by Ice, each by a two-way call, or a subscriber that the sensor calls back."""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "event-clients"))
sys.dont_write_bytecode = True
from common import Ice, communicator  # noqa: E402
from event_client import main  # noqa: E402

import Lastmile  # noqa: E402  (Ice makes it of Events.ice)


class Subscriber(Lastmile.Subscriber):
    def __init__(self):
        self.note = None
        self.ended = threading.Event()
        self.came = 0

    def receive(self, event, current=None):
        self.came += 1
        if not self.note(event):
            self.ended.set()


class Connection:
    def __init__(self, host, port):
        self.host, self.port = host, port
        self.ice = self.sensor = None
        self.subscriber = Subscriber()

    def event(self, time_ns, text, value):
        return Lastmile.Event(time_ns, text, value)

    def time_of(self, event):
        return event.timeNs

    async def connect(self):
        self.ice = communicator(self.host)
        sensor = self.ice.stringToProxy(f"sensor:tcp -h {self.host} -p {self.port}")
        self.sensor = Lastmile.SensorPrx.uncheckedCast(sensor)
        self.sensor.ice_ping()

    async def close(self):
        self.ice.destroy()

    async def submit(self, event):
        self.sensor.submit(event)

    async def subscribe(self):
        # The sensor calls back over this connection, so that a subscriber needs no port that others reach.
        adapter = self.ice.createObjectAdapter("")
        back = Lastmile.SubscriberPrx.uncheckedCast(adapter.addWithUUID(self.subscriber))
        adapter.activate()
        self.sensor.ice_getConnection().setAdapter(adapter)
        self.sensor.subscribe(back)

    async def receive(self, note, patience):
        self.subscriber.note = note
        self.subscriber.ended.clear()
        before = None
        # Until nothing new has come for so long.
        while before != self.subscriber.came:
            before = self.subscriber.came
            if self.subscriber.ended.wait(patience):
                return


main(Connection, "Ice for Python", Ice.stringVersion())
