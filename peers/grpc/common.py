"""What the server and the client in gRPC for Python share: the inputs, the values, and a digest of what was received."""

import hashlib
import json
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(FOLDER, "target", "lib"))
sys.dont_write_bytecode = True
import calls_pb2  # noqa: E402  (made of calls.proto)
import calls_pb2_grpc  # noqa: E402,F401
import grpc  # noqa: E402

# The defaults, but for keepalive and statistics of bandwidth, which send frames of their own.
OPTIONS = [
    ("grpc.http2.bdp_probe", 0),
    ("grpc.enable_http_proxy", 0),
    ("grpc.max_receive_message_length", 64 << 20),
]


def given(name):
    return os.environ["LASTMILE_" + name]


def compression():
    gzip = given("MESSAGE_COMPRESSION") == "gzip"
    return grpc.Compression.Gzip if gzip else grpc.Compression.NoCompression


def values(name):
    with open(os.path.join(given("DATA"), name), encoding="utf-8") as file:
        return json.load(file)


def lines():
    return calls_pb2.Lines(line=values("text.json"))


def bibliography():
    def entry(fields):
        fields["authors"] = [calls_pb2.Name(**name) for name in fields["authors"]]
        fields["pages"] = calls_pb2.Pages(**fields["pages"])
        return calls_pb2.Entry(**fields)

    return calls_pb2.Bibliography(entry=[entry(fields) for fields in values("bibliography.json")])


class Received:
    """Counts calls, and hashes what they carry in the order of their arrival."""

    def __init__(self):
        self.calls = 0
        self.hash = hashlib.sha256()

    def add(self, message):
        self.calls += 1
        self.hash.update(message.SerializeToString(deterministic=True))

    def report(self, event):
        line = {"event": event, "calls": self.calls, "digest": self.hash.hexdigest()}
        print(json.dumps(line), flush=True)


def version():
    print(f"gRPC for Python: {grpc.__version__}, Python {sys.version.split()[0]}")
