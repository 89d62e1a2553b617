#!/usr/bin/env python3
"""Messages of Septentrio and Trimble receivers, packed from the makers' documents and not by Lodestone's code, as hexadecimal:
binary-receivers.py [FOLDER], with the seeds of the fuzzers into FOLDER.

SBF: Septentrio PolaRx5TR reference guide, firmware 5.5.0, chapter 4. TSIP: Trimble Copernicus and Lassen SK8 manuals, ThunderBolt E
user guide, appendix A. `SBFTests` and `TSIPTests` hold what this prints."""
import math
import pathlib
import struct
import sys


def crc16(data):
    """The CRC-CCITT polynomial, forward, seed 0, no final XOR."""
    crc = 0
    for byte in data:
        for bit in range(7, -1, -1):
            top = crc >> 15 ^ byte >> bit & 1
            crc = crc << 1 & 0xFFFF ^ (0x1021 if top else 0)
    return crc


def sbf(number, revision, body):
    body += b"\0" * (-len(body) % 4)
    rest = struct.pack("<HH", number | revision << 13, len(body) + 8) + body
    return b"$@" + struct.pack("<H", crc16(rest)) + rest


def pvt_geodetic(tow, week, mode=4, error=0, lat=50.848, lon=4.7292, height=148.25, undulation=45.5):
    return sbf(
        4007, 2,
        struct.pack("<IH", tow, week) + struct.pack("<BB", mode, error)
        + struct.pack("<ddd", math.radians(lat), math.radians(lon), height) + struct.pack("<f", undulation)
        + struct.pack("<fff", 3.0, -4.0, 0.25) + struct.pack("<f", 306.875)  # Vn, Ve, Vu, COG
        + struct.pack("<df", 0.125, 0.5) + struct.pack("<BB", 0, 0)  # clock, time system, datum
        + struct.pack("<BB", 23, 0) + struct.pack("<HH", 1234, 150)  # NrSV, WACorrInfo, ReferenceID, MeanCorrAge
        + struct.pack("<IB", 0x01, 0x01) + struct.pack("<BH", 1, 0)  # SignalInfo, AlertFlag; NrBases, PPPInfo
        + struct.pack("<HHHB", 400, 4, 6, 0))  # Latency, HAccuracy, VAccuracy, Misc


def att_euler(tow, week, mode=4, error=0, heading=123.5, pitch=-2.25, roll=1.5):
    return sbf(
        5938, 0,
        struct.pack("<IHBBHH", tow, week, 14, error, mode, 0) + struct.pack("<fff", heading, pitch, roll) + struct.pack("<fff", 0, 0, 0))


def att_cov_euler(tow, week, heading=0.0625, pitch=0.25, roll=1.0):
    return sbf(5939, 0, struct.pack("<IHBB", tow, week, 0, 0) + struct.pack("<6f", heading, pitch, roll, 0, 0, 0))


def septentrio():
    """Blocks of one moment, by their names."""
    tow, week = 123_456_000, 2446
    stamp = struct.pack("<IH", tow, week)
    return {
        "PVTGeodetic": pvt_geodetic(tow, week),
        "AttEuler": att_euler(tow, week),
        "AttCovEuler": att_cov_euler(tow, week),
        "DOP": sbf(4001, 0, stamp + struct.pack("<BB4Hff", 23, 0, 150, 90, 80, 130, 1.5, 2.5)),  # NrSV, PDOP, TDOP, HDOP, VDOP
        "PosCovGeodetic": sbf(5906, 0, stamp + struct.pack("<BB10f", 4, 0, 1e-4, 3e-4, 4e-4, *[0] * 7)),
        "VelCovGeodetic": sbf(5908, 0, stamp + struct.pack("<BB10f", 4, 0, 0.04, 0.01, 0.09, *[0] * 7)),
        "ReceiverTime": sbf(5914, 0, stamp + struct.pack("<7bB", 26, 11, 23, 10, 17, 18, 17, 7)),
        "EndOfPVT": sbf(5921, 0, stamp),
    }


def tsip(identifier, data):
    """DLE, identifier, data with each DLE twice, DLE, ETX; numbers are big-endian."""
    return b"\x10" + bytes([identifier]) + data.replace(b"\x10", b"\x10\x10") + b"\x10\x03"


def trimble():
    """Reports of one second of a Lassen, a Copernicus and a ThunderBolt, by their names."""
    tow, week, offset = 123_456, 2446, 18
    lat, lon = 37.389, -122.036
    semicircle = 180 / 2**31
    return {
        "gpsTime": tsip(0x41, struct.pack(">fhf", tow, week, offset)),
        "position": tsip(0x84, struct.pack(">ddddf", math.radians(lat), math.radians(lon), 12.5, 100.0, tow)),
        "single": tsip(0x4A, struct.pack(">fffff", math.radians(lat), math.radians(lon), 12.5, 100.0, tow)),
        "velocity": tsip(0x56, struct.pack(">fffff", 3.0, -4.0, 0.25, 0.5, tow)),
        "satellites": tsip(0x6D, struct.pack(">Bffff", 5 << 4 | 4, 2.5, 1.5, 2.0, 1.0) + bytes([3, 16, 22, 24, 31])),
        "corrected": tsip(0x82, b"\x03"),
        "healthy": tsip(0x46, b"\0\0"),
        "noSatellites": tsip(0x46, b"\x08\0"),
        "lastFix": tsip(0x8F, struct.pack(
            ">BBhhhIiIiBBBBBBH", 0x20, 0, 600, -800, 50, tow * 1000, round(lat / semicircle), round(lon / semicircle) % 2**32, 12_500,
            0, 0, 1, 0, 5, offset, week) + bytes(24)),
        "timing": tsip(0x8F, struct.pack(">BIHhBBBBBBH", 0xAB, tow, week, offset, 0x03, 18, 17, 10, 23, 11, 2026)),
        "timingPlace": tsip(0x8F, struct.pack(
            ">BBBBIHHBBBBffIffddd8x", 0xAC, 7, 0, 100, 0, 0, 0, 0, 0, 0, 0, 1.5, 0.25, 0x80000, 0.5, 38.5, math.radians(lat),
            math.radians(lon), 12.5)),
    }


def main():
    families = {"septentrio": septentrio(), "trimble": trimble()}
    for messages in families.values():
        for name, message in messages.items():
            print(name, message.hex())
    # Seeds of the fuzzers, into the folder that is named.
    for folder in sys.argv[1:]:
        for family, messages in families.items():
            (pathlib.Path(folder) / f"packed-{family}").write_bytes(b"".join(messages.values()))


main()
