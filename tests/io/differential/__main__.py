"""Any number of data sets: see the package."""

from __future__ import annotations

import argparse
import sys
import time

from tests.io.differential.checking import disagreements


def main() -> int:
    """Check data sets until the first disagreements, and say how many agreed."""
    parser = argparse.ArgumentParser(prog="python -m tests.io.differential", description=__doc__)
    parser.add_argument("--sets", type=int, default=100, help="how many data sets")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--only", help="one way in")
    parser.add_argument("--most", type=int, default=5, help="stop after this many disagreements")
    options = parser.parse_args()
    begin, count, agreed = time.process_time(), 0, 0
    for seed in range(options.first, options.first + options.sets):
        found = list(disagreements(seed, options.only))
        sys.stdout.write("".join(f"{text}\n" for text in found))
        count, agreed = count + len(found), agreed + (not found)
        if count >= options.most:
            break
    sys.stdout.write(f"{agreed} of {options.sets} data sets agree ({time.process_time() - begin:.0f} s of CPU)\n")
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
