"""Labels whose texts changed are found, and named beside what a gate decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import evaluate, gate
from rankgauge.errors import InputError
from rankgauge.io import CorpusDocument, InMemoryCorpus, read_qrels
from rankgauge.labels import JudgmentFile, check_labels, stamp_labels
from tests.conftest import Outcome
from tests.labels.pools import judgment

LONG, SHORT = 6, 8  # documents of several chunks, and of one


def numbered_chunks(size: int) -> dict[str, str]:
    """Chunks of ``size`` characters with the ids that most splitters give them: the number in the document."""
    documents = {f"long{n}": "".join(f"{n}:{at:04} " for at in range(500)) for n in range(LONG)}
    documents |= {f"short{n}": f"only one chunk, number {n}" for n in range(SHORT)}
    return {
        f"{name}-{at // size}": text[at : at + size]
        for name, text in documents.items()
        for at in range(0, len(text), size)
    }


def found(size: int) -> dict[str, dict[str, float]]:
    """A perfect retriever: the chunks that have the characters 1600 to 3200 of a long document, or a short one."""
    run = {f"l{n}": {f"long{n}-{at // size}": 1.0 - at / 1e4 for at in range(1600, 3200, size)} for n in range(LONG)}
    return run | {f"s{n}": {f"short{n}-0": 1.0} for n in range(SHORT)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Labels made for chunks of 800 characters, with hashes; corpora and runs of 800 and of 400."""
    for size in (800, 400):
        lines = (json.dumps({"_id": name, "text": text}) + "\n" for name, text in numbered_chunks(size).items())
        (tmp_path / f"{size}.jsonl").write_text("".join(lines))
        rows = (f"{query} Q0 {doc} 1 {score} r\n" for query, docs in found(size).items() for doc, score in docs.items())
        (tmp_path / f"{size}.run").write_text("".join(rows))
    labels = {query: dict.fromkeys(docs, 1) for query, docs in found(800).items()}
    rows = (f"{query} 0 {doc} {grade}\n" for query, docs in labels.items() for doc, grade in docs.items())
    (tmp_path / "plain.txt").write_text("".join(rows))
    stamp_labels(tmp_path / "plain.txt", InMemoryCorpus(numbered_chunks(800)), tmp_path / "labels.jsonl")
    return tmp_path


def test_re_splitting_reuses_ids_and_the_value_drops_without_a_word(folder: Path) -> None:
    before, now = (evaluate(folder / "plain.txt", folder / f"{size}.run", ["R@10"])["R@10"] for size in (800, 400))
    assert before == 1
    assert now is not None
    assert now < 0.6  # although the retriever finds the same text
    assert numbered_chunks(400).keys() >= numbered_chunks(800).keys()


def test_a_check_finds_the_labels_whose_texts_changed(folder: Path, command: Callable[..., Outcome]) -> None:
    assert not check_labels(folder / "labels.jsonl", folder / "800.jsonl").rotted
    check = check_labels(folder / "labels.jsonl", numbered_chunks(400))
    assert check.rotted_queries == {f"l{n}" for n in range(LONG)}
    assert check.counts == {"changed": 2 * LONG, "fits": SHORT}
    done = command("runs", "validate", "--labels", folder / "labels.jsonl", "--corpus", folder / "400.jsonl")
    assert done.code == 1
    assert done.out.startswith(
        f"12 of 20 labels no longer fit {folder / '400.jsonl'} (the text of 12 changed); 8 still fit.\n"
    )
    assert "l0          2     0        2     0           0" in done.out
    data = json.loads(
        command(
            "runs",
            "validate",
            "--labels",
            folder / "labels.jsonl",
            "--corpus",
            folder / "400.jsonl",
            "--format",
            "json",
        ).out
    )
    assert data["counts"] == {"fits": 8, "changed": 12, "gone": 0, "unverified": 0}
    assert data["rotted"][0] == {"query": "l0", "doc": "long0-2", "grade": 1, "state": "changed"}
    assert {row["query"]: row["changed"] for row in data["queries"]}["s0"] == 0
    fits = command("runs", "validate", "--labels", folder / "labels.jsonl", "--corpus", folder / "800.jsonl")
    assert (fits.code, fits.err) == (0, "")
    assert fits.out == f"All 20 labels fit {folder / '800.jsonl'}.\n"


