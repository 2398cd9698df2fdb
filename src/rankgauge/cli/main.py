"""The entry point: find the command, run it, turn errors into messages and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from rankgauge._version import __version__
from rankgauge.cli import startup
from rankgauge.cli.lazy import LazyGroup
from rankgauge.errors import RankgaugeError

# Command → its one-line help. Data, so that --help imports nothing; a test compares it with the commands.
COMMANDS = {
    "agreement": "Show whether two sets of judgments rank runs in the same order.",
    "benchmark": "Show which retriever is best, by how much, with what confidence, at what cost.",
    "convert": "Write judgments or a run in another format.",
    "compare": "Show which run is better, with what confidence, and which queries changed.",
    "demo": "Run a benchmark on the bundled collection.",
    "evaluate": "Score runs against judgments.",
    "gate": "Fail if retrieval got worse, for CI.",
    "fuse": "Combine runs into one.",
    "index": "Load a corpus into PostgreSQL, to search it there.",
    "init": "Write a starter rankgauge.yaml.",
    "measures": "List the measures, or explain one.",
    "pipeline": "Evaluate routing, gate and reranking from a log.",
    "qrels": "Validate judgments.",
    "report": "Write the HTML report of a benchmark, or verify its folder.",
    "rq": "Check whether searching a story finds the right scenes.",
    "runs": "Make or validate runs.",
    "trec_eval": "Run trec_eval: its flags, output and exit codes, byte for byte.",
    "tune": "Tune the weights of a fusion on held-out queries.",
}
EXIT_BAD_INPUT, EXIT_USAGE, EXIT_INTERRUPTED, EXIT_BROKEN_PIPE = 2, 64, 130, 141


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


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
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


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code."""
    try:
        with cli.make_context("rankgauge", list(sys.argv[1:] if arguments is None else arguments)) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        click.echo(f"error: {error.format_message()}", err=True)
        failed_context = getattr(error, "ctx", None)
        if failed_context is not None:
            click.echo(f"hint: {failed_context.command_path} --help", err=True)
        return EXIT_USAGE
    except click.exceptions.Abort:
        return EXIT_INTERRUPTED
    except RankgaugeError as error:
        click.echo(f"error: {error}", err=True)
        return error.exit_code
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader is gone: print nothing, and keep the interpreter from writing again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except OSError as error:
        # Commands report errors of their own files, so this is standard output: a full disk, for example.
        click.echo(f"error: cannot write: {error.strerror or error}", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BAD_INPUT


def main() -> None:
    """Run the console script."""
    startup.prepare(sys.argv[1:])
    code = run()
    startup.finish()
    sys.exit(code)
