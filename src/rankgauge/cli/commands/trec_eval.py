"""``rankgauge trec_eval``."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence

import click

from rankgauge._version import __version__
from rankgauge.adapters.trec_eval.command_line import parse
from rankgauge.adapters.trec_eval.families import FAMILY_BY_NAME, GroupFamily
from rankgauge.errors import RankgaugeError
from rankgauge.measures import trec_names as trec

USAGE = """\
usage: rankgauge trec_eval [-h] [-q] [-m NAME[.PARAMETERS]]… [-c] [-n] [-l NUM]
                           [-J] [-N NUM] [-M NUM] [-R FORMAT] [-Z FILE]
                           [--compat trec_eval-9|trec_eval-10] QRELS RUN

The flags, the output and the exit codes are those of trec_eval. What it
silently misreads is misread the same way, and reported on standard error. For
anything new, use `rankgauge evaluate`.

  -q  --query_eval_wanted           also print the value of each query
  -n  --nosummary                   print no values over all queries
  -c  --complete_rel_info_wanted    average over all judged queries
  -l  --level_for_rel NUM           count grades from NUM on as relevant (1)
  -J  --Judged_docs_only            remove unjudged documents from each ranking
  -M  --Max_retrieved_per_topic NUM keep the top NUM documents of each ranking
  -N  --Number_docs_in_coll NUM     set the size of the collection, for utility
  -m  --measure NAME[.PARAMETERS]   compute a measure (official); repeatable
  -R  --Rel_info_format FORMAT      read judgments as qrels (default), prefs,
                                    qrels_prefs or qrels_jg
  -Z  --Zscore FILE                 print z-scores, by the means in FILE
      --compat VERSION              behave as trec_eval-9 (default) or
                                    trec_eval-10
  -v  --version                     print the version

sets:     official  all_trec  set  prefs  all_prefs  qrels_jg
measures: {names}
"""


TEXT_FAMILIES = {
    "runid": "The name of the run, from the last line of its file.",
    "relstring": "The judgments of the first documents, one character each: a digit, > above 9, - if not judged.",
    "dcg": "Discounted cumulative gain of the ranking, not normalized.",
    "ideal_dcg": "Discounted cumulative gain of the ideal ranking.",
}


def usage(families: Sequence[trec.TrecFamily] = ()) -> str:
    """The text that -h prints, with a description of each measure given with -m."""
    indent = " " * len("measures: ")
    names = textwrap.fill("  ".join(FAMILY_BY_NAME), 80, initial_indent=indent, subsequent_indent=indent).lstrip()
    return USAGE.format(names=names) + "".join(f"\n{family.name}\n{description(family)}" for family in families)


def description(family: trec.TrecFamily) -> str:
    """What a family of measures is, indented."""
    definition = family.make
    if isinstance(family, GroupFamily):
        return textwrap.fill(family.description, 80, initial_indent="    ", subsequent_indent="    ") + "\n"
    if definition is None:
        return f"    {TEXT_FAMILIES[family.name]}\n"
    return textwrap.indent(f"{definition.explanation}\n\nFormula: {definition.formula}\n", "    ")


@click.command(
    "trec_eval",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.Path())
def trec_eval_command(arguments: tuple[str, ...]) -> int:
    """Run trec_eval: its flags, output and exit codes, byte for byte."""
    out = sys.stdout.buffer
    try:
        options = parse(arguments)
        for note in options.notes:
            click.echo(f"trec_eval: note: {note}", err=True)
        printed = len(options.notes)
        if options.version:
            click.echo(f"trec_eval 9.0.8 and 10.0 as rankgauge {__version__} computes them", err=True)
            return 0
        if options.help:
            out.write(usage([request.family for request in options.requests]).encode())
            return 0
        if options.judgments == "qrels":
            from rankgauge.adapters.trec_eval.report import report

            lines = report(options)
        else:
            from rankgauge.adapters.trec_eval.preferences import group_report

            lines = group_report(options)
        for line in lines:
            out.write(line)
        out.flush()
        for note in options.notes[printed:]:
            click.echo(f"trec_eval: note: {note}", err=True)
    except RankgaugeError as error:
        out.flush()
        click.echo(f"trec_eval: {error}", err=True)
        return error.exit_code
    return 0
