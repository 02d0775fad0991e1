"""A sensor: keeps the events that applications submit in memory, and pushes each to its subscribers by a one-way call, until SIGTERM."""

import os
import signal
import sys
import threading

from common import Ice, communicator

import Lastmile  # isort: skip  (Ice makes it of Events.ice)


class Sensor(Lastmile.Sensor):
    def __init__(self):
        self.events = []
        self.subscribers = []

    def submit(self, event, current=None):
        self.events.append(event)
        for subscriber in self.subscribers:
            # Queued: a slow subscriber delays neither the application nor the others.
            subscriber.receiveAsync(event)

    def subscribe(self, subscriber, current=None):
        back = Lastmile.SubscriberPrx.uncheckedCast(current.con.createProxy(subscriber.ice_getIdentity()))
        self.subscribers.append(back.ice_oneway())


def main():
    host, port = os.environ["LASTMILE_HOST"], os.environ["LASTMILE_PORT"]
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    with communicator(host) as ice:
        adapter = ice.createObjectAdapterWithEndpoints("Sensor", f"tcp -h {host} -p {port}")
        adapter.add(Sensor(), ice.stringToIdentity("sensor"))
        adapter.activate()
        print("READY", flush=True)
        while not ended.wait(0.1):
            pass


if sys.argv[1:] == ["--version"]:
    print(f"Ice for Python: {Ice.stringVersion()}, Python {sys.version.split()[0]}")
else:
    main()
