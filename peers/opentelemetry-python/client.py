"""Emits log records by OpenTelemetry's SDK to a receiver of OTLP over HTTP, and reports how many."""

import json
import logging
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "target" / "lib"))

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider, LoggingHandler
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.version import __version__


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def main():
    host, port = os.environ["LASTMILE_HOST"], os.environ["LASTMILE_PORT"]
    count = int(os.environ["LASTMILE_CALLS"])
    say("hello", version=__version__)
    exporter = OTLPLogExporter(endpoint=f"http://{host}:{port}/v1/logs", compression=Compression.Gzip)
    provider = LoggerProvider(resource=Resource.create({"service.name": "peer"}))
    provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
    logger = logging.getLogger("orders")
    logger.propagate = False
    logger.setLevel(logging.INFO)
    logger.addHandler(LoggingHandler(logger_provider=provider))
    for number in range(count):
        logger.warning("order %d is late", number, extra={"order": number, "late": True, "minutes": number / 2})
    provider.force_flush()
    provider.shutdown()
    say("end", calls=count)


if __name__ == "__main__":
    if sys.argv[1:] == ["--version"]:
        print(f"opentelemetry-sdk: {__version__}")
    else:
        main()
