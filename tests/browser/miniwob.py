"""Runs MiniWoB++ (a public benchmark of small web tasks) through afd, with one scripted policy per type of task.

Usage: python miniwob.py [-v] [TASK ...]. AFD_BIN_DIR is the folder with the program `afd`, AFD_MINIWOB the folder `miniwob/html` of the
Python package `miniwob`, and AFD_MINIWOB_SEEDS the number of episodes of each type (default 1)."""

import http.server
import os
import signal
import statistics
import sys
import threading
import time
import urllib.parse

from afd_client import Afd, Disconnected
from page import Browser
from policies import POLICIES

GOAL = 60
SCRIPT = b"""<script>addEventListener('load', () => {
  const asked = new URLSearchParams(location.search);
  core.EPISODE_MAX_TIME = 100000;
  Math.seedrandom(asked.get('seed'));
  core.startEpisodeReal();
  const timer = setInterval(() => {
    if (!WOB_DONE_GLOBAL) return;
    clearInterval(timer);
    fetch('/reward?' + asked.get('episode') + '=' + WOB_RAW_REWARD_GLOBAL);
  }, 20);
});</script></body>"""


class Rewards:
    """The raw rewards that the pages reported, by episode."""

    def __init__(self):
        self.known = {}
        self.changed = threading.Condition()

    def add(self, episode, reward):
        """Records the reward of an episode."""
        with self.changed:
            self.known[episode] = reward
            self.changed.notify_all()

    def wait(self, episode, seconds):
        """Returns the reward of an episode, or None if the page does not report it within `seconds`."""
        with self.changed:
            self.changed.wait_for(lambda: episode in self.known, seconds)
            return self.known.get(episode)


def handler(folder, rewards):
    """Returns a request handler that serves `folder`, with the script in each page, and takes the rewards."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        """Serves the files of a folder."""

        def __init__(self, *arguments):
            super().__init__(*arguments, directory=folder)

        def log_message(self, *arguments):
            """Logs nothing."""

        def do_GET(self):
            """Answers a request for a file, or records a reward."""
            url = urllib.parse.urlsplit(self.path)
            if url.path == "/reward":
                episode, _, reward = url.query.partition("=")
                rewards.add(episode, float(reward))
                self.send_response(204)
                self.end_headers()
            elif url.path.endswith(".html"):
                self.send_page(url.path)
            else:
                super().do_GET()

        def send_page(self, path):
            """Sends a page with the script that starts an episode."""
            with open(self.translate_path(path), "rb") as file:
                body = file.read().replace(b"</body>", SCRIPT)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


class Benchmark:
    """The web server with the tasks, and the daemon that operates them."""

    def __init__(self, folder, program, verbose):
        self.verbose = verbose
        self.rewards = Rewards()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler(folder, self.rewards))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.server.server_port}/miniwob/"
        try:
            self.afd = Afd(program, self.base + "click-test.html")
        except BaseException:
            self.server.shutdown()
            raise

    def stop(self):
        """Stops the daemon and the server."""
        self.afd.stop()
        self.server.shutdown()
        self.server.server_close()

    def episode(self, name, seed):
        """Runs one episode; returns whether it was solved, the number of calls, and the milliseconds."""
        episode = f"{name}.{seed}.{time.monotonic_ns()}"
        calls, start = self.afd.calls, time.monotonic()
        reason = ""
        try:
            browser = Browser(self.afd)
            browser.open(f"{self.base}{name}.html?seed={seed}&episode={episode}")
            POLICIES[name](browser)
        except Disconnected:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"[:300]
        spent = (time.monotonic() - start) * 1000
        reward = self.rewards.wait(episode, 0.3 if reason else 2)
        solved = reward is not None and reward > 0.99
        if self.verbose and not solved:
            print(f"  {name} seed {seed}: reward {reward} {reason}", flush=True)
        return solved, self.afd.calls - calls, spent

    def task(self, name, seeds):
        """Runs the episodes of a task type, prints a line, and returns the rate of success."""
        results = [self.episode(name, seed) for seed in range(1, seeds + 1)]
        solved = sum(result[0] for result in results)
        calls = statistics.mean(result[1] for result in results)
        spent = statistics.median(result[2] for result in results)
        print(f"{name:32} {solved:3}/{seeds:<3} {calls:6.1f} calls {spent:7.0f} ms", flush=True)
        return solved / seeds


def interrupt(*_):
    """Ends the program in the way that stops everything it started."""
    raise KeyboardInterrupt


def main():
    """Runs the tasks that the command line names, or all; returns the exit code."""
    names = [argument for argument in sys.argv[1:] if argument != "-v"]
    folder = os.environ["AFD_MINIWOB"]
    seeds = int(os.environ.get("AFD_MINIWOB_SEEDS", "1"))
    types = sorted(file[:-5] for file in os.listdir(os.path.join(folder, "miniwob")) if file.endswith(".html"))
    unknown = [name for name in names if name not in POLICIES]
    if unknown:
        print("no policy for: " + " ".join(unknown))
        return 2
    wanted = names or [name for name in types if name in POLICIES]
    signal.signal(signal.SIGTERM, interrupt)
    benchmark = Benchmark(folder, os.path.join(os.environ["AFD_BIN_DIR"], "afd"), "-v" in sys.argv)
    try:
        rates = [benchmark.task(name, seeds) for name in wanted]
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        benchmark.stop()
    good = sum(rate >= 0.9 for rate in rates)
    missing = [name for name in types if name not in POLICIES]
    print(f"{good} types solved in at least 0.9 of the episodes, {len(rates)} attempted, {len(missing)} without a policy")
    if not names and missing:
        print("without a policy: " + " ".join(missing))
    return 1 if not names and good < GOAL else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
