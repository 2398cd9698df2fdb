"""Groups of commands as data, so that help and start-up import none of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from rankgauge.core.lazy import check_memory_for_algebra

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
