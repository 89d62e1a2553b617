"""The connection to the daemon."""

from __future__ import annotations

import json
import os
import select
import socket
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from ._readings import Lost, Reading, reading

DEFAULT_SOCKET = "/run/lodestone/stream.sock"
KINDS = (
    "heading",
    "attitude",
    "location",
    "altitude",
    "absoluteAltitude",
    "sky",
    "motion",
    "waves",
    "sample",
    "sensor",
    "error",
)
_LONGEST_LINE = 1 << 20
_GREETING = 5.0
_LONGEST_WAIT = 366 * 86_400.0
_PAUSES = (0.05, 1.0)


class LodestoneError(Exception):
    """The daemon refuses what was asked for; or it cannot be reached, and the stream is not to reconnect."""


class _Gone(Exception):
    """The connection is lost. The message says why."""


class Stream(Iterator[Reading]):
    """Readings of the daemon, one after the other. Use `stream()` to make one."""

    def __init__(
        self,
        kinds: Iterable[str],
        rate: float | None,
        path: str,
        timeout: float | None,
        reconnects: bool,
    ) -> None:
        chosen = list(dict.fromkeys([kinds] if isinstance(kinds, str) else kinds))
        if not chosen:
            raise ValueError(f"no kind of reading was chosen; the kinds are {', '.join(KINDS)}")
        for kind in chosen:
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is no kind of reading; the kinds are {', '.join(KINDS)}")
        if timeout is not None and not 0 <= timeout <= _LONGEST_WAIT:
            raise ValueError("timeout is a number of seconds, a year at most")
        is_number = isinstance(rate, (int, float)) and not isinstance(rate, bool)
        if rate is not None and not (is_number and 0.001 <= rate <= 10_000):
            raise ValueError("rate is a number of readings a second, from 0.001 to 10000")
        request: dict[str, Any] = {"subscribe": chosen}
        if rate is not None:
            request["rate"] = rate
        self._request = json.dumps(request).encode() + b"\n"
        self._path = path
        self._timeout = timeout
        self._reconnects = reconnects
        self._socket: socket.socket | None = None
        self._bytes = b""
        self._greeting: float | None = None
        self._pause = _PAUSES[0]
        self._has_told_loss = False
        self._is_closed = False

    def __iter__(self) -> Stream:
        return self

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the stream: no more readings come."""
        self._is_closed = True
        self._hang_up()

    def __next__(self) -> Reading:
        end = None if self._timeout is None else time.monotonic() + self._timeout
        while not self._is_closed:
            try:
                if self._socket is None:
                    self._connect()
                self._greet(end)
                while True:
                    found = self._reading(end)
                    if found is not None:
                        self._pause = _PAUSES[0]
                        self._has_told_loss = False
                        return found
            except TimeoutError:
                # What has come of a line so far is kept for the next call.
                raise
            except (OSError, _Gone) as error:
                self._hang_up()
                if self._is_closed:
                    break
                if not self._reconnects:
                    raise LodestoneError(str(error)) from error
                if not self._has_told_loss:
                    self._has_told_loss = True
                    return Lost(monotonic=time.monotonic(), reason=str(error))
                self._rest(end)
        raise StopIteration

    def _reading(self, end: float | None) -> Reading | None:
        line = self._line(end)
        try:
            return reading(line)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise _Gone("the daemon sends a line that is no reading") from error

    def _rest(self, end: float | None) -> None:
        pause = self._pause
        self._pause = min(2 * self._pause, _PAUSES[1])
        if end is not None and time.monotonic() + pause > end:
            time.sleep(max(0.0, end - time.monotonic()))
            raise TimeoutError(f"no reading came within {self._timeout} s")
        time.sleep(pause)

    def _hang_up(self) -> None:
        connection, self._socket = self._socket, None
        self._bytes, self._greeting = b"", None
        if connection is None:
            return
        try:
            # Another thread may wait for it.
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        connection.close()

    def _connect(self) -> None:
        """Connects to the daemon and sends the request."""
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(_GREETING)
            connection.connect(self._path)
            connection.sendall(self._request)
            connection.setblocking(False)
        except OSError as error:
            connection.close()
            raise _Gone(f"{self._path}: {error.strerror or error}") from error
        self._socket = connection
        if self._is_closed:
            raise _Gone("the stream was closed")
        self._greeting = time.monotonic() + _GREETING

    def _greet(self, end: float | None) -> None:
        """Reads what comes before the readings, unless that was done."""
        while self._greeting is not None:
            limit = self._greeting
            try:
                line = self._line(limit if end is None else min(limit, end))
            except TimeoutError:
                if time.monotonic() < limit:
                    raise
                raise _Gone(f"{self._path}: the daemon does not answer") from None
            if line.get("kind") == "subscription":
                self._greeting = None
            elif line.get("kind") == "error":
                message = str(line.get("message"))
                if self._has_ended():
                    raise _Gone(message)
                # The daemon goes on, and waits for a request that it understands.
                self.close()
                raise LodestoneError(message)

    def _has_ended(self) -> bool:
        """Whether the daemon closes the connection within half a second."""
        try:
            self._line(time.monotonic() + 0.5)
        except TimeoutError:
            return False
        except _Gone:
            return True
        return False

    def _line(self, end: float | None) -> dict[str, Any]:
        """Returns the next line. Raises TimeoutError at the end of the time."""
        while b"\n" not in self._bytes:
            connection = self._socket
            if connection is None or self._is_closed:
                raise _Gone("the stream was closed")
            if len(self._bytes) > _LONGEST_LINE:
                raise _Gone("the daemon sends a line that does not end")
            try:
                arrived = connection.recv(65_536)
            except BlockingIOError:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(f"no reading came within {self._timeout} s") from None
                self._wait(connection, left)
                continue
            if not arrived:
                raise _Gone("the daemon has closed the connection")
            self._bytes += arrived
        text, _, self._bytes = self._bytes.partition(b"\n")
        try:
            line = json.loads(text)
        except (RecursionError, ValueError) as error:
            raise _Gone("the daemon sends a line that is not JSON") from error
        if not isinstance(line, dict) or not isinstance(line.get("monotonic"), (int, float)):
            raise _Gone("the daemon sends a line that is no reading")
        return line

    @staticmethod
    def _wait(connection: socket.socket, seconds: float | None) -> None:
        # A second at most: another thread may close the stream meanwhile.
        poll = select.poll()
        try:
            poll.register(connection, select.POLLIN)
        except ValueError as error:
            raise _Gone("the stream was closed") from error
        poll.poll(1_000 if seconds is None else min(1_000, 1 + int(seconds * 1_000)))


def stream(
    kinds: Iterable[str] = ("heading", "location", "altitude"),
    *,
    rate: float | None = None,
    path: str | None = None,
    timeout: float | None = None,
    reconnects: bool = True,
) -> Stream:
    """Returns the readings of the daemon as they come.

    - kinds: The kinds of reading, of KINDS.
    - rate: The largest number of readings of a kind in a second, or None for all.
    - path: The daemon's socket. Default: $LODESTONE_STREAM, or /run/lodestone/stream.sock.
    - timeout: The number of seconds after which a wait for the next reading ends with TimeoutError, or None to wait for ever.
    - reconnects: Whether the stream goes on after the daemon was started again. Each loss is then a reading, `Lost`. Otherwise it is
      raised as LodestoneError.

    TimeoutError leaves the stream as it is: the next wait goes on.
    """
    return Stream(
        kinds, rate, path or os.environ.get("LODESTONE_STREAM") or DEFAULT_SOCKET, timeout, reconnects
    )