def test_labels_without_hashes_show_only_documents_that_are_gone(folder: Path, command: Callable[..., Outcome]) -> None:
    done = command("runs", "validate", "--labels", folder / "plain.txt", "--corpus", folder / "400.jsonl")
    assert done.code == 0
    assert "20 labels without a text hash cannot be verified" in done.out
    assert "--stamp FILE" in done.err
    check = check_labels(folder / "plain.txt", {"short0-0": "x"})
    assert check.counts == {"gone": 19, "unverified": 1}


ROTTED = "labels-rotted"


def test_a_gate_names_labels_that_no_longer_fit_and_decides_as_without_the_corpus(
    folder: Path, command: Callable[..., Outcome]
) -> None:
    labels = folder / "labels.jsonl"
    for baseline in (folder / "800.run", [folder / "800.run"], evaluate(labels, folder / "800.run", ["R@10"])):
        without = gate(labels, folder / "400.run", ["R@10"], baseline=baseline)
        result = gate(labels, folder / "400.run", ["R@10"], baseline=baseline, corpus=folder / "400.jsonl")
        assert (result.verdict, result.exit_code, result.sentence) == ("fail", 1, without.sentence)
        assert result.compared == without.compared
        assert [note for note in result.notes if note.code != ROTTED] == [*without.notes]
        (note,) = [note.message for note in result.notes if note.code == ROTTED]
        assert note == (
            f"12 of 20 labels no longer fit {folder / '400.jsonl'} (the text of 12 changed) (queries 'l0', 'l1', 'l2', "
            f"…): `rankgauge runs validate --labels {labels} --corpus {folder / '400.jsonl'}` lists them"
        )
    against = ("--baseline", folder / "800.run", "-m", "R@10", "--set", f"gate.corpus={folder / '400.jsonl'}")
    arguments = ("gate", labels, folder / "400.run", *against)
    for format in ("table", "markdown"):
        done = command(*arguments, "--format", format)
        assert done.code == 1
        assert "12 of 20 labels no longer fit" in done.out
    data = json.loads(command(*arguments, "--format", "json").out)["gate"]
    assert (data["verdict"], [note["code"] for note in data["notes"] if note["code"] == ROTTED]) == ("fail", [ROTTED])


def test_labels_that_grew_and_labels_that_rotted_are_told_apart(folder: Path) -> None:
    """A query that is judged otherwise than when it was scored is left out; the text of a document is not asked."""
    labels, grown = folder / "labels.jsonl", folder / "grown.txt"
    scores = evaluate(labels, folder / "400.run", ["R@10"])
    grown.write_text((folder / "plain.txt").read_text() + "s0 0 short1-0 1\n")
    stamp_labels(grown, InMemoryCorpus(numbered_chunks(800)), folder / "grown.jsonl")
    result = gate(folder / "grown.jsonl", folder / "400.run", ["R@10"], baseline=scores, corpus=folder / "400.jsonl")
    messages = {note.code: note.message for note in result.notes}
    assert messages["labels-changed"].endswith("left out ('s0')")
    assert messages[ROTTED].startswith("12 of 21 labels no longer fit")
    assert [row.decision.n for row in result.compared] == [LONG + SHORT - 1]
    assert [row.change for row in result.compared] == [0]
    assert result.passed


def test_a_retriever_that_got_worse_fails_beside_labels_that_rotted(
    folder: Path, command: Callable[..., Outcome]
) -> None:
    labels, run = folder / "labels.jsonl", folder / "worse.run"
    kept = [line for line in (folder / "400.run").read_text().splitlines(keepends=True) if "short" not in line]
    run.write_text("".join(kept) + "".join(f"s{n} Q0 other 1 1 r\n" for n in range(SHORT)))
    corpus = ("--set", f"gate.corpus={folder / '400.jsonl'}")
    done = command("gate", labels, run, "--baseline", folder / "400.run", "-m", "R@10", *corpus)
    assert done.code == 1
    assert done.out.startswith(
        "fail: none of the retrieved documents is judged, and the baseline retrieved judged ones"
    )
    assert "12 of 20 labels no longer fit" in done.out
    required = command("gate", labels, run, "--require", "R@10>=0.5", *corpus)
    assert required.code == 2
    assert required.out.startswith("nothing to judge: none of the retrieved documents is judged")


