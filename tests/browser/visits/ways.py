"""Ways to reach goals: the short way out of a trail, its text as a note, and the agent that follows ways."""

import re

from agent import Agent, Done
from forms import values, fillable
from session import OutOfCalls
from words import Profile, names, words


def compact(trail):
    """Returns the steps of a trail that are needed: without detours, and with the earliest page that shows the next label."""
    steps = [step for step in trail if not step.get("undone")]
    index = len(steps) - 1
    while index > 0:
        label = steps[index]["label"]
        last = max((at for at in range(index) if steps[at]["effect"]), default=-1)
        first = next((at for at in range(last + 1, index) if label in steps[at]["visible"]), index)
        del steps[first:index]
        index = first - 1
    return [(step["verb"], step["label"], step["value"]) for step in steps]


def note_text(goal, steps):
    """Returns the text of a note about a way."""
    parts = [f'{verb} "{label}"' + (f" with {value}" if verb == "fill" else "") for verb, label, value in steps]
    return f"Goal: {goal}\nWay: " + "; ".join(parts)


def parse_note(text):
    """Returns the steps that a note names."""
    way = text.partition("\nWay: ")[2]
    found = re.findall(r'(tap|fill|key) "(.*?)"(?: with ([^;]+))?(?:; |$)', way)
    return [(verb, label, value or None) for verb, label, value in found]


class Notes:
    """Notes in the memory of afd."""

    def __init__(self, meter):
        self.meter = meter

    def find(self, goal):
        """Returns the steps of the best note about a goal, or an empty list."""
        result = self.meter.call("memory.search", query=goal, topic="way/", limit=2)
        notes = (result or {}).get("notes", [])
        same = [note for note in notes if note["content"].startswith(f"Goal: {goal}\n")]
        if same:
            return parse_note(max(same, key=lambda note: note["createdAt"])["content"])
        return []

    def save(self, goal, steps):
        """Saves a note about a way."""
        topic = "way/" + "-".join(words(goal)[:4])
        self.meter.call("memory.save", topic=topic, app="chromium", content=note_text(goal, steps))


class OwnNotes:
    """Notes that the agent keeps itself, without afd; they cost no calls."""

    def __init__(self):
        self.known = {}

    def find(self, goal):
        """Returns the steps for a goal, or an empty list."""
        return self.known.get(goal, [])

    def save(self, goal, steps):
        """Keeps the steps for a goal."""
        self.known[goal] = steps


class Follower(Agent):
    """An agent that first follows what it knows, and explores where that ends."""

    def __init__(self, meter, task, options, notes=None):
        super().__init__(meter, task, options)
        self.notes = notes
        self.way = []

    def recall(self):
        """Looks for a note, or for a path to what the goal names."""
        if self.notes is not None:
            self.way = self.notes.find(self.task["goal"])

    def path(self):
        """Asks for a path to the first name in the goal that the page does not show."""
        named = [name for name in names(self.task["goal"]) if not self.view.find(name)]
        if not self.options.get("path") or not named:
            return
        result = self.meter.call("visual.path", to=named[0])
        steps = ((result or {}).get("route") or {}).get("steps", [])
        self.way = [("tap", step["target"]["label"], None) for step in steps if step.get("target", {}).get("label")]

    def follow(self):
        """Follows the way step by step; returns False when its next steps are not on the page."""
        known = values(self.task)
        while self.way:
            if self.way[0][0] == "key":
                self.see(self.meter.call("act.key", key=self.way.pop(0)[1], then="diff"))
                continue
            index = next((at for at, step in enumerate(self.way) if self.view.find(step[1])), None)
            if index is None or any(step[0] != "tap" for step in self.way[:index]):
                return False
            verb, label, value = self.way[index]
            items = self.view.find(label)
            if verb == "tap" and self.options.get("path") and fillable(self.task, self.view) and self.fill_fields():
                continue
            del self.way[: index + 1]
            self.perform(verb, items[0], value, known)
        return True

    def perform(self, verb, item, value, known):
        """Performs one step of a way."""
        if verb == "fill":
            self.tried.add(("fill", self.view.key, item.name))
            self.act("fill", item, True, known.get(value, value), value)
            self.pending = item.place
        else:
            self.tried.add(("tap", self.view.key, item.name))
            self.act("tap", item, item.choice or item.value in ("checked", "not checked") or self.pending >= 0)

    def run(self):
        """Performs the task; returns whether it is done. Afterwards, saves the way if it is new."""
        before = []
        try:
            self.recall()
            before = list(self.way)
            self.start()
            if not self.way and self.options.get("path"):
                self.path()
            while True:
                if self.way and self.follow():
                    continue
                if self.way:
                    self.replace()
                else:
                    self.step()
        except Done:
            self.keep(before)
            return True
        except OutOfCalls:
            return False

    def replace(self):
        """Takes a step where the way is not on the page: the element that is most like the next step, else one for the goal."""
        wanted = Profile(self.way[0][1])
        items = [entry[1] for entry in self.candidates()]
        best = max(items, key=lambda item: wanted.score(item.name), default=None)
        if self.way[0][0] == "tap" and best is not None and wanted.score(best.name) >= 0.6:
            del self.way[:1]
            self.tap(best)
        else:
            self.step()

    def keep(self, before):
        """Saves the way that was found, unless it is the one that was known."""
        steps = compact(self.trail)
        if self.notes is not None and steps != before:
            try:
                self.notes.save(self.task["goal"], steps)
            except OutOfCalls:
                pass
