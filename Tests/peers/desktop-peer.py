#!/usr/bin/env python3
"""A board on a desktop: `lodestone serve` with sensorproxy on a private D-Bus; gdbus, monitor-sensor, Avahi and GeoClue as the desktop.

    apt-get install dbus libglib2.0-bin python3-gi iio-sensor-proxy avahi-daemon avahi-utils geoclue-2.0 geoclue-2-demo
    python3 Tests/peers/desktop-peer.py LODESTONE

The name, introspection, properties, claims, headings as signals, chips that sleep without a claim, and a daemon that is started again. The
port of NMEA 0183 as avahi-browse finds it, and the position as GeoClue has it from that port, shown by its where-am-i.

As root it runs in namespaces of its own for mounts and the network: Avahi and GeoClue have fixed places for their files, and nothing goes
to a real network. Otherwise both are skipped. Takes a minute. Exit code 1 if a check fails.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

COMMAND = str(pathlib.Path(sys.argv[1]).resolve())
INSIDE = "LODESTONE_PEER_NAMESPACE"
GEOCLUE, WHERE_AM_I = "/usr/libexec/geoclue", "/usr/libexec/geoclue-2.0/demos/where-am-i"
HOST, ADDRESS = "lodestone-peer", "192.0.2.1"
# What GNOME Shell or Phosh are to GeoClue: it asks them whether a program may know the place.
AGENT = """
from gi.repository import Gio, GLib
about = Gio.DBusNodeInfo.new_for_xml('''<node><interface name="org.freedesktop.GeoClue2.Agent">
<method name="AuthorizeApp"><arg type="s" direction="in"/><arg type="u" direction="in"/><arg type="b" direction="out"/>
<arg type="u" direction="out"/></method><property name="MaxAccuracyLevel" type="u" access="read"/></interface></node>''')
bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)
bus.register_object("/org/freedesktop/GeoClue2/Agent", about.interfaces[0],
    lambda *call: call[6].return_value(GLib.Variant("(bu)", (True, call[5].unpack()[1]))), lambda *_: GLib.Variant("u", 8), None)
bus.call("org.freedesktop.GeoClue2", "/org/freedesktop/GeoClue2/Manager", "org.freedesktop.GeoClue2.Manager", "AddAgent",
    GLib.Variant("(s)", ("geoclue-demo-agent",)), None, 0, 5000, None, None)
GLib.MainLoop().run()
"""
BOARD = pathlib.Path(__file__).resolve().parents[2] / "Boards" / "simulated.yaml"
NAME, COMPASS = "net.hadess.SensorProxy", "/net/hadess/SensorProxy/Compass"
folder = tempfile.TemporaryDirectory(prefix="desktop-peer-")
path = pathlib.Path(folder.name)
failures = []
running = []


def expect(name, is_so, detail=""):
    print(f"{'ok  ' if is_so else 'FAIL'} {name}" + (f": {detail}" if detail and not is_so else ""), flush=True)
    if not is_so:
        failures.append(name)
    return is_so


def wait_for(condition, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    return condition()


def start(*command, **options):
    process = subprocess.Popen(command, **options)
    running.append(process)
    return process


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def private_bus():
    file = path / "bus.conf"
    address = f"unix:path={path}/bus"
    file.write_text(f"""<busconfig><type>system</type><listen>{address}</listen><policy context="default">
<allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/><allow user="*"/>
<allow send_type="signal"/></policy></busconfig>""")
    daemon = start("dbus-daemon", f"--config-file={file}", "--nofork", "--nopidfile", "--print-address", stdout=subprocess.PIPE)
    daemon.stdout.readline()
    return address


def environment(address):
    state = path / "state"
    state.mkdir(exist_ok=True)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("LODESTONE")}
    return {**kept, "DBUS_SYSTEM_BUS_ADDRESS": address, "STATE_DIRECTORY": str(state), "XDG_RUNTIME_DIR": str(path)}


def isolate():
    """Begins this script again, in namespaces of its own."""
    if INSIDE in os.environ or os.geteuid() != 0:
        return
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if subprocess.run([*command, "true"], capture_output=True).returncode == 0:
        folder.cleanup()
        os.execvpe("unshare", [*command, sys.executable, *sys.argv], {**os.environ, INSIDE: "1"})


def furnish():
    """What Avahi and GeoClue look for at fixed places, inside the namespaces."""
    def run(*command):
        subprocess.run(command, check=True, capture_output=True)
    run("mount", "--make-rprivate", "/")
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "set", "lo", "multicast", "on")
    # A machine that has loopback addresses alone resolves no names.
    run("ip", "address", "add", f"{ADDRESS}/32", "dev", "lo")
    run("ip", "route", "add", "224.0.0.0/4", "dev", "lo")
    run("mount", "-t", "tmpfs", "tmpfs", "/run")
    for name in ("avahi-daemon", "dbus", "lodestone"):
        pathlib.Path("/run", name).mkdir()
    # GeoClue asks the system's resolver for the host that Avahi has named, as libnss-mdns answers it.
    (path / "hosts").write_text(f"127.0.0.1 localhost\n{ADDRESS} {HOST}.local {HOST}\n")
    run("mount", "--bind", str(path / "hosts"), "/etc/hosts")
    (path / "avahi.conf").write_text(
        f"[server]\nhost-name={HOST}\nuse-ipv6=no\nallow-interfaces=lo\nenable-dbus=yes\n[wide-area]\nenable-wide-area=no\n")
    if os.path.isdir("/etc/geoclue"):
        (path / "geoclue").mkdir()
        off = "".join(f"[{name}]\nenable=false\n" for name in ("3g", "cdma", "modem-gps", "wifi", "static-source"))
        (path / "geoclue" / "geoclue.conf").write_text(
            f"[agent]\nwhitelist=geoclue-demo-agent\n[network-nmea]\nenable=true\n[compass]\nenable=true\n{off}"
            "[geoclue-where-am-i]\nallowed=true\nsystem=true\nusers=\n")
        run("mount", "--bind", str(path / "geoclue"), "/etc/geoclue")


def gdbus(surroundings, *arguments):
    done = subprocess.run(["gdbus", *arguments], env=surroundings, text=True, capture_output=True, timeout=20)
    return done.stdout.strip() if done.returncode == 0 else ""


def get(surroundings, name):
    return gdbus(
        surroundings, "call", "--system", "--dest", NAME, "--object-path", COMPASS, "--method",
        "org.freedesktop.DBus.Properties.Get", f"{NAME}.Compass", name)


def status(surroundings):
    done = subprocess.run(
        [COMMAND, "serve", "--status", "--format", "json", "--socket", str(path / "lodestone.sock")],
        env=surroundings, text=True, capture_output=True, timeout=20)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {}


def serve(surroundings, port):
    configuration = path / "serve.yaml"
    configuration.write_text(f"""schema: 1
board: {BOARD}
socket: {path}/lodestone.sock
outputs:
  - {{protocol: sensorproxy}}
  - {{protocol: nmea0183, address: 0.0.0.0, port: {port}, positions: exact}}
