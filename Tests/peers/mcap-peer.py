#!/usr/bin/env python3
"""MCAP files of record, replay and track, read by mcap, mcap-ros2-support and rosbags; also a file whose process was killed.

usage: mcap-peer.py LODESTONE    (pip install mcap mcap-ros2-support rosbags)
"""
import os
import signal
import subprocess
import time

from mcap.reader import NonSeekingReader, SeekingReader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

import peer_daemon
from checks import COMMAND, expect, finish
from peer_daemon import FOLDER, run

BOARD = ["--board", "simulated"]


def messages(path, reader=SeekingReader):
    """The decoded messages of a file, by topic."""
    found = {}
    with open(path, "rb") as file:
        for _, channel, message, decoded in reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time, decoded))
    return found


def summary(path):
    with open(path, "rb") as file:
        return SeekingReader(file).get_summary()


def whole():
    result = run("record", "--format", "mcap", *BOARD, "--seconds", "12", "run.mcap")
    expect("record --format mcap ends well", result.returncode == 0, result.stderr)
    path = FOLDER / "run.mcap"
    expect("only its owner can read it", path.stat().st_mode & 0o777 == 0o600, oct(path.stat().st_mode))
    found = messages(path)
    counts = {topic: len(list) for topic, list in found.items()}
    expect("it has motion, positions and the air", {"/imu/data", "/gnss/fix", "/pressure"} <= set(found), counts, counts)
    statistics = summary(path).statistics
    expect("it has an index", statistics and statistics.message_count == sum(counts.values()), counts)
    fixes = [fix for _, fix in found.get("/gnss/fix", []) if fix.status.status >= 0]
    expect("a position has a covariance", fixes and fixes[-1].position_covariance[0] > 0, fixes[-1:])
    with AnyReader([path]) as reader:
        count = sum(1 for _ in reader.messages())
    expect("rosbags reads as many", count == sum(counts.values()), count)
    refused = run("record", "--format", "mcap", *BOARD, "--seconds", "1", "run.mcap")
    expect("it is not written over", refused.returncode == 64, refused.stderr)


def killed():
    path = FOLDER / "killed.mcap"
    process = subprocess.Popen(
        [COMMAND, "record", "--format", "mcap", *BOARD, str(path)], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=peer_daemon.variables())
    time.sleep(13)
    process.kill()
    process.wait()
    for reader in (SeekingReader, NonSeekingReader):
        found = messages(path, reader)
        times = [time for list in found.values() for time, _ in list]
        span = (max(times) - min(times)) / 1e9 if times else 0
        expect(f"a file whose process was killed is read by {reader.__name__}", span > 4, span, f"{span:.1f} s of 13")


def full():
    path = FOLDER / "small"
    path.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)], capture_output=True).returncode == 0
    if not mounted:
        print("skipped: a full disk needs the right to mount")
        return
    try:
        result = run("record", "--format", "mcap", *BOARD, "--seconds", "40", str(path / "a.mcap"))
        expect("a full disk ends it with 74", result.returncode == 74, result.stderr)
        expect("and the file can be read", messages(path / "a.mcap"))
        (path / "a.mcap").unlink()
        process = subprocess.Popen(
            [COMMAND, "record", "--format", "mcap", "--keep-trying", *BOARD, str(path / "b.mcap")],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=peer_daemon.variables())
        time.sleep(40)
        size = len(messages(path / "b.mcap"))
        expect("a file on a full disk can be read while it is tried again", size > 0, size)
        os.system(f"mount -o remount,size=8m {path}")
        time.sleep(8)
        process.send_signal(signal.SIGTERM)
        text = process.communicate(timeout=30)[1]
        expect("what is missing is said", process.returncode == 74 and "observations" in text, text)
        expect("and the file is whole", summary(path / "b.mcap") is not None)
    finally:
        subprocess.run(["umount", str(path)])


def rotated():
    path = FOLDER / "moved.mcap"
    process = subprocess.Popen(
        [COMMAND, "record", "--format", "mcap", *BOARD, str(path)], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, env=peer_daemon.variables(), start_new_session=True)
    time.sleep(8)
    path.rename(FOLDER / "old.mcap")
    process.send_signal(signal.SIGHUP)
    expect("SIGHUP begins a new file", peer_daemon.wait_for(path.exists, 10))
    expect("the old one is complete", peer_daemon.wait_for(lambda: summary(FOLDER / "old.mcap"), 10))
    time.sleep(7)
    process.terminate()
    expect("it ends well", process.wait(20) == 0, process.returncode)
    expect("and the new one too", summary(path) and messages(path))
    result = run("record", "--format", "mcap", *BOARD, "--seconds", "12", "--rotate", "4s", "series.mcap")
    names = sorted(file for file in os.listdir(FOLDER) if file.startswith("series-"))
    expect("a series has several files", result.returncode == 0 and len(names) >= 2, names)
    expect("each of them complete", all(summary(FOLDER / name) for name in names))


def converted():
    expect("a recording", run("record", *BOARD, "--seconds", "15", "run.trace").returncode == 0)
    for name, arguments in [
        ("replay", ["replay", "run.trace", "--format", "mcap"]),
        ("smooth", ["replay", "run.trace", "--smooth", "--format", "foxglove"]),
        ("track", ["track", "run.trace", "--format", "mcap"]),
    ]:
        result = run(*arguments)
        expect(f"{' '.join(arguments)} ends well", result.returncode == 0, result.stderr)
        path = FOLDER / f"{name}.mcap"
        path.write_bytes(result.stdout)
        with open(path, "rb") as file:
            statistics = SeekingReader(file).get_summary().statistics
        expect(f"{name}: it has messages", statistics.message_count > 0, statistics)
    # A recording has what was asked of the board: without a program that wants motion there is none.
    found = messages(FOLDER / "replay.mcap")
    expect("the replay has headings and positions", {"/heading/magnetic", "/gnss/fix"} <= set(found), set(found))


# With LODESTONE_LONG a disk is filled as well, which takes a minute and a half.
for part in (whole, killed, rotated, converted, *((full,) if "LODESTONE_LONG" in os.environ else ())):
    part()
finish("mcap-peer")
