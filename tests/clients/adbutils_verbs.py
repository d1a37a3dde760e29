"""Drives the practice phone with adbutils, a client that others wrote, and checks that what it reports has arrived."""

import tempfile

import adbutils

from verbs import PORT, SERIAL, arrives, end, inputs, one, verb

device = adbutils.AdbClient(host="127.0.0.1", port=PORT).device(serial=SERIAL)


def round_trip():
    """Pushes a file, and returns what is pulled."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x" * 200_000)
        file.flush()
        device.sync.push(file.name, "/data/local/tmp/afd.bin")
    return device.sync.read_bytes("/data/local/tmp/afd.bin")


verb("shell", lambda: device.shell("echo hello"), lambda text: text == "hello")
verb("shell2", lambda: device.shell2("sh -c 'exit 3'").returncode, lambda code: code == 3)
verb("shell with quotes", lambda: device.shell(["echo", "a  b", "c'd"]), lambda text: text == "a  b c'd")
verb("getprop", lambda: device.prop.model, lambda text: text == "Practice Phone")
verb("window_size", device.window_size, lambda size: tuple(size) == (1080, 2400))
verb("rotation", device.rotation, lambda turned: turned == 0)
verb("is_screen_on", device.is_screen_on, bool)
verb("app_start", lambda: device.app_start("com.android.settings"), lambda _: True)
verb("app_current", device.app_current, lambda app: app.package == "com.android.settings")
verb("dump_hierarchy", device.dump_hierarchy, lambda xml: xml.startswith("<?xml") and "Bluetooth" in xml)
verb("screenshot", lambda: device.screenshot().size, lambda size: size == (1080, 2400))
verb("click", lambda: arrives("tap", lambda: device.click(540, 1000)), one)
verb("keyevent", lambda: device.keyevent("BACK"), lambda _: True)
verb("swipe", lambda: device.swipe(500, 1800, 500, 600, 0.3), lambda _: len(inputs("swipe")) == 1)
verb("send_keys", lambda: arrives("text", lambda: device.send_keys("it's 5% $(id)")), lambda count: count > 0)
verb("list_packages", device.list_packages, lambda names: "org.example.shop" in names)
verb("app_info", lambda: device.app_info("org.example.shop").version_name, lambda text: text == "1.0")
verb("app_stop", lambda: device.app_stop("com.android.settings"), lambda _: len(inputs("stop")) == 1)
verb("push and pull", round_trip, lambda data: data == b"x" * 200_000)
verb("sync.stat", lambda: device.sync.stat("/data/local/tmp/afd.bin").size, lambda size: size == 200_000)
verb("sync.exists", lambda: device.sync.exists("/data/local/tmp/none"), lambda there: not there)
verb("sync.list", lambda: [one.path for one in device.sync.list("/data/local/tmp")], lambda names: "afd.bin" in names)
verb("remove", lambda: device.remove("/data/local/tmp/afd.bin"), lambda _: not device.sync.exists("/data/local/tmp/afd.bin"))
verb("battery", lambda: device.battery().level, lambda level: level == 77)
verb("forward", lambda: device.forward_port(8081), lambda port: port > 0)
end()
