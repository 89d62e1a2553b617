#!/usr/bin/env python3
"""Published filters on all groups that `fusion-groups --rows DIR` was fed with, beside what this filter made of them.

The live filter meets VQF and x-io Fusion, the smoother offlineVQF, all in one process and on the same rows. A trial is
lost where heading or inclination is worse than VQF's by more than a quarter and by more than 0.5 degrees.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import vqf

from peers import HEADING, INCLINATION, Trial, errors, vqf_batch, xio_fusion

SMOOTH = ".smooth"  # Benchmarks/Sources/FusionGroups/FusionGroups.swift


def offline_vqf(trial):
    return vqf.offlineVQF(trial.gyro, trial.acc, trial.mag, trial.period)["quat9D"]


def without_offset(trial, estimates):
    """Heading's root mean square without its mean over the trial, degrees."""
    use = trial.counts & np.isfinite(estimates).all(1)
    if not use.any():
        return np.nan
    w, x, y, z = estimates[use].T
    tw, tx, ty, tz = trial.truth[use].T
    turn = 2 * np.arctan2(z * tw - w * tz - x * ty + y * tx, w * tw + x * tx + y * ty + z * tz)
    offset = np.arctan2(np.sin(turn).mean(), np.cos(turn).mean())
    rest = (turn - offset + np.pi) % (2 * np.pi) - np.pi
    return np.degrees(np.sqrt((rest**2).mean()))


def figures(trial, estimates):
    """Heading, heading without its offset, inclination, degrees."""
    all_of_it = errors(trial, estimates)
    return np.array([all_of_it[HEADING], without_offset(trial, estimates), all_of_it[INCLINATION]])


def is_lost(ours, theirs):
    return ~(ours <= theirs + np.maximum(0.25 * theirs, 0.5))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=Path, help="what `fusion-groups --rows` has written")
    parser.add_argument("--fast", action="store_true", help="without x-io Fusion, whose rows are looped over in Python")
    arguments = parser.parse_args()

    folders = sorted(path for path in arguments.rows.iterdir() if path.is_dir())
    if not folders:
        sys.exit(f"{arguments.rows}: no group in it")
    lost_trials, trials_of_all = [], 0
    print(f"{'degrees':24}{'heading':>22}{'- offset':>22}{'inclination':>22}{'lost':>8}{'x-io':>8}")
    print(f"{'':24}" + f"{'ours':>8}{'VQF':>7}{'ratio':>7}" * 3)
    for folder in sorted(folders, key=lambda path: (path.name.endswith(SMOOTH), path.name)):
        smooth = folder.name.endswith(SMOOTH)
        trials = [Trial(path) for path in sorted(folder.glob("*.f64"))]
        ours = np.array([figures(trial, trial.ours) for trial in trials])
        peer = offline_vqf if smooth else vqf_batch
        theirs = np.array([figures(trial, peer(trial)) for trial in trials])
        lost = is_lost(ours[:, [0, 2]], theirs[:, [0, 2]])
        mean, peers_mean = ours.mean(0), theirs.mean(0)
        cells = "".join(f"{a:8.2f}{b:7.2f}{a / b:7.2f}" for a, b in zip(mean, peers_mean))
        xio = ""
        if not smooth and not arguments.fast:
            xio = f"{np.mean([errors(trial, xio_fusion(trial))[HEADING] for trial in trials]):8.2f}"
        print(f"{folder.name:24}{cells}{lost.any(1).sum():5d}/{len(trials):<2d}{xio}")
        if smooth:
            continue
        trials_of_all += len(trials)
        for trial, own, their, what in zip(trials, ours, theirs, lost):
            for index, column in ((0, 0), (1, 2)):
                if what[index]:
                    kind = "heading" if index == 0 else "inclination"
                    lost_trials.append(
                        f"    {folder.name}: {kind} {own[column]:.2f} against {their[column]:.2f}: {trial.name}"
                    )
    print(f"\nworse than VQF by more than 25 % and 0.5 degrees, of {trials_of_all} live trials:")
    print("\n".join(lost_trials) or "    none")


if __name__ == "__main__":
    main()
