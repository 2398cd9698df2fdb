"""``rankgauge measures``."""

from __future__ import annotations

import click

from rankgauge import measures as families
from rankgauge.cli.options import write
from rankgauge.measures.describe import describe, listing

__all__ = ["command", "families"]


@click.command("measures")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the measures, or explain one.

    NAME is a measure in any notation: nDCG, map, hit@5, 'AP(rel=2)@100'.
    """
    write(listing() if name is None else describe(name))
