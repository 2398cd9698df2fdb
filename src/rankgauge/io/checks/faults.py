"""A collector for the faults of a source while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import SHOWN_FAULTS, Fault, InputError, Note, Severity, location

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

    def __add__(self, later: Cause) -> Cause:
        first = self if self.rows else later
        return Cause(
            self.rows + later.rows,
            self.queries + later.queries,
            self.checked + later.checked,
            first.line,
            first.example,
            first.hint,
        )


class Faults:
    """The faults of one source: the first few of each code as examples (all of them without a limit), and the counts.

    ``strict`` turns warnings into errors; notes stay notes.
    """

    def __init__(self, source: str, *, limit: int | None = SHOWN_FAULTS, strict: bool = False) -> None:
        self.source = source
        self.limit = limit
        self.strict = strict
        self.examples: list[Fault] = []
        self.counts: Counter[tuple[str, Severity]] = Counter()
        self.causes: dict[str, Cause] = {}

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
        earlier = self.counts[code, severity]
        self.counts[code, severity] += len(line_numbers)
        room = len(line_numbers) if self.limit is None else max(0, self.limit - earlier)
        for position, line in enumerate(line_numbers[:room].tolist()):
            self.examples.append(
                Fault(
                    code,
                    line or None,
                    found(position) if callable(found) else found,
                    expected(position) if callable(expected) else expected,
                    action(position) if callable(action) else action,
                    severity,
                )
            )

    def add_cause(
        self, code: str, cause: Cause, *, expected: str, found: Callable[[Cause], str], severity: Severity = "error"
    ) -> None:
        """Add rows that are wrong for one reason: one fault, which is rewritten if more rows are added later."""
        cause = self.causes.get(code, Cause()) + cause
        self.causes[code] = cause
        if cause.rows:
            self.counts.pop((code, "error" if self.strict and severity == "warning" else severity), None)
            self.examples = [fault for fault in self.examples if fault.code != code]
            hint = cause.hint if cause.is_systematic else None
            self.add(code, [cause.line], expected=expected, found=found(cause), action=hint, severity=severity)

    def examples_of(self, severity: Severity) -> list[Fault]:
        """The examples of a severity, in the order of lines."""
        return sorted((fault for fault in self.examples if fault.severity == severity), key=lambda f: f.line or 0)

    def total(self, severity: Severity) -> int:
        """The number of faults of a severity."""
        return sum(count for (_, counted), count in self.counts.items() if counted == severity)

    def raise_errors(self) -> None:
        """Raise if there is an error."""
        if self.total("error"):
            raise InputError.from_faults(self.source, self.examples_of("error"), self.total("error"))

    def notes(self, severity: Severity) -> Iterable[Note]:
        """One sentence for each code of a severity: the first fault, and how many there are."""
        for (code, counted), count in self.counts.items():
            if counted == severity and count:
                first = next(f for f in self.examples if (f.code, f.severity) == (code, severity))
                total = f" ({count} in total)" if count > 1 else ""
                hint = f"; {first.action}" if code in self.causes and first.action else ""
                yield Note(code, f"{location(self.source, first.line)}{first.message}{total}{hint}")

    def copy(self, *, limit: int | None) -> Faults:
        """The same faults in a collector of their own."""
        faults = Faults(self.source, limit=limit)
        faults.examples, faults.counts = list(self.examples), self.counts.copy()
        faults.causes = dict(self.causes)
        return faults

    def errors_only(self) -> Faults:
        """The errors without warnings and notes, in a collector of their own."""
        faults = Faults(self.source, limit=self.limit)
        faults.examples = self.examples_of("error")
        faults.counts.update({key: count for key, count in self.counts.items() if key[1] == "error"})
        return faults
