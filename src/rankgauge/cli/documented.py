"""Commands whose ``--help`` shows examples, and options in sections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import cleandoc
from typing import Any

import click

from rankgauge.cli.options.declared import SectionOption
from rankgauge.core.settings import Section

MAX_IN_ONE_SECTION = 6  # options
NAME_WIDTH = 24  # of the column of options; a longer one has a line of its own

Record = tuple[str, str]  # an option, and what it does


class DocumentedCommand(click.Command):
    """A command with examples: lines of a shell, each below a comment that says what it is for."""

    def __init__(self, *args: Any, examples: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = cleandoc(examples)
        if any(isinstance(option, SectionOption) and not option.is_common for option in self.params):
            self.params.append(help_all_option())

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and show its progress."""
        from rankgauge.core.progress import shown  # which --help does without

        with shown():
            return super().invoke(ctx)

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
        shows_all = ctx.meta.get("help_all", False)
        options = [option for option in self.options(ctx) if shows_all or is_common(option)]
        shown = [(section_of(option), option.get_help_record(ctx)) for option in options]
        records = [(section, record) for section, record in shown if record is not None]
        if len(records) - 1 <= MAX_IN_ONE_SECTION:  # --help does not count
            yield "Options", [record for _, record in records]
            return
        for section in Section:
            own = [record for other, record in records if other is section]
            if own:
                yield section.value, own

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


def documented(name: str, examples: str) -> Callable[[Callable[..., Any]], DocumentedCommand]:
    """Like ``click.command``, with examples."""
    return click.command(name, cls=DocumentedCommand, examples=examples)


def is_common(option: click.Option) -> bool:
    """Whether ``--help`` lists an option."""
    return not isinstance(option, SectionOption) or option.is_common


def section_of(option: click.Option) -> Section:
    """The section of an option; ``--help`` has none of its own."""
    return option.section if isinstance(option, SectionOption) else Section.OTHER
