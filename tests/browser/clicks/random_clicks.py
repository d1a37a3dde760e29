"""Clicks at random on hostile pages through afd, and counts the clicks that hit another element than the one that was named.

Usage: python random_clicks.py. AFD_BIN_DIR is the folder with the program `afd`. AFD_CLICKS is the number of clicks (default 200), AFD_SEED
the seed (default 1), AFD_KINDS the kinds of hostile blocks to use (default all, separated by commas), and AFD_SECONDS the longest time.
AFD_VERBOSE=1 prints each click. The exit code is 1 if more clicks were wrong than AFD_ALLOWED (default 0)."""

import bisect
import collections
import os
import random
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]

from afd_client import Afd, AfdError  # noqa: E402
from clicks_judge import Tap, describe, fault_class, judge, plain, presses, wrong_press  # noqa: E402
from clicks_server import Server, Truth  # noqa: E402
from page import Page  # noqa: E402

KINDS = (
    "moving swap jump shy resort transformed shift overlay popup layers sticky bar modal native rows replace relabel recycle rerender"
    " disabled contained boxes scroll tiny shadow frame site"
).split()
PER_PAGE = 20


def now():
    """Returns the time in Unix milliseconds, as the pages measure it."""
    return time.time() * 1000


class Agent:
    """An agent that looks, waits and taps at random."""

    def __init__(self, afd, server, events, seed, kinds):
        self.afd = afd
        self.server = server
        self.events = events.server_port
        self.random = random.Random(seed)
        self.kinds = kinds
        self.page = ""
        self.address = ""
        self.taps = []
        self.skipped = collections.Counter()

    def call(self, method, **params):
        """Calls afd; returns the result and an empty code, or the message and the error code."""
        try:
            return self.afd.call(method, **params), ""
        except AfdError as error:
            return {"error": str(error)}, error.code or "ERROR"

    def sort_records(self):
        """Gives each press and click that the pages reported to the last tap that began before it, and the events around it too."""
        starts = [tap.start - 1 for tap in self.taps]
        for record in self.server.truth.take():
            index = bisect.bisect_right(starts, record["time"]) - 1
            if index >= 0 and self.taps[index].page == record["page"]:
                self.taps[index].records.append(record)
            else:
                self.skipped["click without a tap"] += 1
        for tap in self.taps:
            tap.notes = self.server.truth.notes_between(tap.page, tap.look_start - 200, tap.end + 20)

    def open_page(self):
        """Opens a page with a few kinds of hostile blocks."""
        count = min(len(self.kinds), self.random.randint(3, 5))
        kinds = self.random.sample(self.kinds, count)
        seed = self.random.randrange(1, 10**6)
        self.page = f"p{len(self.taps)}-{seed}"
        self.address = self.server.address(self.page, self.events, seed, kinds)
        _, code = self.call("act.launch", package=self.address)
        if code:
            self.skipped["launch " + code] += 1

    def look(self):
        """Looks at the page; returns its elements and the times of the look, or None."""
        start = now()
        result, code = self.call("observe.page", format="outline", hints=False, settle=self.random.random() < 0.6)
        if code:
            self.skipped["look " + code] += 1
            return None
        return Page(result["outline"]), start, now()

    def choose(self, page, start, end):
        """Chooses an element that the agent sees, and how to name it; returns a tap, or None."""
        known = {plain(label) for label in self.server.truth.known(self.page)}
        elements = [element for element in page.elements if element.alias and element.label]
        for element in elements:
            if plain(element.label) not in known and element.label != "Hostile page":
                self.skipped["label " + element.label] += 1
        elements = [element for element in elements if plain(element.label) in known]
        if not elements:
            return None
        element = self.random.choice(elements)
        way = self.random.choice(["alias", "alias", "alias", "label", "label", "exact", "ref"])
        value = element.alias if way in ("alias", "ref") else element.label
        context = self.row_of(page, element) if way in ("alias", "ref") else ""
        tap = Tap(len(self.taps) + 1, self.address, way, value, element.label, context, line=element.line)
        tap.look_start, tap.look_end, tap.outline = start, end, page.outline
        return tap

    def row_of(self, page, element):
        """Returns the text that names the row of an element, if the line before it is such a text."""
        index = page.elements.index(element)
        before = page.elements[index - 1].label if index else ""
        return before if element.label == "Delete" and before.startswith("Item ") else ""

    def choose_unseen(self, end):
        """Chooses a label from the page that may be out of sight; returns a tap, or None."""
        labels = sorted(self.server.truth.known(self.page))
        if not labels:
            return None
        label = self.random.choice(labels)
        return Tap(len(self.taps) + 1, self.address, "unseen", label, label, look_start=end, look_end=end, line="(not from the outline)")

    def click(self):
        """Looks, waits and taps once; returns whether there was something to tap."""
        if self.random.random() < 0.08:
            self.call("act.scroll", direction=self.random.choice(["down", "up"]))
        found = self.look()
        if found is None:
            return False
        page, start, end = found
        tap = self.choose_unseen(end) if self.random.random() < 0.1 else self.choose(page, start, end)
        if tap is None:
            self.leave_dialog(page)
            return False
        time.sleep(self.random.choice([0, self.random.uniform(0, 0.05), self.random.uniform(0, 0.3)]))
        self.tap(tap)
        return True

    def tap(self, tap):
        """Performs a tap and records what afd answered."""
        params = {"value": tap.value}
        if tap.way == "exact":
            params["exactMatch"] = True
        if tap.way == "ref":
            params["by"] = "ref"
        tap.page = self.page
        tap.start = now()
        self.server.truth.tap_begins()
        result, tap.code = self.call("act.tap", **params)
        tap.end = now()
        tap.answer = {key: result[key] for key in ("target", "point", "moved", "unmarked", "error") if key in result}
        self.taps.append(tap)

    def leave_dialog(self, page):
        """Answers a dialog of the browser, if there is one; otherwise gives the page time."""
        answer = next((element for element in page.elements if element.alias and element.label in ("OK", "Cancel")), None)
        if answer is None:
            time.sleep(0.2)
            return
        self.call("act.tap", value=answer.alias)
        self.skipped["dialog answered"] += 1

    def run(self, clicks, seconds):
        """Clicks as often as asked, on one page after the other, but not longer than `seconds`."""
        end = time.monotonic() + seconds
        while len(self.taps) < clicks and time.monotonic() < end:
            self.open_page()
            idle, goal = 0, min(clicks, len(self.taps) + self.random.randint(PER_PAGE - 8, PER_PAGE + 8))
            while len(self.taps) < goal and idle < 8 and time.monotonic() < end:
                idle = 0 if self.click() else idle + 1
        time.sleep(0.3)
        self.sort_records()


