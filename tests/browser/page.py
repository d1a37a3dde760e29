"""What a policy sees and does: outlines of pages, and a browser that is operated through afd."""

import json
import re
import time

from picture import Picture

POSITION_WORDS = {"top", "bottom", "left", "right", "center", "middle"}
LINE = re.compile(r"^(?P<indent> *)(?:(?P<alias>@\w+)(?: |$))?(?P<rest>.*)$")
QUOTED = r'"(?:[^"\\]|\\.)*"'
PANEL = ("Last reward:", "Last 10 average:", "Time left:", "Episodes done:")


class Failed(Exception):
    """A policy cannot go on, because something that it expected is not on the page."""


def unquote(text):
    """Returns the content of a quoted string of an outline."""
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1]


def squeeze(text):
    """Returns `text` with every run of white space as one space."""
    return " ".join(text.split())


class Element:
    """One line of an outline: alias, role, label, id, value and depth."""

    def __init__(self, line):
        match = LINE.match(line)
        rest = match["rest"]
        self.line = line.strip()
        self.depth = len(match["indent"])
        self.alias = match["alias"] or ""
        word = re.match(r"([A-Za-z]+)(?= |$)", rest)
        self.role = word[1] if word and word[1] not in POSITION_WORDS else ""
        value = re.search(f"(?:^| )= ({QUOTED})", rest)
        self.value = unquote(value[1]) if value else ""
        rest = rest[: value.start()] if value else rest.split(" -> ")[0] if not rest.startswith('"') else rest
        label = re.search(QUOTED, rest)
        self.label = squeeze(unquote(label[0])) if label else ""
        name = re.search(r"(?:^| )#(\S+)", rest[: label.start()] if label else rest)
        self.id = name[1] if name else ""
        self.disabled = " disabled" in (rest[label.end():] if label else rest)

    def __repr__(self):
        return self.line


class Page:
    """The elements of an outline, without the panel with the rewards beside each task."""

    def __init__(self, outline):
        self.outline = outline
        self.elements = []
        skip = False
        for line in outline.split("\n")[1:]:
            element = Element(line)
            panel = element.label.startswith(PANEL) and not element.role
            if not panel and not skip:
                self.elements.append(element)
            skip = panel and element.label in PANEL
        self.task = squeeze(" ".join(element.label for element in self.elements))

    def all(self, role=None, label=None, value=None):
        """Returns the elements with an alias that have this role, label and value."""
        return [
            element
            for element in self.elements
            if element.alias
            and (role is None or element.role == role)
            and (label is None or element.label == label)
            and (value is None or element.value == value)
        ]

    def find(self, label, role=None):
        """Returns the first element with an alias and this label, or None."""
        return next(iter(self.all(role, label)), None)

    def get(self, label, role=None):
        """Returns the first element with an alias and this label."""
        found = self.find(label, role)
        if found is None:
            raise Failed(f"no {role or 'element'} {label!r}")
        return found

    def by_id(self, name):
        """Returns the first element with an alias and this id."""
        found = next((element for element in self.all() if element.id == name), None)
        if found is None:
            raise Failed(f"no element with the id {name!r}")
        return found

    def after(self, label):
        """Returns the elements after the last one with `label`."""
        places = [index for index, element in enumerate(self.elements) if element.label == label]
        if not places:
            raise Failed(f"no text {label!r}")
        return self.elements[places[-1] + 1 :]

    def fields(self):
        """Returns the fields, in the order of the outline."""
        return self.all("field")

    def boxes(self):
        """Returns the checkboxes and radio buttons, in the order of the outline."""
        return [element for element in self.all() if element.value in ("checked", "not checked")]

    def texts(self):
        """Returns the labels of all elements that have one, in the order of the outline."""
        return [element.label for element in self.elements if element.label]


