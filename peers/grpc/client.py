"""Makes the calls of one operation, and reports each: `text`, `bibliography`, `fetch`, `ticks` or `batch`.

gRPC has neither one-way calls nor batches: `ticks` are calls that wait for nothing and whose replies come later, and `batch` is a stream.
"""

import json
import sys
import time

from common import OPTIONS, Received, bibliography, calls_pb2, calls_pb2_grpc, compression, given, grpc, lines, values, version


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def main():
    operation, count = given("OPERATION"), int(given("CALLS"))
    sent = Received()
    address = f"{given('HOST')}:{given('PORT')}"
    with grpc.insecure_channel(address, options=OPTIONS, compression=compression()) as channel:
        transfer = calls_pb2_grpc.TransferStub(channel)
        say("hello", version=grpc.__version__)
        transfer.Ping(calls_pb2.Nothing())
        if operation in ("ticks", "batch"):
            ticks(transfer, operation, sent)
        else:
            documents(transfer, operation, count, sent)
    sent.report("end")


def documents(transfer, operation, count, sent):
    call, request = {
        "text": lambda: (transfer.PutText, lines()),
        "bibliography": lambda: (transfer.PutBib, bibliography()),
        "fetch": lambda: (transfer.GetText, calls_pb2.Nothing()),
    }[operation]()
    for index in range(count):
        start = time.monotonic_ns()
        call(request)
        duration = time.monotonic_ns() - start
        if operation != "fetch":
            sent.add(request)
        say("call", i=index, op=operation, start_ns=start, dur_ns=duration, ok=True)


def ticks(transfer, operation, sent):
    requests = [calls_pb2.Tick(id=tick["id"], value=tick["value"]) for tick in values("ticks.json")]
    start = time.monotonic_ns()
    if operation == "batch":
        transfer.PutTicks(iter(requests))
    else:
        for reply in [transfer.PutTick.future(request) for request in requests]:
            reply.result()
    duration = time.monotonic_ns() - start
    for request in requests:
        sent.add(request)
    say("call", i=0, op=operation, start_ns=start, dur_ns=duration, ok=True)


if sys.argv[1:] == ["--version"]:
    version()
else:
    main()
