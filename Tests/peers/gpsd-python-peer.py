#!/usr/bin/env python3
"""gpsd's protocol as the module `gps` of python3-gps understands it, which Debian's own Python has.

usage: gpsd-python-peer.py LODESTONE    (apt-get install python3-gps)
"""
import json
import subprocess
import sys

import peer_daemon
from checks import expect, finish

CLIENT = """
import gps, json, math, sys
session = gps.gps(host='127.0.0.1', port=sys.argv[1], mode=gps.WATCH_ENABLE | gps.WATCH_NEWSTYLE)
seen = {'VERSION': 0, 'DEVICES': 0, 'TPV': 0, 'SKY': 0, 'ATT': 0}
fix, heading, satellites = None, None, 0
for _ in range(3000):
    report = session.next()
    kind = report['class']
    seen[kind] = seen.get(kind, 0) + 1
    if kind == 'TPV' and session.fix.mode >= 2:
        keys = ('mode', 'status', 'latitude', 'longitude', 'epx', 'epy', 'eph', 'epv', 'speed', 'track')
        values = {key: getattr(session.fix, key, None) for key in keys}
        values['eph'] = report.get('eph')
        fix = {key: value for key, value in values.items() if value is not None and math.isfinite(value)}
    if kind == 'ATT' and 'mheading' in report:
        heading = {'mheading': report['mheading'], 'headingAccuracy': report.get('headingAccuracy')}
    if kind == 'SKY':
        satellites = max(satellites, len(session.satellites))
    if fix and heading and satellites and seen['TPV'] > 5:
        break
print(json.dumps({'seen': seen, 'fix': fix, 'heading': heading, 'satellites': satellites}))
"""


def main():
    port = peer_daemon.free_port()
    peer_daemon.serve(f"{{protocol: gpsd, port: {port}, positions: exact}}")
    client = subprocess.run(
        ["/usr/bin/python3", "-c", CLIENT, str(port)], capture_output=True, text=True, timeout=90, env=peer_daemon.variables())
    expect("python3-gps reads without an exception", client.returncode == 0, client.stderr[-500:])
    if client.returncode != 0:
        return
    found = json.loads(client.stdout)
    fix, heading = found["fix"] or {}, found["heading"] or {}
    expect("python3-gps has a fix in its own structure", abs(fix.get("latitude", 0) - 52.5163) < 0.02 and
           abs(fix.get("longitude", 0) - 13.3777) < 0.03, found, fix)
    expect("with the accuracies in metres", 0 < fix.get("epx", 0) < 100 and 0 < fix.get("eph", 0) < 100, fix)
    expect("and satellites", found["satellites"] >= 4, found, found["satellites"])
    expect("and a heading with its accuracy", 0 <= heading.get("mheading", -1) < 360 and heading.get("headingAccuracy", 0) > 0, found)


if subprocess.run(["/usr/bin/python3", "-c", "import gps"], capture_output=True).returncode != 0:
    sys.exit("gpsd-python-peer needs python3-gps: Scripts/prepare.sh oracles")
try:
    main()
finally:
    peer_daemon.end()
finish("gpsd-python-peer")
