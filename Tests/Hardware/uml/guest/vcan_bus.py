"""In the guest: a virtual CAN interface, another node of NMEA 2000 at it, and what the node hears.

vcan.py uses it. The numbers are those of ISO 11783-3 and -5 and of canboat's database, not of what it listens to."""
import select
import socket
import struct
import threading
import time

REQUEST, CLAIM, ACKNOWLEDGEMENT = 59904, 60928, 59392
PRODUCT, PGN_LIST, HEARTBEAT = 126996, 126464, 126993
HEADING, POSITION, FIX, SATELLITES = 127250, 129025, 129029, 129540
EXTENDED = 0x80000000
ALL, NOBODY = 255, 254


def link_request(kind, flags, name, changes=(0, 0), attributes=b""):
    """A request of rtnetlink(7) about an interface. Returns the kernel's error number, 0 for none."""
    index = 0
    if kind == 17 or changes[1]:
        index = socket.if_nametoindex(name)
    label = name.encode() + b"\0"
    body = struct.pack("=BBHiII", socket.AF_UNSPEC, 0, 0, index, *changes)
    body += attribute(3, label) + attributes
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as kernel:
        # NLM_F_REQUEST and NLM_F_ACK.
        kernel.send(struct.pack("=IHHII", 16 + len(body), kind, flags | 5, 1, 0) + body)
        answer = kernel.recv(4096)
    # An acknowledgement is an error (2) with the number 0.
    return -struct.unpack_from("=i", answer, 16)[0] if struct.unpack_from("=H", answer, 4)[0] == 2 else -1


def attribute(number, value):
    length = 4 + len(value)
    return struct.pack("=HH", length, number) + value + b"\0" * (-length % 4)


def make(name):
    """Adds a vcan interface (RTM_NEWLINK with NLM_F_CREATE and NLM_F_EXCL)."""
    return link_request(16, 0x600, name, attributes=attribute(18, attribute(1, b"vcan")))


def switch(name, is_up):
    return link_request(16, 0, name, (1 if is_up else 0, 1))


def remove(name):
    return link_request(17, 0, name)


class Frame:
    """A frame with an identifier of 29 bits, and the moment at which it came."""

    def __init__(self, when, identifier, data):
        self.when, self.data = when, data
        self.priority, group, self.source = identifier >> 26 & 7, identifier >> 8 & 0x3FFFF, identifier & 0xFF
        is_addressed = group >> 8 & 0xFF < 240
        self.destination = group & 0xFF if is_addressed else ALL
        self.pgn = group & 0x3FF00 if is_addressed else group

    def __repr__(self):
        return f"{self.pgn} from {self.source}: {self.data.hex()}"


class Bus:
    """A socket at an interface, whose frames a thread keeps."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
        self.socket.bind((name,))
        self.frames, self.lock, self.is_open = [], threading.Lock(), True
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while self.is_open:
            if not select.select([self.socket], [], [], 0.2)[0]:
                continue
            try:
                raw = self.socket.recv(16)
            except OSError:
                # The interface went down, or away.
                time.sleep(0.05)
                continue
            identifier, length = struct.unpack_from("=IB", raw)
            if identifier & EXTENDED:
                with self.lock:
                    self.frames.append(Frame(time.monotonic(), identifier & 0x1FFFFFFF, raw[8:8 + length]))

    def close(self):
        self.is_open = False

    def send(self, pgn, data, source, destination=ALL, priority=6):
        group = pgn | destination if pgn >> 8 & 0xFF < 240 else pgn
        identifier = priority << 26 | group << 8 | source | EXTENDED
        # Before it is sent: an answer may come before the call returns.
        moment = time.monotonic()
        while True:
            try:
                self.socket.send(struct.pack("=IB3x8s", identifier, len(data), bytes(data)))
                return moment
            except BlockingIOError:
                time.sleep(0.001)
            except OSError as error:
                # ENOBUFS: the queue of the interface is full.
                if error.errno != 105:
                    raise
                time.sleep(0.001)

    def since(self, moment, pgn=None, source=None):
        with self.lock:
            return [frame for frame in self.frames if frame.when >= moment
                    and (pgn is None or frame.pgn == pgn) and (source is None or frame.source == source)]

    def waits(self, pgn, moment, seconds, source=None, holds=lambda frame: True):
        """The first frame of a parameter group since a moment for which a condition holds, or None."""
        deadline = time.monotonic() + seconds
        while True:
            found = [frame for frame in self.since(moment, pgn, source) if holds(frame)]
            if found or time.monotonic() >= deadline:
                return found[0] if found else None
            time.sleep(0.02)

    def packets(self, pgn, moment, source):
        """The payloads of the fast packets of a parameter group since a moment that are complete."""
        found, waiting = [], {}
        for frame in self.since(moment, pgn, source):
            sequence, index = frame.data[0] >> 5, frame.data[0] & 0x1F
            if index == 0:
                waiting[sequence] = (frame.data[1], bytes(frame.data[2:]), 1)
                size, payload, _ = waiting[sequence]
            elif sequence in waiting and waiting[sequence][2] == index:
                size, payload, count = waiting[sequence]
                payload += bytes(frame.data[1:])
                waiting[sequence] = (size, payload, count + 1)
            else:
                waiting.pop(sequence, None)
                continue
            if len(payload) >= size:
                found.append(payload[:size])
                del waiting[sequence]
        return found
