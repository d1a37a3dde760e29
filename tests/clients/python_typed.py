"""Does a task with the client in client/python. Usage: PYTHONPATH=client/python python_typed.py SOCKET"""

import os
import sys
import threading

from afd import Afd, AfdError, NoDaemon

path = sys.argv[1]
steps = []
with Afd(session="python", path=path, on_progress=steps.append) as phone:
    page = phone.observe.page(format="outline")
    assert page["outline"].startswith('page "Settings"'), page
    step = phone.act.tap(value="Display", then="diff")
    assert step["look"]["changed"] is True, step
    assert 'page "Display"' in step["look"]["observation"]["outline"], step
    assert phone.verify.text_contains(text="Dark theme")["session"] == "python"
    try:
        phone.act.tap(value="Zork")
        raise SystemExit("tapped what is not there")
    except AfdError as error:
        assert error.code == "TARGET_NOT_FOUND" and error.hint, error
    try:
        phone.observe.wait(until="text", text="never", timeout_ms=2500)
    except AfdError as error:
        assert error.code == "TIMEOUT" and error.retryable, error
    assert steps and steps[0]["total"] == 2500, steps

    seen = []
    listening = threading.Event()

    def listen():
        events = phone.events(since=0)
        for message in events:
            listening.set()
            if message["kind"] == "event" and message["op"] == "back":
                seen.append(message)
                return

    listener = threading.Thread(target=listen)
    listener.start()
    assert listening.wait(30)
    phone.act.back()
    listener.join(30)
    assert seen and seen[0]["session"] == "python", seen
    task = phone.session.task.add(description="look around")
    assert phone.session.task.list()["tasks"][0]["id"] == task["id"]
os.environ["PATH"] = "/nonexistent"
try:
    Afd(path=path + ".none")
    raise SystemExit("connected to nothing")
except NoDaemon:
    pass
print("done")