def percentile(values, share):
    """Returns the value below which a share of the values is."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def print_counts(taps, skipped):
    """Prints how often each outcome occurred, and how long the taps took."""
    counts = collections.Counter(judge(tap) for tap in taps)
    print(f"{len(taps)} clicks")
    print(f"{counts.pop('right', 0):6} hit the named element")
    print(f"{counts.pop('nothing', 0):6} hit nothing")
    wrong = counts.pop("wrong", 0)
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    print(f"{sum(wrong_press(tap) for tap in taps):6} pressed another element, without a click on it")
    print(f"{sum(presses(tap) > 1 for tap in taps):6} pressed more than once")
    print(f"{wrong:6} WRONG")
    times = [tap.end - tap.start for tap in taps]
    print(f"taps took {percentile(times, 0.5):.0f} ms (p50), {percentile(times, 0.99):.0f} ms (p99), {max(times, default=0):.0f} ms (longest)")
    if skipped:
        print("besides: " + ", ".join(f"{count} {name}" for name, count in skipped.most_common(12)))


def print_details(taps):
    """Prints the details of the clicks that were wrong, and of those on renamed elements; returns the number of wrong ones."""
    wrong = [tap for tap in taps if judge(tap) == "wrong"]
    for name, count in collections.Counter(fault_class(tap) for tap in wrong).most_common():
        print(f"{count:6} WRONG, {name}")
    for tap in wrong:
        print("WRONG " + describe(tap))
    for tap in taps:
        if judge(tap).startswith("relabelled") or (judge(tap) != "wrong" and wrong_press(tap)):
            print("DOUBTFUL " + describe(tap))
    return len(wrong)


def interrupt(*_):
    """Ends the program in the way that stops everything it started."""
    raise KeyboardInterrupt


def main():
    """Runs the clicks and prints the results; returns the exit code."""
    setting = os.environ.get
    kinds = setting("AFD_KINDS", "").split(",") if setting("AFD_KINDS") else KINDS
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        print("no such kind: " + " ".join(unknown))
        return 2
    signal.signal(signal.SIGTERM, interrupt)
    truth = Truth()
    server, events = Server(truth), Server(truth)
    afd = agent = None
    try:
        afd = Afd(os.path.join(os.environ["AFD_BIN_DIR"], "afd"), f"http://127.0.0.1:{server.server_port}/style.css")
        agent = Agent(afd, server, events, int(setting("AFD_SEED", "1")), kinds)
        agent.run(int(setting("AFD_CLICKS", "200")), float(setting("AFD_SECONDS", "86400")))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if afd is not None:
            afd.stop()
        server.stop()
        events.stop()
    if setting("AFD_VERBOSE"):
        for tap in agent.taps:
            print(f"[{judge(tap)}] " + describe(tap))
    print_counts(agent.taps, agent.skipped)
    return 1 if print_details(agent.taps) > int(setting("AFD_ALLOWED", "0")) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
