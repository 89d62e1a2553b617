"""A hand that turns the simulated board as the words on the screen of a guided calibration say.

Not a check by itself: calibrate-by-hand.py uses it."""
import random
import re
import socket
import time


def understand(words):
    """Returns how far up the nose and how far down the right side has to be, in degrees; None if the words do not say."""
    text = words.lower()
    pitch, roll = 0, 0
    half = "half" in text
    if "upside down" in text:
        roll = 180
    if "on its right side" in text:
        roll = 90
    if "on its left side" in text:
        roll = -90
    if re.search("lift the nose|nose up|nose straight up", text):
        pitch = 45 if half else 85
    if re.search("lower the nose|nose down|nose straight down", text):
        pitch = -45 if half else -85
    if "right side down by half" in text:
        roll = 135
    if "left side down by half" in text:
        roll = -135
    if "lower the right side" in text:
        roll = 45
    if "lower the left side" in text:
        roll = -45
    return (pitch, roll) if re.search("flat|side|nose", text) else None


class Hand:
    """Turns the board as the words say: a little late, askew, and not quite all the way round."""

    def __init__(self, bench, seed):
        self.bench = bench
        self.random = random.Random(seed)
        self.roll = 0.0
        self.seen = []
        self.warnings = set()
        self.screens = []
        self.longest = 0
        end = time.monotonic() + 30
        self.socket = socket.socket(socket.AF_UNIX)
        while True:
            try:
                self.socket.connect(bench.control)
                break
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)
        self.socket.settimeout(10)
        self.file = self.socket.makefile("rw")

    def ask(self, line):
        try:
            self.file.write(line + "\n")
            self.file.flush()
            answer = self.file.readline().strip()
        except OSError:
            answer = ""
        # Once the command has ended a movement has no effect.
        if not answer and self.bench.wait(5) is not None:
            return "ok"
        return answer

    def off(self, size=10):
        return self.random.uniform(-size, size)

    def move(self, pitch, roll, turn, rate=60, field=None):
        pitch = max(-85, min(85, pitch))
        # It turns the shorter way.
        roll = self.roll + (roll - self.roll + 180) % 360 - 180
        seconds = max(1.2, abs(turn) / rate, abs(roll - self.roll) / rate, 90 / rate if abs(pitch) > 60 else 0)
        seconds *= self.random.uniform(1, 1.4)
        self.roll = roll
        line = f"move {seconds:.2f} turn {turn:.1f} pitch {pitch:.1f} roll {roll:.1f}"
        if field:
            line += " field " + " ".join(map(str, field))
        answer = self.ask(line)
        if answer != "ok":
            raise RuntimeError(f"{line}: {answer}")
        return seconds

    def look(self):
        lines = self.bench.screen()
        self.longest = max([self.longest] + [len(line.rstrip()) for line in lines])
        if not lines[0].startswith(" Calibrating"):
            return None
        self.screens.append("\n".join(line.rstrip() for line in lines))
        self.warnings.add(lines[5].strip())
        return lines[2].strip()

    def follow(self, seconds, magnet=None):
        """Follows the words until the command has ended. Returns how long that took, in seconds."""
        end = time.monotonic() + seconds
        start = time.monotonic()
        heard, target, sense, shown = None, None, 1, 0
        while self.bench.code() is None and time.monotonic() < end:
            words = self.look()
            if not words:
                time.sleep(0.2)
                continue
            if words != heard:
                heard = words
                self.seen.append(words)
                time.sleep(self.random.uniform(0.8, 1.5))
                wish = understand(words)
                if wish is None:
                    raise RuntimeError(f"nobody understands '{words}'")
                target = (wish[0] + self.off(), wish[1] + self.off())
                sense = self.random.choice((1, -1))
                pause = self.move(*target, self.off(40))
            else:
                field = None
                # The magnet comes with the first turn after its time and stays for a few turns.
                if magnet and time.monotonic() - start > magnet[0] and shown < magnet[1]:
                    field = magnet[2]
                    shown += 1
                pause = self.move(
                    target[0] + self.off(6), target[1] + self.off(6), sense * self.random.uniform(60, 130), field=field)
            stop = time.monotonic() + pause - 0.1
            while time.monotonic() < stop and self.bench.code() is None:
                self.look()
                time.sleep(0.2)
        return time.monotonic() - start
