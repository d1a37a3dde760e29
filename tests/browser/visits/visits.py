"""Measures what the memory of afd saves an agent that visits a practice web site again and again.

Usage: python visits.py [-v] [--tasks even|odd|all|ID,...] [--seeds 0,1,2] [--variants a,b,own] [--visits 1,2,3,4,5] [--trace FILE].
AFD_BIN_DIR is the folder with the programs `afd` and `afphone`."""

import argparse
import json
import os
import random
import signal
import sys
import time

from session import Meter, Site
from ways import Follower, Notes, OwnNotes

TASKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tasks.json")
NAMES = {"a": "outcomes only", "b": "outcomes and notes", "own": "own notes, no memory"}
LABELS = {1: "first", 2: "second", 3: "third", 4: "fourth, redesigned", 5: "redesigned, empty memory"}


def load(which):
    """Returns the tasks without their steps, which the agent must not know; each with its place in the file."""
    with open(TASKS, encoding="utf-8") as file:
        tasks = json.load(file)
    for place, task in enumerate(tasks):
        task["place"] = place
        for key in ("steps", "steps2"):
            task.pop(key, None)
    if which in ("even", "odd"):
        return [task for task in tasks if task["place"] % 2 == (which == "odd")]
    return tasks if which == "all" else [task for task in tasks if task["id"] in which.split(",")]


def options(variant, visit, path):
    """Returns what the agent uses in a visit."""
    return {"hints": variant != "own", "path": path and variant == "a" and visit in (2, 3, 4)}


def one_task(meter, task, variant, visit, notes, path):
    """Performs one task; returns a row of the result."""
    meter.fresh()
    meter.log("TASK", {"id": task["id"], "variant": variant, "visit": visit}, task["goal"])
    agent = Follower(meter, task, options(variant, visit, path), notes)
    start = time.monotonic()
    solved = agent.run()
    meter.log("END", {"id": task["id"], "solved": solved, "calls": meter.spent.calls}, "")
    spent = meter.spent
    return {
        "id": task["id"], "place": task["place"], "variant": variant, "visit": visit, "solved": solved, "calls": spent.calls,
        "chars": spent.chars, "shown": spent.shown, "wrong": spent.wrong, "failed": spent.failed, "kinds": spent.kinds,
        "seconds": round(time.monotonic() - start, 1),
    }


def one_variant(site, tasks, variant, seed, arguments, report):
    """Performs all visits of a variant with the orders of tasks of a seed."""
    order = random.Random(seed)
    own = OwnNotes()
    meter = None
    try:
        for visit in arguments.visits:
            site.design(2 if visit >= 4 else 1)
            if meter is None or visit == 5 or variant == "own":
                if meter is not None:
                    meter.stop()
                    meter = None
                meter = Meter(site, arguments.trace, variant != "own")
                own = OwnNotes() if visit == 5 else own
            notes = {"a": None, "b": Notes(meter), "own": own}[variant]
            for task in order.sample(tasks, len(tasks)):
                row = one_task(meter, task, variant, visit, notes, arguments.path)
                row["seed"] = seed
                report(row)
    finally:
        if meter is not None:
            meter.stop()


def totals(rows):
    """Returns solved, number of tasks, calls, characters, shown characters, wrong and failed of some rows."""
    return [sum(row["solved"] for row in rows), len(rows)] + [sum(row[key] for row in rows) for key in ("calls", "chars", "shown", "wrong", "failed")]


def table(rows, title):
    """Prints one table: a line per variant and visit."""
    print(f"\n{title}\n{'variant':<22}{'visit':<26}{'solved':>8}{'calls':>7}{'ratio':>7}{'vs own 1st':>11}{'kB json':>9}{'kB shown':>9}{'tokens':>8}{'wrong':>6}{'errors':>7}")
    seeds = max(1, len({row["seed"] for row in rows}))
    base = totals([row for row in rows if row["variant"] == "own" and row["visit"] == 1])[2]
    for variant in NAMES:
        first = totals([row for row in rows if row["variant"] == variant and row["visit"] == 1])[2]
        for visit in sorted({row["visit"] for row in rows if row["variant"] == variant}):
            solved, count, calls, chars, shown, wrong, failed = totals([row for row in rows if row["variant"] == variant and row["visit"] == visit])
            ratio = f"{calls / first:.2f}" if first else "-"
            other = f"{calls / base:.2f}" if base else "-"
            print(
                f"{NAMES[variant]:<22}{LABELS[visit]:<26}{f'{solved}/{count}':>8}{calls / seeds:>7.0f}{ratio:>7}{other:>11}"
                f"{chars / seeds / 1000:>9.0f}{shown / seeds / 1000:>9.0f}{shown / seeds / 4:>8.0f}{wrong:>6}{failed:>7}"
            )


def per_task(rows):
    """Prints the calls of each task, by variant and visit; `!` marks a task that was not solved."""
    columns = sorted({(row["variant"], row["visit"]) for row in rows}, key=lambda entry: (list(NAMES).index(entry[0]), entry[1]))
    print("\ntask          " + "".join(f"{variant + str(visit):>10}" for variant, visit in columns))
    for name in dict.fromkeys(row["id"] for row in sorted(rows, key=lambda row: row["place"])):
        cells = []
        for column in columns:
            found = [row for row in rows if row["id"] == name and (row["variant"], row["visit"]) == column]
            cells.append(",".join(f"{row['calls']}{'' if row['solved'] else '!'}" for row in found))
        print(f"{name:<14}" + "".join(f"{cell:>10}" for cell in cells))


def parse():
    """Returns the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("-v", action="store_true", help="also print the calls of each task")
    parser.add_argument("--tasks", default="all")
    parser.add_argument("--seeds", type=numbers, default=[0, 1, 2])
    parser.add_argument("--variants", type=lambda text: text.split(","), default=list(NAMES))
    parser.add_argument("--visits", type=numbers, default=[1, 2, 3, 4, 5])
    parser.add_argument("--path", action="store_true", help="outcomes only: ask visual.path for what the goal names")
    parser.add_argument("--trace", type=argparse.FileType("w"), help="file for all calls and answers")
    parser.add_argument("--rows", type=argparse.FileType("a"), help="file for the results as JSON lines")
    return parser.parse_args()


def show(rows, verbose):
    """Prints all tables."""
    table(rows, "All tasks (calls and sizes per seed)")
    for rest, name in ((0, "Even tasks (tuned on)"), (1, "Odd tasks (kept aside)")):
        some = [row for row in rows if row["place"] % 2 == rest]
        if some and len(some) < len(rows):
            table(some, name)
    if verbose:
        per_task(rows)


def main():
    """Runs the measurement and prints the tables."""
    arguments = parse()
    rows = []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))

    def report(row):
        """Keeps a row of the result and prints the progress."""
        rows.append(row)
        print(f"{row['variant']} seed {row['seed']} visit {row['visit']} {row['id']}: {'ok' if row['solved'] else 'NOT SOLVED'} {row['calls']} calls {row['seconds']} s", file=sys.stderr)
        if arguments.rows:
            arguments.rows.write(json.dumps(row) + "\n")
            arguments.rows.flush()

    site = Site()
    try:
        for seed in arguments.seeds:
            for variant in arguments.variants:
                one_variant(site, load(arguments.tasks), variant, seed, arguments, report)
    finally:
        site.stop()
    show(rows, arguments.v)


if __name__ == "__main__":
    main()
