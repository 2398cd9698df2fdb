"""The entry point: finds the command, runs it, turns errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from rankgauge._version import __version__
from rankgauge.cli.lazy import LazyGroup
from rankgauge.errors import RankgaugeError

# Command → its one-line help. Data, so that --help imports nothing; a test compares it with the commands.
COMMANDS = {
    "benchmark": "Which retriever is best, by how much, how surely, and at what cost.",
    "convert": "Write judgments or a run in another format.",
    "compare": "Which run is better, how surely, and which queries moved.",
    "demo": "See it work on a small collection that comes with it.",
    "evaluate": "Score runs against judgments.",
    "gate": "Fail where retrieval got worse, for CI.",
    "fuse": "Combine runs into one.",
    "init": "Write a rankgauge.yaml to begin with.",
    "measures": "List the measures, or explain one.",
    "pipeline": "Evaluate routing, gate and reranking from a log.",
    "qrels": "Judgments: say what is wrong with them.",
    "report": "Reports: the page to look at, and whether a folder is as it was written.",
    "rq": "Check whether searching a story finds the right scenes.",
    "runs": "Runs: make them, say what is wrong with them.",
    "trec_eval": "trec_eval's own flags and output, to the byte.",
    "tune": "Find the weights of a fusion, without looking at the test queries.",
}
BAD_INPUT, USAGE, INTERRUPTED, BROKEN_PIPE = 2, 64, 130, 141


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", message="rankgauge %(version)s")
def cli() -> None:
    """Did my retrieval get better, how sure is that, and which queries moved?

    \b
    rankgauge demo                              see it work
    rankgauge evaluate qrels.txt my.run         score a run
    rankgauge runs validate my.run              what is wrong with a run
    rankgauge measures nDCG                     what a measure is
    """  # noqa: D301 - click wants the character itself


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    try:
        with cli.make_context("rankgauge", list(sys.argv[1:] if arguments is None else arguments)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.ClickException as error:
        where = getattr(error, "ctx", None)
        click.echo(f"error: {error.format_message()}", err=True)
        if where is not None:
            click.echo(f"hint: {where.command_path} --help", err=True)
        return USAGE
    except click.exceptions.Abort:
        return INTERRUPTED
    except RankgaugeError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # Nobody reads any more: say nothing, and keep the interpreter from trying once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except OSError as error:
        # What the commands open they answer for themselves; left is standard output, on a full disk for one.
        click.echo(f"error: cannot write: {error.strerror or error}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT


def main() -> None:
    """The console script."""
    sys.exit(run())
