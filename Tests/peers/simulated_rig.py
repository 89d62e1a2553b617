"""`lodestone serve` on a simulated board whose world is known: its way, its faults, its truth, and the clock of the machine.

Not a check by itself: drive.py and load.py use it. Faults and truth go over the control line of the simulated board
(Tests/Hardware/README.md). Whether the clock of the machine is set, and what it shows, is decided by a small library between
the daemon and libc, because no test may set the clock of the machine.
"""
import json
import math
import mmap
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from checks import COMMAND, environment  # noqa: E402

START = (52.5163, 13.3777)
ROOT = pathlib.Path(__file__).resolve().parents[2]

# A clock that can be wrong: CLOCK_REALTIME with an offset, and deadlines by it brought back before they are waited for.
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>
static volatile int64_t *state;
static int (*get)(clockid_t, struct timespec *);
static int (*condition)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
static int (*semaphore)(sem_t *, const struct timespec *);
static void *find(const char *name, const char *version) {
  void *found = dlvsym(RTLD_NEXT, name, version);
  return found ? found : dlsym(RTLD_NEXT, name);
}
__attribute__((constructor)) static void begin(void) {
  get = dlsym(RTLD_NEXT, "clock_gettime");
  condition = find("pthread_cond_timedwait", "GLIBC_2.3.2");
  semaphore = dlsym(RTLD_NEXT, "sem_timedwait");
  const char *path = getenv("RIG_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void *map = mmap(0, 16, PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (map != MAP_FAILED) state = map;
}
static int64_t offset(void) { return state ? state[0] : 0; }
int clock_gettime(clockid_t id, struct timespec *time) {
  int result = get ? get(id, time) : (int)syscall(SYS_clock_gettime, id, time);
  if (result == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) time->tv_sec += offset();
  return result;
}
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}
time_t time(time_t *out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
// A deadline of less than 16 years is one by CLOCK_MONOTONIC.
static struct timespec real(const struct timespec *deadline) {
  struct timespec result = *deadline;
  if (result.tv_sec > 500000000) result.tv_sec -= offset();
  return result;
}
int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *deadline) {
  struct timespec moment = real(deadline);
  return condition(c, m, &moment);
}
int sem_timedwait(sem_t *s, const struct timespec *deadline) {
  struct timespec moment = real(deadline);
  return semaphore(s, &moment);
}
int adjtimex(struct timex *clock) {
  memset(clock, 0, sizeof *clock);
  int is_unset = state && state[1];
  clock->status = is_unset ? STA_UNSYNC : 0;
  return is_unset ? TIME_ERROR : TIME_OK;
}
int ntp_adjtime(struct timex *clock) { return adjtimex(clock); }
"""


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def metres(latitude, longitude, other, other_longitude):
    """How far two places are apart that are near each other."""
    north = (latitude - other) * 111_195
    return math.hypot(north, (longitude - other_longitude) * 111_195 * math.cos(math.radians(other)))


def turn(a, b):
    """The angle from b to a in degrees, -180 up to 180."""
    return (a - b + 180) % 360 - 180


class Control:
    """A control line: a request, its answer."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(10)
        self.socket.connect(str(path))
        self.rest = b""

    def ask(self, request):
        self.socket.sendall(request.encode() + b"\n")
        while b"\n" not in self.rest:
            found = self.socket.recv(4096)
            if not found:
                raise ConnectionError("the control line is closed")
            self.rest += found
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def truth(self):
        return json.loads(self.ask("truth"))


