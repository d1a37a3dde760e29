"""Prints what happens on the devices, one line each. Needs nothing but a running daemon. Usage: watch.py [COUNT]"""
import json
import os
import socket
import sys

path = os.environ.get("AFD_SOCKET") or os.path.join(os.environ.get("XDG_RUNTIME_DIR", f"/tmp/afd-{os.geteuid()}"), "afd/afd.sock")
left = int(sys.argv[1]) if len(sys.argv) > 1 else -1

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect(path)
    # One JSON-RPC message per line. `since: 0` starts with the first event that was recorded.
    request = {"jsonrpc": "2.0", "id": 1, "method": "events.subscribe", "params": {"since": 0}}
    connection.sendall(json.dumps(request).encode() + b"\n")
    for line in connection.makefile("rb"):
        message = json.loads(line)
        if "error" in message:
            sys.exit(message["error"]["message"])
        if message.get("method") != "events.message":
            continue
        event = message["params"]["result"]
        if event["kind"] != "event":
            continue
        print(event["cursor"], event["session"], event["device"], event["op"], event["status"])
        left -= 1
        if left == 0:
            break
