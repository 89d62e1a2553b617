#!/usr/bin/env python3
"""In the guest, with board.yaml: the faults of the scenarios through `lodestone serve`, as clients in other processes hear of them.

The clients are a program that uses only CoreLocation, an altimeter that uses only CoreMotion, `lodestone monitor` and a reader of the
stream socket. Each must be told of a fault within 2 s of its injection and have measurements again within 5 s of its end. No client may
get a measurement from the outage. Then the daemon is killed (-9) in the middle of two faults and started again.

A program is told of a fault by an error about what it has asked for, and no error is due while that goes on."""
import dataclasses
import json
import os
import re
import sys
import time

from daemon_clients import Client, Daemon, Monitor, Program, Rig, StreamReader, end_all, wait_for

# The limits of `lodestone hil run` for a fault, and the daemon's for its clients, in seconds.
REPORT_LIMIT, RETURN_LIMIT, BACK_LIMIT = 2.0, 5.0, 1.0
# How long measurements of the other chips may pause, in seconds. The altimeter gets an altitude each second.
PAUSE_LIMIT, ALTIMETER_PAUSE = 1.0, 2.1
# facade-program ends after 60 s. A fault takes 12 s at most.
PROGRAM_AGE = 45.0
# As `lodestone hil run` asks for them: the lowest bit of the first register of an LIS3MDL that is read back.
ARGUMENTS = {"shortRead": "1", "slow": "20", "bitFlip": "0x20 0x01"}
# In the order of the board file.
CHIPS = ["LIS3MDL", "LSM6DSOX", "BMP280", "u-blox"]
# What a client gets that depends on a chip.
KINDS = {
    "LIS3MDL": {"program": "heading", "monitor": "heading", "stream": "heading"},
    "LSM6DSOX": {"program": "heading", "monitor": "heading", "stream": "attitude"},
    "BMP280": {"altimeter": "altitude", "monitor": "altitude", "stream": "altitude"},
    "u-blox": {"program": "location", "monitor": "location", "stream": "location"},
}
# What it gets that does not.
OTHERS = {
    "LIS3MDL": {"program": ["location"], "altimeter": ["altitude"], **{name: ["location", "altitude"] for name in ("monitor", "stream")}},
    "BMP280": {name: ["heading", "location"] for name in ("program", "monitor", "stream")},
    "u-blox": {"program": ["heading"], "altimeter": ["altitude"], **{name: ["heading", "altitude"] for name in ("monitor", "stream")}},
}
OTHERS["LSM6DSOX"] = OTHERS["LIS3MDL"]
# How long before it is known that a chip runs again its first measurement may be dated, in seconds: an epoch of the receiver, and the
# time that a busy machine takes for a conversion.
EARLY = {"heading": 0.1, "location": 0.3, "altitude": 0.1}
failures, table = [], []


def expect(what, holds, detail="", quiet=False):
    """Prints the result of a check; with `quiet` only if it fails."""
    if not holds:
        failures.append(what)
        print(f"WRONG   {what}: {detail}", flush=True)
    elif not quiet:
        print(f"right   {what}", flush=True)
    return bool(holds)


def text(value):
    return "-" if value is None else f"{value:.2f} s"


@dataclasses.dataclass
class Fault:
    chip: str
    kind: str
    length: float
    name: str = ""
    # Counted from the request, as the hardware suite does.
    begin: float = 0.0
    # For how long the machine kept the rig from its work, in seconds: what is late because of it is the machine's.
    slack: float = 0.0
    report_slack: float = 0.0

    @property
    def sensor(self):
        return CHIPS.index(self.chip)

    @property
    def is_loss(self):
        """Slow transfers are late, not lost."""
        return self.kind != "slow"

    @property
    def end(self):
        """A brown-out is over as soon as it has been."""
        return self.begin + (0 if self.kind == "brownOut" else self.length)

    def kind_of(self, client):
        return KINDS[self.chip].get(client.name)

    def told(self, client):
        """Seconds from the injection until a client was told, or None, and the reason."""
        when, reason = client.told(self.sensor, self.begin) or (None, None)
        return when and when - self.begin, reason

    def recovered(self, client: Client, since=0.0):
        """Seconds from the end of the fault until a client had a measurement again, or None. It must come after the last error, or if the
        client is told of states, after it was told that the chip runs."""
        news = client.news(self.sensor, max(self.begin, since))
        if news and client.says == "state" and news[-1].state != "running":
            return None
        kind, since = self.kind_of(client), max([self.end, since] + [event.when for event in news[-1:]])
        return next((
            event.when - self.end for event in client.values(kind, since)
            if event.dated is None or event.dated > self.end - EARLY.get(kind, 0.1)), None)


