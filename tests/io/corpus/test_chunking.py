"""Chunks are parts of their documents, cover them, and are no longer than was asked for."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.errors import InputError, UsageError
from rankgauge.io import Chunk, ChunkedCorpus, Chunking, InMemoryCorpus, read_corpus, split_text, write_chunks
from rankgauge.io.corpus.chunking import SPLITTERS, TOKEN, Span, pack
from rankgauge.io.corpus.corpus_files import read_documents
from rankgauge.io.corpus.markdown import markdown_blocks
from tests.conftest import Outcome

WORDS = st.sampled_from(
    ["word", "Dr.", "end.", "Next!", "why?", "e.g.", "3.", "# Title", "## Part", "```", "~~~", "```py", "| a | b |",
     "| - | - |", "---", "===", "\N{LATIN SMALL LETTER E WITH ACUTE}", "e\N{COMBINING ACUTE ACCENT}",
     "\N{PILE OF POO}", "\u4f60\u597d\u3002", "-", "*", "(x.)", "x" * 30]
)  # fmt: skip
GAPS = st.sampled_from([" ", "  ", "\n", "\r\n", "\n\n", "\r\n\r\n", "\t", "\N{NO-BREAK SPACE}", "", "\r"])
TEXTS = st.lists(st.tuples(WORDS, GAPS), max_size=40).map(lambda parts: "".join(map("".join, parts))) | st.text()


@st.composite
def chunkings(draw: st.DrawFn, *by: str) -> Chunking:
    size = draw(st.integers(1, 60))
    return Chunking(draw(st.sampled_from(by or SPLITTERS)), size, draw(st.integers(0, size - 1)))


def size_of(text: str, chunking: Chunking) -> int:
    return len(TOKEN.findall(text)) if chunking.by == "tokens" else len(text)


@given(TEXTS, chunkings() | st.just(Chunking("headings")))
def test_chunks_cover_all_but_white_space_in_order_and_each_adds_something(text: str, chunking: Chunking) -> None:
    spans = split_text(text, chunking)
    covered = bytearray(len(text))
    for start, end in spans:
        assert 0 <= start < end <= len(text)
        assert text[start:end].strip()
        covered[start:end] = b"\1" * (end - start)
    assert not "".join(char for char, is_covered in zip(text, covered, strict=True) if not is_covered).strip()
    for before, after in pairwise(spans):
        assert before.start < after.start
        assert before.end < after.end
    assert split_text(text, chunking) == spans


@given(TEXTS, chunkings())
def test_no_chunk_is_longer_than_asked_except_a_fence_or_a_table(text: str, chunking: Chunking) -> None:
    whole = [block for block in markdown_blocks(text) if block.kind in ("fence", "table")]
    for start, end in split_text(text, chunking):
        if size_of(text[start:end], chunking) > (chunking.size or 0):
            assert chunking.by == "headings"
            assert any(start <= block.start and block.end == end for block in whole)


@given(TEXTS, chunkings())
def test_neighbors_repeat_no_more_than_the_overlap(text: str, chunking: Chunking) -> None:
    spans = split_text(text, chunking)
    for before, after in pairwise(spans):
        assert size_of(text[after.start : before.end], chunking) <= chunking.overlap


@given(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Z", "C"])), chunkings("characters"))
def test_windows_of_characters_are_exact(text: str, chunking: Chunking) -> None:
    size, step = chunking.size or 0, (chunking.size or 0) - chunking.overlap
    count = 1 + max(0, math.ceil((len(text) - size) / step))
    expected = [(number * step, min(number * step + size, len(text))) for number in range(count)]
    assert split_text(text, chunking) == expected


@given(st.lists(st.sampled_from(["a", "bc", ",", "def", "."]), min_size=1), chunkings("tokens"))
def test_windows_of_tokens_are_exact(tokens: list[str], chunking: Chunking) -> None:
    text, step = " ".join(tokens), (chunking.size or 0) - chunking.overlap
    chunks = [text[start:end].split() for start, end in split_text(text, chunking)]
    assert chunks == [tokens[number * step : number * step + (chunking.size or 0)] for number in range(len(chunks))]
    assert chunks[-1][-1:] == tokens[-1:]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 5)), min_size=1), st.integers(5, 20), st.data())
def test_chunks_take_and_repeat_as_many_units_as_fit(
    sizes: list[tuple[int, int]], size: int, data: st.DataObject
) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    units, end = [], 0
    for gap, length in sizes:
        units.append(Span(end + gap, end + gap + length))
        end += gap + length
    chunks = list(pack(units, size, overlap))
    starts, ends = [unit.start for unit in units], [unit.end for unit in units]
    assert chunks[0].start == starts[0]
    assert chunks[-1].end == ends[-1]
    for before, after in pairwise(chunks):
        first, following = starts.index(after.start), ends.index(before.end) + 1
        assert before.length <= size < ends[following] - before.start  # no further unit fits
        assert before.end - after.start <= overlap
        if first > starts.index(before.start) + 1:  # one more repeated unit would be too much
            assert before.end - starts[first - 1] > overlap or ends[following] - starts[first - 1] > size


def test_sentences_are_kept_whole_and_repeated_whole() -> None:
    text = "One is short. Two is short. Three is short.\n\nFour is short."
    chunks = [text[start:end] for start, end in split_text(text, Chunking("sentences", 30, 15))]
    assert chunks == ["One is short. Two is short.", "Two is short. Three is short.", "Four is short."]


@pytest.mark.parametrize(
    "sentences",
    [
        ["Dr. Berg met J. Smith.", "He left."],
        ["It has approx. three parts, e.g. Berlin.", "Why?", "So!"],
        ['He said "Stop!"', "Then he left (at last.)", "Done."],
        ["Version 3.11 is fast.", "It is."],
        ["No mark at the end"],
    ],
)
def test_sentences_end_where_a_reader_would_say(sentences: list[str]) -> None:
    text = " ".join(sentences)
    assert [text[start:end] for start, end in split_text(text, Chunking("sentences", 45))] == _packed(sentences, 45)


def _packed(sentences: list[str], size: int) -> list[str]:
    chunks: list[str] = []
    for sentence in sentences:
        if chunks and len(chunks[-1]) + 1 + len(sentence) <= size:
            chunks[-1] += f" {sentence}"
        else:
            chunks.append(sentence)
    return chunks


def test_numbered_items_and_text_without_spaces_are_split_into_sentences() -> None:
    text = "1. Install it.\n2. Run it.\u4f60\u597d\u3002\u4e16\u754c\u3002"
    found = [text[start:end] for start, end in split_text(text, Chunking("sentences", 14))]
    assert found == ["1. Install it.", "2. Run it.\u4f60\u597d\u3002", "\u4e16\u754c\u3002"]


MARKDOWN = """\
---
title: x
---
Intro.

