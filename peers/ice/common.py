"""What the server and the client in Ice for Python share: the inputs, the values, and a digest of what was received."""

import hashlib
import json
import os
import sys

import Ice

FOLDER = os.path.dirname(os.path.abspath(__file__))
Ice.loadSlice("--all " + os.path.join(FOLDER, "Calls.ice"))
import Lastmile  # noqa: E402  (Ice makes it of Calls.ice)


def given(name):
    return os.environ["LASTMILE_" + name]


def values(name):
    with open(os.path.join(given("DATA"), name), encoding="utf-8") as file:
        return json.load(file)


def entries():
    def entry(fields):
        fields["authors"] = [Lastmile.Name(**name) for name in fields["authors"]]
        fields["pages"] = Lastmile.Pages(**fields["pages"])
        return Lastmile.Entry(**fields)

    return [entry(fields) for fields in values("bibliography.json")]


def communicator():
    """Without environment, files or name service; compressed where the option says so."""
    properties = Ice.createProperties()
    properties.setProperty("Ice.ACM.Heartbeat", "0")
    properties.setProperty("Ice.ACM.Close", "0")
    properties.setProperty("Ice.Default.Host", given("HOST"))
    properties.setProperty("Ice.MessageSizeMax", "16384")
    if given("MESSAGE_COMPRESSION") == "bzip2":
        properties.setProperty("Ice.Override.Compress", "1")
    data = Ice.InitializationData()
    data.properties = properties
    return Ice.initialize(data)


class Received:
    """Counts calls, and hashes what they carry in the order of their arrival."""

    def __init__(self):
        self.calls = 0
        self.hash = hashlib.sha256()

    def add(self, value):
        self.calls += 1
        self.hash.update(repr(value).encode())

    def report(self, event):
        line = {"event": event, "calls": self.calls, "digest": self.hash.hexdigest()}
        print(json.dumps(line), flush=True)


def version():
    print(f"Ice for Python: {Ice.stringVersion()}, Python {sys.version.split()[0]}")
