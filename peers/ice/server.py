"""Serves the calls of Calls.ice until SIGTERM, and reports what it received."""

import signal
import sys
import threading

from common import Lastmile, Received, communicator, given, values, version


class Transfer(Lastmile.Transfer):
    def __init__(self, received):
        self.received = received

    def putText(self, lines, current=None):
        self.received.add(lines)

    def putBib(self, entries, current=None):
        self.received.add(entries)

    def tick(self, id, value, current=None):
        self.received.add((id, value))

    def ping(self, current=None):
        pass

    def getText(self, current=None):
        return values("text.json")


def main():
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    received = Received()
    with communicator() as ice:
        adapter = ice.createObjectAdapterWithEndpoints("Calls", f"tcp -h {given('HOST')} -p {given('PORT')}")
        adapter.add(Transfer(received), ice.stringToIdentity("t"))
        adapter.activate()
        print("READY", flush=True)
        while not ended.wait(0.1):
            pass
    received.report("received")


if sys.argv[1:] == ["--version"]:
    version()
else:
    main()
