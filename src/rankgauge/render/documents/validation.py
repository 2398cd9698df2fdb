"""The findings of a validation, and what was checked of a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from rankgauge.core.formatting import plural
from rankgauge.errors import printable, shown
from rankgauge.render.document import FindingPart, Part, ResultDocument, Sentences, Tone, marked, sentence, with_names
from rankgauge.validation.codes import CODES, SEVERITIES
from rankgauge.validation.findings import Finding, Place, Validation, as_dict
from rankgauge.validation.repair import Repair

PLACES_SHOWN = 5  # of an error or a warning; of a note the first is enough
OUTCOME_WIDTH = 9
MAX_CHANGES = 60  # of a verification


def validation_document(validations: Sequence[Validation]) -> ResultDocument:
    """The answer first, then the findings with their places and what to do."""
    return ResultDocument("Validation", lambda: _parts(validations), lambda: as_dict(validations))


def document(file: Validation) -> ResultDocument:
    """One file."""
    return validation_document([file])


def _parts(validations: Sequence[Validation]) -> list[Part]:
    tally = [f"{len(validations)} files: {_tally(validations)}"] if len(validations) > 1 else []
    if not any(file.findings for file in validations):
        return [Sentences([*map(headline, validations), *tally], "answer", "better")]
    parts: list[Part] = []
    for file in validations:
        tone: Tone = "worse" if file.errors else "neutral" if file.warnings else "better"
        parts += [sentence(headline(file), "answer", tone), *(_finding(file, finding) for finding in file.findings)]
    return [*parts, *map(sentence, tally)]


def headline(file: Validation) -> str:
    """The state of a file in one line."""
    name = marked(file.file)
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
        lines = [f"wrote {with_names(headline(after), lambda name: printable(name, None))}"]
    for finding in repair.resolved:
        if finding.code not in remaining:
            lines.append(_outcome_line("repaired", finding, CODES[finding.code].repair or ""))
    for finding in repair.remaining if after is None else after.findings:
        lines.append(_outcome_line("remaining", finding, finding.message))
    return "\n".join(lines) + "\n"


def _outcome_line(label: str, finding: Finding, text: str) -> str:
    return f"  {label:<{OUTCOME_WIDTH}} {finding.code} ({finding.count:,}): {text}"


def _finding(file: Validation, finding: Finding) -> FindingPart:
    places = finding.places[: 1 if finding.severity == "note" else PLACES_SHOWN]
    details = [("expected", finding.expected)]
    details += [("" if index else "found", text) for index, text in enumerate(_found_lines(file, finding, places))]
    details.append(("action", finding.action))
    hints = dict.fromkeys(place.hint for place in places if place.hint)
    details += [("hint", hint) for text in hints for hint in text.split("\nhint: ")]
    code = CODES.get(finding.code)
    if code is not None and code.repair:
        details.append(("--fix", code.repair))
    return FindingPart(finding.severity, finding.code, finding.count, finding.message, details)


def _found_lines(file: Validation, finding: Finding, places: Sequence[Place]) -> list[str]:
    """One line per place that is shown, then how many are not."""
    locations = [_location(file, place) for place in places]
    width = max(map(len, locations))
    lines = [f"{location:<{width}}  {_found(place)}" for location, place in zip(locations, places, strict=True)]
    return [*lines, f"… {finding.count - len(places):,} more"] if finding.count > len(places) else lines


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


class Verified(Protocol):
    """What was checked of a benchmark; its own class is in a later room."""

    @property
    def files(self) -> int:
        """How many files were checked."""

    @property
    def recomputed(self) -> int:
        """How many numbers were computed again."""

    @property
    def changes(self) -> Sequence[object]:
        """What is not as it was written."""

    @property
    def tolerated(self) -> Sequence[object]:
        """What differs only as versions of SciPy do."""


def verification_document(verified: Verified) -> ResultDocument:
    """Whether everything is as it was written, and what is not."""
    counts = f"{plural(verified.files, 'file')}, {plural(verified.recomputed, 'number')} recomputed"
    if not verified.changes:
        tolerated = [Sentences([*map(str, verified.tolerated[:MAX_CHANGES])], title="Tolerated")]
        answered = sentence(f"ok: {counts}", "answer", "better")
        return ResultDocument("Verification", lambda: [answered, *(tolerated if verified.tolerated else [])])
    answer = sentence(f"{plural(len(verified.changes), 'change')} in {counts}", "answer", "worse")
    changes = Sentences([*map(str, verified.changes[:MAX_CHANGES])], title="Changes")
    return ResultDocument("Verification", lambda: [answer, changes])
