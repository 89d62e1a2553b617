#!/usr/bin/env python3
"""Prints the vectors of Tests/OutputProtocolsTests/MAVLinkTests.swift, encoded by pymavlink, and what pymavlink reads of frames.

Needs PyPI's `pymavlink`: pip install pymavlink==2.4.50
With arguments, each a frame in hexadecimal, prints what it holds.
"""

import math
import sys

from pymavlink.dialects.v20 import common as mav

NAN = float("nan")


class Sink:
    def write(self, data):
        pass


if len(sys.argv) > 1:
    reader = mav.MAVLink(Sink())
    for frame in sys.argv[1:]:
        for message in reader.parse_buffer(bytes.fromhex(frame)) or []:
            print(message.get_seq(), message.get_srcSystem(), message.get_srcComponent(), message)
    sys.exit()

link = mav.MAVLink(Sink(), srcSystem=1, srcComponent=191)


def show(name, message):
    """A frame with the sequence number 0."""
    link.seq = 0
    print(f"{name:24} {message.pack(link).hex()}")


# An attitude of heading 4.7, pitch 0.1 and roll -0.25 in aeronautical angles, by the textbook's product of half angles.
heading, pitch, roll = 4.7 - 0.0524, 0.1, -0.25
cy, sy, cp, sp, cr, sr = (f(a / 2) for a in (heading, pitch, roll) for f in (math.cos, math.sin))
q = [cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy]
if q[0] < 0:
    q = [-c for c in q]
# A turn of 0.125 rad/s about the vertical in the body's axes.
rates = [-math.sin(pitch) * 0.125, math.sin(roll) * math.cos(pitch) * 0.125, math.cos(roll) * math.cos(pitch) * 0.125]
tilt, yaw = (0.02 / 2.447746831) ** 2, (0.05 / 1.959963985) ** 2
variances = [tilt / math.cos(pitch) ** 2, tilt, yaw]
usec = 1795947072500000
boot = 5_000_000

show("heartbeat", mav.MAVLink_heartbeat_message(18, 8, 0, 0, 4, 3))
show("attitude", mav.MAVLink_attitude_quaternion_cov_message(
    usec, q, *rates, [variances[0], 0, 0, 0, variances[1], 0, 0, 0, variances[2]]))
speed, course = 3.18, math.radians(271.5)
ned = [speed * math.cos(course), speed * math.sin(course), 0.25]
gps = (usec / 1e6 - 315964800 + 18) * 1000
week, ms = int(gps // 604800000), int(gps % 604800000)
cdeg = round(math.degrees(heading) * 100)
show("gps input", mav.MAVLink_gps_input_message(
    usec, 0, 0, ms, week, 5, 531801465, -54284511, 15.55, 0.7, 1.1, *ned, 0.1, 0.02, 0.04, 17, cdeg))
show("gps input, no heading", mav.MAVLink_gps_input_message(
    usec, 0, 0, ms, week, 5, 531801465, -54284511, 15.55, 0.7, 1.1, *ned, 0.1, 0.02, 0.04, 17, 0))
show("gps input, north", mav.MAVLink_gps_input_message(
    usec, 0, 0, ms, week, 5, 531801465, -54284511, 15.55, 0.7, 1.1, *ned, 0.1, 0.02, 0.04, 17, 36000))
show("global position", mav.MAVLink_global_position_int_message(
    boot, 531801465, -54284511, 15550, 0, round(ned[0] * 100), round(ned[1] * 100), 25, cdeg))
show("global, no heading", mav.MAVLink_global_position_int_message(
    boot, 531801465, -54284511, 15550, 0, round(ned[0] * 100), round(ned[1] * 100), 25, 65535))
show("pressure", mav.MAVLink_scaled_pressure_message(boot, 1013.253, NAN, 2150))


def body(v):
    """A vector of the earth in the body's axes: the transposed rotation matrix."""
    w, x, y, z = q
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return [sum(rows[i][j] * v[i] for i in range(3)) for j in range(3)]


horizontal, vertical = (0.02 / math.sqrt(-2 * math.log(0.32))) ** 2, 0.04 ** 2
pose = [0.0] * 21
for place, value in zip([0, 6, 11, 15, 18, 20], [horizontal, horizontal, vertical, *variances]):
    pose[place] = value
show("odometry", mav.MAVLink_odometry_message(
    usec, 20, 12, 0, 0, 0, q, *body(ned), *rates, pose, [NAN] + [0.0] * 20, 0, 5, 0))
