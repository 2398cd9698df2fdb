from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankgauge import InputError, Qrels, Run
from rankgauge.history import EntrySummary, History
from rankgauge.retrieval.latency import Cost
from tests.history.conftest import GROWN, LABELS, SECOND

Save = Callable[..., EntrySummary]
COST = {field.name: 0 for field in fields(Cost)} | {"p50": 1e300}


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.jsonl")}


def test_an_export_imports_to_the_same_bytes(history: History, save: Save, tmp_path: Path) -> None:
    columns = {"kind": {"q1": "x", "q2": None, "q3": "y"}, "weight": {"q1": 0.1, "q2": 1, "q3": 2}}
    save(Qrels.from_dict(LABELS, columns=columns), keep=True, tags=("b", "a"))
    save(GROWN, SECOND)
    odd = Run.from_columns([b"q\xff", "q2"], [b"d\xfe", "c"], [np.inf, -np.inf], name="odd")
    labels = Qrels.from_columns([b"q\xff", "q2"], [b"d\xfe", "c"], [1, 1])
    save(labels.with_queries([b"empty"]), odd, keep=True)
    paths = history.export(tmp_path / "out")
    assert [path.name for path in paths] == [
        "2026-11-02-abc1234.jsonl", "2026-11-02-abc1234-2.jsonl", "2026-11-02-abc1234-3.jsonl",
    ]  # fmt: skip
    assert len(list((tmp_path / "out" / "labels").iterdir())) == 3
    with History.open(tmp_path / "copy.db") as copy:
        assert sorted(copy.import_entries(tmp_path / "out").added) == sorted(path.stem for path in paths)
        again = copy.import_entries(tmp_path / "out", paths[0])
        assert (again.added, len(again.known)) == ((), 3)
        copy.export(tmp_path / "again")
        assert contents(tmp_path / "again") == contents(tmp_path / "out")
        for entry in history.entries():
            ours, theirs = history.entry(entry.name), copy.entry(entry.name)
            assert ours.scores.values.tobytes() == theirs.scores.values.tobytes()
            assert ours.summary == theirs.summary
            assert (ours.run is None) == (theirs.run is None)
            if ours.run is not None and theirs.run is not None:
                assert ours.run.sha256 == theirs.run.sha256


def test_an_export_can_be_of_some_entries(history: History, save: Save, tmp_path: Path) -> None:
    save(tags=("a",))
    save()
    assert [path.name for path in history.export(tmp_path / "out", ["a", "a"])] == ["2026-11-02-abc1234.jsonl"]


def test_nothing_is_written_again(history: History, save: Save, tmp_path: Path) -> None:
    save()
    (path,) = history.export(tmp_path / "out")
    before = path.stat()
    history.export(tmp_path / "out")
    after = path.stat()  # which was read, and may have another time of access
    assert (after.st_ino, after.st_mtime_ns, after.st_size) == (before.st_ino, before.st_mtime_ns, before.st_size)
    history.tag("latest", "good")
    history.export(tmp_path / "out")
    assert b'"good"' in path.read_bytes()


def test_two_branches_with_an_entry_of_the_same_name_merge(save: Save, tmp_path: Path) -> None:
    """Both save at the same commit on the same day, export into the same folder, and import what the other has."""
    ours, theirs = History.open("ours.db"), History.open("theirs.db")
    save(into=ours)
    save(GROWN, SECOND, into=theirs)
    folder = tmp_path / "history"
    ours.export(folder)
    theirs.export(folder)
    assert len(list(folder.glob("*.jsonl"))) == 2
    for history in (ours, theirs):
        history.import_entries(folder)
        assert history.count() == 2
        assert {entry.name for entry in history.entries()} == {"2026-11-02-abc1234", "2026-11-02-abc1234-2"}
    before = contents(folder)
    ours.export(folder)
    assert list(contents(folder)) == list(before)  # each entry has one file
    assert {entry.uid for entry in ours.entries()} == {entry.uid for entry in theirs.entries()}


def test_tags_of_a_known_entry_are_added(history: History, save: Save, tmp_path: Path) -> None:
    save(tags=("a",))
    with History.open("copy.db") as copy:
        history.export(tmp_path / "out")
        copy.import_entries(tmp_path / "out")
        copy.tag("a", "b")
        copy.export(tmp_path / "out")
    history.import_entries(tmp_path / "out")
    assert history.summary("latest").tags == ("a", "b")


