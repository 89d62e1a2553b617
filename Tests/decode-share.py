#!/usr/bin/env python3
"""Share of gpsd's fixes that `lodestone decode` gives as well: decode-share.py LODESTONE [FOLDER] [--least 85]

FOLDER holds receiver logs with what gpsd makes of them beside each (`x.log`, `x.log.chk`). A TPV with mode
2 or 3 is matched by UTC time of day (by order where it has no time) and agrees when position is within
1e-6 deg, speed within 0.06 m/s and track within 0.1 deg of what gpsd prints."""
import json
import pathlib
import subprocess
import sys


def time_of_day(text):
    hours, minutes, seconds = text.split("T")[1].rstrip("Z").split(":")
    return round(int(hours) * 3600 + int(minutes) * 60 + float(seconds), 2)


def expected(path):
    for text in path.read_text(errors="replace").splitlines():
        if not text.startswith("{"):
            continue
        try:
            tpv = json.loads(text)
        except ValueError:
            continue
        if tpv.get("class") == "TPV" and tpv.get("mode", 0) >= 2:
            yield tpv


def decoded(command, log):
    output = subprocess.run([command, "decode", log], capture_output=True, text=True).stdout
    for text in output.splitlines():
        line = json.loads(text)
        if line.get("mode", 1) >= 2 and "latitude" in line:
            if "time" in line:
                line["timeOfDay"] = time_of_day(line["time"])
            yield line


def agrees(tpv, line):
    if "lat" in tpv and not (
        abs(tpv["lat"] - line["latitude"]) <= 1e-6 and abs(tpv["lon"] - line["longitude"]) <= 1e-6
    ):
        return False
    if "speed" in tpv and line.get("speed", -1) >= 0 and abs(tpv["speed"] - line["speed"]) > 0.06:
        return False
    if "track" in tpv and line.get("course", -1) >= 0:
        if abs((tpv["track"] - line["course"] + 180) % 360 - 180) > 0.1:
            return False
    return True


def main():
    least = float(sys.argv[sys.argv.index("--least") + 1]) if "--least" in sys.argv else 0
    names = [word for word in sys.argv[1:] if not word.startswith("--") and word != str(int(least))]
    root = pathlib.Path(__file__).resolve().parent.parent
    folder = pathlib.Path(names[1]) if len(names) > 1 else root / "../shared/data/gps/gpsd"
    if not folder.is_dir():
        print(f"skipped: no logs in {folder}")
        return 0
    total = matched = 0
    for log in sorted(folder.glob("*.log")):
        fixes = list(expected(log.with_suffix(".log.chk")))
        lines = list(decoded(names[0], log))
        by_time = {}
        for line in lines:
            if "timeOfDay" in line:
                by_time.setdefault(round(line["timeOfDay"], 2), []).append(line)
        good = 0
        for index, tpv in enumerate(fixes):
            if "time" in tpv:
                candidates = by_time.get(time_of_day(tpv["time"]), [])
            else:
                candidates = lines[index : index + 1]
            good += any(agrees(tpv, line) for line in candidates)
        total += len(fixes)
        matched += good
        share = 100 * good / len(fixes) if fixes else 100
        print(f"{share:6.1f} %  {good:5} of {len(fixes):5}  {log.name}  ({len(lines)} lines)")
    share = 100 * matched / max(1, total)
    print(f"{share:6.1f} %  {matched} of {total}  all")
    return 0 if share >= least else 1


sys.exit(main())
