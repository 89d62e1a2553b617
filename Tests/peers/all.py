#!/usr/bin/env python3
"""Every protocol of `lodestone serve` against programs that others have written: all.py FOLDER [--long] [--only NAME...]

FOLDER is where Scripts/build.sh has put the programs. Each script of this folder that is named below serves the simulated board and has its
peers read it; they run side by side, each with a deadline, and one that fails is tried once more by itself. At the end stands a table of
peers: a peer has passed if the check that is named for it has passed. `--long` adds what takes more than a minute and a half.

`Scripts/prepare.sh oracles` installs the peers. One that is missing fails in CI; elsewhere it is reported and left out."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("LODESTONE_CACHE", pathlib.Path.home() / ".cache/lodestone"))
PLACE = CACHE / "peers"
PYTHON = PLACE / "bin" / "python"
SCHEMAS = PLACE / "signalk" / "schemas"
# At once: more of them than processors, since they wait most of their time.
SIDE_BY_SIDE = 8
PATHS = [PLACE / "programs", "/usr/sbin"]


class Peer:
    """What a script holds a protocol against.

    `proof` is the beginning of the check that shows it. `package` is a package of PyPI, or `debian:NAME`, or `-` for what no registry
    has.
    """

    def __init__(self, name, package, protocol, shows, proof):
        self.name, self.package, self.protocol, self.shows, self.proof = name, package, protocol, shows, proof

    def version(self):
        kind, _, name = self.package.rpartition(":")
        if kind == "debian":
            done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], capture_output=True, text=True)
            return done.stdout.partition("-")[0].partition("+")[0].rpartition(":")[2] if done.returncode == 0 else unpacked(name)
        return VERSIONS.get(self.package.lower(), "")


class Script:
    """A script with its deadline in seconds, and the programs without which it is not run."""

    def __init__(self, name, seconds, *peers, needs=(), arguments=()):
        self.name, self.seconds, self.peers, self.needs, self.arguments = name, seconds, peers, needs, arguments
        self.code, self.output, self.took, self.tries = None, "", 0.0, 0

    @property
    def path(self):
        return HERE.parent / "outputs.py" if self.name == "outputs" else HERE / f"{self.name}.py"

    def run(self, folder, long):
        target = folder if self.name == "outputs" else folder / "lodestone"
        command = [str(PYTHON if PYTHON.exists() else sys.executable), "-W", "ignore::DeprecationWarning", str(self.path), str(target)]
        variables = {**os.environ, "PATH": ":".join([*map(str, PATHS), os.environ["PATH"]])}
        missing = [need for need in self.needs if shutil.which(need, path=variables["PATH"]) is None]
        if missing:
            self.output = f"skipped: {', '.join(missing)} not installed\n"
            return self
        if long:
            variables["LODESTONE_LONG"] = "1"
        begin, self.tries = time.monotonic(), self.tries + 1
        process = subprocess.Popen(
            [*command, *map(str, self.arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables,
            errors="replace", start_new_session=True)
        try:
            self.output = process.communicate(timeout=self.seconds * (2 if long else 1))[0]
            self.code = process.returncode
        except subprocess.TimeoutExpired:
            # With all that it has started: each script is a session of its own.
            os.killpg(process.pid, signal.SIGKILL)
            self.output = process.communicate()[0] + "\nFAILED  the deadline was exceeded\n"
            self.code = 124
        self.took = time.monotonic() - begin
        return self

    @property
    def passed(self):
        return re.findall(r"^ok +(.*)", self.output, re.M)

    @property
    def skipped(self):
        return re.findall(r"^skipped:? ?(.*)", self.output, re.M) + re.findall(r"^\S+-peer: skipped, (.*)", self.output, re.M)

    @property
    def lacks_module(self):
        return "No module named" in self.output

    def result(self, peer):
        if any(line.startswith(peer.proof) for line in self.passed):
            return "passed" if self.tries == 1 else "passed at the second try"
        is_missing = peer.package == "-" or self.lacks_module or self.skipped
        return "FAILED" if self.code and not is_missing else "not here"


def unpacked(name):
    """The version of a package that Tests/peers/setup.sh has unpacked."""
    for file in CACHE.glob(f"peer-{name}-*/usr/share/doc/{name}/changelog.Debian.gz"):
        done = subprocess.run(["zcat", str(file)], capture_output=True, text=True)
        found = re.match(r"\S+ \((?:\d+:)?([^-+)]+)", done.stdout)
        return found[1] if found else ""
    return ""


def versions():
    if not PYTHON.exists():
        return {}
    done = subprocess.run([str(PYTHON), "-c", (
        "import importlib.metadata as m\n"
        "for d in m.distributions(): print(d.metadata['Name'].lower().replace('_', '-'), d.version)")], capture_output=True, text=True)
    return dict(line.split(" ", 1) for line in done.stdout.splitlines())


SCRIPTS = [
    Script("mqtt-peer", 200,
           Peer("mosquitto", "debian:mosquitto", "MQTT 5",
                "restarts, refusals, last will, TLS with a wrong name", "after the broker's restart"),
           Peer("mosquitto_sub -V mqttv5", "debian:mosquitto-clients", "MQTT 5",
                "description retained, values not, QoS as chosen", "every topic of an entity"),
           needs=("mosquitto", "mosquitto_sub", "openssl")),
    Script("outputs", 200,
           Peer("gpspipe", "debian:gpsd-clients", "gpsd",
                "VERSION, DEVICES, WATCH, TPV, SKY, ATT; sentences", "gpspipe -w gets every kind"),
           Peer("cgps", "debian:gpsd-clients", "gpsd", "a fix with latitude and longitude", "cgps shows a fix"),
           Peer("gpsd", "debian:gpsd", "NMEA 0183",
                "over TCP and UDP the same place, and a heading", "gpsd has a fix by our sentences over udp"),
           needs=("gpsd", "gpspipe")),
    Script("mcap-peer", 170,
           Peer("mcap", "mcap", "MCAP",
                "record, replay, track; a file whose process was killed", "a file whose process was killed is read by SeekingReader"),
           Peer("mcap-ros2-support", "mcap-ros2-support", "MCAP",
                "every message decodes by its own schema", "it has motion, positions and the air"),
           Peer("rosbags", "rosbags", "MCAP", "as many messages as mcap", "rosbags reads as many")),
    Script("influxdb-peer", 170,
           Peer("influxd", "debian:influxdb", "InfluxDB", "the position, queried, from datagrams", "InfluxDB 1 has the position")),
    Script("signalk-peer", 150,
           Peer("websockets", "websockets", "Signal K", "access request, token, deltas, restart, refusals, TLS", "deltas come"),
           Peer("Signal K's schemas 1.8.2", "-", "Signal K",
                "every hello and delta is valid", "every message is valid by Signal K's schemas"),
           needs=("openssl",), arguments=(SCHEMAS,) if SCHEMAS.is_dir() else ()),
    Script("nmea-line-peer", 150,
           Peer("pynmea2", "pynmea2", "NMEA 0183",
                "each sentence of a pty and of a serial line", "pynmea2 parses every sentence of the line"),
           Peer("pyserial", "pyserial", "NMEA 0183", "pty opened as a port; 4,800 baud kept", "at its rate")),
    Script("foxglove-peer", 120,
           Peer("websockets", "websockets", "Foxglove", "both sub-protocols, channels, subscriptions", "the present name is preferred"),
           Peer("mcap-ros2-support", "mcap-ros2-support", "Foxglove",
                "live messages decode by the advertised schemas", "/imu/data comes")),
    Script("desktop-peer", 150,
           Peer("gdbus", "debian:libglib2.0-bin", "SensorProxy",
                "introspection, claims, headings as signals", "headings come as signals"),
           Peer("monitor-sensor", "debian:iio-sensor-proxy", "SensorProxy", "no accelerometer, no light", "monitor-sensor sees"),
           Peer("avahi-browse", "debian:avahi-utils", "DNS-SD", "_nmea-0183._tcp with its port", "avahi-browse finds"),
           Peer("where-am-i of GeoClue", "debian:geoclue-2-demo", "NMEA 0183", "the place, found by Avahi", "where-am-i shows the place"),
           needs=("dbus-daemon", "gdbus")),
    Script("mavlink-peer", 120,
           Peer("pymavlink", "pymavlink", "MAVLink 2",
                "each message over UDP and serial, none broken or lost", "pymavlink takes every message")),
    Script("homeassistant-peer", 100,
           Peer("paho-mqtt", "paho-mqtt", "MQTT 5", "description and values", "paho-mqtt gets the description"),
           Peer("Home Assistant 2024.3.3", "-", "Home Assistant", "its schemas take every entity", "Home Assistant's schemas take"),
           Peer("Jinja2", "jinja2", "Home Assistant", "each template gives a state that is valid", "Jinja2 renders every message"),
           needs=("mosquitto",)),
    Script("nmea-network-peer", 100,
           Peer("pynmeagps", "pynmeagps", "NMEA 0183", "all 16 sentences over TCP, with their checksums", "pynmeagps knows all sixteen"),
           Peer("pynmea2", "pynmea2", "NMEA 0183",
                "all sentences of datagrams; empty, not zero", "pynmea2 takes every sentence of the datagrams")),
    Script("metrics-peer", 150,
           Peer("prometheus-client", "prometheus-client", "OpenMetrics", "parses; NaN when not known; counters rise", "counters rise"),
           Peer("Prometheus", "debian:prometheus", "OpenMetrics", "scrapes; a position and a rate of samples", "Prometheus scrapes")),
    Script("gpsd-python-peer", 110,
           Peer("python3-gps", "debian:python3-gps", "gpsd", "a fix, its accuracies, satellites, a heading", "python3-gps has a fix")),
    Script("gpsd-raw-peer", 150,
           Peer("gpspipe -R", "debian:gpsd-clients", "gpsd",
                "a receiver's own bytes, and none without exact positions", "gpspipe -R gets the receiver's bytes"),
           Peer("gpsdecode", "debian:gpsd-clients", "gpsd",
                "positions in the bytes of both levels", "gpsdecode reads positions in these"),
           needs=("gpspipe", "gpsdecode")),
    Script("nmea2000-peer", 90,
           Peer("nmea2000", "nmea2000", "NMEA 2000", "17 parameter groups of printed frames", "nmea2000 decodes every"),
           Peer("canboat's analyzer", "-", "NMEA 2000", "the same, and the address claim", "canboat's analyzer decodes every")),
    Script("try-peer", 90),
    Script("ros2-bridge-peer", 90,
           Peer("rosbags", "rosbags", "rosbridge", "each message has the fields of its type", "every message has the fields")),
]
VERSIONS = {}


def table(scripts):
    rows = [("peer", "protocol", "what it showed", "result")]
    for script in scripts:
        for peer in script.peers:
            version = peer.version()
            rows.append((f"{peer.name} {version}".strip(), peer.protocol, peer.shows, script.result(peer)))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*(cell.ljust(width) for cell, width in zip(row, widths)), row[3]]) for row in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="scripts, such as mqtt-peer")
    parser.add_argument("--at-once", type=int, default=SIDE_BY_SIDE)
    options = parser.parse_args()
    folder = options.folder.resolve()
    if not os.access(folder / "lodestone", os.X_OK):
        parser.error(f"{folder} has no lodestone: Scripts/build.sh --bin says where it is")
    VERSIONS.update(versions())
    scripts = [script for script in SCRIPTS if not options.only or script.name in options.only]
    if options.only and len(scripts) < len(set(options.only)):
        parser.error(f"the scripts are {', '.join(script.name for script in SCRIPTS)}")
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(options.at_once) as pool:
        list(pool.map(lambda script: script.run(folder, options.long), scripts))
    for script in scripts:
        # A neighbour's work makes a board late. A fault comes again.
        if script.code and not script.lacks_module:
            print(f"\n== {script.name}: exit code {script.code}, once more\n{script.output}", flush=True)
            script.run(folder, options.long)
    failed = [script for script in scripts if script.code]
    for script in scripts:
        if script.code and not script.lacks_module:
            print(f"\n== {script.name}: exit code {script.code}\n{script.output}")
    print()
    print("\n".join(table(scripts)))
    print()
    missing = 0
    for script in scripts:
        lacks = [peer for peer in script.peers if script.result(peer) == "not here" and peer.package != "-"]
        missing += len(lacks)
        skipped = f"; skipped: {'; '.join(script.skipped)}" if script.skipped else ""
        print(f"{script.name:20} {len(script.passed):3} checks passed in {script.took:4.0f} s{skipped}")
    is_ci = bool(os.environ.get("CI"))
    if missing:
        print(f"{missing} peers are not here: Scripts/prepare.sh oracles installs them")
    code = int(any(not script.lacks_module for script in failed) or bool(missing) and is_ci)
    print(f"peers: {'FAILED' if code else 'passed'} in {time.monotonic() - begin:.0f} s")
    return code


if __name__ == "__main__":
    sys.exit(main())
