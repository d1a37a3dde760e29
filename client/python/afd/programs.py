"""Runs the programs of the package. `afd` is the command line: the daemon is started by it."""

import os
import sys
from pathlib import Path


def _run(name: str) -> None:
    program = Path(__file__).parent / "bin" / name
    if not program.exists():
        sys.exit(f"afd: this package has no program {name}; it is the client alone")
    os.execv(program, [name, *sys.argv[1:]])


def afctl() -> None:
    _run("afctl")


def afmcp() -> None:
    _run("afmcp")


def afphone() -> None:
    _run("afphone")
