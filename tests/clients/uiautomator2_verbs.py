"""Drives the practice phone with what uiautomator2 does over the shell, and checks that what it reports has arrived.

Its constructor starts a server of its own on the phone, which the practice phone does not run; so the object is made without it."""

import tempfile

import adbutils
import uiautomator2

from verbs import PORT, SERIAL, arrives, end, one, verb

device = uiautomator2.Device.__new__(uiautomator2.Device)
device._dev = adbutils.AdbClient(host="127.0.0.1", port=PORT).device(serial=SERIAL)
device._debug = False


def round_trip():
    """Pushes a file, and returns what is pulled."""
    with tempfile.NamedTemporaryFile() as source, tempfile.NamedTemporaryFile() as target:
        source.write(b"x" * 100_000)
        source.flush()
        device.push(source.name, "/data/local/tmp/afd.bin")
        device.pull("/data/local/tmp/afd.bin", target.name)
        return open(target.name, "rb").read()


shop = "org.example.shop"
verb("shell", lambda: device.shell("echo hello").output.strip(), lambda text: text == "hello")
verb("shell with a list", lambda: device.shell(["echo", "a  b", "c'd"]).output.strip(), lambda text: text == "a  b c'd")
verb("shell exit code", lambda: device.shell("sh -c 'exit 3'").exit_code, lambda code: code == 3)
verb("device_info", lambda: device.device_info["model"], lambda text: text == "Practice Phone")
verb("app_list", device.app_list, lambda names: shop in names)
verb("app_list -3", lambda: device.app_list("-3"), lambda names: shop in names and "com.android.settings" not in names)
verb("app_start", lambda: arrives("launch", lambda: device.app_start(shop)), one)
verb("app_current", lambda: device.app_current()["package"], lambda name: name == shop)
verb("app_list_running", device.app_list_running, lambda names: shop in names and "org.example.bank" not in names)
verb("app_wait", lambda: device.app_wait(shop, timeout=2), lambda pid: pid > 0)
verb("app_wait in front", lambda: device.app_wait(shop, timeout=2, front=True), lambda pid: pid > 0)
verb("wait_activity", lambda: device.wait_activity(device.app_current()["activity"], timeout=1), bool)
verb("app_info", lambda: device.app_info(shop)["versionName"], lambda text: text == "1.0")
verb("app_start with an activity", lambda: arrives("launch", lambda: device.app_start("com.android.settings", ".Settings")), one)
verb("show_touch_trace", lambda: device.show_touch_trace() or device.shell("settings get system show_touches").output.strip(), lambda text: text == "1")
verb("open_url", lambda: device.open_url("https://example.org") or device.app_current()["package"], lambda name: name == "org.example.browser")
verb("keyevent", lambda: arrives("back", lambda: device.keyevent("BACK")), one)
verb("push and pull", round_trip, lambda content: content == b"x" * 100_000)
verb("app_auto_grant_permissions", lambda: device.app_auto_grant_permissions(shop), lambda _: True)
verb("app_clear", lambda: device.app_clear(shop), lambda _: True)
verb("app_stop", lambda: arrives("stop", lambda: device.app_stop(shop)), one)
verb("app_uninstall", lambda: device.app_uninstall(shop), bool)
verb("app_list after it", device.app_list, lambda names: shop not in names)
verb("is_input_ime_installed", device.is_input_ime_installed, lambda there: not there)
end()
