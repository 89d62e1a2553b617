"""Plots heading with its error bar, live: pip install matplotlib, then python3 plot.py"""

import collections

import matplotlib.pyplot as plt

import lodestone

points: collections.deque[lodestone.Heading] = collections.deque(maxlen=300)
figure, axes = plt.subplots()
plt.ion()
for reading in lodestone.stream(kinds=["heading"], rate=5):
    if isinstance(reading, lodestone.Lost):
        print(reading.reason)
    if not isinstance(reading, lodestone.Heading) or reading.accuracy is None:
        continue
    points.append(reading)
    times = [point.monotonic - points[-1].monotonic for point in points]
    axes.clear()
    axes.errorbar(
        times,
        [point.magnetic_heading for point in points],
        yerr=[point.accuracy for point in points],
        fmt=".",
    )
    axes.set_xlabel("seconds ago")
    axes.set_ylabel("magnetic heading in degrees")
    plt.pause(0.01)
