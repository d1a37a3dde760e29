"""Drives the practice phone with AndroidViewClient, a client that others wrote, and checks that what it reports has arrived.

Usage: python androidviewclient_verbs.py SERIAL ADB_SERVER_PORT CONTROL_URL. Prints a line for each verb; the exit code is the number of failures."""

import json
import os
import shutil
import sys
import urllib.request

SERIAL, PORT, CONTROL = sys.argv[1], sys.argv[2], sys.argv[3]
os.environ["ANDROID_ADB_SERVER_PORT"] = PORT

from com.dtmilano.android.adb.adbclient import AdbClient  # noqa: E402
from com.dtmilano.android.viewclient import ViewClient  # noqa: E402

device = AdbClient(SERIAL, hostname="127.0.0.1", port=int(PORT))
failures = 0


def inputs(kind):
    """Returns what of a kind reached the phone."""
    with urllib.request.urlopen(CONTROL + "/log", timeout=10) as answer:
        return [one for one in json.load(answer)["inputs"] if one["kind"] == kind]


def verb(name, act, holds):
    """Runs a verb, and prints whether its result is as expected."""
    global failures
    try:
        result = act()
        good = holds(result)
    except BaseException as error:  # A client may raise or exit.
        result, good = repr(error), False
    failures += not good
    print(f"{'ok' if good else 'FAILED'} {name}{'' if good else ': ' + str(result)[:300]}")


def arrives(kind, act):
    """Acts, and returns the number of inputs of a kind that arrived."""
    before = len(inputs(kind))
    act()
    return len(inputs(kind)) - before


def views():
    """Returns a client that has read the screen."""
    client = ViewClient(device, SERIAL, adb=shutil.which("adb"), autodump=False, useuiautomatorhelper=False)
    client.dump(window=-1)
    return client


one = lambda count: count == 1  # noqa: E731
verb("getSdkVersion", device.getSdkVersion, lambda version: version == 34)
verb("getProperty", lambda: device.getProperty("ro.product.model"), lambda text: "Practice Phone" in text)
verb("getPhysicalDisplayInfo", device.getPhysicalDisplayInfo, lambda size: (size["width"], size["height"]) == (1080, 2400))
verb("getDisplayInfo", device.getDisplayInfo, lambda size: size["orientation"] == 0)
verb("shell", lambda: device.shell("echo hello"), lambda text: text.strip() == "hello")
verb("isLocked", device.isLocked, lambda locked: not locked)
verb("isScreenOn", device.isScreenOn, bool)
verb("isKeyboardShown", device.isKeyboardShown, lambda shown: not shown)
verb("startActivity", lambda: arrives("launch", lambda: device.startActivity(component="com.android.settings/.Settings")), one)
verb("getTopActivityName", device.getTopActivityName, lambda name: name.startswith("com.android.settings/"))
verb("getWindows", device.getWindows, lambda windows: len(windows) >= 3)
verb("takeSnapshot", lambda: device.takeSnapshot(reconnect=True).size, lambda size: size == (1080, 2400))
verb("dump", lambda: len(views().views), lambda count: count > 10)
verb("findViewWithText", lambda: views().findViewWithText("Bluetooth"), lambda view: view is not None)
verb("View.touch", lambda: arrives("tap", lambda: views().findViewWithText("Bluetooth").touch()), one)
verb("touch", lambda: arrives("tap", lambda: device.touch(540, 1000)), one)
verb("longTouch", lambda: arrives("longPress", lambda: device.longTouch(540, 1000)), one)
verb("drag", lambda: arrives("swipe", lambda: device.drag((540, 1800), (540, 600), 300)), one)
verb("press", lambda: arrives("back", lambda: device.press("KEYCODE_BACK")), one)
verb("type", lambda: arrives("text", lambda: device.type("hello")), one)
verb("forceStop", lambda: arrives("stop", lambda: device.forceStop("com.android.settings")), one)
sys.exit(failures)
