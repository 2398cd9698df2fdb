"""``python -m benchmarks``: make the data, measure, print the table, keep it as JSON."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence

from benchmarks import data, jobs, tools
from benchmarks.measure import measure
from benchmarks.results import Result, about, result, save
from benchmarks.table import table

VERSIONS = """
import json, sys
from importlib.metadata import PackageNotFoundError, version
found = {}
for name in sys.argv[1:]:
    try: found[name] = version(name)
    except PackageNotFoundError: found[name] = None
print(json.dumps(found))
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; 1 where rankgauge failed or found other numbers than the peers, and never for a time."""
    asked = _options().parse_args(arguments)
    wanted = [*(asked.only or jobs.DEFAULT), *(["big"] if asked.big else [])]
    versions = _peer_versions(asked.peers_python)
    usable = []
    for name in asked.tools or tools.NAMES:
        if why := tools.missing(name, versions, asked.peers_python):
            _say(f"skipped: {why}")
        else:
            usable.append(name)
    # A cache of its own, so that what ranx costs the first time does not depend on what else was run on the machine.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(data.HERE / "numba-cache"), "NO_COLOR": "1"}
    results = []
    for job in jobs.listed(wanted, usable, asked.peers_python):
        for shape in job.data:
            _say(f"{shape.name}: {shape.rows:,} rows")
            data.make(shape)
        results.append(result(job, measure(job, environment, asked.repeat, _say)))
    if not results:
        _say("nothing to measure")
        return 1
    print(table(results))
    for line in _cold(results):
        print(line)
    print(f"\n{save(results, about(versions, asked.peers_python))}")
    rows = [row for one in results for row in one.rows if row.tool.startswith("rankgauge")]
    return int(any(row.warning for row in rows))


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="What rankgauge costs beside its peers.")
    parser.add_argument("--only", type=_among(jobs.NAMES), metavar="JOB,…", help=", ".join(jobs.NAMES))
    parser.add_argument(
        "--big", action="store_true", help="also 50 million rows: 2 GB of disk, 9 GB of memory for the peers, minutes"
    )
    parser.add_argument("--repeat", type=_positive, default=3, metavar="N", help="rounds that count; the best is shown")
    parser.add_argument("--tools", type=_among(tools.NAMES), metavar="TOOL,…", help=", ".join(tools.NAMES))
    parser.add_argument(
        "--peers-python",
        default=tools.default_peers_python(),
        metavar="PATH",
        help="the Python that has the peers  [default: %(default)s]",
    )
    return parser


def _among(known: Sequence[str]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        chosen = text.split(",")
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not among {', '.join(known)}")
        return chosen

    return names


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _peer_versions(python: str) -> dict[str, str | None]:
    command = [python, "-c", VERSIONS, *tools.PEERS.values()]
    try:
        found: dict[str, str | None] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    except (OSError, subprocess.CalledProcessError) as error:
        _say(f"{python} does not run: {error}")
        return dict.fromkeys(tools.PEERS.values())
    return found


def _cold(results: Sequence[Result]) -> list[str]:
    """Where the first round cost far more than the best: what a compiler took that is not in the table."""
    return [
        f"{row.tool} on {one.job}: {row.first:.1f} s CPU in the round before, with a cold cache"
        for one in results
        for row in one.rows
        if row.first and row.cpu and row.first > 2 * row.cpu and row.first - row.cpu > 1
    ]


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
