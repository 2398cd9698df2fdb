"""A collector for the faults of a source while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import SHOWN_FAULTS, Fault, InputError, Note, Severity, location, shown, warn_user

MessageText = str | Callable[[int], str]  # a text, or a function of the position in the list of lines
HintText = str | Callable[[int], str | None] | None
SYSTEMATIC_SHARE = 0.9  # if more than this share of the rows is wrong in the same way, it is not an accident


@dataclass(frozen=True)
class Cause:
    """Rows that are wrong for one reason: how many of those checked, in how many queries, and the first of them."""

    rows: int = 0
    queries: int = 0
    checked: int = 0
    line: int = 0
    example: str = ""
    hint: str | None = None  # what to do if nearly all rows are wrong

    @property
    def is_systematic(self) -> bool:
        """Whether nearly all rows are wrong, which is not an accident."""
        return self.rows > max(1, SYSTEMATIC_SHARE * self.checked)

    def __add__(self, other: Cause) -> Cause:
        first = min((cause for cause in (self, other) if cause.rows), key=lambda cause: cause.line, default=other)
        return Cause(
            self.rows + other.rows,
            self.queries + other.queries,
            self.checked + other.checked,
            first.line,
            first.example,
            first.hint,
        )


class Faults:
    """The faults of one source: the first few of each code as examples (all of them without a limit), and the counts.

    The first are those on the first lines, in whatever order they are added. ``strict`` turns warnings into errors;
    notes stay notes. If the source is a folder, ``files`` has the name of each file and the number of rows before it.
    If the source has no lines, rows are numbered instead, for the order of the faults only.
    """

    def __init__(self, source: str, *, limit: int | None = SHOWN_FAULTS, strict: bool = False) -> None:
        self.source = source
        self.limit = limit
        self.strict = strict
        self.has_lines = True
        self._placed: list[tuple[int, Fault]] = []  # the examples, each with its line or row
        self.counts: Counter[tuple[str, Severity]] = Counter()
        self.causes: dict[str, Cause] = {}
        self.files: list[tuple[str, int]] = []

    def add(
        self,
        code: str,
        lines: Iterable[int] | NDArray[np.int64],
        *,
        expected: MessageText,
        found: MessageText,
        action: HintText = None,
        severity: Severity = "error",
    ) -> None:
        """Add faults of one code on some lines; the texts may be functions of the position in that list."""
        line_numbers = lines if isinstance(lines, np.ndarray) else np.array(list(lines), dtype=np.int64)
        if not len(line_numbers):
            return
        severity = "error" if self.strict and severity == "warning" else severity
        self.counts[code, severity] += len(line_numbers)
        for position in self._first_positions(code, severity, line_numbers):
            line = int(line_numbers[position])
            fault = Fault(
                code,
                (line or None) if self.has_lines else None,
                found(position) if callable(found) else found,
                expected(position) if callable(expected) else expected,
                action(position) if callable(action) else action,
                severity,
            )
            self._placed.append((line, fault))
        if self.limit is not None:
            dropped = [f for f in self.examples_of(severity) if f.code == code][self.limit :]
            self._placed = [one for one in self._placed if not any(one[1] is other for other in dropped)]

    def _first_positions(self, code: str, severity: Severity, lines: NDArray[np.int64]) -> list[int]:
        """The positions of the lines that may be among the first ones with this code."""
        if self.limit is None:
            return list(range(len(lines)))
        known = [line for line, fault in self._placed if (fault.code, fault.severity) == (code, severity)]
        if len(known) >= self.limit and int(lines.min()) >= max(known, default=0):
            return []
        is_ascending = len(lines) <= self.limit or bool((lines[1:] >= lines[:-1]).all())
        order = range(len(lines)) if is_ascending else np.argsort(lines, kind="stable").tolist()
        return sorted(order[: self.limit])

    def add_cause(
        self, code: str, cause: Cause, *, expected: str, found: Callable[[Cause], str], severity: Severity = "error"
    ) -> None:
        """Add rows that are wrong for one reason: one fault, which is rewritten if more rows are added later."""
        cause = self.causes.get(code, Cause()) + cause
        self.causes[code] = cause
        if cause.rows:
            self.counts.pop((code, "error" if self.strict and severity == "warning" else severity), None)
            self._placed = [one for one in self._placed if one[1].code != code]
            hint = cause.hint if cause.is_systematic else None
            self.add(code, [cause.line], expected=expected, found=found(cause), action=hint, severity=severity)

    @property
    def examples(self) -> list[Fault]:
        """The examples in the order in which they were added."""
        return [fault for _, fault in self._placed]

    def examples_of(self, severity: Severity) -> list[Fault]:
        """The examples of a severity, in the order of lines (or rows), and of codes on the same line."""
        chosen = [one for one in self._placed if one[1].severity == severity]
        return [fault for _, fault in sorted(chosen, key=lambda one: (one[0], one[1].code))]

    def total(self, severity: Severity) -> int:
        """The number of faults of a severity."""
        return sum(count for (_, counted), count in self.counts.items() if counted == severity)

    def raise_errors(self) -> None:
        """Raise if there is an error."""
        if self.total("error"):
            raise InputError.from_faults(
                self.source, self.examples_of("error"), self.total("error"), place=self._place if self.files else None
            )

    def raise_or_warn(self) -> None:
        """Raise if there is an error; else warn of the warnings."""
        self.raise_errors()
        for note in self.notes("warning"):
            warn_user(note.message)

    def notes(self, severity: Severity) -> Iterable[Note]:
        """One sentence for each code of a severity: the first fault, and how many there are."""
        first_faults: dict[str, Fault] = {}
        for fault in self.examples_of(severity):
            first_faults.setdefault(fault.code, fault)
        for code, first in first_faults.items():
            count = self.counts[code, severity]
            total = f" ({count} in total)" if count > 1 else ""
            hint = f"; {first.action}" if code in self.causes and first.action else ""
            yield Note(code, f"{self._place(first.line)}{first.message}{total}{hint}")

    def _place(self, line: int | None) -> str:
        """The ``file:line: `` that precedes a message."""
        if not self.files or line is None:
            return location(self.source, line)
        name, rows_before = self._file_of(line)
        return location(f"{self.source}/{name}", line - rows_before)

    def describe_line(self, line: int) -> str:
        """A line within a message, as in "line 5"; nothing if the source has none."""
        if not self.has_lines or not line:
            return ""
        if not self.files:
            return f"line {line}"
        name, rows_before = self._file_of(line)
        return f"row {line - rows_before} of {shown(name)}"

    def _file_of(self, line: int) -> tuple[str, int]:
        return max((file for file in self.files if file[1] < line), key=lambda file: file[1])

    def copy(self, *, limit: int | None) -> Faults:
        """A collector of its own with the faults so far."""
        faults = Faults(self.source, limit=limit)
        faults._placed, faults.counts = list(self._placed), self.counts.copy()
        faults.causes, faults.has_lines = dict(self.causes), self.has_lines
        return faults

    def reset(self, other: Faults) -> None:
        """Forget everything but the faults of another collector."""
        self._placed, self.counts = list(other._placed), other.counts.copy()
        self.causes, self.files, self.has_lines = dict(other.causes), list(other.files), other.has_lines

    def errors_only(self) -> Faults:
        """The errors without warnings and notes, in a collector of their own."""
        faults = Faults(self.source, limit=self.limit)
        faults.has_lines = self.has_lines
        faults._placed = [one for one in self._placed if one[1].severity == "error"]
        faults.counts.update({key: count for key, count in self.counts.items() if key[1] == "error"})
        return faults
