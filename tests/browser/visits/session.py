"""The practice site, the daemon, and the counter of calls and characters."""

import json
import os
import re
import subprocess
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from afd_client import Afd, AfdError  # noqa: E402
from view import HINT, NOTHING  # noqa: E402

BIN = os.environ["AFD_BIN_DIR"]


class Site:
    """The practice web site, as a process of its own."""

    def __init__(self):
        command = [os.path.join(BIN, "afphone"), "--site", "0", "--until-eof"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["site"].rstrip("/")

    def design(self, number):
        """Switches the design of all pages."""
        urllib.request.urlopen(urllib.request.Request(f"{self.url}/design/{number}", data=b"", method="POST"), timeout=10).read()

    def stop(self):
        """Stops the site by closing its standard input."""
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Spent:
    """Calls and characters of one task."""

    def __init__(self):
        self.calls = 0
        self.chars = 0
        self.shown = 0
        self.wrong = 0
        self.failed = 0
        self.kinds = {}


class OutOfCalls(Exception):
    """The task has used all calls that it may use."""


class Meter:
    """Calls the daemon for the agent, and counts calls, characters and wrong taps."""

    def __init__(self, site, trace=None, hints=True, most=60):
        self.afd = Afd(os.path.join(BIN, "afd"), site.url + "/")
        self.site = site
        self.trace = trace
        self.hints = hints
        self.most = most
        self.error = ""
        self.spent = Spent()

    def fresh(self):
        """Signs out and empties the storage of the pages; this is not counted."""
        self.spent = Spent()
        for page in ("/logout", "/reset"):
            self.afd.call("act.launch", package=self.site.url + page, then="outline", session="setup")

    def call(self, method, wanted=None, **params):
        """Calls a method and returns its result, or None after an error; `wanted` is the label that a tap is meant for."""
        if self.spent.calls >= self.most:
            raise OutOfCalls
        self.spent.calls += 1
        self.error = ""
        self.spent.kinds[method] = self.spent.kinds.get(method, 0) + 1
        try:
            result = self.afd.call(method, **params)
        except AfdError as error:
            self.spent.failed += 1
            self.error = str(error)
            self.count(str(error), str(error) + json.dumps(error.details, ensure_ascii=False))
            self.log(method, params, str(error))
            return None
        shown = self.shown(result)
        self.count(shown, json.dumps(result, ensure_ascii=False))
        label = result.get("target", {}).get("label", "")
        if wanted is not None and label and label != wanted:
            self.spent.wrong += 1
            self.log("WRONG", {"wanted": wanted}, label)
        self.log(method, params, shown)
        return result

    def shown(self, result):
        """Returns the text of an answer that an agent reads; without hints if they are off."""
        look = result.get("look")
        if not look:
            return json.dumps(result, ensure_ascii=False)
        observation = look.get("observation", {})
        if not self.hints:
            observation["hints"] = []
            observation["outline"] = re.sub(r"\nknown:.*", "", NOTHING.sub("", HINT.sub("", observation.get("outline", ""))), flags=re.S)
        parts = [look.get("note", ""), look.get("expected", ""), observation.get("outline", "")]
        return "\n".join(part for part in parts if part)

    def count(self, shown, answer):
        """Adds the sizes of an answer."""
        self.spent.shown += len(shown)
        self.spent.chars += len(answer)

    def log(self, method, params, text):
        """Writes a call and its answer to the trace."""
        if self.trace:
            self.trace.write(f">> {method} {json.dumps(params, ensure_ascii=False)}\n{text}\n")
            self.trace.flush()

    def stop(self):
        """Stops the daemon and its browser."""
        self.afd.stop()
