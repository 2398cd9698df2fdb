"""What an assessor sees: the query, the passage with the query's words in bold, and the keys. No run, rank or score."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from rankgauge.core.formatting import plural, text_of
from rankgauge.errors import printable
from rankgauge.labels.judging_session import JudgingSession
from rankgauge.labels.pool_files import PoolItem
from rankgauge.retrieval.language import ENGLISH_STOP_WORDS

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
MIN_WIDTH, MAX_WIDTH = 30, 100
FRAME_LINES = 8  # everything but the passage
MIN_STEM = 4  # a word of the passage matches if it starts with a query word of at least this length
GRADE_NAMES = {
    1: ("not relevant", "relevant"),
    2: ("not relevant", "partly relevant", "relevant"),
    3: ("not relevant", "related", "relevant", "perfectly relevant"),
}
WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Screen:
    """The size of the terminal, whether it shows bold, and how many lines of the passage are above the window."""

    width: int = 80
    height: int = 24
    color: bool = False
    scroll: int = 0

    @property
    def text_width(self) -> int:
        """How many characters a line of text has."""
        return min(max(self.width, MIN_WIDTH), MAX_WIDTH)

    @property
    def passage_lines(self) -> int:
        """How many lines of the passage fit."""
        return max(3, self.height - FRAME_LINES)


def judging_screen(session: JudgingSession, screen: Screen) -> str:
    """The whole screen for the current document."""
    item = session.current
    if item is None:
        return summary_line(session)
    width = screen.text_width
    share = text_of(session.decided / session.total, "share")
    head = f"{session.decided + 1:,} of {session.total:,} ({share} done) · {printable(session.assessor.name)}"
    query = textwrap.wrap(printable(item.query_text or item.query, None), width)[:3]
    lines = passage(item, width)
    visible = lines[screen.scroll : screen.scroll + screen.passage_lines]
    rest = len(lines) - screen.scroll - len(visible)
    more = f"… {plural(rest, 'more line')}: space" if rest > 0 else ""
    words = query_words(item.query_text or "") if screen.color else frozenset()
    shown_lines = [highlighted(line, words) for line in visible]
    note = [f"note: {printable(session.note, width)}"] if session.note else []
    title = [BOLD + line + PLAIN if screen.color else line for line in query]
    return "\n".join(
        [head, *title, "─" * width, *shown_lines, more, *note, *keys_line(session.assessor.max_grade, width)]
    )


def passage(item: PoolItem, width: int) -> list[str]:
    """The title and the text, wrapped; control characters are escaped."""
    paragraphs = [item.title, *(item.text or "").splitlines()] if item.title else (item.text or "").splitlines()
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += textwrap.wrap(printable(paragraph, None), width) or [""]
    return lines or ["(empty text)"]


def query_words(query: str) -> frozenset[str]:
    """The words of a query that are worth showing: no stop words."""
    return frozenset(word for word in WORD.findall(query.casefold()) if word not in ENGLISH_STOP_WORDS)


def highlighted(line: str, words: frozenset[str]) -> str:
    """A line with the words of the query in bold, also if they have an ending."""

    def mark(match: re.Match[str]) -> str:
        word = match.group().casefold()
        is_marked = word in words or any(len(stem) >= MIN_STEM and word.startswith(stem) for stem in words)
        return f"{BOLD}{match.group()}{PLAIN}" if is_marked else match.group()

    return WORD.sub(mark, line) if words else line


def keys_line(max_grade: int, width: int) -> list[str]:
    """The keys and what they mean."""
    names = GRADE_NAMES.get(max_grade)
    grades = [f"{grade} {name}" for grade, name in enumerate(names)] if names else [f"0–{max_grade} grade"]
    keys = [*grades, "s skip", "u undo", "n note", "space more", "q quit"]
    return textwrap.wrap(" · ".join(keys), width)


def summary_line(session: JudgingSession) -> str:
    """What is done, in one line."""
    left = session.total - session.decided
    rest = f", {left:,} left" if left else ""
    return (
        f"{session.decided:,} of {plural(session.total, 'document')} judged by {printable(session.assessor.name)}{rest}"
    )
