"""The web server with the hostile pages: it takes the reports of real clicks, and tells the pages when the agent taps."""

import http.server
import json
import os
import queue
import threading
import time
import urllib.parse

PAGES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pages")
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="{height}"><rect width="400" height="{height}" fill="#fc9"/></svg>'


class Truth:
    """What the pages reported: labels that their elements had, and the real presses and clicks."""

    def __init__(self):
        self.lock = threading.Lock()
        self.labels = {}
        self.notes = {}
        self.records = []
        self.listeners = []

    def add(self, news):
        """Remembers what a page reports."""
        with self.lock:
            self.labels.setdefault(news["page"], set()).update(news["labels"])
            self.notes.setdefault(news["page"], []).extend(news["notes"])
            self.records += news["records"]

    def known(self, page):
        """Returns the labels that elements of a page have had."""
        with self.lock:
            return set(self.labels.get(page, ()))

    def take(self):
        """Returns the presses and clicks that were reported since the last call, in the order of their times."""
        with self.lock:
            found, self.records = self.records, []
        return sorted(found, key=lambda record: record["time"])

    def notes_between(self, page, start, end):
        """Returns what happened on a page between two moments."""
        with self.lock:
            return sorted(note for note in self.notes.get(page, ()) if start <= note[0] <= end)

    def listen(self):
        """Returns a queue that gets an entry whenever the agent begins a tap."""
        with self.lock:
            self.listeners.append(queue.Queue())
            return self.listeners[-1]

    def forget(self, listener):
        """Ends a queue."""
        with self.lock:
            self.listeners.remove(listener)

    def tap_begins(self):
        """Tells all pages that the agent begins a tap."""
        with self.lock:
            for listener in self.listeners:
                listener.put("tap")


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the pages, and takes their reports."""

    truth = None

    def __init__(self, *arguments):
        super().__init__(*arguments, directory=PAGES)

    def log_message(self, *arguments):
        """Logs nothing."""

    def end_headers(self):
        """Lets the browser keep the scripts, because a page with frames loads them several times."""
        self.send_header("Cache-Control", "max-age=600")
        super().end_headers()

    def do_POST(self):
        """Takes a report from a page."""
        self.truth.add(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def do_GET(self):
        """Answers a request for a file, for a picture that loads slowly, or for the stream of taps."""
        url = urllib.parse.urlsplit(self.path)
        try:
            if url.path == "/events":
                self.send_events()
            elif url.path == "/slow.svg":
                self.send_picture(urllib.parse.parse_qs(url.query))
            else:
                super().do_GET()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send_picture(self, asked):
        """Sends a picture of the asked height after the asked time."""
        time.sleep(int(asked["ms"][0]) / 1000)
        body = PICTURE.format(height=int(asked["height"][0])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "image/svg+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_events(self):
        """Sends an event for each tap that begins, until the page has gone."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        listener = self.truth.listen()
        try:
            while True:
                try:
                    message = f"data: {listener.get(timeout=1)}\n\n"
                except queue.Empty:
                    message = ": here\n\n"
                self.wfile.write(message.encode())
        finally:
            self.truth.forget(listener)


class Server(http.server.ThreadingHTTPServer):
    """The web server on a free port of this machine."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, truth):
        self.truth = truth
        handler = type("PageHandler", (Handler,), {"truth": self.truth})
        super().__init__(("127.0.0.1", 0), handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """Says nothing about a connection that the browser dropped."""

    def address(self, page, events, seed, kinds):
        """Returns the address of a page with hostile blocks; `events` is the port of the stream of taps."""
        return f"http://127.0.0.1:{self.server_port}/page.html?page={page}&events={events}&seed={seed}&kinds={','.join(kinds)}"

    def stop(self):
        """Stops the server."""
        self.shutdown()
        self.server_close()