# Guide
## Install
Run this:

```sh
# not a heading

pip install x
```

Setext
------
| a | b |
|---|---|
| # | 2 |

~~~
```
## not a heading
~~~
### Last ###
End.
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_markdown_is_split_at_headings_outside_of_fences(newline: str) -> None:
    text = MARKDOWN.replace("\n", newline)
    chunks = [text[start:end] for start, end in split_text(text, Chunking("headings"))]
    assert [chunk.split(newline)[0] for chunk in chunks] == ["---", "# Guide", "Setext", "### Last ###"]
    assert chunks[1].endswith("```")
    assert chunks[3] == f"### Last ###{newline}End."


def test_long_sections_are_cut_between_blocks_and_fences_and_tables_stay_whole() -> None:
    chunks = [MARKDOWN[start:end] for start, end in split_text(MARKDOWN, Chunking("headings", 20))]
    assert "```sh\n# not a heading\n\npip install x\n```" in chunks
    assert "Setext\n------\n| a | b |\n|---|---|\n| # | 2 |" in chunks  # a heading stays with what follows
    assert "~~~\n```\n## not a heading\n~~~" in chunks


@given(TEXTS)
def test_blocks_of_markdown_are_in_order_and_have_every_line_that_is_not_blank(text: str) -> None:
    blocks, end = markdown_blocks(text), 0
    for block in blocks:
        assert not text[end : block.start].strip()
        assert end <= block.start < block.end
        end = block.end
    assert not text[end:].strip()


@pytest.mark.parametrize(
    "unit", [".", "\n", " ", "`", "``` a\n", "|-", "#", "\n ", "a. ", "!)", "\r", "-\n", "# a\n", "1. A "]
)
def test_the_work_is_linear_in_the_text(unit: str) -> None:
    def seconds(size: int) -> float:
        """The best of three, since the machine may be busy."""
        times = []
        for _ in range(3):
            start = time.process_time()
            for by in ("sentences", "headings", "tokens"):
                split_text(unit * size, Chunking(by, 500, 50))
            split_text(unit * size, Chunking("headings"))
            times.append(time.process_time() - start)
        return min(times)

    assert seconds(12_000) < 10 * seconds(3_000) + 0.1  # a quadratic step would take 16 times as long


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 100, "overlap": 100}, "overlap must be smaller than size, found 100 and 100"),
        ({"size": 100, "overlap": 900}, "overlap must be smaller than size"),
        ({"size": 0}, "size: expected a whole number of at least 1, found 0"),
        ({"overlap": -1}, "overlap: expected a whole number of at least 0"),
        ({"size": True}, "size: expected a whole number"),
        ({"by": "headings", "overlap": 5}, "sections overlap only if long ones are split"),
        (
            {"by": "sentence"},
            "headings, tokens, found 'sentence'; did you mean sentences?",
        ),
    ],
)
def test_a_chunking_that_cannot_be_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        Chunking(**options)  # type: ignore[arg-type]  # wrong on purpose


