"""The result of a validation: the faults of a file, grouped by code."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rankgauge.core.formatting import plural
from rankgauge.core.result_views import HtmlView
from rankgauge.errors import Fault, RankgaugeError, Severity, printable
from rankgauge.io.faults import Faults
from rankgauge.validation.codes import CODES, SEVERITIES, Code

VALIDATION_SCHEMA = "rankgauge.validation/1"


@dataclass(frozen=True)
class Place:
    """Where a fault was found, and what was found; ``hint`` is a suggestion for this place only."""

    line: int | None
    found: str
    hint: str | None = None


@dataclass(frozen=True)
class Finding:
    """All faults of one code. ``places`` are all of them, or the first few if only these were requested."""

    code: str
    severity: Severity
    count: int
    message: str
    expected: str
    action: str
    places: tuple[Place, ...]

    def to_dict(self) -> dict[str, Any]:
        """The finding in the JSON schema."""
        return {
            "code": self.code,
            "severity": self.severity,
            "count": self.count,
            "message": self.message,
            "expected": self.expected,
            "action": self.action,
            "places": [
                {"line": place.line, "found": place.found} | ({"hint": place.hint} if place.hint else {})
                for place in self.places
            ],
        }


@dataclass(frozen=True)
class Validation(HtmlView):
    """The findings in one file: errors first, then warnings, then notes."""

    file: str
    format: str | None
    sha256: str | None
    rows: int
    queries: int
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """The number of errors."""
        return self.count("error")

    @property
    def warnings(self) -> int:
        """The number of warnings."""
        return self.count("warning")

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.errors

    @property
    def readable(self) -> bool:
        """Whether the file could be read at all."""
        return "unreadable" not in self.codes

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the findings."""
        return tuple(finding.code for finding in self.findings)

    def __repr__(self) -> str:
        codes = "".join(f"; {finding.severity} {finding.code} ({finding.count:,})" for finding in self.findings)
        return f"Validation({self.file!r}: {plural(self.rows, 'row')}, {plural(self.queries, 'query')}{codes})"

    def __getitem__(self, code: str) -> Finding:
        for finding in self.findings:
            if finding.code == code:
                return finding
        raise KeyError(code)

    def count(self, severity: Severity) -> int:
        """The number of faults of a severity."""
        return sum(finding.count for finding in self.findings if finding.severity == severity)

    def to_dict(self) -> dict[str, Any]:
        """The file in the JSON schema."""
        return {
            "file": self.file,
            "format": self.format,
            "sha256": self.sha256,
            "rows": self.rows,
            "queries": self.queries,
            "faults": [finding.to_dict() for finding in self.findings],
        }


def as_dict(validations: Iterable[Validation]) -> dict[str, Any]:
    """The JSON schema: every file, and the totals over all files."""
    files = list(validations)
    return {
        "schema": VALIDATION_SCHEMA,
        "files": [file.to_dict() for file in files],
        "errors": sum(file.errors for file in files),
        "warnings": sum(file.warnings for file in files),
    }


def unreadable(file: str, error: RankgaugeError) -> Validation:
    """The validation of a file that cannot be read: each line of the error is a place."""
    code = CODES["unreadable"]
    place_pattern = re.compile(re.escape(printable(file, None)) + r"(?::(\d+))?: ")
    places = []
    for text in error.message.split("\n"):
        match = place_pattern.match(text)
        line = int(match[1]) if match and match[1] else None
        places.append(Place(line, text[match.end() :] if match else text))
    action = error.hint or code.action  # the error knows best what to do about it
    finding = Finding(
        "unreadable", code.severity, len(places), code.title, "a file that can be read", action, tuple(places)
    )
    return Validation(file, None, None, 0, 0, (finding,))


def findings_by_code(faults: Faults, *, strict: bool) -> tuple[Finding, ...]:
    """The collected faults by code, the most severe first and then by line."""
    counts: dict[str, int] = {}
    for (code, _), count in faults.counts.items():
        counts[code] = counts.get(code, 0) + count
    examples: dict[str, list[Fault]] = {}
    for fault in faults.examples:
        examples.setdefault(fault.code, []).append(fault)
    findings = [
        _finding(code, counts[code], sorted(code_faults, key=lambda fault: fault.line or 0), strict=strict)
        for code, code_faults in examples.items()
    ]
    return tuple(sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.places[0].line or 0)))


def _finding(name: str, count: int, faults: list[Fault], *, strict: bool) -> Finding:
    first = faults[0]
    # A reader may use a code that the table does not have: then its own texts are used.
    code = CODES.get(name) or Code(first.severity, first.expected, "", first.action or "correct the line")
    return Finding(
        code=name,
        severity=code.effective_severity(strict=strict),
        count=count,
        message=code.title,
        expected=first.expected,
        action=code.action,
        places=tuple(Place(fault.line, fault.found, fault.action) for fault in faults),
    )
