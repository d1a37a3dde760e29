"""What the programs share that drive the practice phone with clients of others: they run verbs, and look at what arrived.

Usage of the programs: python CLIENT_verbs.py SERIAL ADB_SERVER_PORT CONTROL_URL. They print a line for each verb; the exit code is the
number of failures."""

import json
import sys
import urllib.request

SERIAL, PORT, CONTROL = sys.argv[1], int(sys.argv[2]), sys.argv[3]
failures = 0


def inputs(kind):
    """Returns what of a kind reached the phone."""
    with urllib.request.urlopen(CONTROL + "/log", timeout=10) as answer:
        return [one for one in json.load(answer)["inputs"] if one["kind"] == kind]


def arrives(kind, act):
    """Acts, and returns the number of inputs of a kind that arrived."""
    before = len(inputs(kind))
    act()
    return len(inputs(kind)) - before


def verb(name, act, holds):
    """Runs a verb, and prints whether its result is as expected."""
    global failures
    try:
        result = act()
        good = holds(result)
    except BaseException as error:  # A client may raise anything, or exit.
        result, good = repr(error), False
    failures += not good
    print(f"{'ok' if good else 'FAILED'} {name}{'' if good else ': ' + str(result)[:300]}")


def one(count):
    """Returns whether exactly one input arrived."""
    return count == 1


def end():
    """Ends the program."""
    sys.exit(failures)