class Suite:
    def __init__(self, board):
        self.board, self.rig, self.daemon = board, Rig(), Daemon(board)
        self.program = Program("program", ["/rig/facade-program", "run-loop", "1000000"])
        self.altimeter = Program("altimeter", ["/rig/altimeter"])
        self.monitor, self.stream = Monitor(), StreamReader()
        self.clients = {client.name: client for client in (self.program, self.altimeter, self.monitor, self.stream)}

    # -- before a fault -------------------------------------------------------------------------------------

    def missing(self):
        """What a client does not have: fresh measurements of each chip, which must run. A receiver that starts has a fix a second at
        first."""
        def is_steady(client, kind):
            return client.fresh(kind, 1.5) >= 1 if client is self.altimeter else client.fresh(kind, 1.0) >= 3
        return [
            f"{name}: {kind}" for index, chip in enumerate(CHIPS) for name, kind in KINDS[chip].items()
            if not is_steady(self.clients[name], kind) or not self.clients[name].is_running(index)]

    def prepare(self, what, seconds=20):
        if time.monotonic() - self.program.born > PROGRAM_AGE:
            self.program.run_again()
        missing = ["everything"]

        def is_ready():
            missing[:] = self.missing()
            return not missing
        return expect(f"{what}: every client has its measurements before", wait_for(is_ready, seconds), missing, True)

    def inject(self, fault):
        standing, fault.begin = self.rig.stood(), time.monotonic()
        self.rig.ask(f"fault {fault.chip} {fault.kind} {fault.length:g} {ARGUMENTS.get(fault.kind, '')}".strip())
        return standing

    # -- a fault --------------------------------------------------------------------------------------------

    def play(self, fault):
        """Returns whether there was a board to play it on."""
        fault.name = f"{fault.chip} {fault.kind} for {fault.length:g} s"
        if not self.prepare(fault.name):
            return False
        standing = self.inject(fault)
        owed = [self.clients[name] for name in KINDS[fault.chip]]
        wait_for(lambda: time.monotonic() > fault.begin + REPORT_LIMIT, REPORT_LIMIT)
        fault.report_slack = self.rig.stood() - standing
        wait_for(lambda: time.monotonic() > fault.end, fault.length)
        wait_for(lambda: all(
            fault.recovered(client) is not None and (client.says == "error" or not fault.is_loss or fault.told(client)[0])
            for client in owed), RETURN_LIMIT + 1)
        # What has befallen the others shows a little later.
        settled = time.monotonic() + 0.3
        wait_for(lambda: time.monotonic() > settled, 1)
        fault.slack = self.rig.stood() - standing
        rights = [self.judge(fault, client) for client in owed] + [self.judge_outage(fault), self.judge_others(fault)]
        rights.append(expect(f"{fault.name}: the daemon runs", self.daemon.is_running, self.daemon.lines[-3:], True))
        if all(rights):
            print(f"right   {fault.name}", flush=True)
        return True

    def judge(self, fault, client):
        (told, reason), back = fault.told(client), fault.recovered(client)
        kind = fault.kind_of(client)
        pause = client.pause(kind, fault.begin - 0.3)
        what, rights, note = f"{fault.name}: {client.name}", [], ""
        if not fault.is_loss:
            limit = fault.slack + (ALTIMETER_PAUSE if client is self.altimeter else PAUSE_LIMIT)
            rights.append(expect(f"{what} is told of no loss: nothing is lost", told is None and pause <= limit, (told, pause), True))
            back, note = None, f"no loss, as it should be, and a pause of {pause:.2f} s"
        else:
            rights.append(expect(
                f"{what} is told within {REPORT_LIMIT:g} s", told is not None and told <= REPORT_LIMIT + fault.report_slack,
                f"after {text(told)}, the rig stood still for {text(fault.report_slack)}: {reason}", True))
            rights.append(expect(f"{what} is told a reason", told is None or reason, reason, True))
        if fault.is_loss:
            rights.append(self.judge_return(fault, what, back))
        self.row(fault.name, client, told, back, rights, note, fault.slack)
        return all(rights)

    def judge_return(self, fault, what, back):
        is_right = back is not None and back <= RETURN_LIMIT + fault.slack
        return expect(f"{what} measures again within {RETURN_LIMIT:g} s", is_right, text(back), True)

    def row(self, fault, client, told, back, rights, note, slack):
        stood = f"the rig stood still for {slack:.2f} s" if slack > 0.1 else ""
        note = "; ".join(filter(None, ["" if all(rights) else "WRONG", note, stood]))
        table.append(f"{fault:<31} {client.name:<9} {text(told):>9} {text(back):>9}   {note}".rstrip())

    def judge_outage(self, fault):
        """No client has a measurement between the failure and the return of the chip, unless its reason says that it is not to be trusted.
        Measurements before the failure is known do not count: a stuck value is found after half a second. Neither do those of a receiver
        after the end of the fault: they are sentences that were there, and that garbage before them kept from being read at once."""
        outages = self.outages(self.stream, fault)
        rights = []
        for name, kind in KINDS[fault.chip].items():
            client = self.clients[name]
            early = EARLY.get(kind, 0.1) + fault.slack
            known = fault.end if fault.kind == "receiverGarbage" else float("inf")
            wrong = [
                event for event in client.values(kind, fault.begin)
                if event.reason is None and any(
                    first + 0.1 < (event.dated or event.when) < min(last - early, known) for first, last in outages)]
            rights.append(expect(f"{fault.name}: {name} gets no {kind} from the outage", not wrong, (len(wrong), wrong[:2], outages), True))
        inside = self.between(self.stream, fault)
        samples = [event for event in inside if event.kind == "sample" and event.sensor == fault.sensor]
        rights.append(expect(f"{fault.name}: the stream has no sample from the outage", not samples, (len(samples), samples[:2]), True))
        if fault.chip == "LIS3MDL":
            rights.append(self.judge_carried(fault, inside, outages))
        return all(rights)

    def judge_carried(self, fault, inside, outages):
        """The gyro carries the heading of attitudes for 2 s (Documentation/filter.md, `limits.lossTimeout`). Then an attitude has no
        north, and a reason."""
        headings = [event for event in inside if event.kind == "heading" and event.has_value and event.reason is None]
        right = expect(f"{fault.name}: the stream has no heading in the outage", not headings, (len(headings), headings[:2]), True)
        ages = [
            (event.dated - first, event) for event in inside if event.kind == "attitude" for first, last in outages
            if first < event.dated < last]
        late = [pair for pair in ages if pair[0] > 2.1 and (pair[1].has_value or not pair[1].reason)]
        carried = [age for age, event in ages if event.has_value and not event.reason]
        if carried:
            print(f"note    {fault.name}: {len(carried)} attitudes until {max(carried):.2f} s after the loss have a heading that the gyro "
                  "carries, and do not say so")
        return expect(f"{fault.name}: attitudes have no heading 2 s after the loss", not late, (len(late), late[:2]), True) and right

    def outages(self, client, fault):
        """From when to when the chip was known to be lost."""
        found, failed = [], None
        for event in client.news(fault.sensor, fault.begin):
            if event.state == "failed":
                failed = failed or event
            elif event.state == "running" and failed:
                found.append((failed.dated, event.dated))
                failed = None
        return found

    def between(self, client, fault):
        """What a client was told after it was told that the chip has failed, and before it was told that it runs again."""
        found, is_lost = [], False
        for event in client.since(fault.begin):
            if event.kind == "sensor" and event.sensor == fault.sensor:
                is_lost = event.state == "failed" or is_lost and event.state != "running"
            elif is_lost:
                found.append(event)
        return found

    def judge_others(self, fault):
        rights = []
        for name, kinds in OTHERS[fault.chip].items():
            client = self.clients[name]
            limit = fault.slack + (ALTIMETER_PAUSE if client is self.altimeter else PAUSE_LIMIT)
            pauses = {kind: client.pause(kind, fault.begin - 0.3) for kind in kinds}
            rights.append(expect(
                f"{fault.name}: {name} has its {' and '.join(kind + 's' for kind in kinds)} meanwhile",
                all(pause <= limit for pause in pauses.values()), pauses, True))
        return all(rights)

    # -- the daemon is killed -------------------------------------------------------------------------------

    def kill(self, fault, back):
        """The daemon dies in the middle of a fault. `back`: the measurements by which a client shows that it is there again."""
        fault.name = f"kill -9, {fault.chip} {fault.kind}"
        self.program.run_again()
        if not self.prepare(fault.name):
            return False
        standing = self.inject(fault)
        wait_for(lambda: self.stream.told(fault.sensor, fault.begin) and self.monitor.told(fault.sensor, fault.begin), REPORT_LIMIT)
        self.daemon.kill()
        killed = time.monotonic()
        self.daemon = Daemon(self.board)
        served = self.daemon.served
        expect(f"{fault.name}: in the middle of the fault", served < fault.end, (served, fault), True)

        def returned(client):
            # The altimeter has only the barometer. If that is away, an error of the new daemon shows that it is back.
            values = [event.when for event in client.since(served) if event.kind in back and event.has_value]
            told = client.told(fault.sensor, served) if client.says == "error" else None
            return min(values[:1] + ([told[0]] if told else []), default=None)
        owed = [self.clients[name] for name in KINDS[fault.chip]]
        wait_for(lambda: all(map(returned, self.clients.values())), BACK_LIMIT + 4)
        wait_for(lambda: time.monotonic() > fault.end, fault.length)
        wait_for(lambda: all(fault.recovered(client, served) is not None for client in owed), RETURN_LIMIT + 1)
        fault.slack = self.rig.stood() - standing
        rights = [self.judge_back(fault, client, killed, served, returned(client)) for client in self.clients.values()]
        if all(rights):
            print(f"right   {fault.name}: the new daemon serves {served - killed:.2f} s after the death of the old one", flush=True)
        return True

    def judge_back(self, fault, client, killed, served, returned):
        what, told, back = f"{fault.name}: {client.name}", None, None
        after = returned and returned - served
        rights = [expect(
            f"{what} is back within {BACK_LIMIT:g} s", after is not None and after <= BACK_LIMIT + fault.slack, text(after), True)]
        if client.says == "error":
            away = [event for event in client.since(killed - 0.1) if event.kind == "error" and "daemon" in event.reason]
            rights.append(expect(f"{what} is told that the daemon was away", away, client.since(killed - 0.1)[:3], True))
        if fault.kind_of(client):
            told, back = client.told(fault.sensor, served), fault.recovered(client, served)
            told = told and told[0] - served
            is_right = told is not None and told <= REPORT_LIMIT + fault.slack
            rights.append(expect(f"{what} is told of the fault by the new daemon", is_right, text(told), True))
            rights.append(self.judge_return(fault, what, back))
        self.row(fault.name, client, told, back, rights, f"back after {text(after)}", fault.slack)
        return all(rights)

    def status(self, what):
        """The status has its counters and names the clients."""
        status, said = self.daemon.status()
        if not expect(f"{what}: serve --status answers", status, said):
            return
        with open("/report/status.jsonl", "a") as file:
            file.write(json.dumps(status) + "\n")
        names = {os.path.basename(program["client"]["executable"]) for program in status["programs"]}
        expect(f"{what}: the daemon is the one that was started", status["process"] == self.daemon.process.pid, status)
        expect(f"{what}: the clients are named", names >= {"altimeter", "facade-program", "lodestone"}, names)
        readers = status["readers"]
        expect(f"{what}: so is the reader of the stream", any("attitude" in reader["kinds"] for reader in readers), readers)
        counters = status["counters"]
        expect(f"{what}: the counters show that nobody was refused or slow: {counters}",
               counters.get("accepted", 0) >= 4 and not any(counters[key] for key in ("refused", "failures", "crowded", "slow")))


