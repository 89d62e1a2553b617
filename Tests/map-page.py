#!/usr/bin/env python3
"""The page of `lodestone map` in a headless Chromium: what it shows is what the board says, whatever comes loose.

usage: map-page.py LODESTONE [--screenshots FOLDER]

Skipped where there is no Chromium. Takes less than a minute of real time."""
import json
import math
import pathlib
import re
import signal
import sys
import tempfile
import time
import urllib.parse

import checks
import chromium
from live_map import Server, expect, get, knock
from map_manners import manners

ROOT = pathlib.Path(__file__).resolve().parent.parent
PICTURES = pathlib.Path(sys.argv[sys.argv.index("--screenshots") + 1]) if "--screenshots" in sys.argv else None
SIZES = {"desktop": (1280, 800, 1), "phone": (390, 844, 2)}


def place_on_screen(browser):
    """Where the marker is drawn, as latitude and longitude by the map's own centre, zoom and turn."""
    seen = browser.evaluate(
        "(() => { const map = document.getElementById('map'); const box = map.getBoundingClientRect();"
        " const [x, y] = document.getElementById('marker').getAttribute('transform').match(/-?[0-9.]+/g).map(Number);"
        " return {x: x - box.width / 2, y: y - box.height / 2, ...map.dataset,"
        " needle: document.getElementById('needle').getAttribute('transform'),"
        " half: document.getElementById('cone').dataset.halfWidth,"
        " radius: Number(document.getElementById('accuracy').getAttribute('r'))}; })()")
    scale = 256 * 2 ** float(seen["zoom"])
    latitude, longitude = math.radians(float(seen["latitude"])), float(seen["longitude"])
    turned = math.radians(float(seen["turned"]))
    east = seen["x"] * math.cos(turned) - seen["y"] * math.sin(turned)
    south = seen["x"] * math.sin(turned) + seen["y"] * math.cos(turned)
    y = math.asinh(math.tan(latitude)) - south / scale * 2 * math.pi
    seen["place"] = (math.degrees(math.atan(math.sinh(y))), longitude + east / scale * 360)
    seen["perMetre"] = scale / (2 * math.pi * 6378137 * math.cos(latitude))
    seen["heading"] = float(re.search(r"-?[0-9.]+", seen["needle"])[0]) + float(seen["turned"])
    return seen


def metres(a, b):
    return math.hypot((a[0] - b[0]) * 111195, (a[1] - b[1]) * 111195 * math.cos(math.radians(a[0])))


def said(browser, kind):
    """What the WebSockets of the page have brought, by kind."""
    lines = (json.loads(event["response"]["payloadData"]) for event in browser.of("Network.webSocketFrameReceived")
             if event["response"]["opcode"] == 1)
    return [line for line in lines if line["kind"] == kind]


def pictures(browser, name):
    for size, (width, height, ratio) in SIZES.items() if PICTURES else ():
        for is_dark in (False, True):
            browser.resize(width, height, ratio, is_dark)
            browser.listen(0.3)
            browser.screenshot(PICTURES / f"{name}-{size}-{'dark' if is_dark else 'light'}.png")
    browser.resize(*SIZES["desktop"], False)


