#!/usr/bin/env python3
"""Prints the vectors of Tests/OutputProtocolsTests/MCAP*Tests.swift.

Messages are serialized by rosbags, the records of the file by mcap, checksums are zlib's. Made with Python 3.11, mcap 1.6.0 and
rosbags 0.11.9: pip install mcap rosbags, then run this script.
"""

import io
import zlib

import numpy as np
from mcap.data_stream import RecordBuilder
from mcap.records import (Channel, Chunk, ChunkIndex, DataEnd, Footer, Header, Message,
                          MessageIndex, Schema, Statistics, SummaryOffset)
from rosbags.typesys import Stores, get_typestore

MAGIC = bytes([0x89]) + b"MCAP0\r\n"
store = get_typestore(Stores.ROS2_HUMBLE)


def kind(name):
    return store.types[name]


def header(seconds, nanoseconds, frame):
    time = kind("builtin_interfaces/msg/Time")(seconds, nanoseconds)
    return kind("std_msgs/msg/Header")(time, frame)


def vector(x, y, z):
    return kind("geometry_msgs/msg/Vector3")(x, y, z)


def show(name, message):
    data = store.serialize_cdr(message, message.__msgtype__)
    print(name, bytes(data).hex())
    return bytes(data)


def messages():
    nine = np.arange(1.0, 10.0)
    zero = np.zeros(9)
    quaternion = kind("geometry_msgs/msg/Quaternion")(0.1, -0.2, 0.3, 0.9)
    show("imu", kind("sensor_msgs/msg/Imu")(
        header(1732600000, 123456789, "imu_link"), quaternion, nine, vector(0.5, -0.25, 2.0), zero,
        vector(1.0, 2.0, 9.75), zero))
    show("field", kind("sensor_msgs/msg/MagneticField")(
        header(1732600000, 5, "imu_link"), vector(2e-5, -1e-6, -4.5e-5), zero))
    status = kind("sensor_msgs/msg/NavSatStatus")(2, 9)
    covariance = np.array([0.5, 0, 0, 0, 0.5, 0, 0, 0, 2.25])
    show("fix", kind("sensor_msgs/msg/NavSatFix")(
        header(1732600001, 0, "gnss_link"), status, 48.123456789, -11.5, 512.25, covariance, 2))
    show("log", kind("rcl_interfaces/msg/Log")(
        kind("builtin_interfaces/msg/Time")(1732600000, 7), 30, "heading", "no heading", "", "", 0))
    show("pressure", kind("sensor_msgs/msg/FluidPressure")(header(0, 0, "b"), 101325.25, 0.0))


def build(record):
    builder = RecordBuilder()
    record.write(builder)
    return builder.end()


def file():
    """A file of one schema, two channels and two chunks, in the layout that MCAPWriter writes."""
    out = MAGIC + build(Header("", "test 1"))
    schema = build(Schema(1, b"{}", "jsonschema", "a.B"))
    channels = (build(Channel(0, "/one", "json", {"key": "value"}, 1))
                + build(Channel(1, "/two", "json", {}, 1)))
    out += schema + channels
    indexes = b""
    chunks = [[(0, 0, 100, b'{"a":1}'), (1, 0, 90, b"{}")], [(0, 1, 200, b"{}")]]
    for messages in chunks:
        data, places = b"", {}
        for channel, sequence, time, payload in messages:
            places.setdefault(channel, []).append((time, len(data)))
            data += build(Message(channel, time, payload, time, sequence))
        times = [message[2] for message in messages]
        start = len(out)
        chunk = build(Chunk("", data, max(times), min(times), zlib.crc32(data), len(data)))
        out += chunk
        offsets, index_start = {}, len(out)
        for channel, records in places.items():
            offsets[channel] = len(out)
            out += build(MessageIndex(channel, records))
        indexes += build(ChunkIndex(
            len(chunk), start, "", len(data), max(times), len(out) - index_start, offsets,
            min(times), len(data)))
    out += build(DataEnd(zlib.crc32(out)))
    statistics = build(Statistics(0, 2, {0: 2, 1: 1}, 2, 3, 200, 90, 0, 1))
    summary_start = len(out)
    summary, offsets = b"", b""
    for operation, group in [(3, schema), (4, channels), (11, statistics), (8, indexes)]:
        start = summary_start + len(summary)
        summary += group
        offsets += build(SummaryOffset(operation, start, len(group)))
    offset_start = summary_start + len(summary)
    summary += offsets
    footer = build(Footer(summary_start, offset_start, 0))
    footer = build(Footer(summary_start, offset_start, zlib.crc32(summary + footer[:-4])))
    out += summary + footer + MAGIC
    from mcap.reader import make_reader
    assert len(list(make_reader(io.BytesIO(out), validate_crcs=True).iter_messages())) == 3
    print("file", out.hex())


messages()
file()