class Rig:
    """A daemon with outputs. `outputs` are lines of YAML, a mapping each; `legs` are the way of the board, or `None` for its own."""

    def __init__(self, outputs, legs=None, board=(), keys=(), has_clock=True, name="rig"):
        self.scratch = tempfile.TemporaryDirectory(prefix=f"lodestone-{name}-")
        self.folder = pathlib.Path(self.scratch.name)
        self.log = self.folder / "serve.log"
        text = (ROOT / "Boards/simulated.yaml").read_text()
        if legs is not None:
            head = text.partition("  legs:\n")[0]
            text = head + "  legs:\n" + "".join(f"    - {leg}\n" for leg in legs)
        text = "".join(f"{line}\n" for line in board) + text + f"\n  control: {self.folder / 'control'}\n"
        (self.folder / "board.yaml").write_text(text)
        self.variables = environment(STATE_DIRECTORY=str(self.folder / "state"), LODESTONE_SOCKET=str(self.folder / "s"))
        self.clock = self.make_clock() if has_clock else None
        # What else is between its programs and libc, and what these libraries are told.
        self.libraries, self.more = [], {}
        self.process, self.keys = None, keys
        self.write(outputs)

    def write(self, outputs):
        """Writes serve.yaml with these outputs."""
        lines = "".join(f"  - {output}\n" for output in outputs)
        (self.folder / "serve.yaml").write_text(
            f"schema: 1\nboard: {self.folder / 'board.yaml'}\nsocket: {self.folder / 's'}\n"
            + "".join(f"{key}\n" for key in self.keys) + (f"outputs:\n{lines}" if lines else ""))

    def make_clock(self):
        """The machine's clock as a test wants it; `None` without a C compiler."""
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if not compiler:
            return None
        (self.folder / "clock.c").write_text(CLOCK)
        library = self.folder / "clock.so"
        subprocess.run(
            [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(self.folder / "clock.c"), "-ldl", "-pthread"], check=True)
        file = self.folder / "clock"
        file.write_bytes(bytes(16))
        with open(file, "r+b") as opened:
            return mmap.mmap(opened.fileno(), 16)

    def set_clock(self, is_set, offset=0):
        """Says whether the machine's clock is set, and by how many seconds it is wrong."""
        if self.clock is not None:
            self.clock[0:16] = struct.pack("<qq", offset, 0 if is_set else 1)

    @property
    def surroundings(self):
        """The environment of a program that sees the same clock as the daemon."""
        libraries = ([] if self.clock is None else [str(self.folder / "clock.so")]) + self.libraries
        if not libraries:
            return self.variables
        return {**self.variables, **self.more, "LD_PRELOAD": ":".join(libraries), "RIG_CLOCK": str(self.folder / "clock")}

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [COMMAND, "serve", "--configuration", str(self.folder / "serve.yaml")], stdout=log, stderr=subprocess.STDOUT,
                env=self.surroundings)
        if not wait_for(lambda: "serving" in self.log.read_text() or self.process.poll() is not None) or self.process.poll() is not None:
            text = self.log.read_text()
            self.end()
            sys.exit(f"the daemon does not serve:\n{text}")
        return self

    __enter__ = start

    def __exit__(self, *_):
        self.end()

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(10)
        self.scratch.cleanup()

    def control(self):
        """The board's control line: it is there once some program wants something of the board."""
        wait_for((self.folder / "control").exists)
        return Control(self.folder / "control")

    def run(self, *arguments, seconds=30):
        return subprocess.run(
            [COMMAND, *arguments], capture_output=True, text=True, cwd=self.folder, timeout=seconds, env=self.variables)

    def outputs(self):
        """What `--status` says of the outputs, a dictionary each."""
        try:
            return json.loads(self.run("serve", "--status", "--format", "json").stdout)["outputs"]
        except (ValueError, KeyError):
            return []

    def output(self, name):
        return next((output for output in self.outputs() if output["name"] == name), {})

    def words(self):
        """What `--status` says to a person."""
        return self.run("serve", "--status").stdout

    def usage(self):
        return usage(self.process.pid)


def usage(process):
    """Seconds of a processor since the start of a process, and its resident memory in megabytes."""
    words = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    pages = int(pathlib.Path(f"/proc/{process}/statm").read_text().split()[1])
    seconds = (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    try:
        # Where the kernel counts ticks, a program that runs between them takes no time: its scheduler counts nanoseconds, of threads that run.
        tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
        seconds = max(seconds, sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9)
    except (OSError, ValueError):
        pass
    return seconds, pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def waited(process):
    """Seconds for which the threads of a process that run now were ready and got no processor, since their start."""
    total = 0
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        try:
            total += int((task / "schedstat").read_text().split()[1])
        except (OSError, ValueError, IndexError):
            pass
    return total / 1e9


class Stream:
    """The daemon's own lines: what it trusts. A heading or a position that it does not trust has been so since a moment."""

    def __init__(self, rig):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(rig.folder / "stream.sock"))
        self.socket.sendall(b'{"subscribe":["heading","location"],"rate":20}\n')
        now = time.monotonic()
        self.untrusted = {"heading": now, "location": now}
        # Times with nothing to be trusted that are over: begin and end.
        self.past = {"heading": [], "location": []}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        keys = {"heading": "headingAccuracy", "location": "horizontalAccuracy"}
        with self.socket.makefile("rb") as lines:
            for text in lines:
                line = json.loads(text)
                kind = line["kind"]
                if kind in keys:
                    is_trusted = line.get(keys[kind], -1) >= 0 and (kind == "location" or line.get("trueHeading", -1) >= 0)
                    since, now = self.untrusted[kind], time.monotonic()
                    if is_trusted and since is not None:
                        self.past[kind].append((since, now))
                    if is_trusted or since is None:
                        self.untrusted[kind] = None if is_trusted else now

    def was_untrusted(self, kind, moment, notice):
        """Whether a value was not to be trusted at a moment: for longer than may pass unnoticed, and still for half a second, because who is
        told of the end may be told before this reader is."""
        since = self.untrusted[kind]
        spans = self.past[kind] + ([] if since is None else [(since, math.inf)])
        return any(begin + notice < moment < end - 0.5 for begin, end in spans)