def text(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').innerText.trim()")


def first_fix(browser, server):
    browser.resize(*SIZES["desktop"], False)
    browser.call("Page.navigate", url=server.url)
    expect("connected", browser.wait("document.body.dataset.connection === 'connected'", 5))
    browser.wait("!document.getElementById('notice').hidden", 3)
    notice = text(browser, "notice")
    expect("before the first fix the map says why", "No position" in notice and "\n" in notice, notice)
    hidden = browser.evaluate("getComputedStyle(document.getElementById('marker')).display")
    expect("and draws no position", hidden == "none" and "–" == text(browser, "position-place"), hidden)
    pictures(browser, "before-fix")
    expect("the first fix", browser.wait("document.getElementById('notice').hidden", 15))


def follows(browser):
    # A drag: from then on it is the marker that moves.
    for kind, x, y in [("mousePressed", 300, 300), ("mouseMoved", 340, 330), ("mouseReleased", 340, 330)]:
        browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    expect("a drag ends the following", browser.evaluate("document.getElementById('follow').ariaPressed === 'false'"))
    browser.listen(0.5)
    start = place_on_screen(browser)
    worst = {"place": 0.0, "heading": 0.0}
    headings = []
    way = turn = 0.0
    until = time.monotonic() + 15
    while time.monotonic() < until and not (way > 2 and turn > 20):
        browser.listen(0.4)
        seen = place_on_screen(browser)
        headings.append(seen["heading"])
        # The page may be a little behind what has come, or ahead of what was listened to.
        locations = [line for line in said(browser, "location") if "latitude" in line][-12:]
        all_headings = said(browser, "heading")[-40:]
        worst["place"] = max(worst["place"], min(
            metres(seen["place"], (line["latitude"], line["longitude"])) for line in locations))
        worst["heading"] = max(worst["heading"], min(
            abs(math.remainder(seen["heading"] - line["trueHeading"], 360)) for line in all_headings))
        way = metres(start["place"], seen["place"])
        turn = max(abs(math.remainder(a - headings[0], 360)) for a in headings)
    nearest = min(locations, key=lambda line: metres(seen["place"], (line["latitude"], line["longitude"])))
    expect("the drawn position is the one that was said, and moves", way > 2 and worst["place"] < 0.05,
           f"{way:.1f} m of way, at most {worst['place'] * 100:.1f} cm off")
    expect("the drawn heading is the one that was said, and turns", turn > 20 and worst["heading"] < 0.02,
           f"{turn:.0f} degrees, at most {worst['heading']:.3f} off")
    radius = nearest["horizontalAccuracy"] * seen["perMetre"]
    expect("the circle is to scale", abs(radius / seen["radius"] - 1) < 0.05, f"{seen['radius']} px for {radius:.2f}")
    halves = {round(line["headingAccuracy"], 3) for line in all_headings}
    expect("the cone is as wide as the error bar", round(float(seen["half"]), 3) in halves, seen["half"])
    browser.evaluate("document.getElementById('turn').click()")
    browser.listen(0.5)
    seen = place_on_screen(browser)
    expect("heading up", abs(math.remainder(seen["heading"] - float(seen["turned"]), 360)) < 0.02, str(seen))
    browser.evaluate("document.getElementById('turn').click(); document.getElementById('follow').click()")
    browser.listen(0.4)
    seen = place_on_screen(browser)
    expect("following again", abs(seen["x"]) < 0.02 and abs(seen["y"]) < 0.02, str(seen))


def unplugged(browser):
    row = "document.querySelector('#sensors [data-chip=BMP280]')"
    reason = browser.wait(f"{row}.dataset.state === 'failed' && {row}.innerText", 20)
    expect("an unplugged chip, with its reason", bool(reason) and len(reason.split("\n")) > 1 and "BMP280" in reason, reason)
    why = "document.getElementById('altitude-reason')"
    altitude = browser.wait(f"(!{why}.hidden) && {why}.innerText", 5)
    expect("no altitude, and why", bool(altitude) and text(browser, "altitude-relative") == "–", altitude)
    pictures(browser, "unplugged")
    expect("it comes back", browser.wait(f"{row}.dataset.state === 'running' && {why}.hidden", 20))


def in_vain(browser):
    """The WebSockets that nobody has answered."""
    opened = {event["requestId"] for event in browser.of("Network.webSocketHandshakeResponseReceived")}
    return {event["requestId"] for event in browser.of("Network.webSocketCreated")} - opened


def lost(browser, server, board):
    before = text(browser, "position-place")
    server.process.kill()
    server.process.wait(10)
    words = browser.wait(
        "document.body.dataset.connection === 'lost' && document.getElementById('connection-words').innerText", 6)
    expect("the loss of the connection is said", bool(words) and "connection lost" in words, words)
    card = "document.querySelector('#position-card{}')"
    aged = browser.wait(f"!{card.format(' .age')}.hidden && {card.format('')}.innerText", 5)
    stale = browser.evaluate("document.getElementById('overlay').dataset.stale")
    hidden = browser.evaluate("getComputedStyle(document.getElementById('cone')).display")
    expect("what is shown is marked as old", bool(aged) and "old" in aged and stale == "true" and hidden == "none", aged)
    counted = browser.wait("/trying again in [1-5] s/.test(document.getElementById('connection-words').innerText)", 6)
    expect("and when it is tried again", counted)
    deadline = time.monotonic() + 6
    while not in_vain(browser) and time.monotonic() < deadline:
        browser.listen(0.1)
    expect("it is tried in vain", in_vain(browser))
    pictures(browser, "disconnected")
    again = Server(board, "--port", str(server.port))
    expect("the same port again", again.port == server.port, again.url)
    expect("everything comes back by itself", browser.wait(
        "document.body.dataset.connection === 'connected' && document.querySelector('#position-card .age').hidden"
        " && document.getElementById('overlay').dataset.stale === 'false'", 8), before)
    return again


def clean(browser, ports):
    """Nothing from elsewhere, nothing wrong."""
    elsewhere = [event["request"]["url"] for event in browser.of("Network.requestWillBeSent")
                 if urllib.parse.urlsplit(event["request"]["url"]).netloc not in {f"127.0.0.1:{port}" for port in ports}]
    count = len(browser.of("Network.requestWillBeSent"))
    expect("no request to anywhere else", count > 15 and not elsewhere, f"{count} requests" if not elsewhere else str(elsewhere))
    entries = [event["entry"]["text"] for event in browser.of("Log.entryAdded") if event["entry"]["level"] == "error"]
    refused = [entry for entry in entries if "WebSocket connection to" in entry and "ERR_CONNECTION_REFUSED" in entry]
    tries = in_vain(browser)
    expect("the refused connections, and no others, are in the log", len(refused) == len(tries) > 0,
           f"{len(refused)} refused, {len(tries)} tried in vain")
    others = [entry for entry in entries if entry not in refused]
    others += [str(event) for event in browser.of("Runtime.exceptionThrown")]
    others += [str(event) for event in browser.of("Runtime.consoleAPICalled") if event["type"] in ("error", "assert")]
    expect("no error, no exception", not others, str(others))


def with_token(browser, board):
    server = Server(board, "--port", "0", "--address", "0.0.0.0")
    token = server.token
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    answers = [get(server, path + query)[0].status
               for path in ("/", "/main.js", "/tiles/1/0/0", "/live") for query in ("", f"?token={wrong}", "?token=")]
    connection, answer = knock(server)
    connection.close()
    expect("403 without it, and with another one", set(answers) == {403} and " 403 " in answer, f"{answers} {answer}")
    browser.call("Page.navigate", url=f"http://127.0.0.1:{server.port}/?token={token}")
    expect("the page works with it", browser.wait(
        "document.body.dataset.connection === 'connected'"
        " && document.getElementById('board').innerText === 'Simulated board'", 8))
    code, took = server.end(signal.SIGTERM)
    expect("SIGTERM while the page is open", code == 0 and took < 2, f"{code} in {took:.1f} s")
    return server.port


def main():
    if not chromium.path():
        print("map page: skipped: no chromium (Debian's package of that name)")
        return
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    simulated = (ROOT / "Boards/simulated.yaml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        fixed = folder / "fixed.yaml"
        fixed.write_text(simulated.replace("fix: false", "fix: true"))
        # No fix on the first two legs, eight seconds; none is lost later.
        waiting = folder / "waiting.yaml"
        head, tail = simulated.split("speed: 1.4, fix: true", 1)
        waiting.write_text(head + "speed: 1.4, fix: true" + tail.replace("fix: false", "fix: true")
                           + "\n  faults:\n    - {chip: BMP280, fault: unplugged, from: 20, seconds: 5}\n")
        manners(folder, fixed)
        browser = chromium.Browser()
        servers = []
        try:
            servers.append(Server(waiting, "--port", "0"))
            first_fix(browser, servers[0])
            follows(browser)
            pictures(browser, "live")
            browser.resize(360, 640, 2, False)
            width = browser.evaluate("document.documentElement.scrollWidth")
            expect("360 pixels are wide enough", width == 360, width)
            zoom = browser.evaluate("document.getElementById('map').dataset.zoom")
            browser.call("Input.dispatchKeyEvent", type="keyDown", key="+", text="+")
            expect("the plus key zooms", browser.wait(f"document.getElementById('map').dataset.zoom > {zoom}", 2), zoom)
            browser.resize(*SIZES["desktop"], False)
            unplugged(browser)
            servers.append(lost(browser, servers[0], fixed))
            ports = [servers[0].port, with_token(browser, fixed)]
            clean(browser, ports)
        finally:
            browser.close()
            for server in servers:
                if server.process.poll() is None:
                    server.end(signal.SIGTERM)
    checks.finish("map page", time.monotonic() - start)


main()
