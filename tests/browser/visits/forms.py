"""Which fields of a page the agent fills, with what, and which button sends a form."""

import re

from words import Profile, names, quoted, stem, words

FIELD_WORDS = {
    "user": {"user", "login", "username"},
    "password": {"password"},
    "email": {"email", "mail"},
    "message": {"message", "question", "text", "comment"},
    "code": {"code", "voucher", "coupon"},
}
SUBMIT = set("""sign log save send apply add submit ok continue confirm use set redeem search find change update filter create check""".split())
SEARCH = {"search", "find", "go"}
DANGER = set("delete remove pay logout unsubscribe cancel clear reset discard reject".split())
PLACES = set("norway taiwan bergen zurich osterreich austria switzerland august june swiss".split())
START = {"from", "start", "begin", "after"}
END = {"to", "until", "end", "till"}


def raw_words(text):
    """Returns the words of a text in small letters, none left out."""
    return re.findall(r"[a-z]+", text.lower().replace("e-mail", "email"))


def dangerous(label):
    """Returns whether tapping the element may do harm, or signs out."""
    found = raw_words(label)
    both = " ".join(found)
    return both == "show password" or bool(DANGER & set(found)) or "sign out" in both or "log out" in both or "place order" in both or "order now" in both


def is_field(item):
    """Returns whether the element is a field for typing."""
    return item.role == "field" and not item.choice and "expanded" not in item.label and not item.disabled


def wanted_value(task, item):
    """Returns the name of the value that belongs into a field and the value, or None."""
    label = set(raw_words(item.name))
    goal = task["goal"]
    for key, value in (task.get("inputs") or {}).items():
        if FIELD_WORDS[key] & label:
            return key, value
    times = re.findall(r"\b\d{1,2}:\d{2}\b", goal)
    if len(times) == 2 and label & START:
        return "first time", times[0]
    if len(times) == 2 and label & END:
        return "second time", times[1]
    number = re.search(r"\b\d{3} \d{4}\b", goal)
    if number and label & {"phone", "telephone", "mobile"}:
        return "number", number[0]
    if quoted(goal) and label & {"name", "title", "task", "new", "add", "card"}:
        return "quoted text", quoted(goal)
    if label & {"search", "find"} and names(goal):
        return "name", names(goal)[0]
    return None


def values(task):
    """Returns all values of a task by name, to resolve the values that a note names."""
    goal = task["goal"]
    found = dict(task.get("inputs") or {})
    times = re.findall(r"\b\d{1,2}:\d{2}\b", goal)
    if len(times) == 2:
        found["first time"], found["second time"] = times
    number = re.search(r"\b\d{3} \d{4}\b", goal)
    if number:
        found["number"] = number[0]
    if quoted(goal):
        found["quoted text"] = quoted(goal)
    if names(goal):
        found["name"] = names(goal)[0]
    return found


def fillable(task, view):
    """Returns the fields to fill now, with the values: those of the inputs only if the form has fields for all of a kind."""
    found = [(item, *value) for item in view.targets() if is_field(item) and (value := wanted_value(task, item))]
    keys = {key for _, key, _ in found}
    if "user" in keys or "password" in keys:
        keys -= set() if {"user", "password"} <= keys else {"user", "password"}
    if "message" in (task.get("inputs") or {}) and not {"email", "message"} <= keys:
        keys -= {"email", "message"}
    return [(item, key, value) for item, key, value in found if key in keys and not same_value(item, key, value)]


def same_value(item, key, value):
    """Returns whether a field already shows the value."""
    return item.value == value or (key == "password" and bool(item.value) and set(item.value) <= {"•"})


def submits(view, place, key):
    """Returns the button that sends a form whose last field is at `place`, if there is one nearby; `key` names the value of the field."""
    verbs = SEARCH if key == "name" else SUBMIT if key == "quoted text" else SUBMIT - {"add"}
    buttons = [item for item in view.targets() if item.role == "button" and not dangerous(item.name)]
    good = [item for item in buttons if verbs & set(raw_words(item.name)[:1])]
    return [item for item in good if place < item.place <= place + 14][:1]


def choice_guesses(goal):
    """Returns choices that a goal may mean, best guess first; the outline does not show the choices of a closed list."""
    found = names(goal)
    for name in list(found):
        after = re.search(re.escape(name) + r" ([a-z]+)", goal)
        if after:
            found.append(f"{name} {stem(after[1])}")
    return sorted(dict.fromkeys(found), key=len, reverse=True)[:2]


def goal_profile(task):
    """Returns the weighted words of the goal of a task."""
    inputs = task.get("inputs") or {}
    profile = Profile(task["goal"] + " " + inputs.get("message", ""), inputs)
    if "code" in inputs:
        profile.add("add basket apply", 0.6)
    if names(task["goal"]) and not any(set(words(name)) & PLACES for name in names(task["goal"])):
        profile.add("shop", 0.6)
    if "?" in task["goal"]:
        profile.add("help", 0.6)
    return profile


def unchosen(item):
    """Returns whether a closed list of choices shows that nothing has been chosen."""
    return bool({"choose", "select"} & set(words(item.value))) or "invalid" in item.label
