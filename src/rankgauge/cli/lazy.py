"""Groups of commands as data, so that help and start-up import none of them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

Commands = Mapping[str, str]  # command → its one-line help


class LazyGroup(click.Group):
    """A group whose commands are imported when they are used.

    ``rankgauge runs fetch`` is the ``command`` of ``rankgauge.cli.commands.runs_fetch``.
    """

    def __init__(self, *args: Any, lazy: Commands, prefix: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lazy, self.prefix = lazy, prefix

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the names of the commands."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in self.lazy:
            return None
        command: click.Command = import_module(f"rankgauge.cli.commands.{self.prefix}{cmd_name}").command
        for parameter in command.params:
            if isinstance(parameter.type, click.Path):
                parameter.type.readable = False  # its reader says why it cannot be read: bad input, not a usage error
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, text in self.lazy.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and suggest one for a misspelled name."""
        if args and args[0] not in self.lazy and not args[0].startswith("-"):
            from rankgauge.errors import nearest, shown

            close = nearest(args[0], list(self.lazy))
            raise click.UsageError(f"no command {shown(args[0])}" + (f"; did you mean {close}?" if close else ""), ctx)
        return super().resolve_command(ctx, args)
