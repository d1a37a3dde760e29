"""Times looks at a page and taps, beside what the browser itself needs for its accessibility tree and its layout.

Usage: python looks.py. AFD_BIN_DIR is the folder with the program `afd` (use a release build), AFD_ROUNDS the number of looks (default 30).
Prints medians in milliseconds and their ratio. A look here is one reading of a page that was quiet before, as an outline, over the socket."""

import http.server
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import threading
import time

from afd_client import Afd

STYLES = ["visibility", "opacity", "overflow-y", "pointer-events", "position", "display", "cursor"]


def page_of(count):
    """Returns a page with `count` buttons, each of which changes a text."""
    rows = "".join(f"<li><button onclick='out.textContent={n}'>Entry {n}</button> <span>Row {n}</span></li>" for n in range(1, count + 1))
    return f"<!doctype html><title>Page {count}</title><p id=out>-</p><ul>{rows}</ul>".encode()


class Pages(http.server.BaseHTTPRequestHandler):
    """Serves a page with as many buttons as the path says."""

    def body(self):
        """Returns the page of the path."""
        count = self.path.strip("/")
        return page_of(int(count)) if count.isdigit() else b""

    def do_GET(self):
        """Answers with a page."""
        body = self.body()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Prints nothing."""


class Chromium:
    """A browser that this program drives over pipes itself."""

    def __init__(self, home):
        """Starts the browser with a profile of its own."""
        own_in, to_browser = os.pipe()
        from_browser, own_out = os.pipe()
        script = f'exec 3<&{own_in} 4>&{own_out}; exec "$@"'
        command = [shutil.which("chromium"), "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-dev-shm-usage"]
        command += [f"--user-data-dir={home}/raw", "--window-size=1280,900"] + (["--no-sandbox"] if os.getuid() == 0 else []) + ["about:blank"]
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", script, "sh"] + command, pass_fds=(own_in, own_out), stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        os.close(own_in)
        os.close(own_out)
        self.out = os.fdopen(to_browser, "wb", buffering=0)
        self.input = os.fdopen(from_browser, "rb")
        self.number = 0
        target = self.call("Target.getTargets")["targetInfos"]
        page = next(one for one in target if one["type"] == "page")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    def call(self, method, session=None, **params):
        """Sends a request and returns its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        self.out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                return answer["result"]

    def read(self):
        """Reads one message."""
        data = bytearray()
        while not data.endswith(b"\0"):
            peeked = self.input.peek()
            end = peeked.find(b"\0")
            data += self.input.read(end + 1 if end >= 0 else len(peeked))
        return json.loads(data[:-1])

    def open(self, url):
        """Opens a page and waits until it is loaded."""
        self.call("Page.navigate", self.session, url=url)
        while self.evaluate("document.readyState") != "complete" or self.evaluate("location.href") != url:
            time.sleep(0.02)

    def evaluate(self, expression):
        """Returns the value of an expression in the page."""
        return self.call("Runtime.evaluate", self.session, expression=expression, returnByValue=True)["result"].get("value")

    def look(self):
        """Reads the accessibility tree and the layout."""
        self.call("Accessibility.getFullAXTree", self.session)
        self.call("DOMSnapshot.captureSnapshot", self.session, computedStyles=STYLES, includeDOMRects=True)

    def stop(self):
        """Closes the pipes, which ends the browser."""
        self.out.close()
        self.input.close()
        self.process.wait(timeout=20)


# Runs before the measured ones: a browser that has just started is busy for a moment.
WARM_UP = 25


def median(rounds, run):
    """Returns the median time of `run`, in milliseconds, once it has run a few times."""
    times = []
    for _ in range(WARM_UP):
        run()
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times)


def main():
    """Measures pages with 30 and 300 buttons."""
    rounds = int(os.environ.get("AFD_ROUNDS", "30"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    home = tempfile.mkdtemp(prefix="looks")
    raw, afd = Chromium(home), Afd(os.path.join(os.environ["AFD_BIN_DIR"], "afd"), f"{address}/30")
    try:
        for count in (30, 300):
            raw.open(f"{address}/{count}")
            afd.call("act.launch", package=f"{address}/{count}", then="outline")
            own = median(rounds, lambda: afd.call("observe.page", format="outline", settle=False))
            whole = median(rounds, lambda: afd.call("observe.page", format="outline", settle=False, whole=True))
            base = median(rounds, raw.look)
            print(f"{count} buttons: look {own:.1f} ms, whole page {whole:.1f} ms, the browser's two readings {base:.1f} ms: "
                  f"{own / base:.2f}x, {whole / base:.2f}x")
            outline = afd.call("observe.page", format="outline", whole=True, maxRows=5000)["outline"]
            print(f"{count} buttons: the whole page has {len(outline)} characters, about {len(outline) // 4} tokens")
            tap = median(rounds, lambda: afd.call("act.tap", value="Entry 5"))
            print(f"{count} buttons: tap {tap:.1f} ms")
    finally:
        afd.stop()
        raw.stop()
        server.shutdown()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
