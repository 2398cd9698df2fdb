"""Corpora in TREC's SGML: ``<DOC><DOCNO>…</DOCNO><TEXT>…</TEXT></DOC>``."""

from __future__ import annotations

from collections.abc import Iterator

from rankgauge.core.ids import encode_id
from rankgauge.errors import InputError
from rankgauge.io.corpus.corpus import CorpusDocument
from rankgauge.io.corpus.file import FileCorpus
from rankgauge.io.formats.sgml import Element, decode, find_elements, find_tags, without_tags

DOC_START, DOC_END = b"<doc>", b"</doc>"
TITLE_TAGS = ("title", "headline", "hl", "ttl", "head")
BODY_TAGS = ("text", "body", "graphic", "lp", "abstract")


class SgmlCorpus(FileCorpus):
    """Documents between ``<DOC>`` and ``</DOC>``. One without a known body tag consists of all its text."""

    def __iter__(self) -> Iterator[CorpusDocument]:
        rest, line = b"", 1
        for chunk in self._read_chunks():
            # Only what is new, and as much as a tag that was cut in two, is searched for the end of a document.
            search_from = max(0, len(rest) - len(DOC_END))
            rest += chunk
            lowercase = rest.lower()
            position = 0
            while (end := lowercase.find(DOC_END, search_from)) >= 0:
                start = lowercase.find(DOC_START, position, end)
                search_from = end + len(DOC_END)
                if start >= 0:
                    yield self._parse(line + rest.count(b"\n", position, start), rest[start + len(DOC_START) : end])
                line += rest.count(b"\n", position, search_from)
                position = search_from
            rest = rest[position:]
            if len(rest) > self.limits.max_line:
                raise InputError.at(
                    self.source, line, f"a document of more than {self.limits.max_line} bytes, or no </DOC>"
                )
        if DOC_START in rest.lower():
            raise InputError.at(self.source, line, "expected </DOC>, found the end of the file")

    def _parse(self, line: int, data: bytes) -> CorpusDocument:
        text = decode(data)
        tags = list(find_tags(text))
        number = next(find_elements(tags, ("docno",)), None)
        if number is None:
            raise InputError.at(self.source, line, "expected <DOCNO> in a document, found none")
        document_id = encode_id(_content(text, number).strip(), "document id")
        titles = list(find_elements(tags, TITLE_TAGS))
        title = " ".join(without_tags(_content(text, element)) for element in titles)
        bodies = [without_tags(_content(text, element)) for element in find_elements(tags, BODY_TAGS)]
        if bodies:
            return CorpusDocument(document_id, title, " ".join(bodies), line)
        return CorpusDocument(document_id, title, without_tags(_without_elements(text, [number, *titles])), line)


def _content(text: str, element: Element) -> str:
    return text[element.opening.end : element.closing.start]


def _without_elements(text: str, elements: list[Element]) -> str:
    """A text without some elements, each replaced by a space."""
    parts: list[str] = []
    position = 0
    for element in sorted(elements, key=lambda element: element.opening.start):
        parts.append(text[position : element.opening.start])
        position = max(position, element.closing.end)
    return " ".join([*parts, text[position:]])
