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
    "sensor",
    "error",
)
_LONGEST_LINE = 1 << 20
_GREETING = 5.0
_PAUSES = (0.05, 1.0)


class LodestoneError(Exception):
    """The daemon refuses what was asked for, or cannot be reached."""


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
        chosen = [kinds] if isinstance(kinds, str) else list(kinds)
        for kind in chosen:
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is no kind of reading; the kinds are {', '.join(KINDS)}")
        if rate is not None and not rate > 0:
            raise ValueError("rate is a number of readings a second, above zero")
        request: dict[str, Any] = {"subscribe": chosen}
        if rate is not None:
            request["rate"] = rate
        self._request = json.dumps(request).encode() + b"\n"
        self._path = path
        self._timeout = timeout
        self._reconnects = reconnects
        self._socket: socket.socket | None = None
        self._bytes = b""
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
                    self._connect(end)
                while True:
                    found = reading(self._line(end))
                    if found is not None:
                        self._pause = _PAUSES[0]
                        self._has_told_loss = False
                        return found
            except (OSError, _Gone) as error:
                self._hang_up()
                if isinstance(error, TimeoutError):
                    raise
                if not self._reconnects:
                    raise LodestoneError(str(error)) from error
                if not self._has_told_loss:
                    self._has_told_loss = True
                    return Lost(monotonic=time.monotonic(), reason=str(error))
                self._rest(end)
        raise StopIteration

    def _rest(self, end: float | None) -> None:
        if end is not None and time.monotonic() + self._pause > end:
            raise TimeoutError(f"no reading within {self._timeout} s")
        time.sleep(self._pause)
        self._pause = min(2 * self._pause, _PAUSES[1])

    def _hang_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self._bytes = b""

    def _connect(self, end: float | None) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_GREETING)
        try:
            self._socket.connect(self._path)
        except OSError as error:
            raise _Gone(f"{self._path}: {error.strerror or error}") from error
        self._socket.sendall(self._request)
        self._socket.setblocking(False)
        greeting = time.monotonic() + _GREETING
        while True:
            line = self._line(greeting if end is None else min(greeting, end))
            if line.get("kind") == "subscription":
                return
            if line.get("kind") == "error":
                raise _Gone(str(line.get("message")))

    def _line(self, end: float | None) -> dict[str, Any]:
        """Returns the next line. Raises TimeoutError at the end of the time."""
        assert self._socket is not None
        while b"\n" not in self._bytes:
            if len(self._bytes) > _LONGEST_LINE:
                raise _Gone("the daemon sends a line that does not end")
            left = None if end is None else end - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError("no reading came in time")
            if not select.select([self._socket], [], [], left)[0]:
                continue
            arrived = self._socket.recv(65_536)
            if not arrived:
                raise _Gone("the daemon has closed the connection")
            self._bytes += arrived
        text, _, self._bytes = self._bytes.partition(b"\n")
        try:
            line = json.loads(text)
        except ValueError as error:
            raise _Gone("the daemon sends a line that is not JSON") from error
        if not isinstance(line, dict) or "monotonic" not in line:
            raise _Gone("the daemon sends a line that is no reading")
        return line


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
    """
    return Stream(
        kinds, rate, path or os.environ.get("LODESTONE_STREAM") or DEFAULT_SOCKET, timeout, reconnects
    )
