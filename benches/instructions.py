#!/usr/bin/env python3
"""Counts the instructions of one piece of work each, under callgrind, so that other load on the machine does not matter.

    cargo bench --bench instructions --no-run
    python3 benches/instructions.py [PART OF A NAME…]

Each work is done a few times and some more times; the difference is what it takes. Needs valgrind.
"""

import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))
FEW, SOME = 4, 12


def main():
    programs = [path for path in glob.glob(f"{TARGET}/release/deps/instructions-*") if not path.endswith(".d")]
    if not programs:
        sys.exit("cargo bench --bench instructions --no-run")
    program = max(programs, key=os.path.getmtime)
    names = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    for name in names:
        if not sys.argv[1:] or any(part in name for part in sys.argv[1:]):
            few, some = (count(program, name, times) for times in (FEW, SOME))
            print(f"{name:40} {(some - few) // (SOME - FEW):>12,}", flush=True)


def count(program, name, times):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, name, str(times)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


if __name__ == "__main__":
    main()
