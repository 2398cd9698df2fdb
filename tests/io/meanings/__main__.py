"""``python -m tests.io.meanings --sets 5000``: random rows through every way in, against a plain loop."""

from __future__ import annotations

import argparse
import sys
import time

from tests.io.meanings.checking import disagreements
from tests.io.meanings.plain_loop import draw


def main() -> int:
    """Check data sets, and say how many shapes they had."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--most", type=int, default=5, help="stop after this many differences")
    asked = parser.parse_args()
    shapes: set[tuple[object, ...]] = set()
    found: list[str] = []
    begin = time.perf_counter()
    for seed in range(asked.first, asked.first + asked.sets):
        data = draw(seed)
        shapes.add(data.shape)
        found += disagreements(data)
        if len(found) >= asked.most:
            break
    sys.stdout.write("\n".join([*found[: asked.most], ""]))
    seconds = time.perf_counter() - begin
    sys.stdout.write(f"{asked.sets} data sets of {len(shapes)} shapes, {len(found)} differences, {seconds:.0f} s\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
