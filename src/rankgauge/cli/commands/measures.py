"""``rankgauge measures``."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.printing import write, write_lines
from rankgauge.measures.descriptions import describe, listing


@documented(
    "measures",
    """
    # List the measures
    rankgauge measures
    # Explain one
    rankgauge measures nDCG@10
    """,
)
@click.argument("name", required=False)
@click.option(
    "--kpi",
    metavar="NAME|FILE",
    help="Print target bands as YAML instead: those of a preset (trec-2025), to edit and to use with --set kpi=FILE.",
)
def measures_command(name: str | None, kpi: str | None) -> None:
    """List the measures, or explain one.

    NAME is a measure in any notation: nDCG, map, hit@5, 'AP(rel=2)@100'.
    """
    if kpi is not None:
        from rankgauge.config.band_sources import load_bands

        write(load_bands(kpi).to_yaml())
        return
    write_lines(listing() if name is None else describe(name))
