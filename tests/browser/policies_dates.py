"""Policies of tasks in which a date is chosen in a calendar."""

import re
import time

from page import Failed
from registry import policy

MONTHS = "January February March April May June July August September October November December".split()


@policy("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(b):
    """Chooses a date in the calendar of a field."""
    month, day, year = b.match(r"^Select (\d\d)/(\d\d)/(\d{4})")
    pick_date(b, b.page.fields()[0], int(month), int(day), int(year))
    b.submit()


def pick_date(b, field, month, day, year):
    """Opens the calendar of a field, turns to a month and taps a day."""
    b.tap(field, then=True)
    for _ in range(40):
        shown = next((text for text in b.page.texts() if re.fullmatch(r"[A-Z]\w+ \d{4}", text)), None)
        if shown is None:
            b.look()
            continue
        name, number = shown.split()
        ahead = (year - int(number)) * 12 + month - 1 - MONTHS.index(name)
        if ahead == 0:
            b.tap(b.page.get(str(day)), then=True)
            return
        b.tap("Next" if ahead > 0 else "Prev", then=True)
    raise Failed("the month does not appear")


@policy("book-flight", "book-flight-nodelay")
def book_flight(b):
    """Searches for flights, and books the cheapest or the shortest."""
    wanted, start, end, month, day, year = b.match(
        r"^Book the (\w+) one-way flight from: (.*?) to: (.*?) on (\d\d)/(\d\d)/(\d{4})"
    )
    choose_place(b, "From:", start)
    choose_place(b, "To:", end)
    pick_date(b, b.page.fields()[2], int(month), int(day), int(year))
    b.tap("Search", then=True)
    nodes = b.nodes()
    durations = [duration(node.text) for node in nodes if re.fullmatch(r"\d+h \d+m", node.text)]
    buttons = [node.text for node in nodes if node.kind == "button" and "$" in node.text]
    prices = [int(text.split("$")[1]) for text in buttons]
    values = prices if wanted == "cheapest" else durations
    b.reach(buttons[values.index(min(values))])


def duration(text):
    """Returns the minutes of a text such as "3h 43m"."""
    hours, minutes = re.findall(r"\d+", text)
    return int(hours) * 60 + int(minutes)


def choose_place(b, name, place):
    """Types a place into a field, and chooses the first suggestion that contains it."""
    b.tap(b.page.get(name), then=True)
    b.act("text", then=True, text=place)
    end = time.monotonic() + 4
    while time.monotonic() < end:
        found = [element for element in b.page.elements if place in element.label and "(" in element.label and not element.role == "field"]
        if found:
            b.tap(found[0] if found[0].alias else found[0].label, then=True)
            return
        b.look()
    raise Failed(f"no suggestion for {place!r}")
