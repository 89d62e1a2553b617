#!/usr/bin/env python3
"""Prints the vectors of Tests/OutputProtocolsTests/NMEA2000*Tests.swift, encoded by canboat's own encoder.

Needs PyPI's `nmea2000`, which contains canboat's database and codec: pip install nmea2000==2026.10.3
"""

import math

from nmea2000 import _canboat as canboat

db = canboat.Database()


def show(name, pgn, fields, sets=None):
    payload = db.encode(pgn, fields, sets=sets) if sets else db.encode(pgn, fields)
    print(f"{name:24} {payload.hex()}")
    return payload


def frames(name, sequence, payload):
    for frame in canboat.fast_packet_fragment(sequence, payload):
        print(f"{name:24} {frame.hex()}")


print("canboat", db.version)
show("heading magnetic", "vesselHeading", {"sid": 0, "heading": 3.141, "deviation": 0, "variation": -0.0524, "reference": "Magnetic"})
show("heading true", "vesselHeading", {"sid": 0, "heading": 3.0886, "variation": -0.0524, "reference": "True"})
show("heading none", "vesselHeading", {"sid": 0})
show("rate", "rateOfTurn", {"sid": 0, "rate": 0.125})
show("rate to port", "rateOfTurn", {"sid": 0, "rate": -1.5})
show("heave", "heave", {"sid": 0, "heave": -1.27})
show("attitude", "attitude", {"sid": 0, "yaw": -1.5708, "pitch": 0.1, "roll": -0.25})
show("variation", "magneticVariation", {"sid": 0, "source": "WMM 2025", "variation": 0.0374})
show("position", "positionRapidUpdate", {"latitude": 53.1801465, "longitude": -5.4284511})
show("course", "cogSogRapidUpdate", {"sid": 0, "cogReference": "True", "cog": math.radians(271.5), "sog": 3.18})
# 2026-11-29 10:11:12.5
utc = 1795947072.5
date, time = divmod(utc, 86400)
fix = show("fix", "gnssPositionData", {
    "sid": 0, "date": int(date), "time": time, "latitude": 53.1801465, "longitude": -5.4284511, "altitude": 61.25,
    "gnssType": "GPS+SBAS/WAAS+GLONASS", "method": "RTK Fixed Integer", "integrity": "No integrity checking",
    "numberOfSvs": 17, "hdop": 0.7, "pdop": 1.3, "geoidalSeparation": 45.7, "referenceStations": 1,
}, sets=[[{"referenceStationId": 1042, "ageOfDgnssCorrections": 1.5}]])
frames("fix, frames", 5, fix)
show("fix dead-reckoned", "gnssPositionData", {
    "sid": 0, "date": int(date), "time": time, "latitude": 53.1801465, "longitude": -5.4284511,
    "method": "Estimated (DR) mode", "integrity": "No integrity checking",
})
show("fix none", "gnssPositionData", {"method": "no GNSS", "integrity": "No integrity checking"})
show("dops", "gnssDops", {"sid": 0, "actualMode": "3D", "hdop": 0.7, "vdop": 1.1})
show("satellites", "gnssSatsInView", {}, sets=[[
    {"prn": prn, "elevation": math.radians(up), "azimuth": math.radians(north), "snr": snr, "status": status,
     "gnssSystem": system}
    for prn, up, north, snr, status, system in [
        (5, 45, 271.5, 47.0, "Used", "GPS"), (11, 12, 90, 44.5, "Used", "Galileo"),
        (72, -3, 10, 30.25, "Tracked", "GLONASS")]
] + [
    {"prn": 36, "status": "Not tracked"},
]])
show("system time, receiver", "systemTime", {"sid": 0, "source": "GPS", "date": int(date), "time": time})
show("system time, clock", "systemTime", {"source": "Local Crystal clock", "date": int(date), "time": time})
show("system time, none", "systemTime", {})
show("time and date", "timeDate", {"date": int(date), "time": time})
show("environment obsolete", "environmentalParametersObsolete", {"sid": 0, "outsideAmbientAirTemperature": 294.65, "atmosphericPressure": 101300})
show("environment", "environmentalParameters", {
    "sid": 0, "temperatureSource": "Inside Temperature", "humiditySource": "Inside", "temperature": 294.65, "humidity": 0.555,
    "atmosphericPressure": 101300})
show("pressure", "actualPressure", {"sid": 0, "instance": 0, "source": "Atmospheric", "pressure": 101325.3})
show("temperature", "temperatureExtendedRange", {"sid": 0, "instance": 0, "source": "Outside Temperature", "temperature": 294.65})
name = canboat.iso_name(2046, 123456, device_function=140, device_class=60, device_instance=5, system_instance=1,
                        industry_group=4, arbitrary_address_capable=True)
print(f"{'NAME':24} {name:016x}")
product = show("product", "productInformation", {
    "nmea2000Version": 2.1, "modelId": "Lodestone", "softwareVersionCode": "1.2.3", "modelVersion": "board",
    "modelSerialCode": "0042", "loadEquivalency": 1})
frames("product, frames", 0, product)
print(f"{'heartbeat':24} {canboat.heartbeat_frame(35, 0, 60000)}")
show("configuration", "configurationInformation", {
    "installationDescription1": "Mast", "installationDescription2": "", "manufacturerInformation": "Lodestone"})
show("acknowledged request", "isoRequest", {"pgn": 60928})
print(f"{'refusal':24} {canboat.iso_ack_frame(35, 12, 1, 130306)}")
print(f"{'lists':24} {canboat.pgn_list_frames(35, 12, [127250, 129029], [59904, 60928])}")
for prio, pgn, src, dst in [(2, 127250, 20, 255), (6, 59904, 81, 255), (6, 59392, 14, 12), (6, 60928, 254, 255), (3, 129029, 35, 255)]:
    print(f"{'identifier':24} {prio} {pgn} {src} {dst} {canboat.can_id_compose(prio, pgn, src, dst):08x}")
