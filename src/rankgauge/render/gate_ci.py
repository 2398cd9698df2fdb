"""A gate's verdict for CI: JUnit XML, which every CI server reads, and Markdown as GitHub shows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

from rankgauge.errors import printable
from rankgauge.gating.result import GateResult, short, signed
from rankgauge.render import gate as plain

SUITE = "rankgauge gate"
MARKS = {"pass": "✅", "fail": "❌", "skipped": "⏭️"}
LOUD = ("WORSE", "MISSED")


def as_junit(result: GateResult) -> str:
    """One test case for each requirement and each measure compared."""
    cases = [*_required(result), *_compared(result)]
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
    suite.extend(cases)
    Xml.SubElement(suite, "system-out").text = "\n".join(
        printable(line, None) for line in plain.as_text(result).split("\n")
    )
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _required(result: GateResult) -> list[Xml.Element]:
    cases = []
    for row in result.required:
        case = Xml.Element("testcase", classname=f"{SUITE}.require", name=printable(str(row.requirement), None))
        if result.verdict != "skipped" and not row.met:
            value = "no value" if row.value is None else f"{row.value:.4f}"
            Xml.SubElement(case, "failure", type="requirement", message=f"{row.requirement} is missed: {value}")
        cases.append(case)
    return cases


def _compared(result: GateResult) -> list[Xml.Element]:
    cases = []
    for row in result.compared:
        case = Xml.Element("testcase", classname=f"{SUITE}.against", name=printable(row.measure, None))
        if row.decision.outcome == "worse":
            message = f"{row.measure} dropped: {signed(row.change)}, p {short(row.decision.p)}"
            failure = Xml.SubElement(case, "failure", type="drop", message=message)
            failure.text = "\n".join(plain.blame_lines(result, printable, of=row.measure))
        else:
            said = f"{row.decision.outcome}: {signed(row.change)}, p {short(row.decision.p)}"
            Xml.SubElement(case, "system-out").text = said
        cases.append(case)
    return cases


def as_markdown(result: GateResult) -> str:
    """A heading, the answer, the tables and what must be known of them."""
    answer = escaped(result.reason) if result.reason is not None else result.answer(code)
    parts = [f"### {MARKS[result.verdict]} Retrieval gate: {result.verdict}", answer[:1].upper() + answer[1:] + "."]
    if result.required and result.verdict != "skipped":
        parts.append(_table(plain.required_head(result), plain.required_rows(result)))
    if result.compared:
        parts.append(_table(plain.compared_head(result), plain.compared_rows(result)))
    lines = plain.blame_lines(result, code)
    if lines:
        parts.append("\n".join([f"**{lines[0]}**", *(f"- {line}" for line in lines[1:])]))
    parts += [f"> {escaped(line)}" for line in plain.note_lines(result)]
    if result.compared:
        parts.append(f"<sub>{escaped(plain.how_line(result))}</sub>")
    return "\n\n".join(parts) + "\n"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The first column is code; the head and the rest are words and numbers of our own."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for first, *rest in rows:
        lines.append([code(first), *(f"**{cell}**" if cell in LOUD else cell for cell in rest)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(text: str) -> str:
    """A name as code, where GitHub obeys nothing; in backticks unless it has some, or a bar, itself."""
    safe = printable(text)
    return f"<code>{escaped(safe)}</code>" if set(safe) & {"`", "|"} else f"`{safe}`"


def escaped(text: str) -> str:
    """Text in which Markdown, HTML and GitHub's mentions find nothing to obey."""
    safe = re.sub(r"[\\`*_\[\]<>|&~#$]", r"\\\g<0>", printable(text, None))
    return re.sub(r"(?<!\w)@", "@<!-- -->", safe)
