"""The bench of QEMU's Raspberry Pi: answers the requests of the control line and sets what they ask for in QEMU.

run.py uses it."""
import json

MAGNETOMETER = "LSM303DLHC-M"


class Monitor:
    """QEMU's machine protocol."""

    def __init__(self, link):
        link.settimeout(10)
        self.stream = link.makefile("rwb")
        self.stream.readline()
        self.ask("qmp_capabilities")

    def ask(self, command, **arguments):
        self.stream.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        self.stream.flush()
        while True:
            line = self.stream.readline()
            if not line:
                raise ConnectionError("QEMU has closed its monitor")
            answer = json.loads(line)
            if "error" in answer:
                return answer["error"]["desc"]
            if "return" in answer:
                return None


class Bench:
    """Answers requests."""

    def __init__(self, monitor):
        self.monitor = monitor
        self.shown, self.due = {}, 0.0

    def step(self, now):
        """Sets everything again, ten times a second. QEMU stores counts in the range that was set at that moment:
        soon after the guest has set another range they are right again."""
        if now >= self.due:
            self.due = now + 0.1
            for name, value in self.shown.items():
                self.set(name, value)

    def answer(self, request):
        words = request.split()
        if words == ["hello"]:
            return "rig raspberry-pi"
        if words == ["walk", MAGNETOMETER]:
            # There is no simulated world to go back to: what was shown last stays.
            return "ok"
        if words[:1] != ["show"]:
            return f"error unknown request: {request[:80]}"
        if len(words) < 3 or words[1] != MAGNETOMETER:
            return f"error this rig shows things to {MAGNETOMETER} only"
        try:
            values = [float(word) for word in words[3:]]
        except ValueError:
            return "error not a number"
        if words[2] == "field" and len(values) == 3:
            if any(value < 0 for value in values):
                return "error negative fields are refused by QEMU"
            return self.put([(f"mag-{axis}", round(1000 * value)) for axis, value in zip("xyz", values)])
        if words[2] == "temperature" and len(values) == 1:
            return self.put([("temperature", round(1000 * values[0]))])
        return "error show what? field X Y Z, or temperature T"

    def put(self, properties):
        for name, value in properties:
            error = self.set(name, value)
            if error:
                return f"error {error}"
            self.shown[name] = value
        return "ok"

    def set(self, name, value):
        return self.monitor.ask("qom-set", path="/machine/peripheral/mag", property=name, value=value)