def test_an_entry_that_somebody_changed_is_refused(history: History, save: Save, tmp_path: Path) -> None:
    save()
    (path,) = history.export(tmp_path / "out")
    path.write_bytes(path.read_bytes().replace(b'"dirty":false', b'"dirty":true'))
    with pytest.raises(InputError, match="differs from the entry 2026-11-02-abc1234 of the history"):
        history.import_entries(tmp_path / "out")


def test_an_entry_whose_run_was_pruned_is_still_the_same(history: History, save: Save, tmp_path: Path) -> None:
    from rankgauge.history import PruneRule

    save(keep=True)
    history.export(tmp_path / "out")
    history.prune(PruneRule(names=("latest",), runs_only=True))
    assert history.import_entries(tmp_path / "out").added == ()


def edited(path: Path, change: Callable[[dict[str, Any]], object], line: int = 0) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    data = json.loads(lines[line])
    change(data)
    lines[line] = json.dumps(data)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("line", "change", "message"),
    [
        (0, lambda d: d.update(schema="rankgauge.history-entry/4"), "rankgauge.history-entry of version 4, but"),
        (0, lambda d: d["entry"].update(name="../../x"), "expected the name of an entry at entry.name"),
        (0, lambda d: d["entry"].update(saved="now"), "expected a time as in .* at entry.saved"),
        (0, lambda d: d["entry"].update(tags=["two words"]), "cannot be a tag"),
        (0, lambda d: d["entry"]["conventions"].update(compat="x"), "compat: expected one of"),
        (0, lambda d: d["entry"].update(saved="9999-99-99T00:00:00Z"), "expected a time as in .* at entry.saved"),
        (0, lambda d: d["entry"].update(saved="2026-02-30T00:00:00Z"), "expected a time as in .* at entry.saved"),
        (0, lambda d: d["entry"].update(saved="2026-11-02T10:11:12+"), "expected a time as in .* at entry.saved"),
        (0, lambda d: d["entry"].update(saved="9999-11-02T10:11:12Z"), "was saved in the future, at 9999-11-02"),
        (0, lambda d: d["entry"].update(saved="2026-11-01T10:11:12Z"), "is not that of its time and commit"),
        (0, lambda d: d["entry"].update(name="2026-11-02"), "is not that of its time and commit"),
        (0, lambda d: d["entry"].update(uid="g" * 32), "expected 32 hexadecimal digits at entry.uid"),
        (0, lambda d: d["entry"].update(labels="A" * 64), "expected a SHA-256 at entry.labels"),
        (0, lambda d: d["entry"].update(run_sha256="x"), "expected a SHA-256 at entry.run_sha256"),
        (0, lambda d: d["entry"].update(system="x" * (2**20 + 1)), "expected a text of at most 1048576 characters"),
        (0, lambda d: d["entry"]["git"].update(commit="HEAD"), "expected the hash of a commit at entry.git.commit"),
        (0, lambda d: d["entry"].update(coverage=1.5), "expected a number from 0 to 1 at entry.coverage"),
        (0, lambda d: d["entry"]["means"]["RR"].update(value=0.9), "its mean of RR is not that of its values"),
        (0, lambda d: d["entry"]["means"]["RR"].update(n=7), "its mean of RR is not that of its values"),
        (0, lambda d: d["entry"]["means"].pop("RR"), "its mean of RR is not that of its values"),
        (0, lambda d: d["entry"]["means"].update(X=d["entry"]["means"]["RR"]), "it has a mean of X, but no values"),
        (0, lambda d: d["entry"]["queries"].update(averaged=7), "its counts of queries are"),
        (0, lambda d: d["entry"].update(cost=COST), "expected a number from 0 to 1e.15 at entry.cost.p50"),
        (0, lambda d: d["entry"].update(other=1), r"jsonl:1: has a field, or a line, that no export has"),
        (0, lambda d: d.update(notes=[["a"]]), "a note is not a code and a message"),
        (0, lambda d: d["entry"].update(has_run=True), "has_run says otherwise than its content"),
        (0, lambda d: d.update(measures=["Nonsense"] * 3), "unknown measure"),
        (1, lambda d: d.update(values=[1.0]), r"jsonl:2: expected 3 values, found 1"),
        (1, lambda d: d.update(values=["x", 1, 1]), r"jsonl:2: expected a number .* at values\[0\]"),
        (1, lambda d: d.update(values=["inf", 1, 1]), r"jsonl:2: expected a number .* at values\[0\]"),
        (1, lambda d: d.update(values=[0.25, 1, 1]), "its mean of nDCG@10 is not that of its values"),
        (1, lambda d: d.update(columns={"a": [1]}), r"jsonl:2: expected a string or a number or true"),
        (2, lambda d: d.update(columns={"a": 1}), r"jsonl:3: has other columns than the first query"),
        (1, lambda d: d.update(status=9), r"jsonl:2: expected a whole number from 0 to 3 at status"),
        (1, lambda d: d.update(query="q2"), "a query appears twice"),
        (1, lambda d: d.pop("averaged"), r"jsonl:2: expected a value at averaged, found nothing"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line(
    history: History, save: Save, tmp_path: Path, line: int, change: Any, message: str
) -> None:
    save()
    (path,) = history.export(tmp_path / "out")
    edited(path, change, line)
    with History.open("copy.db") as copy:
        with pytest.raises(InputError, match=message):
            copy.import_entries(path)
        assert copy.count() == 0


@pytest.mark.parametrize("key", ["uid", "saved", "labels", "branch"])
def test_a_name_that_is_not_utf_8_is_refused(history: History, save: Save, tmp_path: Path, key: str) -> None:
    save()
    (path,) = history.export(tmp_path / "out")
    data = path.read_bytes()
    begin = data.index(f'"{key}":'.encode()) + len(key) + 3
    value = b'"\xb2x"' if data[begin : begin + 4] == b"null" else data[begin : begin + 3] + b"\xb2" + data[begin + 4 :]
    path.write_bytes(data[:begin] + (value + data[begin + 4 :] if len(value) < 6 else value))
    with History.open("copy.db") as copy:
        with pytest.raises(InputError):
            copy.import_entries(path)
        assert copy.count() == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(docs=d["docs"][:-1]), r"the numbers of documents and scores differ"),
        (lambda d: d["docs"].__setitem__(1, d["docs"][0]), "appears twice"),
        (lambda d: d["scores"].__setitem__(0, 2.5), "its run has another hash"),
        (lambda d: d["scores"].__setitem__(0, None), r"expected a string or a number at scores\[0\]"),
        (lambda d: d["scores"].__setitem__(0, "NaN"), "expected a number, found 'NaN'"),
        (lambda d: d.update(ranking="q2"), "another hash|a query twice"),
    ],
)
def test_a_damaged_run_is_refused(history: History, save: Save, tmp_path: Path, change: Any, message: str) -> None:
    save(keep=True)
    (path,) = history.export(tmp_path / "out")
    edited(path, change, 4)
    with pytest.raises(InputError, match=message):
        History.open("copy.db").import_entries(path)


