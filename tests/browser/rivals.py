"""Times whole processes of afctl and of other tools that drive the same browser: a look at a page, and a click with what changed.

Usage: python rivals.py. AFD_BIN_DIR is the folder with `afd` and `afctl` (use release builds), AFD_NODE_MODULES a folder of npm packages with
`agent-browser` and `@playwright/mcp`; a tool that is not there is left out. AFD_ROUNDS is the number of runs (default 20). Prints medians in
milliseconds, and the bytes that each tool returns."""

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
from looks import Pages


def timed(rounds, run):
    """Returns the median time of `run` in milliseconds, and the length of what it returned last in bytes. `run` gets its number."""
    times, answer = [], ""
    for n in range(rounds + 3):
        start = time.perf_counter()
        answer = run(n)
        times.append((time.perf_counter() - start) * 1000)
    return statistics.median(times[3:]), len(answer.encode())


def output(command, environment):
    """Runs a command and returns what it printed."""
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


class Afctl:
    """The command line of this project."""

    name = "afctl"

    def __init__(self, programs, address):
        self.afd = Afd(os.path.join(programs, "afd"), f"{address}/30")
        self.program = os.path.join(programs, "afctl")
        self.environment = dict(os.environ, HOME=self.afd.home, AFD_SOCKET=os.path.join(self.afd.home, "afd.sock"), AF_OUTPUT="agent")

    def run(self, *words):
        """Runs a command."""
        return output([self.program, *words], self.environment)

    def open(self, url):
        """Opens a page."""
        self.run("launch", url)

    def look(self):
        """Lists the elements of the page, with those out of sight."""
        return self.run("look", "--whole", "--max-rows", "1000")

    def click(self, number):
        """Clicks a button, and returns what changed."""
        return self.run("tap", f"Entry {number}")

    def stop(self):
        """Stops the daemon."""
        self.afd.stop()


class AgentBrowser:
    """agent-browser, a command line with a daemon."""

    name = "agent-browser"

    def __init__(self, modules):
        # The program itself; the script in `.bin` starts Node.js first.
        kind = {"x86_64": "x64", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
        self.program = os.path.join(modules, "agent-browser", "bin", f"agent-browser-linux-{kind}")
        self.home = tempfile.mkdtemp(prefix="rival")
        self.environment = dict(os.environ, HOME=self.home, AGENT_BROWSER_EXECUTABLE_PATH=shutil.which("chromium"),
                                AGENT_BROWSER_ARGS="--no-sandbox,--disable-dev-shm-usage", AGENT_BROWSER_SESSION="afd-measure")

    def run(self, *words):
        """Runs a command."""
        return output([self.program, *words], self.environment)

    def open(self, url):
        """Opens a page."""
        self.run("open", url)

    def look(self):
        """Lists the elements of the page that take input."""
        return self.run("snapshot", "-i")

    def click(self, number):
        """Clicks a button, and lists the elements again: the click says nothing about them."""
        return self.run("click", f"@e{number}") + self.run("snapshot", "-i")

    def stop(self):
        """Closes the browser."""
        subprocess.run([self.program, "close"], env=self.environment, capture_output=True, timeout=60, check=False)
        shutil.rmtree(self.home, ignore_errors=True)


class PlaywrightMcp:
    """Playwright MCP over its standard input and output, which stays running."""

    name = "Playwright MCP"

    def __init__(self, modules):
        self.home = tempfile.mkdtemp(prefix="rival")
        command = [os.path.join(modules, ".bin", "playwright-mcp"), "--headless", "--isolated", "--no-sandbox", "--executable-path", shutil.which("chromium")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=self.home)
        self.number = 0
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "measure", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        """Sends a message."""
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        """Sends a request and returns its result."""
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer["result"]

    def tool(self, name, **arguments):
        """Calls a tool and returns its text."""
        content = self.request("tools/call", {"name": name, "arguments": arguments})["content"]
        return "".join(part.get("text", "") for part in content)

    def open(self, url):
        """Opens a page."""
        self.tool("browser_navigate", url=url)

    def look(self):
        """Lists the elements of the page."""
        self.seen = self.tool("browser_snapshot")
        return self.seen

    def click(self, number):
        """Clicks a button, and lists the elements again."""
        line = next(line for line in self.seen.splitlines() if f'"Entry {number}"' in line)
        ref = line.split("[ref=")[1].split("]")[0]
        return self.tool("browser_click", element=f"Entry {number}", ref=ref, target=ref) + self.look()

    def stop(self):
        """Stops the process."""
        self.process.stdin.close()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.home, ignore_errors=True)


def main():
    """Measures each tool on pages with 30 and 300 buttons."""
    rounds = int(os.environ.get("AFD_ROUNDS", "20"))
    modules = os.environ.get("AFD_NODE_MODULES", "")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    tools = [lambda: Afctl(os.environ["AFD_BIN_DIR"], address)]
    for package, start in (("agent-browser", AgentBrowser), ("@playwright/mcp", PlaywrightMcp)):
        if os.path.isdir(os.path.join(modules, package)):
            tools.append(lambda start=start: start(modules))
        else:
            print(f"{package}: not installed, left out")
    for start in tools:
        tool = start()
        try:
            for count in (30, 300):
                tool.open(f"{address}/{count}")
                look, click = timed(rounds, lambda _: tool.look()), timed(rounds, lambda n: tool.click(5 + n % 2))
                print(f"{tool.name}, {count} buttons: look {look[0]:.1f} ms, {look[1]} bytes; click with what changed {click[0]:.1f} ms, {click[1]} bytes")
        finally:
            tool.stop()
    server.shutdown()


if __name__ == "__main__":
    main()