def test_if_no_label_fits_that_is_said(folder: Path) -> None:
    result = gate(folder / "labels.jsonl", folder / "800.run", require="R@10>=0.5", corpus={"x": "other"})
    assert result.passed
    (note,) = result.notes
    assert note.code == ROTTED
    assert note.message.startswith("20 of 20 labels no longer fit")
    assert "(the document of 20 is gone)" in note.message


def test_labels_that_fit_and_those_without_hashes_are_not_mentioned(folder: Path) -> None:
    fits = gate(folder / "labels.jsonl", folder / "800.run", require="R@10>=0.5", corpus=folder / "800.jsonl")
    assert (fits.verdict, fits.notes) == ("pass", ())
    plain = gate(
        folder / "plain.txt", folder / "400.run", ["R@10"], baseline=folder / "800.run", corpus=folder / "400.jsonl"
    )
    assert plain.verdict == "fail"
    assert ROTTED not in [note.code for note in plain.notes]


def test_a_rotted_label_that_was_not_relevant_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q 0 a 1\nq 0 b 0\n")
    stamp_labels(tmp_path / "q", InMemoryCorpus({"a": "x", "b": "y"}), tmp_path / "labels.jsonl")
    result = gate(tmp_path / "labels.jsonl", {"q": ["a"]}, require="R@10>=0.5", corpus={"a": "x", "b": "changed"})
    assert (result.verdict, [note.code for note in result.notes]) == ("pass", [ROTTED])
    assert result.notes[0].message.startswith("1 of 2 labels no longer fits")


TEXTS = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from(["x", "y", ""]), min_size=1)


@given(TEXTS, TEXTS)
def test_a_label_fits_exactly_if_its_document_has_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, before: Mapping[str, str], now: Mapping[str, str]
) -> None:
    folder = tmp_path_factory.mktemp("labels")
    (folder / "q").write_text("".join(f"q 0 {doc} 1\n" for doc in before))
    stamp_labels(folder / "q", InMemoryCorpus(before), folder / "labels.jsonl")
    states = {label.doc: label.state for label in check_labels(folder / "labels.jsonl", now).labels}
    expected = {doc: "gone" if doc not in now else "fits" if now[doc] == before[doc] else "changed" for doc in before}
    assert states == expected


def test_judgments_keep_what_they_have_and_get_the_missing_hashes(tmp_path: Path) -> None:
    text = CorpusDocument(b"a", "", "x").text_sha256
    path, out = tmp_path / "judgments.jsonl", tmp_path / "stamped.jsonl"
    file = JudgmentFile(path)
    for line in (
        judgment("q", "a", 1, text_sha256=text),
        judgment("q", "a", 2, "bob", note="why"),
        judgment("q", "b", None, status="skipped"),
        judgment("q", "c", 1),
    ):
        file.add(line)
    counts = stamp_labels(path, InMemoryCorpus({"a": "changed", "b": "y"}), out)
    assert counts == (2, 1, ("c",))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row.get("text_sha256") for row in rows[:1]] == [text]
    assert rows[1]["note"] == "why"
    assert "text_sha256" not in rows[3]
    states = {label.doc: label.state for label in check_labels(out, {"a": "changed", "c": "z"}).labels}
    assert states == {"a": "changed", "c": "unverified"}  # one assessor judged another text


def test_a_corpus_of_other_documents_and_a_hash_that_is_none_are_refused(
    tmp_path: Path, command: Callable[..., Outcome]
) -> None:
    (tmp_path / "q").write_text("q 0 a 1\n")
    (tmp_path / "c.jsonl").write_text('{"_id": "other", "text": "x"}\n')
    done = command(
        "runs",
        "validate",
        "--labels",
        tmp_path / "q",
        "--corpus",
        tmp_path / "c.jsonl",
        "--stamp",
        tmp_path / "o.jsonl",
    )
    assert done.code == 2
    assert "no labeled document is in the corpus: 'a' for example" in done.err
    assert not (tmp_path / "o.jsonl").exists()
    (tmp_path / "bad").write_text('{"query_id": "q", "doc_id": "a", "relevance": 1, "text_sha256": 5}\n')
    with pytest.raises(InputError, match="expected a hash"):
        check_labels(tmp_path / "bad", {"a": "x"})


def test_stamped_labels_are_the_same_judgments(folder: Path) -> None:
    assert read_qrels(folder / "labels.jsonl").sha256 == read_qrels(folder / "plain.txt").sha256
