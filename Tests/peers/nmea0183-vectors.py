#!/usr/bin/env python3
"""Writes the sentences that Tests/OutputProtocolsTests/NMEA0183SentenceTests.swift expects, from the values of its board.

Each is read back by two libraries that others wrote, pynmea2 1.19.0 and pynmeagps 1.1.8, and has to give these values:
    pip install pynmea2==1.19.0 pynmeagps==1.1.8 && python3 Tests/peers/nmea0183-vectors.py
"""
import pynmea2
from pynmeagps import NMEAReader

MAGNETIC, TRUE, VARIATION = 128.3, 131.4, 3.1
PITCH, ROLL, RATE = 5.0, -12.5, -2.0  # degrees, degrees a second to starboard
LATITUDE, LONGITUDE = -33.123456789, -0.000012345
ALTITUDE, SEPARATION = 100.25, -19.75
SPEED, COURSE = 1.5, 271.5  # m/s, degrees
HORIZONTAL, VERTICAL = 3.02, 4.5
PRESSURE, TEMPERATURE, HUMIDITY = 99_720.0, 17.2, 47.4


def sentence(body):
    total = 0
    for byte in body.encode():
        total ^= byte
    return f"${body}*{total:02X}"


def angle(value, width, digits, letters):
    degrees = int(abs(value))
    minutes = (abs(value) - degrees) * 60
    return f"{degrees:0{width}d}{minutes:0{digits + 3}.{digits}f},{letters[value < 0]}"


