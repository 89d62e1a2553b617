"""The readings, and how a line of the stream becomes one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """Something that the daemon has said."""

    monotonic: float
    """The moment in seconds of the board's monotonic clock, comparable with time.monotonic() on the board."""
    time: datetime | None = None
    """The moment in UTC, or None while the clock of the board is not set."""
    reason: str | None = None
    """Why values are missing, or not to be trusted."""
    skipped: int = 0
    """The number of readings of this kind that were left out before this one, because they were not taken in time."""
    line: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """The line of the stream as it came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading(Reading):
    """The heading of the board's y axis (forward) in degrees, clockwise from north."""

    magnetic_heading: float | None = None
    true_heading: float | None = None
    accuracy: float | None = None
    """Half the width of the 95 % interval in degrees, or None if the heading is not to be trusted."""
    declination: float | None = None
    field_vector: Vector | None = None
    """The calibrated field in microtesla: right, forward, up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attitude(Reading):
    """The attitude of the board. Angles are in degrees."""

    reference: str | None = None
    """What yaw and quaternion refer to: "magneticNorth" or "arbitrary"."""
    quaternion: tuple[float, float, float, float] | None = None
    """The rotation from the board (right, forward, up) to the earth (east, north, up), the scalar first."""
    roll: float | None = None
    """Positive if the right side is lower."""
    pitch: float | None = None
    """Positive if the front is higher."""
    yaw: float | None = None
    """Positive to the left."""
    magnetic_heading: float | None = None
    true_heading: float | None = None
    accuracy: float | None = None
    rotation_rate: Vector | None = None
    """Radians a second about the board's axes."""
    rate_of_turn: float | None = None
    """Degrees a second about the vertical, positive to the right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Location(Reading):
    """A position in WGS 84: degrees, meters, meters a second."""

    latitude: float | None = None
    longitude: float | None = None
    altitude: float | None = None
    """Meters above mean sea level."""
    ellipsoidal_altitude: float | None = None
    horizontal_accuracy: float | None = None
    """The radius in meters within which 68 % of positions are, or None without a position."""
    vertical_accuracy: float | None = None
    course: float | None = None
    course_accuracy: float | None = None
    speed: float | None = None
    speed_accuracy: float | None = None
    vertical_speed: float | None = None
    satellites: int | None = None
    fix_kind: str | None = None
    """How the position came about ("autonomous", "rtkFixed", "deadReckoning", ...), or None if the receiver does not report it."""
    correction_age: float | None = None
    """The age of the corrections in seconds."""
    correction_station: int | None = None
    is_assumed: bool = False
    """Whether the accuracy is a bound, because the receiver states none."""
    fix_age: float | None = None
    """The age in seconds of the fix from which dead reckoning carries the position on, or None for a fix."""
    is_simulated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Altitude(Reading):
    """The relative altitude by the barometer."""

    relative_altitude: float | None = None
    """Meters above where the board was at the beginning."""
    relative_accuracy: float | None = None
    pressure: float | None = None
    """Kilopascals."""
    vertical_speed: float | None = None
    temperature: float | None = None
    """Degrees Celsius, of the barometer: that of the air and what the board adds."""
    humidity: float | None = None
    """Percent of relative humidity at that temperature, if the barometer measures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteAltitude(Reading):
    """The altitude above mean sea level in meters."""

    altitude: float | None = None
    accuracy: float | None = None
    ellipsoidal_altitude: float | None = None
    sea_level_pressure: float | None = None
    """Kilopascals at mean sea level, by this altitude, the measured pressure and the standard atmosphere (QNH)."""
    sea_level_pressure_accuracy: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Satellite:
    """A satellite that the receiver hears."""

    system: str
    number: int
    used: bool | None = None
    """Whether the position rests on it, or None if the receiver does not report which satellites it uses."""
    elevation: float | None = None
    azimuth: float | None = None
    carrier_to_noise: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sky(Reading):
    """The satellites of a round."""

    satellites: tuple[Satellite, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion(Reading):
    """The newest samples of accelerometer, gyro and magnetometer in the frame of the board."""

    force: Vector | None = None
    """Meters a second squared; at rest it points up."""
    rotation_rate: Vector | None = None
    """Radians a second, the bias of the gyro included."""
    field_vector: Vector | None = None
    """Microtesla, with hard and soft iron."""
    sensor: str | None = None
    """The chip that gives nothing, with a reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waves(Reading):
    """Heave and sea state. Accuracies are one sigma."""

    heave: float | None = None
    """Meters above the mean height of the vessel, up positive."""
    heave_accuracy: float | None = None
    heave_rate: float | None = None
    """Meters a second, up positive."""
    heave_rate_accuracy: float | None = None
    heave_condition: str | None = None
    """"learning", "calmOrAshore", "settling" or "valid"."""
    sea_condition: str | None = None
    """"waves" or "calmOrAshore", or None before there is a sea state."""
    sea_duration: float | None = None
    """The effective length in seconds of the record that the sea state rests on."""
    sea_age: float | None = None
    """Seconds since the end of that record."""
    significant_wave_height: float | None = None
    """Meters."""
    significant_wave_height_accuracy: float | None = None
    mean_wave_period: float | None = None
    """Seconds from one upcrossing to the next, as the vessel meets the waves."""
    mean_wave_period_accuracy: float | None = None
    peak_wave_period: float | None = None
    """Seconds, as the vessel meets the waves."""
    peak_wave_period_accuracy: float | None = None
    roll_amplitude: float | None = None
    """Significant amplitude in degrees about the mean heel."""
    roll_amplitude_accuracy: float | None = None
    pitch_amplitude: float | None = None
    """Significant amplitude in degrees about the mean trim."""
    pitch_amplitude_accuracy: float | None = None
    undetected_wave_height: float | None = None
    """Where there are no waves: the significant height in meters below which they may go unnoticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample(Reading):
    """A sample of a chip as it has measured it, in the frame of the chip."""

    sensor: int
    """The place of the chip in the board file, from 0."""
    field_vector: Vector | None = None
    """Microtesla, with hard and soft iron."""
    force: Vector | None = None
    """Meters a second squared."""
    rotation_rate: Vector | None = None
    """Radians a second, the bias of the gyro included."""
    pressure: float | None = None
    """Kilopascals."""
    temperature: float | None = None
    """Degrees Celsius, of the barometer: that of the air and what the board adds."""
    humidity: float | None = None
    """Percent of relative humidity at that temperature, if the barometer measures it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensorState(Reading):
    """The state of a chip."""

    sensor: int | None = None
    chip: str | None = None
    position: str | None = None
    state: str | None = None
    """"starting", "running", "failed" (with a reason) or "idle"."""
    bus_errors: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message(Reading):
    """Something that a person should know."""

    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost(Reading):
    """The daemon cannot be reached. Readings go on as soon as it can."""


def _known(line: Mapping[str, Any], key: str) -> float | None:
    """A value that is negative if it is not known."""
    value = line.get(key)
    return None if value is None or value < 0 else float(value)


def _number(line: Mapping[str, Any], key: str) -> float | None:
    value = line.get(key)
    return None if value is None else float(value)


def _vector(line: Mapping[str, Any], key: str) -> Vector | None:
    values = line.get(key)
    return None if values is None else (float(values[0]), float(values[1]), float(values[2]))


def _moment(text: str) -> datetime:
    """Returns a time of a line. A leap second, which Python's times do not have, is the second after it."""
    if text[17:19] == "60":
        return datetime.fromisoformat(text[:17] + "59" + text[19:]) + timedelta(seconds=1)
    return datetime.fromisoformat(text)


def reading(line: Mapping[str, Any]) -> Reading | None:
    """Returns the reading of a line, or None if its kind is not known to this module."""
    time = line.get("time")
    common: dict[str, Any] = {
        "monotonic": float(line["monotonic"]),
        "time": None if time is None else _moment(time),
        "reason": line.get("reason"),
        "skipped": line.get("skipped", 0),
        "line": line,
    }
    kind = line.get("kind")
    if kind == "heading":
        fields = [line.get(axis) for axis in "xyz"]
        return Heading(
            magnetic_heading=_known(line, "magneticHeading"),
            true_heading=_known(line, "trueHeading"),
            accuracy=_known(line, "headingAccuracy"),
            declination=_number(line, "declination"),
            field_vector=None if None in fields else tuple(map(float, fields)),  # type: ignore[arg-type]
            **common,
        )
    if kind == "attitude":
        quaternion = line.get("quaternion")
        return Attitude(
            reference=line.get("reference"),
            quaternion=None if quaternion is None else tuple(map(float, quaternion)),  # type: ignore[arg-type]
            roll=_number(line, "roll"),
            pitch=_number(line, "pitch"),
            yaw=_number(line, "yaw"),
            magnetic_heading=_known(line, "magneticHeading"),
            true_heading=_known(line, "trueHeading"),
            accuracy=_known(line, "headingAccuracy"),
            rotation_rate=_vector(line, "rotationRate"),
            rate_of_turn=_number(line, "rateOfTurn"),
            **common,
        )
    if kind == "location":
        return Location(
            latitude=_number(line, "latitude"),
            longitude=_number(line, "longitude"),
            altitude=_number(line, "altitude"),
            ellipsoidal_altitude=_number(line, "ellipsoidalAltitude"),
            horizontal_accuracy=_known(line, "horizontalAccuracy"),
            vertical_accuracy=_known(line, "verticalAccuracy"),
            course=_known(line, "course"),
            course_accuracy=_known(line, "courseAccuracy"),
            speed=_known(line, "speed"),
            speed_accuracy=_known(line, "speedAccuracy"),
            vertical_speed=_number(line, "verticalSpeed"),
            satellites=line.get("satellites"),
            fix_kind=line.get("fixKind"),
            correction_age=_number(line, "correctionAge"),
            correction_station=line.get("correctionStation"),
            is_assumed=line.get("assumed", False),
            fix_age=_number(line, "carried"),
            is_simulated=line.get("isSimulatedBySoftware", False),
            **common,
        )
    if kind == "altitude":
        return Altitude(
            relative_altitude=_number(line, "relativeAltitude"),
            relative_accuracy=_number(line, "relativeAccuracy"),
            pressure=_number(line, "pressure"),
            vertical_speed=_number(line, "verticalSpeed"),
            temperature=_number(line, "temperature"),
            humidity=_number(line, "humidity"),
            **common,
        )
    if kind == "absoluteAltitude":
        return AbsoluteAltitude(
            altitude=_number(line, "altitude"),
            accuracy=_number(line, "altitudeAccuracy"),
            ellipsoidal_altitude=_number(line, "ellipsoidalAltitude"),
            sea_level_pressure=_number(line, "seaLevelPressure"),
            sea_level_pressure_accuracy=_number(line, "seaLevelPressureAccuracy"),
            **common,
        )
    if kind == "sky":
        return Sky(satellites=tuple(map(_satellite, line.get("inView", []))), **common)
    if kind == "motion":
        return Motion(
            force=_vector(line, "force"),
            rotation_rate=_vector(line, "rotationRate"),
            field_vector=_vector(line, "field"),
            sensor=line.get("sensor"),
            **common,
        )
    if kind == "waves":
        return Waves(
            heave=_number(line, "heave"),
            heave_accuracy=_number(line, "heaveAccuracy"),
            heave_rate=_number(line, "heaveRate"),
            heave_rate_accuracy=_number(line, "heaveRateAccuracy"),
            heave_condition=line.get("heaveCondition"),
            sea_condition=line.get("seaCondition"),
            sea_duration=_number(line, "seaDuration"),
            sea_age=_number(line, "seaAge"),
            significant_wave_height=_number(line, "significantWaveHeight"),
            significant_wave_height_accuracy=_number(line, "significantWaveHeightAccuracy"),
            mean_wave_period=_number(line, "meanWavePeriod"),
            mean_wave_period_accuracy=_number(line, "meanWavePeriodAccuracy"),
            peak_wave_period=_number(line, "peakWavePeriod"),
            peak_wave_period_accuracy=_number(line, "peakWavePeriodAccuracy"),
            roll_amplitude=_number(line, "rollAmplitude"),
            roll_amplitude_accuracy=_number(line, "rollAmplitudeAccuracy"),
            pitch_amplitude=_number(line, "pitchAmplitude"),
            pitch_amplitude_accuracy=_number(line, "pitchAmplitudeAccuracy"),
            undetected_wave_height=_number(line, "undetectedWaveHeight"),
            **common,
        )
    if kind == "sample":
        return Sample(
            sensor=line["sensor"],
            field_vector=_vector(line, "field"),
            force=_vector(line, "force"),
            rotation_rate=_vector(line, "rotationRate"),
            pressure=_number(line, "pressure"),
            temperature=_number(line, "temperature"),
            humidity=_number(line, "humidity"),
            **common,
        )
    if kind == "sensor":
        return SensorState(
            sensor=line.get("sensor"),
            chip=line.get("chip"),
            position=line.get("position"),
            state=line.get("state"),
            bus_errors=line.get("busErrors"),
            **common,
        )
    if kind == "error":
        return Message(message=line.get("message", ""), **common)
    return None


def _satellite(line: Mapping[str, Any]) -> Satellite:
    return Satellite(
        system=line["system"],
        number=line["number"],
        used=line.get("used"),
        elevation=_number(line, "elevation"),
        azimuth=_number(line, "azimuth"),
        carrier_to_noise=_number(line, "carrierToNoise"),
    )
