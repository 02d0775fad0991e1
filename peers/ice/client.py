"""Makes the calls of one operation, and reports each: `text`, `bibliography`, `fetch`, `ticks` or `batch`."""

import json
import sys
import time

import Ice
from common import Lastmile, Received, communicator, entries, given, values, version


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def main():
    operation, count = given("OPERATION"), int(given("CALLS"))
    sent = Received()
    with communicator() as ice:
        proxy = ice.stringToProxy(f"t:tcp -h {given('HOST')} -p {given('PORT')}")
        transfer = Lastmile.TransferPrx.uncheckedCast(proxy)
        say("hello", version=Ice.stringVersion())
        transfer.ping()
        if operation in ("ticks", "batch"):
            one_way(transfer, operation, sent)
        else:
            two_way(transfer, operation, count, sent)
    say("end", calls=sent.calls, digest=sent.hash.hexdigest())


def two_way(transfer, operation, count, sent):
    lines = values("text.json") if operation == "text" else None
    works = entries() if operation == "bibliography" else None
    for index in range(count):
        start = time.monotonic_ns()
        if operation == "text":
            transfer.putText(lines)
            sent.add(lines)
        elif operation == "bibliography":
            transfer.putBib(works)
            sent.add(works)
        else:
            transfer.getText()
        say("call", i=index, op=operation, start_ns=start, dur_ns=time.monotonic_ns() - start, ok=True)


def one_way(transfer, operation, sent):
    """All ticks, and a synchronous call, which is answered after them."""
    start = time.monotonic_ns()
    calls = transfer.ice_batchOneway() if operation == "batch" else transfer.ice_oneway()
    for tick in values("ticks.json"):
        calls.tick(tick["id"], tick["value"])
        sent.add((tick["id"], tick["value"]))
    if operation == "batch":
        calls.ice_flushBatchRequests()
    transfer.ping()
    say("call", i=0, op=operation, start_ns=start, dur_ns=time.monotonic_ns() - start, ok=True)


if sys.argv[1:] == ["--version"]:
    version()
else:
    main()
