"""The command line: see the package."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import scripts.fuzz_extension
from rankgauge.core import compiled
from scripts.fuzz_extension import delimited, dicts, ids, json_tables, lines, runs  # noqa: F401  # they declare the fuzzers
from scripts.fuzz_extension.probe import FUZZERS, Extension, run_case
from scripts.sanitized import run_sanitized


def main() -> int:
    """Run the cases; 1 if an entry point has no fuzzer, or never returned."""
    parser = argparse.ArgumentParser(
        description=scripts.fuzz_extension.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100, help="for each entry point")
    parser.add_argument("--seconds", type=float, help="go on for this long, whatever --cases says")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", choices=sorted(FUZZERS), action="append", help="only this entry point")
    parser.add_argument("--sanitize", action="store_true", help="compile with ASan and UBSan, and use that")
    parser.add_argument("--extension", type=Path, help="the extension to use instead of the installed one")
    options = parser.parse_args()
    if options.sanitize:
        arguments = [argument for argument in sys.argv[1:] if argument != "--sanitize"]
        return run_sanitized({"scripts.fuzz_extension": arguments})
    path = options.extension or getattr(compiled.scanner, "__file__", None)
    if path is None:
        print(f"the extension is not here: {compiled.describe()}")
        return 1
    extension = Extension(Path(path))
    names = options.only or extension.entry_points
    if missing := sorted(set(names) - set(FUZZERS)):
        print(f"no fuzzer for {', '.join(missing)}")
        return 1
    number, end = options.first, time.monotonic() + (options.seconds or 0)
    while time.monotonic() < end if options.seconds else number < options.first + options.cases:
        for name in names:
            try:
                run_case(extension, name, options.seed, number)
            except Exception:
                print(f"reproduce with --only {name} --seed {options.seed} --first {number} --cases 1", flush=True)
                raise
        number += 1
    for name in names:
        counts = extension.returned[name], extension.refused[name], extension.out_of_memory[name]
        print("{:24} {:9} returned {:9} refused {:9} out of memory".format(name, *counts))
    never = [name for name in names if not extension.returned[name]]
    if never:
        print(f"never returned: {', '.join(never)}")
        return 1
    print(f"{number - options.first} cases for each of {len(names)} entry points: no difference")
    return 0


if __name__ == "__main__":
    sys.exit(main())
