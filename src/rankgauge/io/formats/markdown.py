"""Markdown headings, found without a regular expression: the work is linear in the text, whatever it contains."""

from __future__ import annotations

from typing import NamedTuple

DEEPEST_LEVEL = 6


class MarkdownHeading(NamedTuple):
    """A heading: its level, its text, and where its line begins and ends."""

    level: int
    text: str
    start: int
    end: int


def parse_heading(line: str, start: int = 0) -> MarkdownHeading | None:
    """The heading that a line is, as ``## Title`` or ``## Title ##``; None if it is not one."""
    level = len(line) - len(line.lstrip("#"))
    if not 1 <= level <= DEEPEST_LEVEL or line[level : level + 1] not in (" ", "\t"):
        return None
    text = line[level:].strip(" \t\r").rstrip("#").rstrip(" \t")
    return MarkdownHeading(level, text, start, start + len(line))


def first_heading(text: str) -> MarkdownHeading | None:
    """The first heading of a text that is not empty."""
    start = 0
    for line in text.split("\n"):
        heading = parse_heading(line, start) if line.startswith("#") else None
        if heading is not None and heading.text:
            return heading
        start += len(line) + 1
    return None
