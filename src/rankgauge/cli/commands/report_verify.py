"""``rankgauge report verify``."""

from __future__ import annotations

import time
from dataclasses import asdict

import click

from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.terminal import write, write_lines
from rankgauge.core.formatting import plural, text_of
from rankgauge.errors import printable
from rankgauge.io.text import json_text

EXIT_CHANGED = 1
MAX_LISTED = 20  # tolerated differences in a text


@documented(
    "verify",
    """
    # Check that a benchmark's numbers follow from its files
    rankgauge report verify rankgauge-benchmark
    # Print the result as JSON
    rankgauge report verify rankgauge-benchmark --format json
    """,
)
@click.argument("folder", type=click.Path(), metavar="DIR")
@click.option(
    "--format",
    "format",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="Print text or JSON.",
)
@click.option(
    "--index", type=click.Path(), metavar="DIR", help="Also check the indexes that `benchmark run --index DIR` kept."
)
def command(folder: str, format: str, index: str | None) -> int | None:
    """Recompute every number in the folder of a benchmark.

    Every report, page and table is generated again from the stored runs, judgments and queries, and compared. Scores
    must be the same to the last digit; intervals, p and other statistics may differ by a relative 1e-9, as SciPy's
    versions do, and each such difference is listed. The result proves that the numbers follow from the files in the
    folder, not who made them: whoever can run rankgauge can make a whole folder from other runs. Exit codes:
    0 unchanged, 1 changed, 2 not a benchmark.
    """
    start = time.monotonic()
    verification = verify_benchmark(folder, index=index)
    if format == "json":
        data = {
            "ok": verification.ok,
            "files": verification.files,
            "numbers": verification.recomputed,
            "tolerated": [asdict(difference) for difference in verification.tolerated],
            "changes": [asdict(change) for change in verification.changes],
        }
        write(json_text(data, indent=2) + "\n")
    elif verification.ok:
        seconds = time.monotonic() - start
        counts = f"{plural(verification.files, 'file')}, {plural(verification.recomputed, 'number')} recomputed"
        tolerated = f", {plural(len(verification.tolerated), 'difference')} tolerated" if verification.tolerated else ""
        write_lines(f"{printable(folder, None)}: ok, {counts}{tolerated}")
        for difference in verification.tolerated[:MAX_LISTED]:
            write_lines(f"  {printable(str(difference), None)}")
        if len(verification.tolerated) > MAX_LISTED:
            write_lines(f"  {len(verification.tolerated) - MAX_LISTED:,} more; --format json lists them all")
        print_message(f"in {text_of(seconds, 'seconds')}")
    else:
        for change in verification.changes:
            write_lines(printable(str(change), None))
    return None if verification.ok else EXIT_CHANGED
