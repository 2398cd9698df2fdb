"""Spans become quotes: the text that a document has between two characters."""

from __future__ import annotations

from dataclasses import replace

from rankgauge.core.formatting import listing
from rankgauge.errors import InputError, nearest, shown
from rankgauge.io.checks.faults import Faults
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.labels.gold.labels import GoldLabels, GoldPassage
from rankgauge.labels.gold.normalization import normalized

DOCUMENTS_HINT = "name the documents that the spans count in: --documents PATH"


def with_span_texts(labels: GoldLabels, documents: Corpus | None) -> GoldLabels:
    """The labels, each with its text; raises if a span is not within its document."""
    spans = [passage for passage in labels.passages if passage.text is None]
    if not spans:
        return labels
    if documents is None:
        raise InputError(
            f"{spans[0].place}: a span of {shown(str(spans[0].document))} has no text of its own", hint=DOCUMENTS_HINT
        )
    needed = {str(passage.document) for passage in spans}
    texts: dict[str, str] = {}
    names: list[str] = []
    for document in documents.originals():
        name = document.id.decode("utf-8", "surrogateescape")
        names.append(name)
        if name in needed:
            texts[name] = document.text
    faults = Faults(spans[0].source)
    passages = [passage if passage.text is not None else _quoted(passage, texts, faults) for passage in labels.passages]
    if needed - set(texts):
        missing = sorted(needed - set(texts))
        close = nearest(missing[0], names)
        found = f"{listing(map(shown, missing), 5)}, not in {documents.source}"
        line = next(passage.line for passage in spans if passage.document == missing[0])
        action = f"did you mean {close}?" if close else None
        faults.add("document", [line], expected="a document of the corpus", found=found, action=action)
    faults.raise_errors()
    return replace(labels, passages=passages)


def _quoted(passage: GoldPassage, texts: dict[str, str], faults: Faults) -> GoldPassage:
    text = texts.get(str(passage.document))
    if text is None:
        return passage
    if passage.end > len(text):
        faults.add(
            "span",
            [passage.line],
            expected=f"a span within the {len(text):,} characters of {shown(str(passage.document))}",
            found=f"{passage.start} to {passage.end}",
        )
    quote = text[passage.start : passage.end]
    if passage.end <= len(text) and not normalized(quote):
        faults.add(
            "span",
            [passage.line],
            expected=f"text in the span of {shown(str(passage.document))}",
            found=f"only white space from {passage.start} to {passage.end}",
        )
    return replace(passage, text=quote)
