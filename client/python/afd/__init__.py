"""Client for the afd daemon, with a typed method for each method of the daemon.

It uses the daemon's Unix socket and needs only Python 3.11 or later.

    from afd import Afd

    with Afd(session="my-agent") as phone:
        print(phone.observe.page(format="outline")["outline"])
        step = phone.act.tap(value="Wi-Fi", then="diff")
        print(step["look"]["observation"]["outline"])

Parameters have Python names (`max_rows`). Results are dictionaries with wire names (`maxRows`).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from .api import Api, CallProgress, MessageWithCursor

__all__ = ["Afd", "AfdError", "NoDaemon"]


class AfdError(Exception):
    """An error returned by the daemon. `code` identifies the error, `hint` suggests the next step."""

    def __init__(self, error: dict[str, Any]) -> None:
        data = error.get("data") or {}
        self.code: str = data.get("code", "INTERNAL")
        self.hint: str | None = data.get("hint")
        self.retryable: bool = data.get("retryable", False)
        self.details: Any = data.get("details")
        super().__init__(f"{self.code}: {error.get('message')}" + (f" ({self.hint})" if self.hint else ""))


class NoDaemon(ConnectionError):
    """No daemon could be reached, or the connection was lost. An action that was sent may have been executed."""


def default_socket() -> str:
    """Returns the default path of the socket, the same as in the daemon."""
    if path := os.environ.get("AFD_SOCKET"):
        return path
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "afd", "afd.sock")
    return f"/tmp/afd-{os.geteuid()}/afd.sock"


class Afd(Api):
    """A connection to the daemon, which is started if it is not running. Calls from several threads are serialised."""

    def __init__(
        self,
        *,
        session: str | None = None,
        device: str | None = None,
        path: str | None = None,
        timeout: float | None = None,
        on_progress: Callable[[CallProgress], None] | None = None,
    ) -> None:
        """Connects.
        
        `timeout` is the maximum time to wait for a response, in seconds. `on_progress` is called with the progress of
        long calls, such as waits and searches.
        """
        super().__init__(self._typed)
        self._session, self._device, self._path, self._timeout = session, device, path or default_socket(), timeout
        self._on_progress = on_progress
        self._lock = threading.Lock()
        self._next = 0
        self._closed = True
        self._open()

    def _open(self) -> None:
        self._socket = self._connect()
        self._lines = self._socket.makefile("rb")
        self._closed = False
        if self._on_progress:
            self._send({"jsonrpc": "2.0", "id": 0, "method": "rpc.reportProgress", "params": {"enabled": True}})

    def _connect(self) -> socket.socket:
        for starts in (True, False):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(self._timeout)
            try:
                connection.connect(self._path)
                if os.stat(self._path).st_uid not in (os.geteuid(), 0):
                    raise NoDaemon(f"{self._path} belongs to another user")
                return connection
            except (FileNotFoundError, ConnectionRefusedError) as error:
                connection.close()
                if not starts:
                    raise NoDaemon(f"no daemon at {self._path}") from error
                try:
                    subprocess.run(["afctl", "--socket", self._path, "daemon", "start"], check=True, capture_output=True)
                except (OSError, subprocess.CalledProcessError) as failed:
                    raise NoDaemon(f"no daemon at {self._path}, and `afctl daemon start` failed: {failed}") from error
        raise AssertionError("unreachable")

    def _typed(self, method: str, params: dict[str, Any], *, device: bool = False, session: bool = False, key: bool = False) -> Any:
        params = {name: value for name, value in params.items() if value is not None}
        if device and self._device is not None:
            params.setdefault("device", self._device)
        if session and self._session is not None:
            params.setdefault("session", self._session)
        if key:
            params.setdefault("requestKey", f"python-{uuid.uuid4()}")
        return self.call(method, params)

    def call(self, method: str, params: dict[str, Any]) -> Any:
        """Calls a method by its wire name.

        Raises AfdError if the daemon returns an error, NoDaemon if the connection is lost, and TimeoutError if the
        response takes too long. After a lost connection or a timeout, the next call reconnects. State that was bound
        to the old connection, such as a lease with `until_disconnect`, is lost.
        """
        with self._lock:
            if self._closed:
                self._open()
            self._next += 1
            own = self._next
            self._send({"jsonrpc": "2.0", "id": own, "method": method, "params": params})
            while True:
                message = self._receive()
                if message.get("method") == "rpc.progress" and self._on_progress:
                    self._on_progress(message["params"])
                elif message.get("id") in (own, None) and "method" not in message:
                    if "error" in message:
                        raise AfdError(message["error"])
                    return message["result"]

    def events(
        self, *, since: int | None = None, session: str | None = None, device: str | None = None
    ) -> Iterator[MessageWithCursor]:
        """Yields events from now on, or since a cursor. Uses a connection of its own, which ends with the iterator."""
        other = Afd(path=self._path)
        wanted = {"since": since, "session": session, "device": device}
        other.call("events.subscribe", {name: value for name, value in wanted.items() if value is not None})
        return other._messages()

    def _messages(self) -> Iterator[MessageWithCursor]:
        with self:
            while True:
                message = self._receive()
                if message.get("method") == "events.message":
                    yield message["params"]["result"]

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._socket.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            raise NoDaemon(f"lost the connection to the daemon: {error}") from error

    def _receive(self) -> dict[str, Any]:
        try:
            line = self._lines.readline()
        except TimeoutError:
            # A late response would be taken for the response to the next call.
            self.close()
            raise
        except (OSError, ValueError) as error:
            self.close()
            raise NoDaemon(f"lost the connection to the daemon: {error}") from error
        if not line.endswith(b"\n"):
            self.close()
            raise NoDaemon("the daemon closed the connection")
        message: dict[str, Any] = json.loads(line)
        return message

    def close(self) -> None:
        """Closes the connection and ends everything bound to it, such as a lease with `until_disconnect`."""
        self._closed = True
        self._lines.close()
        self._socket.close()

    def __enter__(self) -> Afd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
