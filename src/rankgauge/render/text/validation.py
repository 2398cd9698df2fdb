"""The findings of a validation, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence

from rankgauge.core.formatting import plural
from rankgauge.errors import Severity, printable, shown
from rankgauge.io.text import json_text
from rankgauge.render.text.terminal import BOLD, PLAIN, RESET, Layout, hung, wrapped
from rankgauge.validation.codes import CODES, SEVERITIES
from rankgauge.validation.findings import Finding, Place, Validation, as_dict
from rankgauge.validation.repair import Repair

PLACES_SHOWN = 5  # of an error or a warning; of a note the first is enough
FINDING_LABEL_WIDTH = 9
SEVERITY_COLORS: dict[Severity, str] = {"error": "\x1b[1;31m", "warning": "\x1b[1;33m", "note": "\x1b[1;36m"}


def as_json(validations: Sequence[Validation]) -> str:
    """The schema as text, with every place."""
    return json_text(as_dict(validations), indent=2) + "\n"


def as_text(validations: Sequence[Validation], layout: Layout = PLAIN) -> str:
    """The answer first, then the findings with their places and what to do."""
    parts = ["\n".join([*_headline_lines(file, layout), *_faults(file, layout)]) for file in validations]
    if len(validations) > 1:
        parts.append(f"{len(validations)} files: {_tally(validations)}")
    return ("\n\n" if any(file.findings for file in validations) else "\n").join(parts) + "\n"


def _headline_lines(file: Validation, layout: Layout) -> list[str]:
    """The state of a file, its name bold: after wrapping, which would count the sequences for color as columns."""
    first, *others = hung(headline(file), layout)
    name = printable(file.file, None)
    if layout.color and first.startswith(name):
        first = f"{BOLD}{name}{RESET}{first.removeprefix(name)}"
    return [first, *others]


def headline(file: Validation) -> str:
    """The state of a file in one line."""
    name = printable(file.file, None)
    if not file.readable:
        return f"{name}: cannot be read"
    if file.findings and not file.rows:
        return f"{name}: {_tally([file])}"
    size = f"{plural(file.rows, 'row')}, {plural(file.queries, 'query')}"
    return f"{name}: clean, {size}" if not file.findings else f"{name}: {_tally([file])} in {size}"


def fixed_text(path: str, repair: Repair, after: Validation | None) -> str:
    """What was repaired, and what the copy still has."""
    remaining = () if after is None else after.codes
    lines = [f"{printable(path, None)}: not written, nothing in this file can be repaired"]
    if after is not None:
        lines = [f"wrote {headline(after)}"]
    for finding in repair.resolved:
        if finding.code not in remaining:
            lines.append(_outcome_line("repaired", finding, CODES[finding.code].repair or ""))
    for finding in repair.remaining if after is None else after.findings:
        lines.append(_outcome_line("remaining", finding, finding.message))
    return "\n".join(lines) + "\n"


def _outcome_line(label: str, finding: Finding, text: str) -> str:
    return f"  {label:<{FINDING_LABEL_WIDTH}} {finding.code} ({finding.count:,}): {text}"


def _faults(file: Validation, layout: Layout) -> list[str]:
    lines = []
    for finding in file.findings:
        lines += ["", *_finding(file, finding, layout)]
    return lines


def _finding(file: Validation, finding: Finding, layout: Layout) -> list[str]:
    places = finding.places[: 1 if finding.severity == "note" else PLACES_SHOWN]
    labeled_texts = [("expected", finding.expected)]
    labeled_texts += [
        ("" if index else "found", text) for index, text in enumerate(_found_lines(file, finding, places))
    ]
    labeled_texts.append(("action", finding.action))
    hints = dict.fromkeys(place.hint for place in places if place.hint)
    labeled_texts += [("hint", hint) for text in hints for hint in text.split("\nhint: ")]
    code = CODES.get(finding.code)
    if code is not None and code.repair:
        labeled_texts.append(("--fix", code.repair))
    first, *others = hung(f"{finding.severity} {finding.code} ({finding.count:,}): {finding.message}", layout)
    if layout.color:  # after wrapping, which would count the sequences as columns
        first = f"{SEVERITY_COLORS[finding.severity]}{finding.severity}{RESET}{first.removeprefix(finding.severity)}"
    return [first, *others, *(line for label, text in labeled_texts for line in _labeled(label, text, layout))]


def _found_lines(file: Validation, finding: Finding, places: Sequence[Place]) -> list[str]:
    """One line per place that is shown, then how many are not."""
    locations = [_location(file, place) for place in places]
    width = max(map(len, locations))
    lines = [f"{location:<{width}}  {_found(place)}" for location, place in zip(locations, places, strict=True)]
    return [*lines, f"… {finding.count - len(places):,} more"] if finding.count > len(places) else lines


def _labeled(label: str, text: str, layout: Layout) -> list[str]:
    """A text after its label, wrapped if it is too long."""
    lines = wrapped(text, layout, indent=FINDING_LABEL_WIDTH + 3, hanging=2 if label in ("found", "") else 0) or [""]
    return [f"  {'' if index else label:<{FINDING_LABEL_WIDTH}} {line}" for index, line in enumerate(lines)]


def _location(file: Validation, place: Place) -> str:
    name = printable(file.file, None)
    return name if place.line is None else f"{name}:{place.line}"


def _found(place: Place) -> str:
    # Readers escape what they found; the text of a system's error may still hold a name that is not escaped.
    return place.found if place.found.isprintable() else shown(place.found)


def _tally(files: Sequence[Validation]) -> str:
    errors, warnings, notes = (sum(file.count(severity) for file in files) for severity in SEVERITIES)
    counts = [plural(errors, "error") if errors else "no errors"]
    counts += [plural(warnings, "warning")] if warnings else []
    counts += [plural(notes, "note")] if notes else []
    return ", ".join(counts)
