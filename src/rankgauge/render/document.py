"""What is shown of a result, before any output: sentences with a role, tables of typed cells, facts, notes and charts.

``documents/`` makes one document of each type of result, ``formats/`` renders any document for one output. A part says
what something is, never how it looks: no renderer reads a word to find out what it means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import MISSING, NumberKind, span_of, text_of
from rankgauge.errors import Severity, printable

BETTER, WORSE = "▲", "▼"
MAX_PAGE_COLUMNS = 8  # of numbers
MAX_QUOTED, MIN_QUOTED, MAX_REST = 44, 12, 2  # characters of the text, and parts of the rest, of a short line
READABLE_NAME = 24  # columns of a terminal that a name needs, to be readable
NAME_START, NAME_END = "\x02", "\x03"  # around a name from data in a sentence; no text that is shown has them

Tone = Literal["", "better", "worse", "neutral"]  # neutral: decided neither way
Role = Literal["answer", "verdict", "remark", "note", "footnote"]
State = Literal["passed", "failed", "skipped"]
Value = str | int | float | None
Record = dict[str, Value]
MARK_TONES: dict[str, Tone] = {BETTER: "better", WORSE: "worse"}

# ----------------------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Number:
    """A number with its kind; perhaps the best of its column, marked as significant, or with its interval behind it."""

    value: float | None
    kind: NumberKind = "value"
    digits: int | None = None
    best: bool = False
    mark: str = ""
    ends: tuple[float | None, float | None] | None = None  # of its interval

    @property
    def text(self) -> str:
        """The number as text."""
        text = text_of(self.value, self.kind, digits=self.digits)
        if self.ends is None:
            return text
        span = span_of(*self.ends, lambda end: text_of(end, self.kind, digits=self.digits))
        return f"{text} ({span})" if span else text

    @property
    def tone(self) -> Tone:
        """What the mark says."""
        return MARK_TONES.get(self.mark, "")


@dataclass(frozen=True)
class Range:
    """An interval in a column of its own; ``reason`` says why there is none."""

    low: float | None
    high: float | None
    kind: NumberKind = "value"
    digits: int | None = 3
    reason: str | None = None

    best, mark, tone = False, "", ""

    @property
    def text(self) -> str:
        """The interval as text."""
        if self.reason is not None:
            return self.reason
        return span_of(self.low, self.high, lambda end: text_of(end, self.kind, digits=self.digits)) or MISSING


@dataclass(frozen=True)
class Words:
    """A text: our own, or a name from data, which may be shortened."""

    text: str
    tone: Tone = ""
    from_data: bool = False
    strong: bool = False  # what a reader must not overlook

    best, mark = False, ""


Cell = Number | Range | Words
NOTHING, NO_VALUE = Words(""), Words(MISSING)


def name(text: str) -> Words:
    """A name from data."""
    return Words(text, from_data=True)


@dataclass(frozen=True)
class TableColumn:
    """The title of a column, and how the column may change where there is little room."""

    title: str
    is_words: bool = False  # words stand to the left, numbers to the right
    from_data: bool = False  # whether the title is a name, which may be shortened
    may_hide: int = 0  # narrow terminals hide the column with the highest number first; 0: never
    is_below: bool = False  # whether a terminal lists it below the table
    is_outcome: bool = False  # whether its words say what was decided


@dataclass(frozen=True)
class Table:
    """Columns, and rows with as many cells."""

    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Cell]]
    name: str = ""  # what it is called where every table has a name
    legend: str = ""
    caption: str = ""  # above the table, on a terminal
    total: int | None = None  # the number of rows, if these are the first of them
    may_transpose: bool = False  # whether rows and columns may be swapped if that fits better

    @property
    def has_best(self) -> bool:
        """Whether a cell is the best of its kind."""
        return any(cell.best for row in self.rows for cell in row)

    def legend_with(self, best: str) -> str:
        """The legend, which starts with what marks the best value if there is one."""
        return "; ".join(filter(None, [best if self.has_best else "", self.legend]))

    def transposed(self) -> Table:
        """Columns as rows; the first column becomes the head."""
        labels = [TableColumn(row[0].text, from_data=True) for row in self.rows]
        rows: list[list[Cell]] = [
            [Words(column.title), *(row[place] for row in self.rows)]
            for place, column in enumerate(self.columns[1:], start=1)
        ]
        first = TableColumn(self.columns[0].title, is_words=True)
        return Table([first, *labels], rows, name=self.name, legend=self.legend, caption=self.caption)

    def for_page(self) -> Table:
        """Transposed if it may be, has more columns than fit on a page, and fewer that way."""
        is_too_wide = len(self.columns) > max(MAX_PAGE_COLUMNS, len(self.rows)) + 1
        return self.transposed() if self.may_transpose and is_too_wide else self


def words(*titles: str) -> list[TableColumn]:
    """Columns of words."""
    return [TableColumn(title, is_words=True) for title in titles]


def numbers(*titles: str) -> list[TableColumn]:
    """Columns of numbers."""
    return [TableColumn(title) for title in titles]


# -------------------------------------------------------------------------------------------------------- sentences


@dataclass(frozen=True)
class ShortLine:
    """What has to stay on one line: its start, a text that may be shortened, and as many of the rest as fit."""

    start: str
    quoted: str = ""
    rest: Sequence[str] = ()

    def within(self, width: int | None, separator: str = "   ") -> str:
        """As much as fits into a width, or as is easy to read if there is none."""
        from rankgauge.render.formats.wrapping import columns_of, excerpt

        start, quoted = printable(self.start, None), printable(self.quoted, None)
        for count in (MAX_REST, 1, 0):
            more = [f"+ {len(self.rest) - count} more"] if len(self.rest) > count else []
            listed = "".join(f"{separator}{text}" for text in (*self.rest[:count], *more))
            room = MAX_QUOTED if width is None else width - columns_of(start + listed) - 4
            if not quoted and room >= 0:
                return start + listed
            if quoted and room >= MIN_QUOTED:
                return f"{start}  “{excerpt(quoted, min(room, MAX_QUOTED))}”{listed}"
        return start


Line = str | ShortLine


@dataclass(frozen=True)
class Sentences:
    """Sentences that belong together, perhaps under a title; that of a verdict is its word."""

    lines: Sequence[Line]
    role: Role = "remark"
    tone: Tone = ""
    title: str = ""


def marked(text: str) -> str:
    """A name from data inside a sentence, which each output writes in its own way; see ``with_names``."""
    safe = text.replace(NAME_START, r"\x02").replace(NAME_END, r"\x03")
    return f"{NAME_START}{safe}{NAME_END}"


def with_names(text: str, show: Callable[[str], str], own: Callable[[str], str] = str) -> str:
    """A sentence with its marked names as ``show`` writes them, and the text between them as ``own`` does."""
    first, *others = text.split(NAME_START)
    out = [own(first)]
    for part in others:
        named, _, rest = part.partition(NAME_END)
        out += [show(named), own(rest)]
    return "".join(out)


@dataclass(frozen=True)
class Facts:
    """Short facts, each after its label; a fact without lines is left out."""

    entries: Mapping[str, Sequence[Line]]
    name: str = ""

    @property
    def present(self) -> dict[str, Sequence[Line]]:
        """The facts that are known."""
        return {label: lines for label, lines in self.entries.items() if any(lines)}


@dataclass(frozen=True)
class FindingPart:
    """A kind of fault: its severity and code, a sentence, and what belongs to it by label."""

    severity: Severity
    code: str
    count: int
    message: str
    details: Sequence[tuple[str, str]] = ()  # an empty label continues the one before


@dataclass(frozen=True)
class ChartData:
    """Data that text_chart draws on a terminal; other outputs have the parts ``instead``."""

    kind: Literal["means", "changes", "trend"]
    data: Any
    instead: Sequence[Part] = ()


@dataclass(frozen=True)
class DocumentSection:
    """Parts under a title of their own; folded, where an output can fold, if only some readers need them."""

    title: str
    parts: Sequence[Part]
    folded: bool = False
    on_terminal: bool = True  # a terminal, Markdown and LaTeX cannot fold
    on_pages: bool = True


Part = Sentences | Table | Facts | FindingPart | ChartData | DocumentSection


# --------------------------------------------------------------------------------------------------------- document


@dataclass(frozen=True)
class Rows:
    """One record per value, for CSV and JSON Lines; a field that a record does not have is empty."""

    fields: Sequence[str]
    records: Iterable[Record]


@dataclass(frozen=True)
class Check:
    """One thing that a gate decided, for a CI server."""

    group: str  # what kind of check it is
    name: str
    state: State
    message: str = ""
    kind: str = ""  # of the failure
    details: Sequence[str] = ()


@dataclass(frozen=True)
class ResultDocument:
    """A result as it is shown; what an output does not need is not computed."""

    title: str
    parts: Callable[[], Sequence[Part]]
    data: Callable[[], dict[str, Any]] = dict  # the JSON schema of the command
    rows: Callable[[], Rows] = lambda: Rows((), ())
    caveats: Callable[[], Sequence[str]] = lambda: ()  # terminals print these as warnings
    checks: Callable[[], Sequence[Check]] = lambda: ()
    properties: Callable[[], Mapping[str, str]] = dict  # of all checks together
    elsewhere: str = "use --format json"  # how a reader sees what a narrow terminal hides, besides with a wider one


def sentence(text: str, role: Role = "remark", tone: Tone = "") -> Sentences:
    """One sentence."""
    return Sentences([text], role, tone)


def listed(title: str, lines: Sequence[Line]) -> list[Part]:
    """Sentences under a title; nothing if there are none."""
    return [Sentences(lines, title=title)] if lines else []
