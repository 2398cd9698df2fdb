"""The commands, and the group that finds them."""

from __future__ import annotations

from collections.abc import Sequence

import click

from rankgauge._version import __version__
from rankgauge.cli.lazy import LazyGroup

# What a user wants to do → the commands for it, each with its one-line help. Data, so that --help imports nothing; a
# test compares it with the commands.
TASKS = {
    "Start": {
        "demo": "Run a benchmark on the bundled collection.",
        "init": "Write a rankgauge.yaml for what is in this folder.",
    },
    "Evaluate": {
        "evaluate": "Score runs against judgments.",
        "measures": "List the measures, or explain one.",
        "pipeline": "Evaluate routing, gate and reranking from a log.",
        "rq": "Check whether searching a story finds the right scenes.",
        "trec_eval": "Run trec_eval: its flags, output and exit codes, byte for byte.",
    },
    "Compare and gate": {
        "compare": "Show which run is better, with what confidence, and which queries changed.",
        "gate": "Fail if retrieval got worse, for CI.",
        "diff": "Show how much two runs differ, without judgments.",
        "agreement": "Show whether two sets of judgments rank runs in the same order.",
    },
    "Retrieve and benchmark": {
        "runs": "Make or validate runs.",
        "benchmark": "Show which retriever is best, by how much, with what confidence, at what cost.",
        "fuse": "Combine runs into one.",
        "tune": "Tune the weights of a fusion on held-out queries.",
        "index": "Load a corpus into PostgreSQL, to search it there.",
    },
    "Judge and label": {
        "pool": "Choose which documents to judge.",
        "judge": "Judge the documents of a pool, in the terminal or by a program.",
        "labels": "Compare and check judgments, and estimate measures from few of them.",
    },
    "Data and files": {
        "qrels": "Validate judgments.",
        "convert": "Write judgments or a run in another format.",
        "chunk": "Split documents into chunks.",
        "report": "Write a report or a history as HTML, or verify a benchmark.",
    },
    "Over time": {
        "history": "List, compare and exchange results that were saved over time.",
    },
    "Other": {
        "completion": "Print a script that lets a shell complete command lines.",
    },
}


def _remember_verbose(context: click.Context, option: click.Parameter, is_verbose: bool) -> None:
    context.meta["verbose"] = is_verbose


def _print_version(context: click.Context, option: click.Parameter, is_asked: bool) -> None:
    """Print the version; with ``--verbose`` also what it runs on."""
    if not is_asked:
        if context.meta["verbose"]:
            raise click.UsageError("--verbose belongs to --version", context)
        return
    click.echo(f"rankgauge {__version__}")
    if context.meta["verbose"]:
        import platform

        from rankgauge.core import compiled

        click.echo(f"scanner: {compiled.describe()}")
        click.echo(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    context.exit()


@click.group(cls=LazyGroup, tasks=TASKS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--verbose", is_flag=True, expose_value=False, is_eager=True, callback=_remember_verbose, hidden=True)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit; with --verbose also the scanner.",
)
def cli() -> None:
    """Did my retrieval get better, how certain is that, and which queries changed?

    \b
    rankgauge demo                              run the demo
    rankgauge evaluate qrels.txt my.run         score a run
    rankgauge compare qrels.txt old.run my.run  compare two runs
    rankgauge runs validate my.run              find faults in a run
    rankgauge measures nDCG                     explain a measure
    """  # noqa: D301 - click reads the character \b itself


def checked_arguments(arguments: Sequence[str]) -> list[str]:
    """The arguments; raises if one contains a NUL, which no file name and no option does."""
    if any("\0" in argument for argument in arguments):
        raise click.UsageError("an argument contains a NUL character")
    return list(arguments)
