"""Signs in to the practice site, sends a form and downloads a file: python browse.py, after `afctl init browser practice`."""
from afd import Afd

with Afd(session="browse") as web:
    site = next(one for one in web.device.list()["devices"] if one["kind"] == "browser")["url"]
    web.act.launch(package=f"{site}/login")
    web.act.fill(value="User name", text="demo")
    web.act.fill(value="Password", text="practice")
    web.act.tap(value="Sign in")
    print(web.observe.page(format="outline")["outline"].splitlines()[0])
    web.act.launch(package=f"{site}/contact")
    web.act.fill(value="What is it about?", text="An order")
    web.act.fill(value="Your e-mail", text="demo@example.com")
    web.act.fill(value="Message", text="Where is my parcel?")
    web.act.tap(value="Send message")
    web.observe.wait(until="text", text="Thank you")
    web.act.launch(package=f"{site}/downloads")
    web.act.tap(value="Harvest report")
    for file in web.device.downloads()["downloads"]:
        print(file["name"], file["state"], file["bytes"], "bytes")