def test_blank_documents_have_no_chunks_and_a_blank_corpus_is_refused(tmp_path: Path) -> None:
    corpus = ChunkedCorpus(InMemoryCorpus({"a": "", "b": " \r\n\t", "c": "text"}), Chunking("headings"))
    assert [chunk.id for chunk in corpus.chunks()] == [b"c#0-4"]
    with pytest.raises(InputError, match="no chunks: no document has any text"):
        write_chunks(ChunkedCorpus(InMemoryCorpus({"a": " "}), Chunking()), tmp_path / "chunks.jsonl")
    assert not list(tmp_path.iterdir())


def test_chunks_of_a_folder_are_spans_of_its_files_and_their_file_is_a_corpus(tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "guide.md").write_bytes(b"\xef\xbb\xbf# Guide\r\n\r\nFirst. Second.\r\n")
    (folder / "empty.md").write_bytes(b"")
    out = tmp_path / "chunks.jsonl"
    chunking = Chunking("sentences", 10)
    assert write_chunks(ChunkedCorpus(read_corpus(folder), chunking), out) == (3, 1)
    assert str(chunking) == "sentences, at most 10 characters"
    text = (folder / "guide.md").read_bytes().decode("utf-8-sig")
    rows = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert [row["text"] for row in rows] == ["# Guide", "First.", "Second."]
    for row in rows:
        assert row["text"] == text[row["start"] : row["end"]]
        assert row["_id"] == f"guide.md#{row['start']}-{row['end']}"
    assert [document.id for document in read_corpus(out)] == [row["_id"].encode() for row in rows]


@pytest.mark.parametrize("name", ["guide.md", "guide.MARKDOWN", "notes.txt"])
def test_a_single_text_file_is_a_document(tmp_path: Path, name: str, command: Callable[..., Outcome]) -> None:
    text = "# Guide\n\nFirst, with a comma.\tAnd a tab.\n"
    (tmp_path / name).write_text(text)
    out = tmp_path / "chunks.jsonl"
    write_chunks(ChunkedCorpus(read_documents(tmp_path / name), Chunking("headings")), out)
    (row,) = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert (row["doc"], row["text"]) == (name, text.strip())
    gold = tmp_path / "gold.jsonl"
    gold.write_text(json.dumps({"query_id": "q", "doc": name, "start": 9, "end": 14}) + "\n")
    done = command("labels", "resolve", gold, "--chunks", out, "--corpus", tmp_path / name, "-o", tmp_path / "q")
    assert (done.code, (tmp_path / "q").read_text()) == (0, f"q 1 {row['_id']} 1\n")


def test_a_text_file_that_holds_a_corpus_is_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text('{"_id": "a", "text": "one"}\n{"_id": "b", "text": "two"}\n')
    assert [document.id for document in read_documents(path)] == [b"a", b"b"]
    (tmp_path / "empty.md").write_text("")
    with pytest.raises(InputError, match=r"empty\.md: file is empty"):
        list(read_documents(tmp_path / "empty.md"))


def test_titles_that_a_corpus_keeps_apart_stay_with_every_chunk() -> None:
    corpus = ChunkedCorpus(InMemoryCorpus({"a": {"title": "T", "text": "abcd"}}), Chunking("characters", 2))
    assert list(corpus.chunks()) == [Chunk(b"a", 0, 2, "ab", "T"), Chunk(b"a", 2, 4, "cd", "T")]
    assert [document.full_text for document in corpus] == ["T ab", "T cd"]


def test_the_hash_of_a_chunked_corpus_depends_on_documents_and_chunking() -> None:
    small, large = (InMemoryCorpus({"a": text}) for text in ("x", "y"))
    hashes = [ChunkedCorpus(corpus, Chunking("characters", n)).sha256 for corpus in (small, large) for n in (1, 2)]
    assert len(set(hashes)) == 4
