"""A gate's verdict for CI: JUnit XML, which every CI server reads, and Markdown as GitHub shows it."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from rankgauge.comparison.gate.result import CHANGE_DIGITS, VERDICT_WORDS, ComparedMeasure, GateResult
from rankgauge.config.bands.bands import Bands
from rankgauge.core.formatting import number, p_equals, signed
from rankgauge.errors import printable
from rankgauge.render.text import gate as plain
from rankgauge.render.text.bands import heading, reached, uplift_lines
from rankgauge.render.text.markdown import escaped

SUITE = "rankgauge gate"
VERDICT_MARKS = {"pass": "✅", "fail": "❌", "skipped": "⏭️", "rotted": "⚠️"}
EMPHASIZED = ("WORSE", "MISSED")


def as_junit(result: GateResult, *, bands: Bands | None = None) -> str:
    """One test case per requirement and compared measure; target bands as properties of the suite."""
    cases = [*_labels(result), *_required(result), *_compared(result)]
    if not cases:
        cases = [Xml.Element("testcase", classname=f"{SUITE}.against", name="baseline")]
    if result.verdict == "skipped":
        for case in cases:
            Xml.SubElement(case, "skipped", message=printable(result.reason or "", None))
    failures = sum(case.find("failure") is not None for case in cases)
    counts = {
        "tests": str(len(cases)),
        "failures": str(failures),
        "errors": "0",
        "skipped": str(len(cases) if result.verdict == "skipped" else 0),
    }
    root = Xml.Element("testsuites", {"name": SUITE, **counts})
    suite = Xml.SubElement(root, "testsuite", {"name": SUITE, **counts})
    if bands is not None and (bands_reached := reached(result.scores, bands)):
        properties = Xml.SubElement(suite, "properties")
        for measure, band in bands_reached.items():
            Xml.SubElement(properties, "property", name=f"{heading(bands)} {measure}", value=band)
    suite.extend(cases)
    Xml.SubElement(suite, "system-out").text = "\n".join(
        printable(line, None) for line in plain.as_text(result, bands=bands).split("\n")
    )
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _labels(result: GateResult) -> list[Xml.Element]:
    """A case of its own for labels that rotted, so that they are not taken for a drop."""
    if result.rot is None:
        return []
    case = Xml.Element("testcase", classname=f"{SUITE}.labels", name=printable(result.rot.source, None))
    failure = Xml.SubElement(case, "failure", type="labels", message=f"labels rotted: {result.rot.summary}")
    failure.text = "\n".join(plain.rot_lines(result, printable))
    return [case]


def _required(result: GateResult) -> list[Xml.Element]:
    cases = []
    for row in result.required:
        case = Xml.Element("testcase", classname=f"{SUITE}.require", name=printable(str(row.requirement), None))
        if result.verdict != "skipped" and not row.met:
            value = "no value" if row.value is None else number(row.value)
            Xml.SubElement(case, "failure", type="requirement", message=f"{row.requirement} is missed: {value}")
        cases.append(case)
    return cases


def _compared(result: GateResult) -> list[Xml.Element]:
    cases = []
    rows = [*(("against", row) for row in result.compared), *(("anchor", row) for row in result.anchored)]
    for kind, row in rows:
        case = Xml.Element("testcase", classname=f"{SUITE}.{kind}", name=printable(row.measure, None))
        if row.decision.outcome == "worse":
            message = f"{row.measure} dropped: {_evidence(row)}"
            failure = Xml.SubElement(case, "failure", type="drop", message=message)
            failure.text = "\n".join(plain.blame_lines(result, printable, of=row.measure))
        else:
            Xml.SubElement(case, "system-out").text = f"{row.decision.outcome}: {_evidence(row)}"
        cases.append(case)
    return cases


def _evidence(row: ComparedMeasure) -> str:
    return f"{signed(row.change, CHANGE_DIGITS)}, {p_equals(row.decision.p)}"


def as_markdown(result: GateResult, *, bands: Bands | None = None) -> str:
    """A heading, the answer, the tables and their notes."""
    answer = escaped(result.reason) if result.reason is not None else result.answer(code)
    parts = [
        f"### {VERDICT_MARKS[result.verdict]} Retrieval gate: {VERDICT_WORDS.get(result.verdict, result.verdict)}",
        answer[:1].upper() + answer[1:] + ".",
    ]
    parts += [_table(head, rows) for head, *rows in plain.tables(result, bands)]
    lists = (plain.rot_lines(result, code), plain.growth_lines(result, code))
    parts += ["\n".join(f"- {line}" for line in lines) for lines in lists if lines]
    lines = plain.blame_lines(result, code)
    if lines:
        parts.append("\n".join([f"**{lines[0]}**", *(f"- {line}" for line in lines[1:])]))
    parts += [f"> {escaped(line)}" for line in plain.note_lines(result)]
    if result.verdict != "skipped":
        lines = [*uplift_lines([result.scores], bands), *plain.footer(result)]
        parts.append("\n".join(f"<sub>{escaped(line)}</sub>" for line in lines))
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column is code; the name of bands in the head comes from a user, the rest from us."""
    lines = [[escaped(title) for title in head], ["---", *["---:"] * (len(head) - 1)]]
    for first, *rest in rows:
        lines.append([code(first), *(f"**{cell}**" if cell in EMPHASIZED else cell for cell in rest)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(text: str) -> str:
    """A name as code, in which GitHub interprets nothing; in backticks unless it contains one, or a bar."""
    safe = printable(text)
    return f"<code>{escaped(safe)}</code>" if set(safe) & {"`", "|"} else f"`{safe}`"
