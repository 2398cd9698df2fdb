"""``rankgauge completion``."""

from __future__ import annotations

from importlib.resources import files

import click

from rankgauge.cli.documented import documented

SHELLS = ("bash", "zsh", "fish")
CANDIDATES = "candidates"  # what the scripts of the shells ask


class ShellArgument(click.Choice):  # type: ignore[type-arg]  # generic only from click 8.2 on
    """The name of a shell; scripts also pass ``candidates``, which is not for people."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Accept the name for scripts too."""
        return value if value == CANDIDATES else super().convert(value, param, ctx)


@documented(
    "completion",
    """
    # Complete commands, options and values in this bash
    source <(rankgauge completion bash)
    # Do so in every zsh
    rankgauge completion zsh > ~/.zfunc/_rankgauge
    # Do so in every fish
    rankgauge completion fish > ~/.config/fish/completions/rankgauge.fish
    """,
)
@click.argument("shell", type=ShellArgument(SHELLS), metavar="[bash|zsh|fish]")
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar=" ")
def command(shell: str, words: tuple[str, ...]) -> None:
    """Print a script that lets a shell complete command lines.

    Commands, options, measures, formats, files, retrievers of rankgauge.yaml, columns of queries, and entries and tags
    of the history.
    """
    if shell == CANDIDATES:
        from rankgauge.cli.completing import candidates

        for word, text in candidates(words):
            click.echo(f"{word}\t{text}" if text else word)
        return
    if words:
        raise click.UsageError("expected one shell")
    click.echo((files("rankgauge") / "data" / "shells" / f"rankgauge.{shell}").read_text(encoding="utf-8"), nl=False)
