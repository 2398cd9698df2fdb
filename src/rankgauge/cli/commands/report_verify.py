"""``rankgauge report verify``."""

from __future__ import annotations

import json
import time

import click

from rankgauge.benchmark.verify import verify_benchmark
from rankgauge.cli.options.terminal import write
from rankgauge.errors import printable

FAILED = 1


@click.command("verify")
@click.argument("folder", type=click.Path(), metavar="DIR")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(folder: str, form: str) -> int | None:
    """Recompute every number in the folder of a benchmark.

    Scores, intervals and p come from the stored runs once more; every other byte is checked by its digest. It finds
    accidents, not forgery: who can change a file can change the manifest as well.
    """
    begun = time.monotonic()
    found = verify_benchmark(folder)
    if form == "json":
        changes = [{"file": one.file, "field": one.field, "message": one.message} for one in found.changes]
        data = {"ok": found.ok, "files": found.files, "numbers": found.recomputed, "changes": changes}
        write(json.dumps(data, indent=2, ensure_ascii=False) + "\n")
    elif found.ok:
        seconds = time.monotonic() - begun
        write(f"{printable(folder, None)}: ok, {found.files} files, {found.recomputed:,} numbers computed again\n")
        click.echo(f"in {seconds:.1f} s", err=True)
    else:
        for one in found.changes:
            write(f"{printable(str(one), None)}\n")
    return None if found.ok else FAILED
