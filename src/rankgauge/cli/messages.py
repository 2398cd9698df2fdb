"""Messages on standard error, and the width of a stream. Imports nothing that may be missing or slow."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click

from rankgauge.render.formats.terminal import Layout, wrapped

UNKNOWN_WIDTH = 80  # of a terminal that does not tell
LABELS = ("error", "warning", "note", "hint")


def width_of(stream: TextIO) -> int | None:
    """The columns of a terminal, or those that COLUMNS asks for; None if nothing has to fit."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    if not stream.isatty():
        return None
    try:  # without shutil, which imports every compression there is
        return os.get_terminal_size(stream.fileno()).columns or UNKNOWN_WIDTH
    except OSError:
        return UNKNOWN_WIDTH


def print_message(text: str) -> None:
    """Print lines on standard error; on a terminal, each wrapped below the text after its label."""
    if sys.stderr.isatty():
        text = "\n".join(wrapped_message(line, width_of(sys.stderr)) for line in text.split("\n"))
    click.echo(text, err=True)


def wrapped_message(line: str, width: int | None) -> str:
    """A line of a message, wrapped below the text after ``error:``, ``warning:``, ``note:`` or ``hint:``."""
    label, separator, _ = line.partition(": ")
    hanging = len(label + separator) if separator and label in LABELS else 2
    return "\n".join(wrapped(line, Layout(width), hanging=hanging)) or line
