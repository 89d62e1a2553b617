#!/usr/bin/env python3
"""/metrics as Prometheus' own parser reads it.

usage: metrics-peer.py LODESTONE    (pip install prometheus-client)

Where the program `prometheus` is installed, it scrapes the board as well, by the configuration below.
"""
import json
import math
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families

import peer_daemon
from checks import expect, finish


def scrape(port, **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        text = answer.read().decode()
        kind = answer.headers["Content-Type"]
    families = {family.name: family for family in text_string_to_metric_families(text)}
    return text, kind, families


def value(families, name, **labels):
    for sample in families[name].samples if name in families else []:
        if all(sample.labels.get(key) == text for key, text in labels.items()):
            return sample.value
    return None


CONFIGURATION = """
global: {{scrape_interval: 1s}}
scrape_configs:
  - job_name: lodestone
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


def prometheus(port):
    program = shutil.which("prometheus")
    if not program:
        print("skipped: prometheus is not installed")
        return
    folder, own = peer_daemon.FOLDER, peer_daemon.free_port()
    (folder / "prometheus.yml").write_text(CONFIGURATION.format(port=port))
    process = subprocess.Popen(
        [program, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         f"--web.listen-address=127.0.0.1:{own}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def query(text):
        try:
            address = f"http://127.0.0.1:{own}/api/v1/query?" + urllib.parse.urlencode({"query": text})
            with urllib.request.urlopen(address, timeout=10) as answer:
                return json.load(answer)["data"]["result"]
        except OSError:
            return []

    try:
        expect("Prometheus scrapes the board", peer_daemon.wait_for(
            lambda: [entry for entry in query("up") if entry["value"][1] == "1"], 60))
        expect("and has a position", peer_daemon.wait_for(
            lambda: [entry for entry in query("lodestone_latitude_degrees") if entry["value"][1] != "NaN"], 60))
        rate = peer_daemon.wait_for(lambda: query("sum(rate(lodestone_sensor_samples_total[20s])) > 0"), 60)
        expect("and a rate of samples", rate, shown=rate[0]["value"][1] if rate else "")
    finally:
        process.terminate()
        process.wait(20)


def main():
    open_port, closed_port = peer_daemon.free_port(), peer_daemon.free_port()
    peer_daemon.serve(
        f"{{protocol: openmetrics, port: {open_port}, positions: exact, board: boat}}",
        f"{{protocol: openmetrics, port: {closed_port}}}")
    text, kind, families = scrape(open_port)
    expect("it is OpenMetrics 1.0", kind.startswith("application/openmetrics-text; version=1.0.0"), kind)
    expect("the board has its name", value(families, "lodestone", board="boat") == 1, text[:300])
    first = value(families, "lodestone_latitude_degrees")
    expect("what was not measured yet is NaN", first is not None and math.isnan(first), first)

    def measured():
        families = scrape(open_port)[2]
        latitude = value(families, "lodestone_latitude_degrees")
        pressure = [name for name in families if "pressure" in name]
        return families if latitude == latitude and pressure else None

    found = peer_daemon.wait_for(measured, 60)
    expect("a scrape wakes the board: there is a position", found)
    if found:
        accuracy = value(found, "lodestone_position_accuracy_meters")
        expect("with its accuracy", accuracy is not None and accuracy > 0, accuracy)
        heading = value(found, "lodestone_heading_degrees", reference="magnetic")
        reasons = [sample.labels for sample in found["lodestone_heading_missing"].samples if sample.value == 1]
        expect(
            "a heading is known, or the reason why not",
            (heading == heading) != bool(reasons), f"{heading} {reasons}")

    def samples(families):
        return sum(sample.value for sample in families["lodestone_sensor_samples"].samples)

    before = samples(scrape(open_port)[2])
    expect(
        "counters rise between scrapes", peer_daemon.wait_for(lambda: samples(scrape(open_port)[2]) > before, 30))
    prometheus(open_port)
    text, _, families = scrape(closed_port)
    expect(
        "without positions there is no place",
        "latitude" not in text and math.isnan(value(families, "lodestone_heading_degrees", reference="true")), text)
    try:
        scrape(open_port, Host="evil.example")
        expect("a page that a browser was led to is refused", False)
    except urllib.error.HTTPError as error:
        expect("a page that a browser was led to is refused", error.code == 403, error.code)


try:
    main()
finally:
    peer_daemon.end()
finish("metrics-peer")
