#!/usr/bin/env python3
"""In the guest: bluetoothd itself and the kernel's Bluetooth, on a controller that this program is (vhci).

The controller is written from the Core Specification (volume 4, part E: the commands in 7, the events in 7.7), not from
what listens to it. In its air are a beacon, another one of somebody else, and advertisements that are no beacons. A program
of CoreLocation hears the one with the numbers that it says and at the distance that its strength means, has left its region
after half a minute of silence, is told when bluetoothd ends, and hears on when it is started again."""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import threading
import time
import uuid

OURS, THEIRS = (uuid.UUID(text) for text in ("e2c56db5-dffb-48d2-b060-d0f5a71096e0", "11111111-2222-3333-4444-555555555555"))
POWER, STRENGTH = -59, -65
DISTANCE = 10 ** ((POWER - STRENGTH) / 20)
failures = []


def expect(what, holds, detail=""):
    print(("ok      " if holds else "FAILED  ") + what + ("" if holds else f": {detail}"), flush=True)
    if not holds:
        failures.append(what)


def beacon(identity, major, minor, power):
    """What an iBeacon says: a flag, and Apple's company number with its type 2."""
    return b"\x02\x01\x06\x1a\xff\x4c\x00\x02\x15" + identity.bytes + struct.pack(">HHb", major, minor, power)


class Controller:
    """A controller for low energy alone that hears what is in `air`: (address, advertisement, strength) by name."""
    # What a command's completion says behind its status; of all others nothing.
    ANSWERS = {
        0x1001: bytes.fromhex("08 0000 08 ffff 0000".replace(" ", "")),  # Version: 4.2
        0x1002: bytes(64),  # Supported commands: no optional one
        0x1003: bytes([0, 0, 0, 0, 0x60, 0, 0, 0]),  # Features: no BR/EDR, LE
        0x1005: struct.pack("<HBHH", 251, 0, 8, 0),  # Buffers
        0x1009: bytes.fromhex("0100c0ffee00"),  # Address
        0x0C14: bytes(248),  # Name
        0x0C23: bytes(3),  # Class
        0x0C25: bytes(2),
        0x0C38: bytes(1),
        0x0C39: bytes(3),
        0x2002: struct.pack("<HB", 251, 8),  # Buffers of LE
        0x2003: bytes(8),  # Features of LE
        0x2007: bytes(1),  # Power of advertisements
        0x200F: bytes([8]),  # Length of the filter list
        0x2018: bytes(8),  # A random number
        0x201C: b"\xff" * 8,  # States
        0x2023: struct.pack("<HH", 27, 328),
        0x202A: bytes([8]),
        0x202F: struct.pack("<HHHH", 27, 328, 27, 328),
    }

    def __init__(self):
        self.air, self.isScanning, self.commands = {}, False, []
        self.file = os.open("/dev/vhci", os.O_RDWR)
        os.write(self.file, b"\xff\x00")
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=self.advertise, daemon=True).start()

    def listen(self):
        while True:
            packet = os.read(self.file, 1024)
            if len(packet) < 4 or packet[0] != 1:
                continue
            (command,) = struct.unpack_from("<H", packet, 1)
            self.commands.append(command)
            if command == 0x200C:
                self.isScanning = packet[4] == 1
            answer = struct.pack("<BHB", 1, command, 0) + self.ANSWERS.get(command, b"")
            os.write(self.file, bytes([4, 0x0E, len(answer)]) + answer)

    def advertise(self):
        while True:
            time.sleep(0.2)
            for address, data, strength in list(self.air.values()):
                if self.isScanning:
                    report = struct.pack("<BBBB", 2, 1, 3, 1) + address + bytes([len(data)]) + data + struct.pack("<b", strength)
                    os.write(self.file, bytes([4, 0x3E, len(report)]) + report)