def scenarios():
    """The faults of the hardware suite."""
    for name in ("faults", "faults-motion"):
        with open(f"/rig/{name}.yaml") as file:
            for chip, kind, length in re.findall(r"fault: \{chip: (\S+), kind: (\w+), seconds: ([\d.]+)\}", file.read()):
                yield Fault(chip, kind, float(length))


def run(suite):
    faults = list(scenarios())
    expect(f"the scenarios have {len(faults)} faults", {fault.chip for fault in faults} == set(CHIPS), faults)
    if not suite.prepare("at the beginning", 25):
        return
    if not all(map(suite.play, faults)) or not suite.prepare("after all faults"):
        return
    suite.status("after all faults")
    if not suite.kill(Fault("BMP280", "noAnswer", 3), ["heading"]) or not suite.kill(
            Fault("LIS3MDL", "noAnswer", 3), ["location", "altitude"]) or not suite.prepare("after kill -9"):
        return
    suite.status("after kill -9")
    suite.daemon.process.terminate()
    expect("SIGTERM ends the daemon with 0", suite.daemon.process.wait(10) == 0, suite.daemon.lines[-3:])


def main():
    begin = time.monotonic()
    suite = Suite("/rig/board.yaml")
    try:
        run(suite)
    finally:
        end_all()
        # What every client was told besides measurements.
        with open("/report/news.txt", "w") as file:
            for client in suite.clients.values():
                for event in client.events:
                    if not event.has_value:
                        told = f"{event.kind} {event.sensor} {event.state} {event.reason}"
                        file.write(f"{event.when - begin:8.3f} {client.name:<10} {told}\n")
    lines = [f"{'fault':<31} {'client':<9} {'reported':>9} {'recovered':>9}", *table]
    with open("/report/table.txt", "w") as file:
        file.write("\n".join(lines) + "\n")
    print("\n" + "\n".join(lines) + f"\n== {len(failures)} wrong, {time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


sys.exit(main())
