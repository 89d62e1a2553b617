#!/usr/bin/env python3
"""Published filters on the rows that `broad --rows DIR` was fed with, and what this filter made of them.

The error is defined here a second time, from Benchmarks/README.md and not from the Swift code, and is
applied to this filter's estimates too: the two programs must agree.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import imufusion
import numpy as np
import vqf

COLUMNS = 20  # Benchmarks/Sources/FusionBenchmark/Export.swift
HEADING, INCLINATION, TOTAL = 0, 1, 2
KINDS = ("heading", "inclination", "total")


def held(samples):
    """Samples without a number are replaced by the one before: the peers would never recover."""
    sound = np.isfinite(samples).all(1)
    if sound.all() or not sound.any():
        return np.ascontiguousarray(samples)
    last = np.maximum.accumulate(np.where(sound, np.arange(len(samples)), 0))
    return np.ascontiguousarray(samples[np.where(sound[last], last, np.argmax(sound))])


class Trial:
    """What a filter is fed with, and the truth."""

    def __init__(self, path):
        table = np.fromfile(path, "<f8")
        if table.size == 0 or table.size % COLUMNS:
            sys.exit(f"{path}: not written by broad --rows")
        table = table.reshape(-1, COLUMNS)
        self.name = path.stem
        self.seconds = table[:, 0]
        self.gyro, self.acc, self.mag = (held(table[:, i : i + 3]) for i in (1, 4, 7))
        self.truth = table[:, 10:14]
        self.counts = table[:, 14] == 1
        self.ours = table[:, 15:19]
        if np.isnan(self.gyro).all() or np.isnan(self.mag).all():
            sys.exit("the peers need gyro and magnetometer")
        if len(table) < 2:
            sys.exit(f"{path}: too short")
        # The peers know one period for all rows: the mean one, so that drops leave no lasting error.
        self.period = (self.seconds[-1] - self.seconds[0]) / (len(table) - 1)


def vqf_batch(trial):
    return vqf.VQF(trial.period).updateBatch(trial.gyro, trial.acc, trial.mag)["quat9D"]


def basic_vqf_batch(trial):
    return vqf.BasicVQF(trial.period).updateBatch(trial.gyro, trial.acc, trial.mag)["quat9D"]


def xio_fusion(trial):
    ahrs, settings = imufusion.Ahrs(), imufusion.AhrsSettings()
    settings.convention = imufusion.CONVENTION_ENU
    settings.sample_rate = 1 / trial.period
    settings.gain = 0.5
    settings.gyroscope_range = 2000
    settings.acceleration_rejection = settings.magnetic_rejection = 10
    settings.rejection_timeout = 5
    ahrs.set_settings(settings)
    gyro, acc = np.degrees(trial.gyro), trial.acc / 9.80665
    estimates = np.empty((len(gyro), 4))
    for row in range(len(gyro)):
        ahrs.update(gyro[row], acc[row], trial.mag[row])
        estimates[row] = ahrs.get_quaternion()
    return estimates


# A name, and a function from a trial to quaternions w x y z, sensor to ENU, one a row.
PEERS = {"VQF": vqf_batch, "BasicVQF": basic_vqf_batch, "x-io Fusion": xio_fusion}


def errors(trial, estimates):
    """Root mean squares over the rows that count, degrees."""
    use = trial.counts & np.isfinite(estimates).all(1)
    if not use.any():
        return np.full(3, np.nan)
    w, x, y, z = estimates[use].T
    tw, tx, ty, tz = trial.truth[use].T
    # The scalar and the vertical part of estimate * conj(truth).
    ew = w * tw + x * tx + y * ty + z * tz
    ez = z * tw - w * tz - x * ty + y * tx
    norm = np.sqrt((w * w + x * x + y * y + z * z) * (tw * tw + tx * tx + ty * ty + tz * tz))
    ew, ez = ew / norm, ez / norm
    with np.errstate(divide="ignore"):
        heading = 2 * np.arctan(np.abs(ez / ew))
    inclination = 2 * np.arccos(np.minimum(1, np.hypot(ew, ez)))
    total = 2 * np.arccos(np.minimum(1, np.abs(ew)))
    return np.degrees([np.sqrt(np.mean(each**2)) for each in (heading, inclination, total)])


def own_speed(program, folder):
    """Nanoseconds a row of this filter in a process of its own."""
    said = subprocess.run([program, folder, "--repetitions", "1"], capture_output=True, text=True, check=True)
    return json.loads(said.stdout.splitlines()[-1])["nanoseconds"]


def fastest(run, trials, repetitions, between=lambda: None):
    """Nanoseconds a row over all trials, the fastest of some runs; and the estimates. Something else may run before
    each: what is compared is to meet the same neighbours on the machine."""
    best = np.inf
    for _ in range(repetitions):
        between()
        began = time.perf_counter()
        estimates = [run(trial) for trial in trials]
        best = min(best, time.perf_counter() - began)
    return best * 1e9 / sum(len(trial.gyro) for trial in trials), estimates


def is_worse(ours, theirs):
    """Worse by more than a fifth and by more than 0.3 deg; without an estimate too."""
    return ~(ours <= theirs + np.maximum(0.2 * theirs, 0.3))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path, help="what `broad --rows` has written")
    parser.add_argument("--speed", nargs=2, metavar=("PROGRAM", "DIR"), help="fusion-speed and its recordings")
    parser.add_argument("--broad", help="last line of broad, to hold this program's figures against")
    parser.add_argument("--fast", action="store_true", help="VQF alone, once")
    arguments = parser.parse_args()

    trials = [Trial(path) for path in sorted(arguments.rows.glob("*.f64"))]
    if not trials:
        sys.exit(f"{arguments.rows}: no .f64 file in it")
    ours = np.array([errors(trial, trial.ours) for trial in trials])
    results, speeds, own = {}, {}, []
    for name, run in PEERS.items():
        if arguments.fast and name != "VQF":
            continue
        # The loop over x-io Fusion's rows is Python's: its time says little, and one run takes seconds.
        repetitions = 1 if arguments.fast or name == "x-io Fusion" else 5
        if name == "VQF" and arguments.speed:
            speeds[name], estimates = fastest(run, trials, 7, lambda: own.append(own_speed(*arguments.speed)))
        else:
            speeds[name], estimates = fastest(run, trials, repetitions)
        results[name] = np.array([errors(trial, each) for trial, each in zip(trials, estimates)])

    theirs = results["VQF"]
    width = max([32] + [len(trial.name) for trial in trials])
    print(f"{'degrees: ours, VQF, ratio':{width}}" + "".join(f"{name:>24}" for name in KINDS))

    def line(name, our, their, marks):
        cells = "".join(
            f"{a:8.2f}{b:7.2f}{a / b:7.2f}{'*' if mark else ' ':>2}"
            for a, b, mark in zip(our, their, marks)
        )
        print(f"{name:{width}}{cells}")

    worse = is_worse(ours, theirs)
    for trial, our, their, marks in zip(trials, ours, theirs, worse):
        line(trial.name, our, their, marks)
    line(f"mean of {len(trials)}", ours.mean(0), theirs.mean(0), [False] * 3)
    print(f"* worse than VQF by more than 20 % or 0.3 deg, whichever is larger: {worse.any(1).sum()} trials")

    print(f"\n{'mean':{width}}{'heading':>10}{'inclin.':>10}{'total':>10}{'ns a row':>10}")
    own = min(own, default=np.nan)
    for name, mean, speed in [("Lodestone", ours.mean(0), own)] + [
        (name, results[name].mean(0), speeds[name]) for name in results
    ]:
        print(f"{name:{width}}" + "".join(f"{value:10.2f}" for value in mean) + f"{speed:10.0f}")
    summary = {
        "headingRatio": round(ours[:, HEADING].mean() / theirs[:, HEADING].mean(), 4),
        "inclinationRatio": round(ours[:, INCLINATION].mean() / theirs[:, INCLINATION].mean(), 4),
        "totalRatio": round(ours[:, TOTAL].mean() / theirs[:, TOTAL].mean(), 4),
        "worseTrials": int(worse.any(1).sum()),
        "speedRatio": round(speeds["VQF"] / own, 4) if arguments.speed else None,
    }
    if arguments.speed:
        print(f"speed: {summary['speedRatio']:.2f} x VQF")
    if arguments.broad:
        said = json.loads(arguments.broad)
        for name, value in zip(KINDS, ours.mean(0)):
            if said[name] is None or not abs(said[name] - value) < 0.001:
                sys.exit(f"broad says {name} {said[name]}, its estimates come to {value:.4f}")
    print(json.dumps({k: None if v != v else v for k, v in summary.items()}))


if __name__ == "__main__":
    main()