class Listener:
    def __init__(self):
        self.lines = []
        self.process = subprocess.Popen(["/rig/beacon-listener", str(OURS), "110"], stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.append(line.strip())
            print(f"        {line.strip()}", flush=True)

    def hears(self, start, seconds, since=0):
        """The first line from `since` on that starts so, for as many seconds as are waited for it; None: there is none."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = next((line for line in self.lines[since:] if line.startswith(start)), None)
            if found:
                return found
            time.sleep(0.05)
        return None


def main():
    daemon = next((path for path in ("/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd") if os.path.exists(path)), None)
    if not daemon or not shutil.which("dbus-daemon"):
        print("skipped: there is no bluetoothd, or no dbus-daemon (apt-get install bluez dbus)")
        return 0
    for folder in ("/run/dbus", "/var/lib/bluetooth"):
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    subprocess.run(["dbus-uuidgen", "--ensure"], check=True)
    subprocess.run(["dbus-daemon", "--system", "--fork"], check=True)
    controller = Controller()
    log = open("/report/bluetoothd.log", "w")

    def start():
        return subprocess.Popen([daemon, "-n", "-d"], stdout=log, stderr=log)
    bluetoothd = start()
    end = time.monotonic() + 20
    while time.monotonic() < end:
        shown = subprocess.run(["bluetoothctl", "show"], capture_output=True, text=True, timeout=10).stdout
        if "Powered: yes" in shown:
            break
        time.sleep(0.5)
    expect("bluetoothd has the controller and has switched it on", "Powered: yes" in shown, shown)

    listener = Listener()
    expect("beacons can be heard", listener.hears("available true", 10), listener.lines)
    expect("an empty air has nobody in it", listener.hears("nobody", 10), listener.lines)
    controller.air = {
        "theirs": (b"\x01\x02\x03\x04\x05\xc6", beacon(THEIRS, 7, 8, POWER), -40),
        "none": (b"\x01\x02\x03\x04\x05\xc7", b"\x02\x01\x06\x05\xff\x4c\x00\x10\x05", -50),
        "short": (b"\x01\x02\x03\x04\x05\xc8", beacon(OURS, 1, 2, POWER)[:20], -50),
        "ours": (b"\x01\x02\x03\x04\x05\xc5", beacon(OURS, 258, 3, POWER), STRENGTH),
    }
    heard = listener.hears("beacon", 15)
    words = (heard or "").split()
    expect("the beacon is heard with its numbers and strength", words[1:4] == ["258", "3", str(STRENGTH)], heard)
    expect(f"it is {DISTANCE:.2f} m away", len(words) == 5 and abs(float(words[4]) - DISTANCE) < 0.02, heard)
    # Nobody knows whether the board was in it already when it began to listen: that is no crossing.
    expect("its region was not entered", not listener.hears("entered boat", 2), listener.lines)
    expect("nobody else is heard", all(line.split()[1] == "258" for line in listener.lines if line.startswith("beacon")))

    del controller.air["ours"]
    begin, mark = time.monotonic(), len(listener.lines)
    expect("it is out of range after ten seconds without a word", listener.hears("nobody", 15, mark), listener.lines[mark:])
    left = listener.hears("left boat", 45, mark)
    took = time.monotonic() - begin
    expect(f"its region is left after half a minute ({took:.0f} s)", left and 25 <= took <= 40, listener.lines[mark:])

    mark = len(listener.lines)
    bluetoothd.terminate()
    bluetoothd.wait(10)
    expect("that bluetoothd has ended is told", listener.hears("failed", 10, mark), listener.lines[mark:])
    controller.air["ours"] = (b"\x01\x02\x03\x04\x05\xc5", beacon(OURS, 258, 3, POWER), STRENGTH)
    mark = len(listener.lines)
    bluetoothd = start()
    expect("once it runs again the beacon is heard again", listener.hears("beacon 258 3", 20, mark), listener.lines[mark:])
    expect("and its region entered", listener.hears("entered boat", 10, mark), listener.lines[mark:])
    listener.process.kill()
    bluetoothd.kill()
    print(f"{len(set(controller.commands))} kinds of commands came to the controller")
    return 1 if failures else 0


sys.exit(main())