PLACE = angle(LATITUDE, 2, 6, "NS") + "," + angle(LONGITUDE, 3, 6, "EW")
SHORT = angle(LATITUDE, 2, 5, "NS") + "," + angle(LONGITUDE, 3, 5, "EW")
SHORTER = angle(LATITUDE, 2, 4, "NS") + "," + angle(LONGITUDE, 3, 4, "EW")
KNOTS = SPEED / 1852 * 3600
SIGMA = HORIZONTAL / 1.51
VECTORS = [
    (f"HCHDG,{MAGNETIC:.1f},,,{VARIATION:.1f},E", {"heading": MAGNETIC, "variation": VARIATION, "var_dir": "E"},
     {"headingM": MAGNETIC, "variation": VARIATION, "variationEW": "E"}),
    (f"HCHDM,{MAGNETIC:.1f},M", {"heading": MAGNETIC}, {"headingM": MAGNETIC}),
    (f"IIHDT,{TRUE:.1f},T", {"heading": TRUE}, {"headingT": TRUE}),
    (f"IITHS,{TRUE:.1f},A", None, {"headt": TRUE, "mi": "A"}),
    (f"TIROT,{RATE * 60:.1f},A", {"rate_of_turn": RATE * 60, "status": "A"}, {"rot": RATE * 60, "valid": "A"}),
    (f"PASHR,030405.250,{TRUE:.2f},T,{ROLL:+.2f},{PITCH:+.2f},,0.250,0.250,0.500,2,1", None,
     {"trueHdg": TRUE, "roll": ROLL, "pitch": PITCH, "rollAcc": 0.25, "pitchAcc": 0.25, "hdgAcc": 0.5,
      "gnssQual": 2, "imuAlign": 1}),
    (f"YXXDR,A,{PITCH:.2f},D,PTCH,A,{ROLL:.2f},D,ROLL", {}, {}),
    (f"YXXDR,P,{PRESSURE / 1e5:.5f},B,Barometer,C,{TEMPERATURE:.2f},C,TempBarometer,H,{HUMIDITY:.1f},P,HumBarometer",
     {}, {}),
    (f"WIMDA,{PRESSURE / 3386.389:.4f},I,{PRESSURE / 1e5:.4f},B" + "," * 16,
     {"b_pressure_inch": 29.4473, "b_pressure_bar": 0.9972}, {}),
    (f"GNGGA,030405.250,{SHORTER},4,09,0.9,100.3,M,-19.8,M,1.5,0120",
     {"gps_qual": 4, "num_sats": "09", "ref_station_id": "0120"}, {"quality": 4, "numSV": 9, "diffStation": 120}),
    (f"GNRMC,030405.250,A,{SHORT},{KNOTS:.2f},{COURSE:.1f},221126,{VARIATION:.1f},E,R,V",
     {"status": "A", "mag_variation": "3.1", "mag_var_dir": "E", "mode_indicator": "R", "nav_status": "V"},
     {"status": "A", "cog": COURSE, "mv": VARIATION, "mvEW": "E", "posMode": "R", "navStatus": "V"}),
    (f"GNGLL,{PLACE},030405.250,A,R", {"status": "A", "faa_mode": "R"}, {"status": "A", "posMode": "R"}),
    (f"GNVTG,{COURSE:.2f},T,{COURSE - VARIATION:.2f},M,{KNOTS:.3f},N,{SPEED * 3.6:.3f},K,R",
     {"true_track": COURSE, "mag_track": COURSE - VARIATION, "faa_mode": "R"},
     {"cogt": COURSE, "cogm": COURSE - VARIATION, "sogk": SPEED * 3.6, "posMode": "R"}),
    ("GNGSA,A,3,03,33,,,,,,,,,,,1.50,0.90,1.20,1", {"sv_id01": "03", "sv_id02": "33", "pdop": "1.50"},
     {"opMode": "A", "navMode": 3, "svid_01": 3, "svid_02": 33, "PDOP": 1.5, "HDOP": 0.9, "VDOP": 1.2, "systemId": 1}),
    ("GNGSA,A,3,65,,,,,,,,,,,,1.50,0.90,1.20,2", {"sv_id01": "65"}, {"svid_01": 65, "systemId": 2}),
    ("GPGSV,1,1,03,03,71,005,46,33,33,,,32,,,,0", {"num_sv_in_view": "03", "azimuth_1": "005", "snr_1": "46"},
     {"numSV": 3, "svid_01": 3, "elv_01": 71, "az_01": 5, "cno_01": 46, "svid_02": 33, "svid_03": 32, "signalID": 0}),
    ("GLGSV,1,1,01,65,,,30,0", {"sv_prn_num_1": "65", "snr_1": "30"}, {"svid_01": 65, "cno_01": 30}),
    (f"GNGST,030405.250,,,,,{SIGMA:.3f},{SIGMA:.3f},{VERTICAL:.3f}",
     {"std_dev_latitude": 2.0, "std_dev_longitude": 2.0, "std_dev_altitude": VERTICAL},
     {"stdLat": 2.0, "stdLong": 2.0, "stdAlt": VERTICAL}),
    ("GNZDA,030405.250,22,11,2026,00,00", {"day": 22, "month": 11, "year": 2026}, {"day": 22, "month": 11, "year": 2026}),
]


def same(found, expected):
    if isinstance(expected, float):
        return found is not None and found != "" and abs(float(found) - expected) < 1e-6
    return str(found) == str(expected)


for body, first, second in VECTORS:
    line = sentence(body)
    assert len(line) + 2 <= 82, line
    if first is not None:
        read = pynmea2.parse(line, check=True)
        for name, value in first.items():
            assert same(getattr(read, name), value), (line, name, getattr(read, name))
        if hasattr(read, "latitude") and body[2:5] in ("GGA", "RMC", "GLL"):
            assert abs(read.latitude - LATITUDE) < 1e-6 and abs(read.longitude - LONGITUDE) < 1e-6, line
    read = NMEAReader.parse(line)
    for name, value in second.items():
        assert same(getattr(read, name), value), (line, name, getattr(read, name), read)
    if hasattr(read, "lat"):
        assert abs(read.lat - LATITUDE) < 1e-6 and abs(read.lon - LONGITUDE) < 1e-6, line
    print(f'    "{line}",')