class Node:
    """A row of the full screen: class, text (`raw` as it is, `text` with single spaces), id, flags and bounds."""

    def __init__(self, row):
        self.kind = row.get("class", "")
        self.raw = row.get("text") or row.get("desc") or ""
        self.text = squeeze(self.raw)
        self.id = row.get("resId", "")
        self.flags = row.get("flags", "").split(",")
        self.left, self.top, self.right, self.bottom = (int(part) for part in row["bounds"].split(","))
        self.x = (self.left + self.right) / 2
        self.y = (self.top + self.bottom) / 2
        self.width = self.right - self.left
        self.height = self.bottom - self.top

    def __repr__(self):
        return f"{self.kind} {self.text!r} #{self.id} {self.left},{self.top},{self.right},{self.bottom}"


class Browser:
    """A browser that is seen and operated only through afd; `page` is what was seen last."""

    def __init__(self, afd):
        self.afd = afd
        self.page = None

    @property
    def task(self):
        """All that is written on the page, which begins with the task."""
        return self.page.task

    def match(self, pattern):
        """Returns the groups of `pattern` in the text of the page."""
        found = re.search(pattern, self.task)
        if not found:
            raise Failed(f"the task is not like {pattern!r}: {self.task[:100]!r}")
        return [squeeze(group) if group else "" for group in found.groups()]

    def act(self, verb, then=False, **params):
        """Performs an action; with `then`, also reads the page that it leads to."""
        if then:
            params["then"] = "outline"
        result = self.afd.call("act." + verb, **params)
        if then:
            self.page = Page(result["look"]["observation"]["outline"])
        return result

    def open(self, url):
        """Opens a page and reads it."""
        self.act("launch", then=True, package=url)

    def look(self, wait_ms=0):
        """Reads the page; with `wait_ms`, waits at most that long until it has settled."""
        params = {"waitMs": wait_ms} if wait_ms else {}
        self.page = Page(self.afd.call("observe.page", format="outline", hints=False, **params)["outline"])
        return self.page

    def look_for(self, label, seconds=3):
        """Reads the page again and again until an element with `label` is there, and returns the element."""
        end = time.monotonic() + seconds
        while True:
            found = self.page.find(label)
            if found or time.monotonic() > end:
                return found or self.page.get(label)
            self.look()

    def nodes(self):
        """Returns the visible rows of the whole screen, with their bounds."""
        rows = self.afd.call("observe.page", full=True, hints=False, include=["screen"])["screen"]["rows"]
        return [node for node in (Node(row) for row in rows if "bounds" in row) if node.kind != "title"]

    def picture(self, width=160, height=212, max_dim=4000):
        """Returns the upper left part of a screenshot; a small `max_dim` shrinks the screenshot, which then takes less time."""
        answer = self.afd.call("observe.screenshot", format="png", maxDim=max_dim)
        scale = answer["scale"]
        picture = Picture(answer["artifact"]["savedFile"], round(width * scale), round(height * scale))
        picture.scale = scale
        return picture

    def tap(self, target, then=False, verb="tap", **params):
        """Taps an element of the last page, or the element with the label `target`."""
        value = target.alias if isinstance(target, Element) else target
        return self.act(verb, then, value=value, **params)

    def tap_at(self, x, y, then=False, verb="tap"):
        """Taps a point."""
        return self.act(verb, then, x=x, y=y)

    def fill(self, target, text, then=False):
        """Replaces the content of a field."""
        value = target.alias if isinstance(target, Element) else target
        return self.act("fill", then, value=value, text=text)

    def key(self, name, times=1):
        """Presses a key several times."""
        for _ in range(times):
            self.act("key", key=name)

    def wheel(self, x, y, distance):
        """Turns the wheel at a point, so that the content moves up by `distance` pixels."""
        self.act("swipe", x1=x, y1=y, x2=x, y2=y - distance)

    def reach(self, text, then=False):
        """Taps the element with exactly this text, also if it is out of sight."""
        self.tap(text, then, exactMatch=True)

    def submit(self, label="Submit"):
        """Taps the button that ends the task."""
        self.tap(label)
