"""What CI servers show of a document with checks: JUnit XML, which every one reads, and Markdown as GitHub shows it."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as Xml

from rankgauge.errors import printable
from rankgauge.render.document import Check, ResultDocument, Sentences, Table, Tone, Words, with_names
from rankgauge.render.formats.markdown import escaped, table, text_of_line
from rankgauge.render.formats.terminal import as_text

SUITE = "rankgauge gate"
VERDICT_SIGNS: dict[Tone, str] = {"better": "✅", "worse": "❌", "neutral": "⚠️", "": ""}


def as_junit(document: ResultDocument) -> str:
    """One test case per check; properties of the document are those of the suite."""
    checks = document.checks()
    failures, skipped = (sum(check.state == state for check in checks) for state in ("failed", "skipped"))
    counts = {"tests": str(len(checks)), "failures": str(failures), "errors": "0", "skipped": str(skipped)}
    root = Xml.Element("testsuites", {"name": SUITE, **counts})
    suite = Xml.SubElement(root, "testsuite", {"name": SUITE, **counts})
    if properties := document.properties():
        element = Xml.SubElement(suite, "properties")
        for name, value in properties.items():
            Xml.SubElement(element, "property", name=name, value=value)
    suite.extend(map(_case, checks))
    lines = as_text(document).split("\n")
    Xml.SubElement(suite, "system-out").text = "\n".join(printable(line, None) for line in lines)
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _case(check: Check) -> Xml.Element:
    case = Xml.Element("testcase", classname=f"{SUITE}.{check.group}", name=printable(check.name, None))
    if check.state == "skipped":
        Xml.SubElement(case, "skipped", message=printable(check.message, None))
    elif check.state == "failed":
        failure = Xml.SubElement(case, "failure", type=check.kind, message=check.message)
        if check.details:
            failure.text = "\n".join(with_names(line, printable) for line in check.details)
    elif check.message:
        Xml.SubElement(case, "system-out").text = check.message
    return case


def as_summary(document: ResultDocument) -> str:
    """A heading, the answer, the tables and their notes."""
    blocks = []
    for part in document.parts():
        if isinstance(part, Table):
            blocks.append(_table(part))
        elif isinstance(part, Sentences):
            blocks.append(_sentences(document, part))
    return "\n\n".join(blocks) + "\n"


def _sentences(document: ResultDocument, part: Sentences) -> str:
    lines = [with_names(line, code, escaped) if isinstance(line, str) else text_of_line(line) for line in part.lines]
    match part.role:
        case "verdict":
            heading = f"### {VERDICT_SIGNS[part.tone]} {escaped(document.title)}"
            return "\n\n".join([heading, *(f"{line[:1].upper()}{line[1:]}" for line in lines)])
        case "note":
            return "\n\n".join(f"> {line}" for line in lines)
        case "footnote":
            return "\n".join(f"<sub>{line}</sub>" for line in lines)
        case _ if part.title:
            return "\n".join([f"**{escaped(part.title)}**", *(f"- {line}" for line in lines)])
        case _:
            return "\n".join(f"- {line}" for line in lines)


def _table(part: Table) -> str:
    """The first column is code; on GitHub, only that has room to stand to the left."""
    first = [Words(cell.text, from_data=True) for cell, *_ in part.rows]
    columns = [replace(column, is_words=not place) for place, column in enumerate(part.columns)]
    rows = [[head, *row[1:]] for head, row in zip(first, part.rows, strict=True)]
    made = table(replace(part, columns=columns, rows=rows), show=code)
    return f"**{escaped(part.caption)}**\n\n{made}" if part.caption else made


def code(text: str) -> str:
    """A name as code, in which GitHub interprets nothing; in backticks unless it contains one, or a bar."""
    safe = printable(text)
    return f"<code>{escaped(safe)}</code>" if set(safe) & {"`", "|"} else f"`{safe}`"
