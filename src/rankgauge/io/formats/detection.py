"""What a file is, from its first bytes and lines: JSON, a run, judgments, or a format that is never read.

Judgments in place of a run, the reverse, and known formats that are neither are one error instead of one per line.
Which format of the table fits is decided in ``registry``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

from rankgauge.core.dataclass import dataclass
from rankgauge.errors import InputError, shown
from rankgauge.io.formats.named_columns import Kind
from rankgauge.io.text_checks import BOM, DECIMAL

HEAD_BYTES = 1 << 16
OBJECT = rb'\s*\{\s*["}]'  # compiled only if a file is not a TREC file
ARRAY = rb"\s*\[\s*[{\]]"
COMMENTED = rb"(?:(?://|#)[^\n]*\n|\s*\n)+(?=\s*[\[{])"  # comments before JSON, which does not have any
YAML_SUFFIXES = (".yaml", ".yml")
YAML = rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*(?:---[ \t]*(?:#[^\n]*)?\n|- +[\w-]+:(?:\s|$)|[\w-]+:[ \t]*(?:#[^\n]*)?\r?\n)"


class Head:
    """The first bytes, and what they show. Pass all the data there is: only its beginning is looked at.

    ``selector`` chooses a list of test cases in the file.
    """

    def __init__(self, data: bytes, name: str = "", selector: str | None = None) -> None:
        self.data, self.name, self.selector = data, name, selector
        self.begin = len(BOM) if data.startswith(BOM) else 0
        if data[self.begin : self.begin + 1] in (b"/", b"#") and not name.endswith(YAML_SUFFIXES):
            comments = re.match(COMMENTED, data[self.begin : self.begin + HEAD_BYTES])
            self.begin += comments.end() if comments else 0

    @cached_property
    def text(self) -> bytes:
        """The first bytes without a byte order mark."""
        return self.data[self.begin : self.begin + HEAD_BYTES]

    @cached_property
    def lines(self) -> list[bytes]:
        """The complete lines among them that are not blank, without their line endings."""
        parts = self.text.split(b"\n")
        if len(parts) > 1 and len(self.text) == HEAD_BYTES:
            parts.pop()  # an incomplete line
        return [part.rstrip(b"\r") for part in parts if part.strip()]

    @cached_property
    def line(self) -> bytes:
        """The first line that is not blank."""
        return self.lines[0] if self.lines else b""

    @cached_property
    def is_json(self) -> bool:
        """Whether it begins with an object or an array of objects."""
        return self.is_array or bool(re.match(OBJECT, self.text))

    @cached_property
    def is_array(self) -> bool:
        """Whether it begins with an array of objects."""
        return bool(re.match(ARRAY, self.text))

    @cached_property
    def record(self) -> dict[str, Any] | None:
        """The object on the first line, or the first of an array; None if there is none."""
        data = memoryview(self.data)
        begin = self.begin + len(self.text) - len(self.text.lstrip())
        if self.is_array:
            return self._decode(bytes(data[begin + 1 :]).lstrip())
        end = self.data.find(b"\n", begin)
        if end < 0 and not self.data.endswith((b"}", b" ", b"\t", b"\r")):
            return None  # only the beginning of a long line
        return self._decode(self.data[begin : end if end >= 0 else None], must_end=True)

    @cached_property
    def has_more_lines(self) -> bool:
        """Whether something follows the first line."""
        begin = self.begin + len(self.text) - len(self.text.lstrip())
        end = self.data.find(b"\n", begin)
        return end >= 0 and bool(self.data[end : end + HEAD_BYTES].strip())

    @cached_property
    def is_arrow(self) -> bool:
        """Whether it is Parquet or Arrow."""
        from rankgauge.io.formats.arrow import MAGIC_BYTES

        return self.text.startswith(MAGIC_BYTES)

    @cached_property
    def is_yaml(self) -> bool:
        """Whether it is YAML: by its name, or because it begins with ``- key:`` or ``key:``."""
        return not self.is_json and (self.name.endswith(YAML_SUFFIXES) or re.match(YAML, self.text) is not None)

    def _decode(self, data: bytes, *, must_end: bool = False) -> dict[str, Any] | None:
        import json  # a TREC file needs neither

        from rankgauge.io.formats.json_text import JsonPairs

        decoder = json.JSONDecoder(object_pairs_hook=JsonPairs)
        text = data.decode("utf-8", "surrogateescape")
        try:
            value, end = decoder.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(value, JsonPairs) or (must_end and text[end:].strip()):
            return None
        return dict(value)


# Files of other kinds, which no reader of lines can say anything helpful about.

CASES_HINT = 'test cases are a list of {"query": "…", "relevant": ["…"]}, a log has "retrieved": ["…"] beside it'
TABLE_HINT = "save it as CSV, in UTF-8"
DATA_HINT = "labels and results are JSON, YAML, CSV, Parquet or TREC files"
AGAIN_HINT = "open it in an editor, and download or export the file again"
LOG_HINT = 'write one line per query: {"query": "…", "retrieved": ["…"]}, or describe the server in a YAML file'
SIGNATURES: dict[bytes, tuple[str, str]] = {
    b"\xd0\xcf\x11\xe0": ("an Excel workbook", TABLE_HINT),
    b"SQLite format 3\0": ("a SQLite database", "a history is a folder of files; save results again with --save"),
    b"%PDF-": ("a PDF file", DATA_HINT),
    b"\x89PNG": ("an image", DATA_HINT),
    b"\xff\xd8\xff": ("an image", DATA_HINT),
    b"GIF8": ("an image", DATA_HINT),
}
TEXTS: dict[bytes, tuple[str, str]] = {  # patterns of how they begin, compiled only if a file is not a TREC file
    rb"(?i)\s*<(?:!doctype html|html|head|body)\b": ("an HTML page, perhaps the error of a server", AGAIN_HINT),
    rb"\s*<\?xml": ("an XML file", DATA_HINT),
    rb"\s*[\[{]\s*\{?\s*'": (
        "Python, not JSON: its texts have single quotation marks",
        "write it with json.dumps",
    ),
    rb'\s*\[\s*(?:"[^"\n]*"\s*[,\]]|[0-9.]+\s*,)': (
        "a JSON list of texts or numbers, without queries",
        CASES_HINT,
    ),
    rb'\s*(?:"[^"\n]*"|[0-9.]+|true|false|null)\s*$': ("a single JSON value", DATA_HINT),
    rb'\s*\{\s*"responseHeader"\s*:': ("one response of Solr", LOG_HINT),
}
ERROR_KEYS = {"error", "errors", "message", "status", "code", "detail", "type", "path", "timestamp", "request_id"}
SUFFIXES: dict[str, tuple[str, str]] = {
    ".ipynb": ("a Jupyter notebook", "write the test cases or results that it holds to a file of their own"),
    ".toml": ("a TOML file", "write it as JSON or YAML"),
    ".md": ("a Markdown file", DATA_HINT),
}


def check_other_kinds(source: str, head: Head) -> None:
    """Raise if a file is of a kind that is never read, by its first bytes or its name."""
    text = head.data[head.begin : head.begin + HEAD_BYTES]
    found = next((kind for begin, kind in SIGNATURES.items() if text.startswith(begin)), None)
    if found is None and text.startswith(b"PK\x03\x04"):
        is_workbook = b"xl/" in text or head.name.casefold().endswith((".xlsx", ".xlsm"))
        zipped = ("a zip archive", "extract it and pass the file inside")
        found = ("an Excel workbook", TABLE_HINT) if is_workbook else zipped
    if found is None and text.lstrip()[:1] in b'<[{"0123456789tfn':
        found = next((kind for begin, kind in TEXTS.items() if re.match(begin, text)), None)
    if found is None and head.is_json:
        found = _kind_of_answer(head)
    if found is None:
        found = next((kind for suffix, kind in SUFFIXES.items() if head.name.casefold().endswith(suffix)), None)
    if found is not None:
        raise InputError.at(source, None, f"this is {found[0]}; expected labels or results", hint=found[1])


def _kind_of_answer(head: Head) -> tuple[str, str] | None:
    """What a server answered instead of labels or results: an error, or the results of one query."""
    if head.record is not None and not head.is_array and not head.has_more_lines:
        keys = head.record.keys()
        if keys & {"error", "errors"} and keys <= ERROR_KEYS:
            return "the error of a server", AGAIN_HINT
    if b'"took"' in head.text[:1000] and re.search(rb'"hits"\s*:\s*\{', head.text):
        return "one response of Elasticsearch or OpenSearch", LOG_HINT
    return None


# Judgments in place of a run, the reverse, or a known format that is neither: one error instead of one per line.

SAMPLE_LINES = 10
SAMPLE_BYTES = 1 << 16  # of each line
WHOLE_NUMBER = re.compile(rb"[+-]?[0-9]+")
COLUMNS: dict[Kind, tuple[str, ...]] = {
    "run": ("query", "Q0", "document", "rank", "score", "tag"),
    "qrels": ("query", "iter", "document", "grade"),
}
KIND_NAMES: dict[Kind, str] = {"run": "a run", "qrels": "judgments"}
OTHER_KIND: dict[Kind, Kind] = {"run": "qrels", "qrels": "run"}
SampledLine = tuple[int, list[bytes]]  # its number and its fields
FEATURE = rb"(?:qid|[0-9]+):[^\s:]+"  # compiled only if it is needed
PREL_COLUMNS = 5  # topic document grade method probability


def describe_columns(names: tuple[str, ...]) -> str:
    """The columns of a TREC file, for a message."""
    return f"{len(names)} columns ({' '.join(names)})"


def check_kind(source: str, data: bytes, kind: Kind) -> None:
    """Raise if the first lines are those of the other kind of file, or of a known format that is neither."""
    lines = sample(data)
    if any(looks_like(kind, fields) for _, fields in lines):
        return
    expected = f"{KIND_NAMES[kind]} ({' '.join(COLUMNS[kind])})"
    swapped = first_of_other_kind(lines, kind)
    if swapped is not None:
        line, fields = swapped
        raise InputError.at(
            source,
            line,
            f"expected {expected}, found {KIND_NAMES[OTHER_KIND[kind]]}: {shown(b' '.join(fields))}",
            hint="are the judgments and the run swapped? judgments come first, then runs",
        )
    check_known_formats(source, lines, expected)


def first_of_other_kind(lines: list[SampledLine], kind: Kind) -> SampledLine | None:
    """The first line of the other kind, if most lines are of that kind and none is of this one."""
    is_other = [looks_like(OTHER_KIND[kind], fields) for _, fields in lines]
    if 2 * sum(is_other) <= len(lines) or any(looks_like(kind, fields) for _, fields in lines):
        return None
    return lines[is_other.index(True)]


def sample(data: bytes) -> list[SampledLine]:
    """The first lines that are not blank."""
    lines: list[SampledLine] = []
    begin = number = 0
    text = data.removeprefix(BOM)
    while len(lines) < SAMPLE_LINES and begin < len(text):
        end = text.find(b"\n", begin)
        end = len(text) if end < 0 else end
        number += 1
        fields = text[begin : min(end, begin + SAMPLE_BYTES)].split()
        if fields:
            lines.append((number, fields))
        begin = end + 1
    return lines


def looks_like(kind: Kind, fields: list[bytes]) -> bool:
    """Whether a line has the columns of a TREC file of this kind."""
    if len(fields) != len(COLUMNS[kind]):
        return False
    if kind == "qrels":
        return WHOLE_NUMBER.fullmatch(fields[3]) is not None
    return all(DECIMAL.fullmatch(field) for field in fields[3:5])


@dataclass(frozen=True)
class KnownFormat:
    """A format by its name, what can be done with it, and how one of its lines is recognized."""

    name: str
    hint: str
    matches: Callable[[list[bytes]], bool]


def is_svmlight(fields: list[bytes]) -> bool:
    """Whether a line is ``grade qid:query feature:value …``; the query may be missing."""
    return (
        len(fields) > 1
        and DECIMAL.fullmatch(fields[0]) is not None
        and all(re.fullmatch(FEATURE, field) for field in fields[1:3] if not field.startswith(b"#"))
        and not fields[1].startswith(b"#")
    )


def is_prel(fields: list[bytes]) -> bool:
    """Whether a line is ``topic document grade method probability``, which a run without its tag is not."""
    return (
        len(fields) == PREL_COLUMNS
        and fields[1].lower() not in (b"q0", b"0")
        and all(WHOLE_NUMBER.fullmatch(field) for field in fields[2:4])
        and DECIMAL.fullmatch(fields[4]) is not None
        and 0 <= float(fields[4]) <= 1
    )


KNOWN_FORMATS = (
    KnownFormat(
        "an SVMlight (LETOR) file, which has features of documents",
        "write judgments from it, `query 0 document grade` on each line: the query is after qid:, the grade is the "
        "first column, the document is after #docid if it is there; a run needs the scores of your model",
        is_svmlight,
    ),
    KnownFormat(
        "prels (topic document grade method probability), which are sampled judgments",
        "measures that use the probabilities (statAP, MTC) are not implemented; to evaluate without them, write four "
        "columns: awk '{print $1, 0, $2, $3}'",
        is_prel,
    ),
)


def check_known_formats(source: str, lines: list[SampledLine], expected: str) -> None:
    """Raise if most of the sampled lines, none of which is of the expected kind, are of a known format."""
    for known_format in KNOWN_FORMATS:
        is_match = [known_format.matches(fields) for _, fields in lines]
        if 2 * sum(is_match) > len(lines):
            line, fields = lines[is_match.index(True)]
            found = f"{known_format.name}: {shown(b' '.join(fields))}"
            raise InputError.at(source, line, f"expected {expected}, found {found}", hint=known_format.hint)
