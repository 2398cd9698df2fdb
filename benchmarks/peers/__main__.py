"""``python -m benchmarks.peers PEER SOURCE``: the test inputs of a peer, run through rankgauge, as a Markdown table."""

from __future__ import annotations

import argparse
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.peers.checks import Recording
from benchmarks.peers.report import CONVENTIONS, outcomes, table, unexplained
from benchmarks.tools import default_peers_python

ROOT = Path(__file__).parents[2]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a difference has no reason."""
    options = _parser().parse_args(arguments)
    source = options.source.resolve()
    if not (source / "tests").is_dir():
        print(f"{options.source} has no folder tests: expected a checkout of {options.peer}", file=sys.stderr)
        return 2
    recording = _record(options.peer, source, options.peers_python)
    if recording is None:
        print(f"nothing was recorded: does {options.peers_python} have {options.peer}?", file=sys.stderr)
        return 2
    rows = outcomes(options.peer, recording)
    asserted = sum(check.asserted for check in recording.checks)
    print(table(rows))
    print(
        f"\n{recording.version}{_commit(source)}: {len(recording.checks)} numbers on {len(recording.inputs)} inputs, "
        f"{asserted} of them asserted by its tests and {len(recording.checks) - asserted} computed while they ran; "
        f"{len(recording.names)} requests for measures by name."
    )
    if recording.without_number:
        print(f"{recording.without_number} numbers are not asserted, and their providers are missing or failed.")
    for outcome in unexplained(rows):
        print(f"unexplained: {outcome}", file=sys.stderr)
    return int(bool(unexplained(rows)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("peer", choices=sorted(CONVENTIONS))
    parser.add_argument("source", type=Path, metavar="SOURCE", help="a checkout, or an unpacked source distribution")
    parser.add_argument(
        "--peers-python",
        default=default_peers_python(),
        metavar="PATH",
        help="the Python that has the peer  [default: %(default)s]",
    )
    return parser


def _record(peer: str, source: Path, python: str) -> Recording | None:
    """Run the peer's tests in a process of their own, where assertions can be replaced."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "recording"
        command = [python, "-m", "benchmarks.peers.record", peer, str(source), str(output)]
        done = subprocess.run(command, cwd=ROOT, check=False)
        if done.returncode or not output.exists():
            return None
        recording: Recording = pickle.loads(output.read_bytes())
    return recording


def _commit(source: Path) -> str:
    command = ["git", "-C", str(source), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return f" (tests at {done.stdout.strip()})" if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main())
