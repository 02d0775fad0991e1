"""Events over MQTT: published and delivered with QoS 1, in one thread."""

import socket
import sys
import time
from importlib.metadata import version
from pathlib import Path

PEERS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PEERS / "mosquitto-events" / "target" / "lib"), str(PEERS / "event-clients")]
sys.dont_write_bytecode = True
import paho.mqtt.client as mqtt  # noqa: E402
from event_client import Json, main  # noqa: E402

TOPIC = "test/event"
PATIENCE = 10


class Connection(Json):
    def __init__(self, host, port):
        self.address = (host, port)
        self.mqtt = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
        self.mqtt.max_inflight_messages_set(0)
        self.mqtt.on_message = self.take
        self.mqtt.on_socket_open = self.opened
        self.mqtt.on_subscribe = self.confirm
        self.mqtt.on_connect = self.confirm
        self.confirmed = False
        self.note = None
        self.goes_on = True
        self.last = 0

    def opened(self, client, userdata, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def confirm(self, client, userdata, *about):
        self.confirmed = True

    def loop_until(self, done, seconds=PATIENCE):
        """Whether it is done within a time."""
        until = time.monotonic() + seconds
        while not done():
            if self.mqtt.loop(1.0) != mqtt.MQTT_ERR_SUCCESS:
                raise ConnectionError("the connection to the broker is lost")
            if time.monotonic() > until:
                return False
        return True

    def expect(self, done, what):
        if not self.loop_until(done):
            raise TimeoutError(f"the broker did not answer {what}")

    async def connect(self):
        self.mqtt.connect(*self.address)
        self.expect(lambda: self.confirmed, "the connection")

    async def close(self):
        self.mqtt.disconnect()

    async def submit(self, event):
        published = self.mqtt.publish(TOPIC, event, qos=1)
        self.expect(published.is_published, "a message")

    async def subscribe(self):
        self.confirmed = False
        self.mqtt.subscribe(TOPIC, qos=1)
        self.expect(lambda: self.confirmed, "the subscription")

    def take(self, client, userdata, message):
        self.goes_on = self.note(message.payload)
        self.last = time.monotonic()

    async def receive(self, note, patience):
        self.note, self.goes_on, self.last = note, True, time.monotonic()
        while self.goes_on and time.monotonic() < self.last + patience:
            self.loop_until(lambda: not self.goes_on, 1)


main(Connection, "paho-mqtt", version("paho-mqtt"))