""")
    return start(COMMAND, "serve", "--configuration", str(configuration), env=surroundings)


def compass(surroundings):
    expect("the name is owned", wait_for(lambda: "true" in get(surroundings, "HasCompass")))
    text = gdbus(surroundings, "introspect", "--system", "--dest", NAME, "--object-path", COMPASS)
    expect("gdbus introspects the compass", "ClaimCompass" in text and "CompassHeading" in text, text)
    expect("before a claim there is no heading", get(surroundings, "CompassHeading") == "")
    expect("before a claim the chips sleep", "running" not in json.dumps(status(surroundings).get("sensors", [])))
    # A claim ends with the program: this one holds it.
    signals = open(path / "signals", "w+")
    monitor = start("gdbus", "monitor", "--system", "--dest", NAME, env=surroundings, stdout=signals)
    desktop = start(
        "/usr/bin/python3", "-c",
        "import gi\nfrom gi.repository import Gio, GLib\n"
        "bus = Gio.bus_get_sync(Gio.BusType.SYSTEM)\n"
        f"bus.call_sync('{NAME}', '{COMPASS}', '{NAME}.Compass', 'ClaimCompass', None, None, 0, 5000, None)\n"
        "loop = GLib.MainLoop()\nGLib.timeout_add_seconds(20, loop.quit)\nloop.run()\n",
        env=surroundings, stderr=subprocess.DEVNULL)
    found = wait_for(lambda: re.search(r"<([0-9.]+)>", get(surroundings, "CompassHeading")), 15)
    if desktop.poll() not in (None, 0):
        print("skipped: claims need python3-gi", flush=True)
    else:
        expect("a heading of 0 up to 360 degrees comes", found and 0 <= float(found[1]) < 360)
    if found:
        # The board turns after a while.
        come = wait_for(lambda: (path / "signals").read_text().count("'CompassHeading'") > 3, 15)
        expect("headings come as signals", come, (path / "signals").read_text()[-500:])
    monitor.terminate()
    monitor.wait()
    desktop.kill()
    desktop.wait()
    expect("the end of the program ends its claim", wait_for(lambda: get(surroundings, "CompassHeading") == ""))
    if shutil.which("monitor-sensor"):
        sensor = start("monitor-sensor", env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        time.sleep(3)
        sensor.terminate()
        text = sensor.communicate()[0]
        expect("monitor-sensor sees no accelerometer and no light", "No accelerometer" in text and "No ambient light" in text, text)
    else:
        print("skipped: monitor-sensor is not installed", flush=True)


def names(surroundings):
    return gdbus(
        surroundings, "call", "--system", "--dest", "org.freedesktop.DBus", "--object-path", "/", "--method",
        "org.freedesktop.DBus.ListNames")


def avahi(surroundings, port):
    if INSIDE not in os.environ:
        print("skipped: Avahi and GeoClue need root, for namespaces", flush=True)
        return False
    if not shutil.which("avahi-daemon") or not shutil.which("avahi-browse"):
        print("skipped: Avahi is not installed", flush=True)
        return False
    log = open(path / "avahi.log", "w")
    start("avahi-daemon", "--no-drop-root", "--no-chroot", "--no-rlimits", "--file", str(path / "avahi.conf"), env=surroundings,
          stdout=log, stderr=log)
    if not expect("avahi-daemon runs", wait_for(lambda: "org.freedesktop.Avahi" in names(surroundings)), (path / "avahi.log").read_text()):
        return False
    found = []

    def browse():
        done = subprocess.run(
            ["avahi-browse", "-rtp", "_nmea-0183._tcp"], env=surroundings, text=True, capture_output=True, timeout=20)
        found[:] = [done.stdout, done.stderr]
        return f";{port};" in done.stdout

    return expect("avahi-browse finds the port of NMEA 0183", wait_for(browse, 60), (found, status(surroundings).get("outputs")))


def geoclue(surroundings):
    if not os.access(GEOCLUE, os.X_OK) or not os.access(WHERE_AM_I, os.X_OK):
        print("skipped: geoclue-2.0 and geoclue-2-demo are not installed", flush=True)
        return
    log = open(path / "geoclue.log", "w")
    start(GEOCLUE, env={**surroundings, "G_MESSAGES_DEBUG": "Geoclue"}, stdout=log, stderr=log)
    if not expect("GeoClue runs", wait_for(lambda: "org.freedesktop.GeoClue2" in names(surroundings)), (path / "geoclue.log").read_text()):
        return
    start("/usr/bin/python3", "-c", AGENT, env=surroundings, stderr=log)
    # It shows each new location until the time is over.
    shown = open(path / "where-am-i", "w+")
    asker = start(WHERE_AM_I, "--timeout", "25", "--accuracy-level", "8", env=surroundings, stdout=shown, stderr=log)

    def claims():
        return sum(each.get("listeners", 0) for each in status(surroundings).get("outputs", []) if each["name"] == "sensorproxy")
    expect("GeoClue claims the compass", wait_for(claims, 20), status(surroundings).get("outputs"))
    asker.wait(60)
    text = (path / "where-am-i").read_text()
    places = [(float(north), float(east)) for north, east in re.findall(
        r"Latitude:\s+(-?[0-9.]+).*?Longitude:\s+(-?[0-9.]+)", text, re.S)]
    expect("where-am-i shows the place, which GeoClue has from the port of NMEA 0183",
           places and all(abs(north - 52.5163) < 0.01 and abs(east - 13.3777) < 0.02 for north, east in places),
           (text[-600:], (path / "geoclue.log").read_text()[-1500:]))
    print("     " + " ".join(text.split("New location:")[-1].split()), flush=True)


def again(surroundings, port):
    first = serve(surroundings, port)
    expect("another daemon owns the name again", wait_for(lambda: "true" in get(surroundings, "HasCompass")))
    first.send_signal(signal.SIGTERM)
    expect("it ends", first.wait(20) == 0)


def main():
    if INSIDE in os.environ:
        furnish()
    surroundings = environment(private_bus())
    port = free_port()
    daemon = serve(surroundings, port)
    compass(surroundings)
    if avahi(surroundings, port):
        geoclue(surroundings)
    daemon.send_signal(signal.SIGTERM)
    expect("the daemon ends", daemon.wait(20) == 0)
    expect("the name is free again", wait_for(lambda: get(surroundings, "HasCompass") == ""))
    again(surroundings, free_port())


isolate()
try:
    main()
finally:
    for process in reversed(running):
        if process.poll() is None:
            process.kill()
            process.wait()
    folder.cleanup()
sys.exit(1 if failures else 0)
