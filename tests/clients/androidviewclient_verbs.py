"""Drives the practice phone with AndroidViewClient, a client that others wrote, and checks that what it reports has arrived."""

import os
import shutil

from verbs import PORT, SERIAL, arrives, end, one, verb

os.environ["ANDROID_ADB_SERVER_PORT"] = str(PORT)

from com.dtmilano.android.adb.adbclient import AdbClient  # noqa: E402
from com.dtmilano.android.viewclient import ViewClient  # noqa: E402

device = AdbClient(SERIAL, hostname="127.0.0.1", port=PORT)


def views():
    """Returns a client that has read the screen."""
    client = ViewClient(device, SERIAL, adb=shutil.which("adb"), autodump=False, useuiautomatorhelper=False)
    client.dump(window=-1)
    return client


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
end()
