"""A client of afd with the standard library only: it starts a daemon with one headless browser, and calls it over its socket."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

CONFIG = """[device.web]
kind = "browser"
url = "{url}"

[device.web.browser]
profile = "{home}/profile"
allow_private = true
"""


class AfdError(Exception):
    """An error that afd answered; `code` is its error code as a word."""

    def __init__(self, error):
        data = error.get("data") or {}
        self.code = data.get("code", "")
        self.details = data.get("details") or {}
        super().__init__(f"{self.code}: {error.get('message')}")


class Disconnected(Exception):
    """The daemon does not answer any more."""


class Afd:
    """A daemon with its own temporary home, and a connection to it."""

    def __init__(self, program, url):
        """Starts the daemon `program` with a browser that may open pages on this machine, and connects to it."""
        self.process = None
        self.connection = None
        self.lines = None
        self.calls = 0
        self.home = tempfile.mkdtemp(prefix="mw")
        os.chmod(self.home, 0o700)
        try:
            self._start(program, url)
        except BaseException:
            self.stop()
            raise

    def _start(self, program, url):
        """Writes the configuration, starts the daemon and waits for its socket."""
        config = os.path.join(self.home, "config.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG.format(url=url, home=self.home))
        path = os.path.join(self.home, "afd.sock")
        environment = {"HOME": self.home, "PATH": os.environ.get("PATH", ""), "AFD_SOCKET": path, "XDG_RUNTIME_DIR": self.home}
        with open(os.path.join(self.home, "afd.out"), "wb") as log:
            self.process = subprocess.Popen([program, "--config", config], env=environment, stdout=log, stderr=log)
        self._connect(path)

    def _connect(self, path, seconds=30):
        """Connects to the socket at `path` as soon as the daemon listens on it."""
        end = time.monotonic() + seconds
        while True:
            self.connection = socket.socket(socket.AF_UNIX)
            try:
                self.connection.connect(path)
                break
            except OSError:
                self.connection.close()
                if time.monotonic() > end or self.process.poll() is not None:
                    raise Disconnected("the daemon does not answer on its socket") from None
                time.sleep(0.05)
        self.lines = self.connection.makefile("rw", encoding="utf-8")

    def call(self, method, **params):
        """Calls `method` and returns its result; raises AfdError if afd answers with an error."""
        self.calls += 1
        request = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.lines.write(json.dumps(request) + "\n")
        self.lines.flush()
        while True:
            line = self.lines.readline()
            if not line:
                raise Disconnected("the daemon closed the connection")
            response = json.loads(line)
            if response.get("id") == self.calls:
                break
        if "error" in response:
            raise AfdError(response["error"])
        return response["result"]

    def stop(self):
        """Stops the daemon, which stops its browser, and deletes its home."""
        if self.connection is not None:
            self.connection.close()
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._delete_home()

    def _delete_home(self, checks=5, seconds=10):
        """Deletes the home until it stays away: a browser that is just ending may still write to its profile."""
        gone, end = 0, time.monotonic() + seconds
        while gone < checks and time.monotonic() < end:
            gone = 0 if os.path.exists(self.home) else gone + 1
            shutil.rmtree(self.home, ignore_errors=True)
            time.sleep(0.1)
