"""Runs the programs in the package. The command `afd` runs the command line, afctl, which starts the daemon."""

import os
import sys
from pathlib import Path


def _run(name: str) -> None:
    program = Path(__file__).parent / "bin" / name
    if not program.exists():
        sys.exit(f"afd: this package does not contain the program {name}, only the client library")
    os.execv(program, [name, *sys.argv[1:]])


def afctl() -> None:
    _run("afctl")


def afmcp() -> None:
    _run("afmcp")


def afphone() -> None:
    _run("afphone")