def test_two_files_of_one_entry_must_agree(history: History, save: Save, tmp_path: Path) -> None:
    save()
    (path,) = history.export(tmp_path / "out")
    other = path.with_name("other.jsonl")
    other.write_bytes(path.read_bytes().replace(b'"dirty":false', b'"dirty":true'))
    with History.open("copy.db") as copy:
        with pytest.raises(InputError, match="differs from another file of the entry 2026-11-02-abc1234"):
            copy.import_entries(path, other)
        assert copy.count() == 0


def test_judgments_of_something_else_are_refused(history: History, save: Save, tmp_path: Path) -> None:
    save()
    save(GROWN, SECOND)
    first, second = history.export(tmp_path / "out")
    names = [tmp_path / "out/labels" / f"{history.entry(path.stem).summary.labels}.jsonl" for path in (first, second)]
    names[0].write_bytes(names[1].read_bytes())
    with pytest.raises(InputError, match="its judgments have another hash"):
        History.open("copy.db").import_entries(first)


def test_damaged_judgments_are_refused(history: History, save: Save, tmp_path: Path) -> None:
    save()
    history.export(tmp_path / "out")
    (labels,) = (tmp_path / "out" / "labels").iterdir()
    edited(labels, lambda data: data.update(grades=[2.0, 0.0]), 1)
    with pytest.raises(InputError, match="not that of the first line"):
        History.open("copy.db").import_entries(tmp_path / "out")
    labels.write_bytes(labels.read_bytes()[:-10])
    with pytest.raises(InputError, match=r"cut short|not JSON|expected"):
        History.open("copy.db").import_entries(tmp_path / "out")


def test_what_is_not_an_export_is_refused(history: History, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no exported entry in this folder"):
        history.import_entries(tmp_path / "empty")
    (tmp_path / "x.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(InputError, match=r"x\.jsonl: expected a string at schema, found nothing"):
        history.import_entries(tmp_path / "x.jsonl")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        history.export(tmp_path / "file")
