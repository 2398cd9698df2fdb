"""The commands as data, and the group that finds them, so that help and start-up import none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from rankgauge._version import __version__
from rankgauge.core.lazy import check_memory_for_algebra

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


Commands = Mapping[str, str]  # command → its one-line help
Tasks = Mapping[str, Commands]  # what a user wants to do → the commands for it


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used.

    ``rankgauge runs fetch`` is the ``command`` of ``rankgauge.cli.commands.runs_fetch``.
    """

    def __init__(self, *args: Any, tasks: Tasks, prefix: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.no_args_is_help = False  # prints help as an error
        self.tasks, self.prefix = tasks, prefix
        self.lazy: Commands = {name: text for commands in tasks.values() for name, text in commands.items()}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Print the help of a group that is called without a command: on standard output, as success."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of the commands."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.lazy:
            return None
        check_memory_for_algebra()  # most commands need NumPy
        command: click.Command = import_module(f"rankgauge.cli.commands.{self.prefix}{cmd_name}").command
        for parameter in command.params:
            if isinstance(parameter.type, click.Path):
                parameter.type.readable = False  # its reader says why it cannot be read: bad input, not a usage error
        return command

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands before the options, which are few."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by task, in one column of names, without importing any."""
        longest = max(map(len, self.lazy))
        for task, commands in self.tasks.items():
            with formatter.section(task):
                formatter.write_dl([(f"{name:{longest}}", text) for name, text in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and suggest one for a misspelled name."""
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            from rankgauge.errors import nearest, shown

            close = nearest(args[0], list(self.lazy))
            raise click.UsageError(f"no command {shown(args[0])}" + (f"; did you mean {close}?" if close else ""), ctx)
        return super().resolve_command(ctx, args)


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
