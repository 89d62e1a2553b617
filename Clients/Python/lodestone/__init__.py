"""Readings of the Lodestone daemon: heading, attitude, position, altitude.

    import lodestone

    for reading in lodestone.stream(kinds=["heading", "location"], rate=5):
        match reading:
            case lodestone.Heading(true_heading=float(heading)):
                print(f"{heading:.1f} degrees")
            case lodestone.Location(latitude=float(latitude), longitude=float(longitude)):
                print(latitude, longitude)

A value that is not known is None. It is never a number that looks like one.
"""

from ._readings import (
    AbsoluteAltitude,
    Altitude,
    Attitude,
    Heading,
    Lost,
    Message,
    Motion,
    Location,
    Reading,
    Sample,
    Satellite,
    SensorState,
    Sky,
    Waves,
)
from ._stream import DEFAULT_SOCKET, KINDS, LodestoneError, Stream, stream

__all__ = [
    "AbsoluteAltitude",
    "Altitude",
    "Attitude",
    "DEFAULT_SOCKET",
    "Heading",
    "KINDS",
    "LodestoneError",
    "Location",
    "Lost",
    "Message",
    "Motion",
    "Reading",
    "Sample",
    "Satellite",
    "SensorState",
    "Sky",
    "Stream",
    "Waves",
    "stream",
]
