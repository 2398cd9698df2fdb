"""All commands as data, imported when they are used, and their help: by task, with examples and sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from rankgauge._version import __version__
from rankgauge.core.public_names import check_memory_for_algebra

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from rankgauge.core.settings import Section


class LazyCommand(NamedTuple):
    """A command that is not imported yet.

    ``rankgauge runs fetch`` is the ``runs_fetch_command`` of its module.
    """

    module: str  # of rankgauge.cli.commands
    help: str  # the first line


Commands = Mapping[str, "LazyCommand | LazyGroup"]  # by name
Tasks = Mapping[str, Commands]  # what a user wants to do → the commands for it


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used."""

    def __init__(self, *args: Any, tasks: Tasks, prefix: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.no_args_is_help = False  # prints help as an error
        self.tasks, self.prefix = tasks, prefix
        self.lazy: Commands = {name: found for commands in tasks.values() for name, found in commands.items()}

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
        found = self.lazy.get(cmd_name)
        if found is None or isinstance(found, LazyGroup):
            return found
        check_memory_for_algebra()  # most commands need NumPy
        module = import_module(f"rankgauge.cli.commands.{found.module}")
        command: click.Command = getattr(module, f"{self.prefix}{cmd_name}_command")
        for parameter in command.params:
            if isinstance(parameter.type, click.Path):
                parameter.type.readable = False  # its reader says why it cannot be read: bad input, not a usage error
        return command

    def one_line_helps(self) -> dict[str, str]:
        """The first line of the help of each command."""
        return {name: (command.help or "").partition("\n")[0] for name, command in self.lazy.items()}

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The commands that begin with what is typed, without importing any; options after a dash."""
        from click.shell_completion import CompletionItem

        commands = self.one_line_helps().items()
        found = [CompletionItem(name, help=text) for name, text in commands if name.startswith(incomplete)]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands before the options, which are few."""
        self.format_commands(ctx, formatter)
        click.Command.format_options(self, ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by task, in one column of names, without importing any."""
        longest, helps = max(map(len, self.lazy)), self.one_line_helps()
        for task, commands in self.tasks.items():
            with formatter.section(task):
                formatter.write_dl([(f"{name:{longest}}", helps[name]) for name in commands])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and suggest one for a misspelled name."""
        if args and args[0] not in self.lazy and not args[0].startswith("-") and not ctx.resilient_parsing:
            from rankgauge.errors import nearest, shown

            close = nearest(args[0], list(self.lazy))
            raise click.UsageError(f"no command {shown(args[0])}" + (f"; did you mean {close}?" if close else ""), ctx)
        return super().resolve_command(ctx, args)


def _group(name: str, help: str, commands: Commands) -> LazyGroup:
    return LazyGroup(name, help=help, tasks={"Commands": commands}, prefix=f"{name}_")


# What a user wants to do → the commands for it, each with its module and its one-line help. Data, so that --help
# imports nothing; a test compares it with the commands.
TASKS: Tasks = {
    "Start": {
        "demo": LazyCommand("demo", "Run a benchmark on the bundled collection."),
        "init": LazyCommand("init", "Write a rankgauge.yaml for what is in this folder."),
    },
    "Evaluate": {
        "evaluate": LazyCommand("evaluate", "Score results on labels."),
        "measures": LazyCommand("measures", "List the measures, or explain one."),
        "pipeline": LazyCommand("pipeline", "Evaluate routing, gate and reranking from a log."),
        "rq": LazyCommand("rq", "Check whether searching a story finds the right scenes."),
        "trec_eval": LazyCommand("trec_eval", "Run trec_eval: its flags, output and exit codes, byte for byte."),
    },
    "Compare and gate": {
        "compare": LazyCommand("compare", "Show which run is better, with what confidence, and which queries changed."),
        "gate": LazyCommand("gate", "Fail if retrieval got worse, for CI."),
        "diff": LazyCommand("diff", "Show how much two runs differ, without judgments."),
        "agreement": LazyCommand("agreement", "Show whether two sets of labels rank systems in the same order."),
    },
    "Retrieve and benchmark": {
        "runs": _group(
            "runs",
            "Make runs, or validate runs and labels.",
            {
                "fetch": LazyCommand("fetch", "Make a run by asking a retriever every query."),
                "validate": LazyCommand("validate", "Find faults in runs and labels, line by line."),
            },
        ),
        "benchmark": _group(
            "benchmark",
            "Show which retriever is best, by how much, with what confidence, at what cost.",
            {
                "run": LazyCommand("benchmark", "Run retrievers on the same queries and show which is best."),
                "verify": LazyCommand("verify", "Recompute every number in the folder of a benchmark."),
            },
        ),
        "fuse": LazyCommand("fusion", "Combine runs into one."),
        "tune": LazyCommand("fusion", "Tune the weights of a fusion on held-out queries."),
        "index": LazyCommand("index", "Load a corpus into PostgreSQL, to search it there."),
    },
    "Judge and label": {
        "pool": LazyCommand("pool", "Choose which documents to judge."),
        "judge": LazyCommand("judge", "Judge the documents of a pool, in the terminal or by a program."),
        "labels": _group(
            "labels",
            "Compare judgments, and estimate measures from few of them.",
            {
                "agree": LazyCommand("labels", "Show how closely assessors agree."),
                "estimate": LazyCommand(
                    "labels",
                    "Estimate measures from few human labels, with machine labels or a sampled pool.",
                ),
                "resolve": LazyCommand("labels", "Write labels by text as qrels for one chunking."),
            },
        ),
    },
    "Data and files": {
        "convert": LazyCommand("convert", "Write judgments or a run in another format."),
    },
    "Over time": {
        "history": _group(
            "history",
            "Show results that were saved over time: a folder of files.\n\n"
            "`--save` on evaluate, compare, gate and benchmark run saves them.",
            {
                "list": LazyCommand("history", "List the entries of the history."),
                "show": LazyCommand("history", "Show one entry."),
                "trend": LazyCommand("history", "Show a measure over time, with intervals and change points."),
                "check": LazyCommand("history", "Report recent changes of quality."),
            },
        ),
    },
}


def _remember_verbose(context: click.Context, option: click.Parameter, is_verbose: bool) -> None:
    context.meta["verbose"] = is_verbose


def _print_version(context: click.Context, option: click.Parameter, is_asked: bool) -> None:
    """Print the version; with ``--verbose`` also what it runs on."""
    if context.resilient_parsing:
        return
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


# Commands whose ``--help`` shows examples, and options in sections.

MAX_IN_ONE_SECTION = 6  # options
NAME_WIDTH = 24  # of the column of options; a longer one has a line of its own
SINGLE_INPUTS = {"baseline", "queries", "labels", "corpus", "chunks", "qrels", "config", "config_file"}

Record = tuple[str, str]  # an option, and what it does


class DocumentedCommand(click.Command):
    """A command with examples: lines of a shell, each below a comment that says what it is for."""

    def __init__(self, *args: Any, examples: str, sections: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples, self.sections = cleandoc(examples), tuple(sections)
        if not all(map(is_common, self.params)):
            self.params.append(help_all_option())

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments; raises if an input is named twice, of which only the last would be read."""
        given = self.make_parser(ctx).parse_args(args=list(args))[2]
        for option in given:
            is_single = isinstance(option, click.Option) and not option.multiple and option.name in SINGLE_INPUTS
            if is_single and given.count(option) > 1 and not ctx.resilient_parsing:
                from rankgauge.errors import UsageError

                raise UsageError(f"{option.opts[-1]} is given {given.count(option)} times, and takes one")
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and show its progress. The hint of an error names the command of an option if not this."""
        from rankgauge.core.progress import shown  # which --help does without
        from rankgauge.errors import RankgaugeError

        try:
            with shown():
                return super().invoke(ctx)
        except RankgaugeError as error:
            if error.hint is not None:
                from rankgauge.cli.printing import with_owners_of_options  # not needed by a command that succeeds

                error.hint = with_owners_of_options(error.hint, ctx)
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, then the options by section, in columns of the same width."""
        with formatter.section("Examples"):
            for line in self.examples.splitlines():
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")
        sections = list(self.option_sections(ctx))
        width = min(max(len(name) for _, records in sections for name, _ in records), NAME_WIDTH)
        for section, records in sections:
            with formatter.section(section):
                formatter.write_dl([(f"{name:{width}}", text) for name, text in records], col_max=NAME_WIDTH)

    def option_sections(self, ctx: click.Context) -> Iterator[tuple[str, list[Record]]]:
        """The options as ``--help`` lists them, by section; few options are one section."""
        from rankgauge.core.settings import Section  # which the list of commands does without

        shows_all = ctx.meta.get("help_all", False)
        options = [option for option in self.options(ctx) if not option.hidden and (shows_all or is_common(option))]
        shown = [(section_of(option), option.get_help_record(ctx)) for option in options]
        records = [(section, record) for section, record in shown if record is not None]
        if len(records) - 1 <= MAX_IN_ONE_SECTION:  # --help does not count
            yield "Options", [record for _, record in records]
            return
        for section in Section:
            own = [record for other, record in records if other is section]
            if own:
                yield section.value, own
        if shows_all and (keys := key_records(self)):
            yield "Keys for --set KEY=VALUE", keys

    def options(self, ctx: click.Context) -> list[click.Option]:
        """The options of the command, with ``--help``."""
        return [parameter for parameter in self.get_params(ctx) if isinstance(parameter, click.Option)]


def help_all_option() -> click.Option:
    """``--help-all``, which lists the options that ``--help`` leaves out."""
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_print_all,
        help="Show all options and exit.",
    )


def _print_all(context: click.Context, option: click.Parameter, is_asked: bool) -> None:
    if is_asked and not context.resilient_parsing:
        context.meta["help_all"] = True
        click.echo(context.get_help(), color=context.color)
        context.exit()


def documented(
    name: str, examples: str, *, sections: Sequence[str] = ()
) -> Callable[[Callable[..., Any]], DocumentedCommand]:
    """Like ``click.command``, with examples; of the sections of a configuration, ``--set`` takes every key."""
    return click.command(name, cls=DocumentedCommand, examples=examples, sections=sections)


def key_records(command: click.Command) -> list[Record]:
    """The keys that a command uses and has no option for, and what they do."""
    from rankgauge.cli.options.declared_options import KeyOption

    return [one.record for one in command.params if isinstance(one, KeyOption)]


def is_common(option: click.Parameter) -> bool:
    """Whether ``--help`` lists an option."""
    from rankgauge.cli.options.declared_options import SectionOption

    return not isinstance(option, SectionOption) or option.is_common


def section_of(option: click.Option) -> Section:
    """The section of an option; ``--help`` has none of its own."""
    from rankgauge.cli.options.declared_options import SectionOption
    from rankgauge.core.settings import Section

    return option.section if isinstance(option, SectionOption) else Section.OTHER
