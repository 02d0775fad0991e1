"""What the sensor and its clients share."""

import os
import sys

import Ice

sys.dont_write_bytecode = True
FOLDER = os.path.dirname(os.path.abspath(__file__))
Ice.loadSlice("--all " + os.path.join(FOLDER, "Events.ice"))


def communicator(host):
    """Without environment, files or name service, and with one thread, so that calls are in order."""
    properties = Ice.createProperties()
    properties.setProperty("Ice.ACM.Heartbeat", "0")
    properties.setProperty("Ice.ACM.Close", "0")
    properties.setProperty("Ice.Default.Host", host)
    data = Ice.InitializationData()
    data.properties = properties
    return Ice.initialize(data)
