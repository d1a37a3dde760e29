"""The judge: it says of each tap whether the real clicks hit what the agent named.

A click is right if the element that got it had the named label (and, for equal labels, stood in the named row) while afd performed the
tap. It is `relabelled` if the element had that label only when the agent looked: it is the same element, but the page had renamed it
before the tap. A click that no known element got hit nothing. All other clicks are wrong."""

import dataclasses
import re

SLACK = 3


def plain(text):
    """Returns a text without differences that an outline may have: case, punctuation and spaces."""
    return re.sub(r"\W+", " ", text).strip().lower()


@dataclasses.dataclass
class Tap:
    """What the agent saw, what it named, what afd answered and what the page reported; times are Unix milliseconds."""

    number: int
    address: str
    way: str
    value: str
    label: str
    context: str = ""
    kind: str = ""
    line: str = ""
    look_start: float = 0
    look_end: float = 0
    start: float = 0
    end: float = 0
    code: str = ""
    answer: dict = dataclasses.field(default_factory=dict)
    records: list = dataclasses.field(default_factory=list)
    outline: str = ""
    page: str = ""
    notes: list = dataclasses.field(default_factory=list)


def had(thing, label, start, end):
    """Returns whether a thing had a label at any time between two moments."""
    history = thing["history"]
    ends = [entry[0] for entry in history[1:]] + [float("inf")]
    spans = ((since, until, text) for (since, text), until in zip(history, ends))
    return any(since <= end + SLACK and until >= start - SLACK and plain(text) == plain(label) for since, until, text in spans)


def judge_record(tap, record):
    """Returns `right`, `relabelled`, `nothing` or `wrong` for one press or click."""
    thing = record["thing"]
    if thing is None:
        return "nothing"
    if tap.context and plain(thing["context"]) != plain(tap.context):
        return "wrong"
    if had(thing, tap.label, tap.start, record["time"]):
        return "right"
    if had(thing, tap.label, tap.look_start, tap.look_end):
        return "relabelled"
    return "wrong"


def verdicts(tap, kind):
    """Returns the verdicts for all records of a tap that are of a kind."""
    return {judge_record(tap, record) for record in tap.records if record["type"] == kind}


def judge(tap):
    """Returns the verdict for a tap."""
    found = verdicts(tap, "click")
    for verdict in ("wrong", "right", "relabelled"):
        if verdict in found:
            return verdict + (" although refused" if tap.code and verdict != "wrong" else "")
    return "refused " + tap.code if tap.code else "nothing"


def wrong_press(tap):
    """Returns whether a tap pressed the button of the mouse on a wrong element, without a click on one."""
    return "wrong" in verdicts(tap, "press") and "wrong" not in verdicts(tap, "click")


def presses(tap):
    """Returns how often the button of the mouse was pressed during a tap."""
    return sum(record["type"] == "press" for record in tap.records)


def fault_class(tap):
    """Returns in a few words how a wrong click is wrong."""
    record = next(record for record in tap.records if record["type"] == "click" and judge_record(tap, record) == "wrong")
    thing, named = record["thing"], plain(tap.label)
    label = plain(thing["history"][-1][1])
    if not label:
        reason = "a layer without a label"
    elif label == named:
        reason = "the same label in another row"
    elif tap.way != "alias" and named in label:
        reason = "a longer label that contains the named one"
    else:
        reason = "another element"
    return f"kind {thing['kind']}: {reason}"


def describe(tap):
    """Returns all about a tap that may explain a click, with times relative to its start."""
    lines = [
        f"click {tap.number}: {tap.address}",
        f"  looked {tap.look_start - tap.start:.0f} to {tap.look_end - tap.start:.0f} ms; saw {tap.line!r}",
        f"  named by {tap.way}: {tap.value!r}, label {tap.label!r}" + (f" in the row {tap.context!r}" if tap.context else ""),
        f"  afd answered after {tap.end - tap.start:.0f} ms: " + (tap.code or "done") + f" {tap.answer}",
    ]
    for record in tap.records:
        thing = record["thing"]
        what = "nothing known" if thing is None else f"{thing['kind']} {thing['token']} {thing['history'][-1][1]!r} {thing['context']!r}"
        lines.append(
            f"  {record['type']} at {record['time'] - tap.start:+.0f} ms on {what} at {record['x']:.0f},{record['y']:.0f}"
            f" <{record['tag']}> in {record['frame']}: {judge_record(tap, record)}"
        )
        if thing is not None and len(thing["history"]) > 1:
            lines.append("    its labels: " + ", ".join(f"{when - tap.start:+.0f} {text!r}" for when, text in thing["history"][-4:]))
    lines += [f"    {when - tap.start:+.0f} ms {what}" for when, what in tap.notes]
    return "\n".join(lines)
