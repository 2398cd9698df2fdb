"""What a validation found, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence

from rankgauge.errors import Severity, printable, shown
from rankgauge.render.text.terminal import BOLD, PLAIN
from rankgauge.validation.codes import CODES, SEVERITIES
from rankgauge.validation.findings import Finding, Place, Validation, as_dict
from rankgauge.validation.repair import Repair

LISTED = 5  # places of an error or a warning; of a note the first is enough
LABEL = 9
COLOURS: dict[Severity, str] = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}


def as_json(validations: Sequence[Validation]) -> str:
    """The schema as text, with every place."""
    return json.dumps(as_dict(validations), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_text(validations: Sequence[Validation], *, color: bool, width: int) -> str:
    """The answer first, then the faults with their places and what to do."""
    parts = ["\n".join([headline(file, color=color), *_faults(file, color=color, width=width)]) for file in validations]
    if len(validations) > 1:
        parts.append(f"{len(validations)} files: {_tally(validations)}")
    return ("\n\n" if any(file.findings for file in validations) else "\n").join(parts) + "\n"


def headline(file: Validation, *, color: bool = False) -> str:
    """One line that says how a file is."""
    name = _bold(printable(file.file, None), color)
    if not file.readable:
        return f"{name}: cannot be read"
    if file.findings and not file.rows:
        return f"{name}: {_tally([file])}"
    size = f"{_count(file.rows, 'row')}, {_count(file.queries, 'query', 'queries')}"
    return f"{name}: clean, {size}" if not file.findings else f"{name}: {_tally([file])} in {size}"


def fixed_text(path: str, repair: Repair, after: Validation | None) -> str:
    """What a repair did and what it left: what the copy still has is left, whatever was tried."""
    still = () if after is None else after.codes
    lines = [f"{printable(path, None)}: not written, nothing here can be repaired"]
    if after is not None:
        lines = [f"wrote {headline(after)}"]
    for finding in repair.resolved:
        if finding.code not in still:
            lines.append(f"  {'repaired':<{LABEL}} {finding.code} ({finding.count:,}): {CODES[finding.code].repair}")
    for finding in repair.remaining if after is None else after.findings:
        lines.append(f"  {'left':<{LABEL}} {finding.code} ({finding.count:,}): {finding.message}")
    return "\n".join(lines) + "\n"


def _faults(file: Validation, *, color: bool, width: int) -> list[str]:
    lines = []
    for finding in file.findings:
        lines += ["", *_finding(file, finding, color=color, width=width)]
    return lines


def _finding(file: Validation, finding: Finding, *, color: bool, width: int) -> list[str]:
    said = [("expected", finding.expected)]
    some = finding.places[: 1 if finding.severity == "note" else LISTED]
    where = [_where(file, place) for place in some]
    widest = max(map(len, where))
    found = [f"{at:<{widest}}  {_place(place)}" for at, place in zip(where, some, strict=True)]
    if finding.count > len(some):
        found.append(f"… {finding.count - len(some):,} more")
    said += [("found" if number == 0 else "", text) for number, text in enumerate(found)]
    said.append(("action", finding.action))
    hints = dict.fromkeys(place.hint for place in some if place.hint)
    said += [("hint", hint) for text in hints for hint in text.split("\nhint: ")]
    code = CODES.get(finding.code)
    if code is not None and code.repair:
        said.append(("--fix", code.repair))
    severity = f"{COLOURS[finding.severity]}{finding.severity}{PLAIN}" if color else finding.severity
    head = f"{severity} {finding.code} ({finding.count:,}): {finding.message}"
    return [head, *(line for label, text in said for line in _labelled(label, text, width))]


def _labelled(label: str, text: str, width: int) -> list[str]:
    """A text behind its label, broken at blanks where it is too long; a place and what was found there stay whole."""
    lines = [text] if label in ("found", "") else textwrap.wrap(text, max(40, width - LABEL - 3)) or [""]
    return [f"  {label if not number else '':<{LABEL}} {line}" for number, line in enumerate(lines)]


def _where(file: Validation, place: Place) -> str:
    name = printable(file.file, None)
    return name if place.line is None else f"{name}:{place.line}"


def _place(place: Place) -> str:
    # What a reader found is made safe where it is found; a name of the system's may come in an error's text.
    return place.found if place.found.isprintable() else shown(place.found)


def _tally(files: Sequence[Validation]) -> str:
    errors, warnings, notes = (sum(file.count(severity) for file in files) for severity in SEVERITIES)
    said = [_count(errors, "error") if errors else "no errors"]
    said += [_count(warnings, "warning")] if warnings else []
    said += [_count(notes, "note")] if notes else []
    return ", ".join(said)


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _bold(text: str, color: bool) -> str:
    return f"{BOLD}{text}{PLAIN}" if color else text
