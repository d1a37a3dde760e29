"""Finds a text in an app. The first run tries one row after the other and notes the way; the next run follows the note.

Usage: remember.py [TEXT] [PACKAGE]
"""
import sys

from afd import Afd, AfdError

TEXT = sys.argv[1] if len(sys.argv) > 1 else "Brightness level"
APP = sys.argv[2] if len(sys.argv) > 2 else "com.android.settings"
TOPIC = f"way/{TEXT}"


def is_shown(phone: Afd) -> bool:
    """Returns whether the text is on the page."""
    try:
        phone.verify.text_contains(text=TEXT)
    except AfdError as error:
        if error.code != "ASSERTION_FAILED":
            raise
        return False
    return True


def explore(phone: Afd) -> str | None:
    """Opens each row of the first page. Returns the label of the one behind which the text is."""
    for row in phone.observe.refs()["rows"]:
        # The label of a row is its title and what stands below it.
        label = row["label"].split(",")[0]
        if not label or "clk" not in row["flags"].split(",") or row["class"].endswith("Button"):
            continue
        try:
            phone.act.tap(value=label, then="diff")
        except AfdError as error:
            print(f"skipped {label}: {error.code}", file=sys.stderr)
            continue
        if is_shown(phone):
            return label
        phone.act.back(then="diff")
    return None


with Afd(session="remember") as phone:
    phone.recover.relaunch(package=APP, then="diff")
    notes = phone.memory.search(app=APP, topic=TOPIC, limit=1)["notes"]
    if notes:
        phone.act.tap(value=notes[0]["content"], then="diff")
        if is_shown(phone):
            sys.exit(print(f"followed: {notes[0]['content']}"))
        phone.recover.relaunch(package=APP, then="diff")
    label = explore(phone)
    if label is None:
        sys.exit(f"{TEXT!r} was not found")
    phone.memory.save(app=APP, topic=TOPIC, content=label)
    print(f"found: {label}")
