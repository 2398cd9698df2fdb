"""Collects what is wrong in a source while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from rankgauge.errors import SHOWN_FAULTS, Fault, InputError, Note, Severity, location

Said = str | Callable[[int], str]
Advice = str | Callable[[int], str | None] | None


class Faults:
    """The faults of one source: the first few of each code in full (all of them without a limit), and the counts.

    ``strict`` makes errors of warnings; notes stay what they are.
    """

    def __init__(self, source: str, *, limit: int | None = SHOWN_FAULTS, strict: bool = False) -> None:
        self.source = source
        self.limit = limit
        self.strict = strict
        self.listed: list[Fault] = []
        self.counts: Counter[tuple[str, Severity]] = Counter()

    def add(
        self,
        code: str,
        lines: Iterable[int] | NDArray[np.int64],
        *,
        expected: Said,
        found: Said,
        action: Advice = None,
        severity: Severity = "error",
    ) -> None:
        """Faults of one kind on some lines; the texts may be made from the place in that list."""
        places = lines if isinstance(lines, np.ndarray) else np.array(list(lines), dtype=np.int64)
        if not len(places):
            return
        severity = "error" if self.strict and severity == "warning" else severity
        already = self.counts[code, severity]
        self.counts[code, severity] += len(places)
        room = len(places) if self.limit is None else max(0, self.limit - already)
        for at, line in enumerate(places[:room].tolist()):
            self.listed.append(
                Fault(
                    code,
                    line or None,
                    found(at) if callable(found) else found,
                    expected(at) if callable(expected) else expected,
                    action(at) if callable(action) else action,
                    severity,
                )
            )

    def of(self, severity: Severity) -> list[Fault]:
        """The listed faults of a severity, in the order of lines."""
        return sorted((fault for fault in self.listed if fault.severity == severity), key=lambda f: f.line or 0)

    def total(self, severity: Severity) -> int:
        """How many there are, listed or not."""
        return sum(count for (_, kind), count in self.counts.items() if kind == severity)

    def stop(self) -> None:
        """Raise if there is an error."""
        if self.total("error"):
            raise InputError.from_faults(self.source, self.of("error"), self.total("error"))

    def notes(self, severity: Severity) -> Iterable[Note]:
        """One sentence for each kind of fault of a severity: the first of them, and how many there are."""
        for (code, kind), count in self.counts.items():
            if kind == severity and count:
                first = next(f for f in self.listed if (f.code, f.severity) == (code, severity))
                more = f" ({count} in all)" if count > 1 else ""
                yield Note(code, f"{location(self.source, first.line)}{first.message}{more}")
