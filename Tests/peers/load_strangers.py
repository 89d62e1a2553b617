"""Peers that read nothing, and peers that read a byte a second: one of each at every port, and brokers and databases that are like that.

Not a check by itself: load.py uses it."""
import base64
import json
import os
import socket
import struct
import threading
import time


def connected(port):
    end = socket.socket()
    # As little as the kernel allows, so that the daemon soon has to wait.
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
    end.settimeout(20)
    end.connect(("127.0.0.1", port))
    return end


def gpsd(port):
    end = connected(port)
    end.sendall(b'?WATCH={"enable":true,"json":true,"nmea":true};\n')
    return end


def nmea0183(port):
    return connected(port)


def signalk(port):
    end = connected(port)
    rule = {"path": "*", "period": 100, "policy": "fixed"}
    end.sendall(json.dumps({"context": "vessels.self", "subscribe": [rule]}).encode() + b"\r\n")
    return end


def openmetrics(port):
    end = connected(port)
    end.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    return end


def frame(text):
    """A text message of a WebSocket's client: masked, with a mask of zeros."""
    data = text.encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(data))
    return b"\x81" + length + bytes(4) + data


def foxglove(port):
    """Subscribes every channel. How many there are is asked before, with an honest connection."""
    def open_viewer():
        end = connected(port)
        key = base64.b64encode(os.urandom(16)).decode()
        end.sendall(
            f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n".encode())
        return end

    end = open_viewer()
    # Channels have small numbers; what there is not is answered with a status.
    numbers = range(0, 24)
    end.sendall(frame(json.dumps({"op": "subscribe", "subscriptions": [{"id": n + 1, "channelId": n} for n in numbers]})))
    return end


OPENERS = {"gpsd": gpsd, "nmea0183": nmea0183, "signalk": signalk, "openmetrics": openmetrics, "foxglove": foxglove}


class Listener:
    """A server whose connections read nothing, or a byte a second, once they have answered the first bytes."""

    def __init__(self, answer, is_slow):
        self.answer, self.is_slow, self.connections = answer, is_slow, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        self.port = self.listener.getsockname()[1]
        self.ends = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            end, _ = self.listener.accept()
            self.connections += 1
            self.ends.append(end)
            threading.Thread(target=self.serve, args=(end,), daemon=True).start()

    def serve(self, end):
        try:
            if self.answer:
                end.recv(4_096)
                end.sendall(self.answer)
            while self.is_slow and end.recv(1):
                time.sleep(1)
        except OSError:
            pass


def broker(is_slow):
    """Accepts a connection of MQTT 5, and then reads nothing more, or little."""
    return Listener(bytes([0x20, 3, 0, 0, 0]), is_slow)


def database(is_slow):
    """Accepts a connection of HTTP and never answers."""
    return Listener(b"", is_slow)


class Strangers:
    """Connections to the ports of a daemon, of which a half reads nothing and a half a byte a second. Those that are ended come again."""

    def __init__(self, ports):
        self.ports, self.again, self.reads, self.isOver = ports, {}, 0, False
        self.ends = {(kind, is_slow): OPENERS[kind](port) for kind, port in ports.items() for is_slow in (False, True)}
        threading.Thread(target=self.live, daemon=True).start()

    def live(self):
        while not self.isOver:
            for (kind, is_slow), end in list(self.ends.items()):
                try:
                    end.settimeout(0.01)
                    data = end.recv(1, 0 if is_slow else socket.MSG_PEEK)
                    self.reads += len(data)
                    has_ended = not data
                except TimeoutError:
                    has_ended = False
                except OSError:
                    has_ended = True
                if has_ended:
                    end.close()
                    self.again[kind] = self.again.get(kind, 0) + 1
                    try:
                        self.ends[kind, is_slow] = OPENERS[kind](self.ports[kind])
                    except OSError:
                        pass
            time.sleep(1)

    def end(self):
        self.isOver = True
        for end in self.ends.values():
            end.close()


class Database:
    """A server as InfluxDB 2 is one: what it answers, and the points that it took."""

    def __init__(self, port=0, context=None):
        import http.server
        owner = self
        self.status, self.bodies, self.requests = 204, [], 0

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                owner.requests += 1
                status = owner.status
                if status == 204:
                    owner.bodies.append(body)
                text = b"" if status == 204 else b'{"code":"unauthorized","message":"unauthorized access"}'
                self.send_response(status)
                if text:
                    self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *arguments):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, request, address):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        if context:
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def moments(self, measurement):
        """The moments of the points of a measurement that have come, in order, seconds."""
        return sorted(int(line.rpartition(" ")[2]) / 1e9 for body in self.bodies for line in body.splitlines()
                      if line.startswith(measurement + ",") and line.rpartition(" ")[2].isdigit())
