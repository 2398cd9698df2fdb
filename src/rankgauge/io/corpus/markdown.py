"""The blocks of Markdown, as far as splitting a document needs them: headings, code fences, tables, other text.

No regular expression is used: the work is linear in the text, whatever it contains.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

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


# The blocks of Markdown, as far as splitting a document needs them: headings, code fences, tables, and other text.
#
# Every line is looked at once or twice, so the work is linear in the text.

BlockKind = Literal["heading", "fence", "table", "text"]
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")  # of a heading
DELIMITERS = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")  # below the head of a table
NOT_A_HEADING = re.compile(r" {0,3}(?:[-*+>|]|\d+[.)])")  # a line whose underline is a rule
MAX_INDENT = 3


class MarkdownBlock(NamedTuple):
    """A block, from the beginning of its first line to the end of its last one, without blank lines around it."""

    kind: BlockKind
    start: int
    end: int


class _Line(NamedTuple):
    start: int
    text: str  # without its end

    @property
    def end(self) -> int:
        return self.start + len(self.text.rstrip())


def markdown_blocks(text: str) -> list[MarkdownBlock]:
    """The blocks of a document, in order; together they have every line that is not blank."""
    lines = [
        _Line(match.start(), match.group().rstrip("\r\n")) for match in LINE.finditer(text) if match.start() < len(text)
    ]
    blocks: list[MarkdownBlock] = []
    index = _front_matter(lines)
    if index:
        blocks.append(MarkdownBlock("text", lines[0].start, lines[index - 1].end))
    while index < len(lines):
        kind, following = _block_at(lines, index)
        if kind is not None:
            last = max(row for row in range(index, following) if lines[row].text.strip())
            start = lines[index].start + len(lines[index].text) - len(lines[index].text.lstrip())
            blocks.append(MarkdownBlock(kind, start, lines[last].end))
        index = following
    return blocks


def _block_at(lines: list[_Line], index: int) -> tuple[BlockKind | None, int]:
    """The kind of the block that begins at a line, and the line after it; no kind for a blank line."""
    line = lines[index].text
    if not line.strip():
        return None, index + 1
    if (fence := _fence(line)) is not None:
        return "fence", _fence_end(lines, index + 1, fence)
    if _is_heading(line):
        return "heading", index + 1
    if _is_table(lines, index):
        return "table", _end_of_run(lines, index + 2)
    if index + 1 < len(lines) and UNDERLINE.fullmatch(lines[index + 1].text) and not NOT_A_HEADING.match(line):
        return "heading", index + 2
    following = index + 1
    while following < len(lines) and not _interrupts(lines, following):
        following += 1
    return "text", following


def _interrupts(lines: list[_Line], index: int) -> bool:
    """Whether a line ends the text before it."""
    line = lines[index].text
    return not line.strip() or _is_heading(line) or _fence(line) is not None or _is_table(lines, index)


def _end_of_run(lines: list[_Line], index: int) -> int:
    """The first line from ``index`` on that is not part of a table."""
    while index < len(lines):
        line = lines[index].text
        if not line.strip() or _is_heading(line) or _fence(line) is not None:
            break
        index += 1
    return index


def _is_heading(line: str) -> bool:
    indent = len(line) - len(line.lstrip(" "))
    return indent <= MAX_INDENT and line[indent : indent + 1] == "#" and parse_heading(line[indent:]) is not None


def _is_table(lines: list[_Line], index: int) -> bool:
    """Whether a line is the head of a table: it has a bar, and delimiters below it."""
    if index + 1 >= len(lines) or "|" not in lines[index].text:
        return False
    below = lines[index + 1].text.strip()
    return "|" in below and DELIMITERS.fullmatch(below) is not None


def _fence(line: str) -> str | None:
    """The marks that open a code fence; None if the line opens none."""
    match = FENCE.match(line)
    if match is None or (match[1][0] == "`" and "`" in match[2]):
        return None
    return match[1]


def _fence_end(lines: list[_Line], index: int, fence: str) -> int:
    """The line after the one that closes a fence, or after the last one if none does."""
    while index < len(lines):
        marks = lines[index].text.strip()
        index += 1
        if marks.startswith(fence) and not marks.strip(fence[0]):
            return index
    return index


def _front_matter(lines: list[_Line]) -> int:
    """The number of lines of metadata between two ``---`` at the beginning of a document."""
    if not lines or lines[0].text.rstrip() != "---":
        return 0
    closing = (row for row in range(1, len(lines)) if lines[row].text.rstrip() in ("---", "..."))
    return next(closing, -1) + 1
