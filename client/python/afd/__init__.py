"""Client for the afd daemon: a typed method for each of its methods, over its Unix socket. Needs nothing but Python 3.11.

    from afd import Afd

    with Afd(session="my-agent") as phone:
        print(phone.observe.page(format="outline")["outline"])
        step = phone.act.tap(value="Wi-Fi", then="diff")
        print(step["look"]["observation"]["outline"])

Parameters have Python's names (`max_rows`); results are dictionaries with the names of the wire (`maxRows`).
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
    """An error that the daemon answered: `code` says what went wrong, `hint` what to do next."""

    def __init__(self, error: dict[str, Any]) -> None:
        data = error.get("data") or {}
        self.code: str = data.get("code", "INTERNAL")
        self.hint: str | None = data.get("hint")
        self.retryable: bool = data.get("retryable", False)
        self.details: Any = data.get("details")
        super().__init__(f"{self.code}: {error.get('message')}" + (f" ({self.hint})" if self.hint else ""))


class NoDaemon(ConnectionError):
    """No daemon could be reached, or the connection to it was lost. An action that was sent may have been done."""


def default_socket() -> str:
    """Returns the path of the socket, as the daemon chooses it."""
    if path := os.environ.get("AFD_SOCKET"):
        return path
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        return os.path.join(runtime, "afd", "afd.sock")
    return f"/tmp/afd-{os.geteuid()}/afd.sock"


class Afd(Api):
    """A connection to the daemon, which is started if none runs. Calls of several threads wait for each other."""

    def __init__(
        self,
        *,
        session: str | None = None,
        device: str | None = None,
        path: str | None = None,
        timeout: float | None = None,
        on_progress: Callable[[CallProgress], None] | None = None,
    ) -> None:
        """Connects. `timeout` is the longest wait for an answer, in seconds; `on_progress` hears of waits and searches."""
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
        """Calls a method by its name on the wire.

        Raises AfdError if the daemon refuses, NoDaemon if the connection breaks, TimeoutError if the answer takes too long. The next
        call connects again; what ends with a connection has ended then.
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
        """Returns what happens from now on, or since a cursor, on a connection of its own that ends with the iterator."""
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
            # The answer would be taken for that of the next call.
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
        """Closes the connection; what was taken until then, such as a lease with `until_disconnect`, ends."""
        self._closed = True
        self._lines.close()
        self._socket.close()

    def __enter__(self) -> Afd:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
