"""Sends WebSocket messages back, by uWebSockets as it is configured. The contract is ../README.md's."""

import os
import re
import signal
import sys
from importlib.metadata import version

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "target", "lib"))

from socketify import App, AppListenOptions, CompressOptions

OWN = "app.ws('/*', {\n  compression: uWS.DEDICATED_COMPRESSOR_256KB | uWS.DEDICATED_DECOMPRESSOR_32KB,\n});\n"


class Configured:
    """What uWebSockets.js calls an app, by the same uWebSockets under Python."""

    def __init__(self, app):
        self.app = app

    def ws(self, path, behavior):
        def echo(socket, message, opcode):
            socket.send(message, opcode, True)

        # No limits of the library's own: what is asked is what it makes of messages.
        limits = {"max_payload_length": 64 << 20, "max_backpressure": 64 << 20, "idle_timeout": 0}
        self.app.ws(path, {**behavior, **limits, "message": echo})


def main():
    if os.environ["LASTMILE_OPERATION"] == "configured":
        with open(os.path.join(os.environ["LASTMILE_DATA"], "configuration"), encoding="utf-8") as printed:
            configuration = printed.read()
    else:
        configuration = OWN
    # A call of JavaScript with an object of named constants is one of Python with a dict, once comments are and keys are names.
    program = re.sub(r"^( *)//", r"\1#", configuration, flags=re.MULTILINE)
    app = App()
    exec(program, {"app": Configured(app), "uWS": CompressOptions, "compression": "compression"})
    # Its loop runs no handler of Python's.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    where = AppListenOptions(port=int(os.environ["LASTMILE_PORT"]), host=os.environ["LASTMILE_HOST"])
    app.listen(where, lambda listening: print("READY", flush=True))
    app.run()


if sys.argv[1:] == ["--version"]:
    print(f"Python {sys.version.split()[0]}, uWebSockets in socketify: {version('socketify')}")
else:
    main()
