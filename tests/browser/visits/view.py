"""What the agent knows of the screen: the outline of the page, kept up to date with the differences that afd returns."""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from page import Element, QUOTED, squeeze, unquote  # noqa: E402

HINT = re.compile(r' -> (?:dialog )?(' + QUOTED + r") (\d+)/(\d+)")
NOTHING = re.compile(r" does nothing (\d+)/(\d+)")
BOTTOM = {"imprint", "terms", "privacy policy"}
STATES = re.compile(r",? (?:collapsed|expanded|required|invalid|selected|on|off|disabled)\b")


class Item(Element):
    """An element with the hint that afd put behind it."""

    def __init__(self, line):
        super().__init__(line)
        hint = HINT.search(line)
        self.leads = unquote(hint[1]) if hint else ""
        self.useless = bool(NOTHING.search(line))
        self.place = 0

    @property
    def name(self):
        """Returns the label without the words for states, such as `required`."""
        return STATES.sub("", self.label)

    @property
    def choice(self):
        """Returns whether the element is a list of choices that is closed."""
        return "collapsed" in self.label and self.role == "field"


class View:
    """The elements of the page that the agent sees."""

    def __init__(self):
        self.title = ""
        self.key = ""
        self.items = []
        self.fresh = []
        self.dialog = ""

    def apply(self, observation):
        """Takes the outline of an observation, which is complete or consists of changes."""
        lines = observation["outline"].split("\n")
        title = re.match(r"page (" + QUOTED + ")", lines[0])
        self.title = unquote(title[1]) if title else lines[0]
        key = observation.get("topActivity", "").split("//")[-1].partition("/")[2] + " " + self.title
        self.dialog = observation.get("dialog") or ""
        same, self.key = key == self.key, key
        if "since" in observation:
            self.merge(lines[1:])
        else:
            old = {item.line for item in self.items} if same else set()
            self.items = [Item(line) for line in lines[1:] if line and not line.startswith("known:")]
            self.fresh = [item for item in self.items if item.line not in old]
        for place, item in enumerate(self.items):
            item.place = place

    def merge(self, lines):
        """Applies the lines of a difference: `+`, `-` and `~`."""
        self.fresh = []
        rests = [(line.lstrip()[:1], line.lstrip()[2:]) for line in lines]
        gone = set().union(*(self.gone(rest) for sign, rest in rests if sign == "-")) if rests else set()
        for sign, rest in rests:
            if sign in ("+", "~"):
                item = Item(rest)
                self.put(item, gone)
                self.fresh.append(item)
        self.items = [item for item in self.items if not item.alias or item.alias not in gone]
        for sign, rest in rests:
            if sign == "-" and not self.gone(rest):
                same = [item for item in self.items if item.line == rest.strip()]
                if same:
                    self.items.remove(same[0])

    @staticmethod
    def gone(rest):
        """Returns the aliases in a line about removed elements, such as `@n3 @n5-@n8`."""
        bare = re.sub(QUOTED, "", rest)
        found = set(re.findall(r"@\w+", bare))
        for first, last in re.findall(r"@n(\d+)-@n(\d+)", bare):
            found |= {f"@n{number}" for number in range(int(first), int(last) + 1)}
        return found

    def put(self, item, gone):
        """Replaces the element with the alias of `item`, or one that is gone and has the same name, or adds it at the end."""
        for index, old in enumerate(self.items):
            again = old.alias in gone and (old.role, old.name) == (item.role, item.name)
            if item.alias and (old.alias == item.alias or again):
                self.items[index] = item
                return
        self.items.append(item)

    def text(self):
        """Returns everything that is written on the page, as one line."""
        parts = [self.title, self.dialog] + [part for item in self.items for part in (item.label, item.value) if part]
        return squeeze(" ".join(parts))

    def targets(self):
        """Returns the elements that can be used."""
        return [item for item in self.items if item.alias and not item.disabled and item.label]

    def context(self, item):
        """Returns the texts directly after an element, such as the price or the date below a name."""
        texts = []
        for other in self.items[item.place + 1 : item.place + 3]:
            if other.alias or other.role:
                break
            if not other.label.startswith("/"):
                texts.append(other.label)
        return " ".join(texts)

    def footer(self):
        """Returns the place where the links at the bottom of the page begin, which every page has."""
        last = next((item.place for item in reversed(self.items) if item.name.lower() in BOTTOM), None)
        if last is None:
            return len(self.items)
        headings = 0
        while last > 0 and (self.items[last - 1].role in ("button", "heading") or not self.items[last - 1].label):
            headings += self.items[last - 1].role == "heading"
            last -= 1
            if headings == 4:
                break
        return last

    def find(self, label):
        """Returns the elements whose label is `label`, with or without the words for states."""
        wanted = squeeze(label).lower()
        exact = [item for item in self.targets() if item.label.lower() == wanted]
        return exact or [item for item in self.targets() if item.name.lower() == STATES.sub("", wanted)]
