"""Peers of Foxglove's WebSocket and of MCAP files, with what they hold, as those of drive_peers.py.

Not a check by itself: drive.py uses it."""
import bisect
import json
import math
import struct
import subprocess
import threading
import time

from drive_peers import CIRCLE, INTERVAL, Peer
from simulated_rig import COMMAND


def clocks_apart():
    """By how much CLOCK_REALTIME is ahead of CLOCK_MONOTONIC. On a machine that is busy any two looks may be far apart, so that the
    nearest of many count: an error here would shift all messages of a file."""
    found = []
    for _ in range(200):
        before = time.monotonic()
        real = time.time()
        after = time.monotonic()
        found.append((after - before, real - (before + after) / 2))
    return min(found)[1]


class Robots:
    """What a message of ROS 2 says of heading and position: a NaN azimuth, an orientation covariance of -1 and a status below 0 take back."""

    @staticmethod
    def azimuth(message):
        if math.isnan(message.azimuth):
            return ()
        return (90 - math.degrees(message.azimuth)) % 360, INTERVAL * math.degrees(math.sqrt(message.variance))

    @staticmethod
    def orientation(message):
        covariance, q = message.orientation_covariance, message.orientation
        if covariance[0] == -1:
            return ()
        yaw = math.degrees(math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z)))
        return (90 - yaw) % 360, INTERVAL * math.degrees(math.sqrt(covariance[8]))

    @staticmethod
    def place(message):
        if message.status.status < 0 or math.isnan(message.latitude):
            return ()
        has_bar = message.position_covariance_type > 0
        return message.latitude, message.longitude, CIRCLE * math.sqrt(message.position_covariance[0]) if has_bar else None


class Foxglove(Peer):
    """Foxglove's WebSocket by websockets, messages by mcap-ros2-support: headings of `heading/true`, positions of `gnss/fix`."""
    name = "Foxglove"
    topics = {"/heading/true": ("heading", Robots.azimuth), "/gnss/fix": ("position", Robots.place)}
    interval = 0.05

    def __init__(self, port):
        super().__init__()
        self.port = port

    @staticmethod
    def load():
        from mcap_ros2._dynamic import generate_dynamic
        from websockets.sync.client import connect
        return generate_dynamic, connect

    def listen(self):
        generate_dynamic, connect = self.load()
        with connect(f"ws://127.0.0.1:{self.port}", subprotocols=["foxglove.sdk.v1"]) as viewer:
            channels, asked = {}, {}
            for message in viewer:
                if isinstance(message, str):
                    advertised = json.loads(message)
                    if advertised["op"] != "advertise":
                        continue
                    for channel in advertised["channels"]:
                        if channel["topic"] in self.topics:
                            name = channel["schemaName"]
                            channels[channel["id"]] = (*self.topics[channel["topic"]], generate_dynamic(name, channel["schema"])[name])
                    subscriptions = [{"id": number, "channelId": number} for number in channels if number not in asked]
                    asked.update({entry["id"]: entry for entry in subscriptions})
                    viewer.send(json.dumps({"op": "subscribe", "subscriptions": subscriptions}))
                    continue
                self.messages += 1
                opcode, subscription, _ = struct.unpack_from("<BIQ", message)
                if opcode == 1:
                    kind, *readers = channels[subscription]
                    self.wait(kind, (readers, message[13:]))

    def read(self, kind, message):
        (read, decode), data = message
        decoded = decode(data)
        if decoded.header.stamp.sec:
            self.date(decoded.header.stamp.sec)
        return read(decoded), None


class ROSImu(Foxglove):
    """The same WebSocket, as a robot: the orientation of `imu/data`, which is against true north, x to the east."""
    name = "ROS 2 Imu"
    topics = {"/imu/data": ("heading", Robots.orientation), "/gnss/fix": ("position", Robots.place)}


class MCAP(Peer):
    """`lodestone record --format mcap` of the daemon's board, read by mcap when the drive is over: at each moment the newest message. Its log
    time is the moment that a value was measured at, and not when it came: a late recorder costs no accuracy, only what it was not sent."""
    name = "MCAP"

    def __init__(self, rig):
        super().__init__()
        self.rig, self.path = rig, rig.folder / "drive.mcap"
        self.changes, self.words = {"heading": [], "position": []}, ""
        # (CLOCK_REALTIME, by how much it is ahead of CLOCK_MONOTONIC), once a second.
        self.clocks = []

    def start(self):
        self.process = subprocess.Popen(
            [COMMAND, "record", "--format", "mcap", str(self.path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=self.rig.surroundings)
        threading.Thread(target=self.compare, daemon=True).start()
        return self

    def compare(self):
        while self.process.poll() is None:
            ahead = clocks_apart()
            self.clocks.append((time.monotonic() + ahead, ahead))
            time.sleep(1)

    def finish(self):
        """Ends the recording, and reads it: (moment by CLOCK_MONOTONIC, value) in order."""
        from mcap.reader import make_reader
        from mcap_ros2.decoder import DecoderFactory
        self.process.terminate()
        self.words = self.process.communicate(timeout=30)[1].strip()
        if self.process.returncode not in (0, -15) or not self.path.exists():
            self.failure = self.words
            return
        # A clock that is corrected during the drive changes what later messages are stamped with.
        ahead = [ahead for _, ahead in self.clocks]
        begun = [real for real, _ in self.clocks]
        with open(self.path, "rb") as file:
            for _, channel, message, decoded in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
                if channel.topic not in Foxglove.topics:
                    continue
                self.messages += 1
                kind, read = Foxglove.topics[channel.topic]
                seconds = message.log_time / 1e9
                # While the clock is not set it is the time since the boot.
                if seconds > 5e8:
                    seconds -= ahead[max(0, bisect.bisect(begun, seconds) - 1)]
                self.changes[kind].append((seconds, read(decoded)))
        for changes in self.changes.values():
            changes.sort(key=lambda change: change[0])
        times = [moment for moment, _ in self.changes["heading"]]
        pauses = [after - before for before, after in zip(times, times[1:])] + [0]
        self.words += (f"; headings {max(pauses):.1f} s apart at most, {sum(pause > 0.5 for pause in pauses)} times more than 0.5 s;"
                       f" the clock was corrected by {1e3 * (max(ahead) - min(ahead)):.1f} ms")

    def seek(self, kind, now):
        """Brings the newest value of a moment, which is later than that of the call before, to where `held` looks."""
        changes = self.changes[kind]
        while changes and changes[0][0] <= now:
            told, value = changes.pop(0)
            self.values[kind] = (told, value, 0.0) if value else None
