"""A headless Chromium, driven over the pipe of its DevTools protocol; nothing but the standard library.

Every call has a deadline. Not a check by itself: map-page.py uses it."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Gone(Exception):
    pass


def path():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser, with one page."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()

        # The browser reads from 3 and writes to 4. Out of the way first: these may be ours already.
        def settle():
            reading, writing = os.dup(to_browser), os.dup(from_browser)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            [path(), "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
             "--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={self.folder.name}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=settle,
            close_fds=False)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ["Page", "Runtime", "Network", "Log"]:
            self.call(f"{domain}.enable")

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self.folder.cleanup()

    def receive(self, until):
        """The next message, None at the deadline."""
        while b"\0" not in self.buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                return None
            piece = os.read(self.input, 1 << 20)
            if not piece:
                raise Gone("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, seconds=20, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.output, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + seconds
        while message := self.receive(until):
            if message.get("id") == self.number:
                if "error" in message:
                    raise Gone(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)
        raise Gone(f"{method}: no answer in {seconds} s")

    def listen(self, seconds):
        """Takes in events for a while."""
        until = time.monotonic() + seconds
        while message := self.receive(until):
            self.events.append(message)

    def of(self, method):
        return [event["params"] for event in self.events if event.get("method") == method]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Gone(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, expression, seconds):
        """The first value of an expression that is not false, None at the deadline. While a page is only on its way the
        expression fails, and is waited for as well."""
        expression = f"(() => {{ try {{ return {expression}; }} catch {{ return null; }} }})()"
        until = time.monotonic() + seconds
        while True:
            value = self.evaluate(expression)
            if value or time.monotonic() >= until:
                return value or None
            self.listen(0.1)

    def resize(self, width, height, ratio, is_dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}])

    def screenshot(self, file, is_whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=is_whole)
        file.write_bytes(base64.b64decode(picture["data"]))
