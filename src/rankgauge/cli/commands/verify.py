"""``rankgauge benchmark verify``."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import click

from rankgauge.benchmark.folder import PAGE
from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.outputs import format_option
from rankgauge.cli.printing import print_message, write, write_lines
from rankgauge.core.formatting import plural, text_of
from rankgauge.core.verdicts import exit_code
from rankgauge.errors import printable
from rankgauge.io.atomic_files import check_writable, write_atomically
from rankgauge.io.formats.json_text import json_text

MAX_LISTED = 20  # tolerated differences in a text


@documented(
    "verify",
    """
    # Check that a benchmark's numbers follow from its files
    rankgauge benchmark verify rankgauge-benchmark
    # Print the result as JSON
    rankgauge benchmark verify rankgauge-benchmark --format json
    # Write its HTML report again
    rankgauge benchmark verify rankgauge-benchmark --html report.html
    """,
)
@click.argument("folder", type=click.Path(), metavar="DIR")
@format_option("table", "json")
@click.option(
    "--index", type=click.Path(), metavar="DIR", help="Also check the indexes that `benchmark run --index DIR` kept."
)
@click.option(
    "--html",
    "page",
    type=click.Path(),
    metavar="FILE",
    help="Also write the recomputed HTML report to FILE, if nothing has changed.",
)
def benchmark_verify_command(folder: str, format: str, index: str | None, page: str | None) -> int | None:
    """Recompute every number in the folder of a benchmark.

    Every report, page and table is generated again from the stored runs, judgments and queries, and compared. Scores
    must be the same to the last digit; intervals, p and other statistics may differ by a relative 1e-9, as SciPy's
    versions do, and each such difference is listed. The result proves that the numbers follow from the files in the
    folder, not who made them: whoever can run rankgauge can make a whole folder from other runs. Exit codes:
    0 unchanged, 1 changed, 2 not a benchmark.
    """
    start = time.monotonic()
    inputs = [] if page is None else [file for file in Path(folder).rglob("*") if file != Path(folder, PAGE)]
    if page is not None:
        check_writable(page, inputs=inputs)
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
    if page is not None and verification.ok:
        with write_atomically(page, inputs=inputs) as file:
            file.write(verification.page)
        print_message(f"wrote {printable(page, None)}")
    elif page is not None:
        print_message(f"did not write {printable(page, None)}: the folder has changed")
    return exit_code("pass" if verification.ok else "fail")
