"""Damages files and finds processes that are left: for tests and for evidence/durability.py."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

WAYS = ("flipped", "truncated", "zeroed", "swapped")


def damage(path: Path, how: str, rng: random.Random, others: Sequence[Path] = ()) -> bool:
    """Change a file, or exchange its content with another file; return whether it changed."""
    content = path.read_bytes()
    changed = bytearray(content)
    i, j = rng.randrange(len(changed)), rng.randrange(len(changed))
    if how == "flipped":
        changed[i] ^= 1 << rng.randrange(8)
    elif how == "truncated":
        del changed[i:]
    elif how == "zeroed":
        changed[i : i + 40] = bytes(len(changed[i : i + 40]))
    elif how == "swapped":
        changed[i], changed[j] = changed[j], changed[i]
    else:
        other = rng.choice([other for other in others if other != path])
        changed[:] = other.read_bytes()
        other.write_bytes(content)
    path.write_bytes(changed)
    return bytes(changed) != content


def alive(folder: Path) -> list[str]:
    """Return the processes whose command line names a folder: a run with its spec, and its workers."""
    listed = subprocess.run(["ps", "-ewwo", "stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if str(folder) in line and not line.startswith("Z")]


def descendants(process: int) -> list[tuple[int, str]]:
    """Return the id and command line of every process that a process started, directly or not."""
    listed = subprocess.run(["ps", "-ewwo", "pid=,ppid=,args="], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
    found, parents = [], {process}
    for pid, parent, args in sorted(rows, key=lambda row: int(row[0])):
        if int(parent) in parents:
            parents.add(int(pid))
            found.append((int(pid), args))
    return found
