"""Times looks at a quiet tab, alone and beside 49 other tabs of other sessions, 20 of which are busy: they change all the time.

Usage: python tabs.py. AFD_BIN_DIR is the folder with the program `afd` (use a release build), AFD_ROUNDS the number of looks (default 300).
Prints medians and 99th percentiles in milliseconds, of the looks and of the browser's own two readings of the same page in a browser with the
same tabs, and the memory of the daemon."""

import http.server
import os
import shutil
import statistics
import tempfile
import threading
import time

from afd_client import Afd
from looks import Chromium, Pages

TABS = 50
BUSY = 20
# Changes 30 numbers ten times a second.
BUSY_PAGE = b"""<!doctype html><title>Busy</title><ul id=all></ul><script>
for (let i = 0; i < 30; i++) all.append(document.createElement('li'));
let n = 0; setInterval(() => { for (const one of all.children) one.textContent = n++ }, 100)</script>"""


class BusyPages(Pages):
    """Serves a busy page as well."""

    def body(self):
        """Returns the page of the path."""
        return BUSY_PAGE if self.path == "/busy" else super().body()


def timed(rounds, run):
    """Returns the median and the 99th percentile of the times of `run`, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times), statistics.quantiles(times, n=100)[98]


def memory_of(process):
    """Returns the memory of a process in MiB."""
    with open(f"/proc/{process}/status", encoding="utf-8") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main():
    """Measures one tab, and then 50."""
    rounds = int(os.environ.get("AFD_ROUNDS", "300"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), BusyPages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    home = tempfile.mkdtemp(prefix="tabs")
    afd = Afd(os.path.join(os.environ["AFD_BIN_DIR"], "afd"), f"{address}/30")
    raw = None
    try:
        def look():
            afd.call("observe.page", session="quiet", format="outline", settle=False)

        look()
        alone = timed(rounds, look)
        for n in range(1, TABS):
            afd.call("act.launch", session=f"s{n}", package=f"{address}/{'busy' if n <= BUSY else '30'}", then="outline")
        listed = afd.call("device.tabs", session="quiet")["tabs"]
        beside = timed(rounds, look)
        resident = memory_of(afd.process.pid)
        afd.stop()
        raw = Chromium(home)
        raw.open(f"{address}/30")
        base_alone = timed(rounds, raw.look)
        for n in range(1, TABS):
            target = raw.call("Target.createTarget", url=f"{address}/{'busy' if n <= BUSY else '30'}")["targetId"]
            # Without this, the browser slows tabs down that are not in front.
            session = raw.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            raw.call("Emulation.setFocusEmulationEnabled", session, enabled=True)
        base_beside = timed(rounds, raw.look)
        print(f"{len(listed)} tabs, {BUSY} of them busy")
        for name, one, many in (("look", alone, beside), ("the browser's two readings", base_alone, base_beside)):
            print(f"{name}: one tab p50 {one[0]:.1f} ms, p99 {one[1]:.1f} ms; {TABS} tabs p50 {many[0]:.1f} ms, p99 {many[1]:.1f} ms: "
                  f"p99 {many[1] / one[1]:.2f}x")
        print(f"memory of the daemon with {TABS} tabs: {resident:.1f} MiB")
    finally:
        afd.stop()
        if raw:
            raw.stop()
        server.shutdown()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
