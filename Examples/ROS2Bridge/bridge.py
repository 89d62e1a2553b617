"""Publishes a Lodestone board in ROS 2: imu/data, gnss/fix and pressure, over rosbridge.

On the robot's computer:  ros2 launch rosbridge_server rosbridge_websocket_launch.xml
On the board, where lodestone serve runs:

    pip install websockets
    PYTHONPATH=Clients/Python python3 Examples/ROS2Bridge/bridge.py ws://ROBOT:9090

Nothing of ROS is needed on the board. The covariances say what is known: -1 for a quantity that is not measured, and the type 0 for a
position whose accuracy nobody states. Conventions are those of REP 103, 105 and 145: the frame imu_link has x forward, y left, z up, and an
orientation of zero looks east.
"""

import json
import math
import sys
from collections.abc import Iterator

from websockets.sync.client import ClientConnection, connect

import lodestone

TYPES = {
    "imu/data": "sensor_msgs/msg/Imu",
    "gnss/fix": "sensor_msgs/msg/NavSatFix",
    "pressure": "sensor_msgs/msg/FluidPressure",
}
ABSENT = [-1.0] + [0.0] * 8
UNKNOWN = [0.0] * 9
# A radius that holds 68 % of positions, and half the width of a 95 % interval, in deviations.
RADIUS_68, WIDTH_95 = 1.5096, 1.9600


def header(reading: lodestone.Reading, frame: str) -> dict:
    # ROS's word for a time that is not known is zero.
    seconds = reading.time.timestamp() if reading.time else 0.0
    whole = math.floor(seconds)
    return {"stamp": {"sec": whole, "nanosec": int((seconds - whole) * 1e9)}, "frame_id": frame}


def vector(x: float, y: float, z: float) -> dict:
    return {"x": x, "y": y, "z": z}


def product(a: tuple, b: tuple) -> tuple:
    """The rotation b, then a; the scalar first."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx, aw * bz + ax * by - ay * bx + az * bw)


def about_up(degrees: float) -> tuple:
    half = math.radians(degrees) / 2
    return (math.cos(half), 0.0, 0.0, math.sin(half))


def imu(attitude: lodestone.Attitude, force: tuple | None) -> dict:
    message = {
        "header": header(attitude, "imu_link"),
        "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0}, "orientation_covariance": ABSENT,
        "angular_velocity": vector(0.0, 0.0, 0.0), "angular_velocity_covariance": ABSENT,
        "linear_acceleration": vector(0.0, 0.0, 0.0), "linear_acceleration_covariance": ABSENT,
    }
    covariance = attitude.line.get("covariance")
    # ROS's north is the true one, so an orientation needs the declination: both headings.
    if attitude.quaternion and covariance and None not in (attitude.true_heading, attitude.magnetic_heading):
        declination = attitude.true_heading - attitude.magnetic_heading
        w, x, y, z = product(product(about_up(-declination), attitude.quaternion), about_up(90))
        message["orientation"] = {"x": x, "y": y, "z": z, "w": w}
        message["orientation_covariance"] = list(covariance)
    for key, value in (("angular_velocity", attitude.rotation_rate), ("linear_acceleration", force)):
        if value:
            right, forward, up = value
            message[key] = vector(forward, -right, up)
            message[key + "_covariance"] = UNKNOWN
    return message


def fix(location: lodestone.Location) -> dict:
    # ROS has no word for a position that dead reckoning carries on.
    is_fix = location.latitude is not None and location.fix_age is None
    message = {
        "header": header(location, "gnss_link"), "status": {"status": 0 if is_fix else -1, "service": 0},
        # JSON has no NaN. Where the status is -1, these numbers mean nothing.
        "latitude": location.latitude or 0.0, "longitude": location.longitude or 0.0,
        "altitude": location.ellipsoidal_altitude or 0.0,
        "position_covariance": UNKNOWN, "position_covariance_type": 0,
    }
    if is_fix and location.horizontal_accuracy is not None and location.vertical_accuracy is not None:
        level, up = (location.horizontal_accuracy / RADIUS_68) ** 2, location.vertical_accuracy**2
        message["position_covariance"] = [level, 0.0, 0.0, 0.0, level, 0.0, 0.0, 0.0, up]
        message["position_covariance_type"] = 1 if location.is_assumed else 2
    return message


def messages(readings: Iterator[lodestone.Reading]) -> Iterator[tuple[str, dict]]:
    """The messages of readings, each with its topic."""
    force = None
    for reading in readings:
        match reading:
            case lodestone.Lost():
                print(f"the board is lost: {reading.reason}", file=sys.stderr)
            case lodestone.Motion():
                force = reading.force
            case lodestone.Attitude():
                yield "imu/data", imu(reading, force)
                # It belongs to one attitude.
                force = None
            case lodestone.Location():
                yield "gnss/fix", fix(reading)
            case lodestone.Altitude(pressure=float(pressure)):
                yield "pressure", {
                    "header": header(reading, "imu_link"), "fluid_pressure": pressure * 1000, "variance": 0.0}


def publish(socket: ClientConnection, readings: Iterator[lodestone.Reading]) -> None:
    for topic, kind in TYPES.items():
        socket.send(json.dumps({"op": "advertise", "topic": f"/{topic}", "type": kind}))
    for topic, message in messages(readings):
        socket.send(json.dumps({"op": "publish", "topic": f"/{topic}", "msg": message}, allow_nan=False))


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: bridge.py ws://ROBOT:9090")
    with connect(sys.argv[1]) as socket:
        publish(socket, lodestone.stream(kinds=["attitude", "motion", "location", "altitude"], rate=50))


if __name__ == "__main__":
    main()
