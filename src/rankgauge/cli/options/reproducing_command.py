"""The command that makes a report again, and the date of its data."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from rankgauge.cli.options.declared_options import KeyOption
from rankgauge.report.manifest import plain_path, plain_text

DATE_VARIABLE = "SOURCE_DATE_EPOCH"  # https://reproducible-builds.org/specs/source-date-epoch/


def reproducible_command(context: click.Context, omit: Sequence[str]) -> str:
    """The command line without secrets and without what ``omit`` names, to be run in the same folder.

    A path outside of the working folder is reduced to its name, so that nobody learns about other folders.
    """
    words = ["rankgauge", *context.command_path.split()[1:]]
    for parameter, value in _given(context):
        name = parameter.name or ""
        if name in omit:
            continue
        key, sign, word = str(value).partition("=") if name == "sets" else ("", "", value)
        is_path = isinstance(parameter.type, click.Path) or is_elsewhere(str(word))
        text = key + sign + (_path(word) if is_path else plain_text(str(word)))
        if isinstance(parameter, click.Argument):
            words.append(text)
        elif getattr(parameter, "is_flag", False):
            words.append(parameter.opts[-1] if value or not parameter.secondary_opts else parameter.secondary_opts[-1])
        else:
            words += [parameter.opts[-1], text]
    return " ".join(map(shell_word, words))


def is_elsewhere(text: str) -> bool:
    """Whether a text is a path that is not below the working folder by its spelling."""
    path = Path(text)
    return path.is_absolute() or ".." in path.parts


def data_date(context: click.Context) -> str | None:
    """The day of the newest file among a command's arguments, or of SOURCE_DATE_EPOCH if that is set; in UTC.

    The same files give the same page, on whatever day it is made. None for standard input.
    """
    stated = os.environ.get(DATE_VARIABLE, "")
    if stated.isdecimal():
        seconds = [float(stated)]
    else:
        files = [Path(value) for parameter, value in _given(context) if isinstance(parameter, click.Argument)]
        seconds = [file.stat().st_mtime for file in files if file.is_file()]
    try:
        return datetime.fromtimestamp(max(seconds), UTC).date().isoformat() if seconds else None
    except (OverflowError, ValueError, OSError):  # a time that no calendar has
        return None


def shell_word(text: str) -> str:
    """Text as one word of a shell; bytes and characters that cannot be shown are escaped: $'…'."""
    if text.isprintable():
        return shlex.quote(text)
    parts = [
        character
        if character.isprintable() and character not in "\\'"
        else "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))
        for character in text
    ]
    return f"$'{''.join(parts)}'"


def _given(context: click.Context) -> Iterator[tuple[click.Parameter, Any]]:
    """The parameters on the command line, each with one value."""
    for parameter in context.command.params:
        name = parameter.name or ""
        if isinstance(parameter, KeyOption):
            continue  # --set is given, too
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE and name in context.params:
            content = context.params[name]
            for value in content if isinstance(content, tuple) else (content,):
                yield parameter, value


def _path(path: Any) -> str:
    """A path inside of the working folder as it leads from there, any other one as its name."""
    given, here = Path(path), Path.cwd().resolve()
    if given.is_absolute() and given.resolve().is_relative_to(here):
        given = given.resolve().relative_to(here)
    plain = plain_path(given)
    return f"./{plain}" if plain.startswith("-") and plain != "-" else plain
