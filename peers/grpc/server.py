"""Serves the calls of calls.proto until SIGTERM, and reports what it received."""

import signal
import sys
import threading
from concurrent import futures

from common import OPTIONS, Received, calls_pb2, calls_pb2_grpc, compression, given, grpc, lines, version


class Transfer(calls_pb2_grpc.TransferServicer):
    def __init__(self, received):
        self.received = received

    def take(self, request, context):
        self.received.add(request)
        return calls_pb2.Nothing()

    PutText = PutBib = PutTick = take

    def PutTicks(self, requests, context):
        for request in requests:
            self.received.add(request)
        return calls_pb2.Nothing()

    def Ping(self, request, context):
        return calls_pb2.Nothing()

    def GetText(self, request, context):
        return lines()


def main():
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    received = Received()
    # One thread: calls are received in the order in which they were made.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1), options=OPTIONS, compression=compression())
    calls_pb2_grpc.add_TransferServicer_to_server(Transfer(received), server)
    server.add_insecure_port(f"{given('HOST')}:{given('PORT')}")
    server.start()
    print("READY", flush=True)
    while not ended.wait(0.1):
        pass
    server.stop(None).wait()
    received.report("received")


if sys.argv[1:] == ["--version"]:
    version()
else:
    main()
