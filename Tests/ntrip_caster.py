"""Casters of corrections and a receiver at a pseudo terminal, for ntrip.py. Not a check by itself."""
import base64
import os
import pty
import select
import socket
import ssl
import threading
import time
import tty

USER, PASSWORD, MOUNT = "me", "hush-hush", "pygnssutils"
TABLE = (f"STR;{MOUNT};Roof;RTCM 3.3;1005(5),1077(1);2;GPS;TEST;DEU;48.10;11.60;1;0;test;none;B;N;0;\r\n"
         "STR;OTHER;Hill;RTCM 3.2;1004(1);1;GPS;TEST;DEU;48.20;11.70;0;0;test;none;N;N;0;\r\nENDSOURCETABLE\r\n")


def crc24q(data):
    """CRC-24Q, RTCM 10403.3, section 4.2."""
    value = 0
    for byte in data:
        value ^= byte << 16
        for _ in range(8):
            value <<= 1
            if value & 0x1000000:
                value ^= 0x1864CFB
    return value


def frame(number, size):
    content = bytes([number >> 4, (number & 15) << 4]) + os.urandom(size - 2)
    head = bytes([0xD3, size >> 8, size & 255]) + content
    return head + crc24q(head).to_bytes(3, "big")


def frames(data):
    """The numbers of the frames that bytes consist of, and the number of bytes that belong to none."""
    numbers, stray, at = [], 0, 0
    while at < len(data):
        size = (data[at + 1] & 3) << 8 | data[at + 2] if at + 3 <= len(data) else 0
        end = at + size + 6
        if data[at] == 0xD3 and end <= len(data) and crc24q(data[at : end - 3]) == int.from_bytes(data[end - 3 : end], "big"):
            numbers.append(data[at + 3] << 4 | data[at + 4] >> 4)
            at = end
        else:
            stray, at = stray + 1, at + 1
    return numbers, stray


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Caster:
    """A small caster of the check's own: NTRIP 1 or 2, and whatever can be wrong with one."""

    def __init__(self, manner="right", version=2, certificate=None):
        self.manner, self.version = manner, version
        self.requests, self.positions, self.ends = [], [], []
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*certificate)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.talk, args=(client,), daemon=True).start()

    def talk(self, client):
        try:
            if self.context:
                client = self.context.wrap_socket(client, server_side=True)
            with client:
                self.answer(client)
        except OSError:
            pass

    def answer(self, client):
        if self.manner == "slow":
            time.sleep(60)
            return
        if self.manner == "garbage":
            client.sendall(bytes(range(256)) * 20)
            time.sleep(1)
            return
        request = b""
        while b"\r\n\r\n" not in request:
            piece = client.recv(4_096)
            if not piece:
                return
            request += piece
        text = request.decode()
        self.requests.append(text)
        is_new = "Ntrip-Version: Ntrip/2.0" in text
        if self.manner == "busy":
            client.sendall(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
            return
        if self.manner in ("empty", "half"):
            table = "ENDSOURCETABLE\r\n" if self.manner == "empty" else TABLE[: TABLE.index("STR;OTHER") + 20]
            client.sendall(f"SOURCETABLE 200 OK\r\n\r\n{table}".encode())
            return
        if is_new and self.version == 1:
            return
        if self.manner == "closed" or f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}\r\n" not in text:
            # A caster that repeats what it was told.
            told = text.split("Basic ")[-1].split("\r\n")[0] if "Basic " in text else "who?"
            client.sendall(f"HTTP/1.1 401 {told}\r\nWWW-Authenticate: Basic realm=\"/\"\r\n\r\n".encode())
            return
        if not text.startswith(f"GET /{MOUNT} "):
            head = "HTTP/1.1 200 OK\r\nContent-Type: gnss/sourcetable" if is_new else "SOURCETABLE 200 OK"
            client.sendall(f"{head}\r\nContent-Length: {len(TABLE)}\r\n\r\n{TABLE}".encode())
            return
        self.stream(client, is_new)

    def stream(self, client, is_new):
        if is_new:
            client.sendall(b"HTTP/1.1 200 OK\r\nNtrip-Version: Ntrip/2.0\r\nContent-Type: gnss/data\r\nTransfer-Encoding: chunked\r\n\r\n")
        else:
            client.sendall(b"ICY 200 OK\r\n\r\n")
        client.settimeout(0.5)
        for count in range(1_000):
            data = (frame(1005, 19) if count % 5 == 0 else b"") + frame(1077, 300)
            if self.manner == "cut" and count == 6 and len(self.requests) == 1:
                data = data[: len(data) // 2]
            client.sendall(b"%x\r\n%b\r\n" % (len(data), data) if is_new else data)
            if self.manner == "cut" and count == 6 and len(self.requests) == 1:
                self.ends.append(time.monotonic())
                return
            try:
                piece = client.recv(4_096)
                if not piece:
                    return
                self.positions += [line for line in piece.decode().split("\r\n") if line]
            except TimeoutError:
                pass


class Receiver:
    """A receiver at a pseudo terminal: it says GGA and RMC, RTK fixed once it has had five good frames of late."""

    def __init__(self):
        self.master, slave = pty.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        os.close(slave)
        self.heard, self.times = b"", []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        second = 0
        begin = time.monotonic()
        while True:
            wait = begin + second - time.monotonic()
            if wait > 0:
                try:
                    if select.select([self.master], [], [], wait)[0]:
                        piece = os.read(self.master, 4_096)
                        self.heard += piece
                        self.times += [time.monotonic()] * piece.count(0xD3)
                except OSError:
                    # Nobody has it open.
                    time.sleep(0.05)
                continue
            second += 1
            good = len([when for when in self.times if time.monotonic() - when < 5])
            clock = f"12{second // 60 % 60:02d}{second % 60:02d}.00"
            for text in (f"GNGGA,{clock},4807.03800,N,01131.00000,E,{4 if good >= 5 else 1},12,0.7,545.4,M,46.9,M,,",
                         f"GNRMC,{clock},A,4807.03800,N,01131.00000,E,0.0,0.0,291126,,,{'R' if good >= 5 else 'A'}"):
                total = 0
                for byte in text.encode():
                    total ^= byte
                try:
                    os.write(self.master, f"${text}*{total:02X}\r\n".encode())
                except OSError:
                    pass
