"""A folder of files: what is saved comes back, whatever else is in the folder, and however it is shared."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Conventions, InputError, Qrels, RankgaugeWarning, Run, UsageError, evaluate
from rankgauge.history import EntryFacts, EntryFilter, EntrySummary, GitState, History
from rankgauge.history.entries import LOG_ENDING
from rankgauge.history.folder import file_part, named_results, system_name, without_date
from rankgauge.render.documents.history import Listing, listing_document
from rankgauge.render.formats import rendered
from rankgauge.retrieval.latency import Cost
from tests.history.conftest import COMMIT, DAY, FIRST, GROWN, LABELS, MEASURES, SECOND

Save = Callable[..., EntrySummary]


def test_an_entry_holds_what_was_saved(history: History, save: Save) -> None:
    name = save(keep=True).name
    assert name.startswith("2026-11-02T10-11-12Z-system-")
    entry = history.entry(name)
    scores = evaluate(Qrels.from_dict(LABELS, name="workshop"), Run.from_dict(FIRST, name="system"), MEASURES)
    assert entry.scores.values.tobytes() == scores.values.tobytes()
    assert (entry.scores.queries, entry.scores.measures) == (scores.queries, scores.measures)
    summary = entry.summary
    assert (summary.saved, summary.system, summary.collection) == ("2026-11-02T10:11:12Z", "system", "workshop")
    assert summary.git == GitState(COMMIT, "main", dirty=False)
    assert {measure: mean.value for measure, mean in summary.means.items()} == {
        "nDCG@10": scores["nDCG@10"], "RR": scores["RR"], "ERR@5": scores["ERR@5"],
    }  # fmt: skip
    interval = scores.interval("RR")
    assert (summary.means["RR"].low, summary.means["RR"].high) == (interval.low, interval.high)
    assert summary.log is not None
    rows = [json.loads(line) for line in gzip.decompress(summary.log.read_bytes()).splitlines()]
    assert [row["query_id"] for row in rows[:3]] == ["q1", "q2", "q3"]
    assert rows[0]["relevant"] == {"a": 1, "b": 0}


def test_facts_come_back(history: History) -> None:
    scores = evaluate(LABELS, FIRST, MEASURES)
    cost = Cost(calls=3, p50=1.5, p95=2.0, p99=2.5, max=3.0)
    facts = EntryFacts(command="gate", verdict="fail", cost=cost, coverage=0.5)
    found = history.summary(history.save(scores, facts=facts).name)
    assert (found.cost, found.facts["command"], found.facts["verdict"]) == (cost, "gate", "fail")
    assert found.facts["coverage"] == 0.5
    assert found.conventions == str(Conventions())
    assert found.queries == {"averaged": 3, "missing": 0, "failed": 0, "without_relevant": 0}


def test_entries_are_ordered_by_time_and_can_be_filtered(history: History, save: Save) -> None:
    save(date=DAY + timedelta(days=2), git=GitState(COMMIT, "other", dirty=False))
    save(date=DAY)
    save(date=DAY + timedelta(days=1))
    assert [entry.saved[:10] for entry in history.entries()] == ["2026-11-02", "2026-11-03", "2026-11-04"]
    assert [entry.saved[:10] for entry in history.entries(last=2)] == ["2026-11-03", "2026-11-04"]

    def days(**chosen: str) -> list[str]:
        filter = EntryFilter(**chosen)
        entries = history.entries(filter)
        assert history.count(filter) == len(entries)
        return [entry.saved[8:10] for entry in entries]

    assert days(branch="main") == ["02", "03"]
    assert days(since="2026-11-03") == ["03", "04"]
    assert days(system="system", collection="workshop") == ["02", "03", "04"]
    assert days(system="another") == []


def test_an_entry_is_found_by_its_name_or_a_part_of_it(history: History, save: Save) -> None:
    first, second = save().name, save(date=DAY + timedelta(days=1)).name
    assert history.summary(first).name == first
    assert history.summary("latest").name == second
    assert history.summary("2026-11-02").name == first
    with pytest.raises(InputError, match="no entry is called 'x9'"):
        history.summary("x9")
    with pytest.raises(InputError, match="2 entries have in their names: '2026-11'"):
        history.summary("2026-11")


def test_history_means_the_newest_of_a_branch_then_of_a_system(history: History, save: Save) -> None:
    save(run=Run.from_dict(FIRST, name="search"), git=GitState(COMMIT, "main", dirty=False))
    newest = save(run=Run.from_dict(SECOND, name="main"), git=GitState(None, None, None), keep=True)
    of_branch = history.named("main")
    assert of_branch.git.branch == "main"
    assert history.named("search").name == of_branch.name
    assert named_results("history:main", history.folder) == str(of_branch.path)
    of_branch.path.unlink()
    assert named_results("history:main", history.folder) == str(newest.log)
    with pytest.raises(InputError, match="no entry of a branch or a system 'x'"):
        history.named("x")
    with pytest.raises(UsageError, match="names no branch or system"):
        named_results("history:", history.folder)


def test_a_list_reads_first_lines_alone(history: History, save: Save) -> None:
    first = save()
    for number in range(40):
        shutil.copy(first.path, first.path.with_name(f"2026-11-02T10-11-12Z-copy-{number:08}.jsonl"))
    for entry in history.entries():  # what follows the first line is not even text
        with entry.path.open("r+b") as file:
            head = file.readline()
            file.truncate(len(head))
            file.write(b"\xff\x00" * 100)
    entries = [*reversed(history.entries())]
    assert len(rendered(listing_document(Listing(entries, len(entries))), "table").splitlines()) == 42
    with pytest.raises(InputError, match=":2: expected a JSON object"):
        history.entry(entries[0].name)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is no entry of a history"),
        (b"notes\n", "is no entry of a history"),
        (b'{"query": "q1"}\n', "is no entry of a history"),
        (b'{"schema": "rankgauge.scores/1"}\n', "is a damaged entry: saved is missing"),
        (b"\xff\xfe\n", "is no entry of a history"),
    ],
)
def test_a_foreign_file_is_one_warning_and_stops_no_other(
    history: History, save: Save, content: bytes, said: str
) -> None:
    name = save().name
    (history.folder / "foreign.jsonl").write_bytes(content)
    (history.folder / "notes.txt").write_text("not looked at")
    with pytest.warns(RankgaugeWarning, match=rf"left out: .*foreign\.jsonl:1: {said}"):
        assert [entry.name for entry in history.entries()] == [name]


@given(
    at=st.integers(0, 2000),
    change=st.sampled_from(["cut", "flip", "drop line", "value"]),
)
def test_a_damaged_entry_is_refused_or_read_as_it_was(
    at: int, change: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    history = History.open(tmp_path_factory.mktemp("history"))
    scores = evaluate(LABELS, FIRST, MEASURES)
    entry = history.save(scores, date=DAY, git=GitState())
    data = entry.path.read_bytes()
    at %= len(data)
    lines = data.splitlines(keepends=True)
    damaged = {
        "cut": data[:at],
        "flip": data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
        "drop line": b"".join(lines[: at % len(lines)] + lines[at % len(lines) + 1 :]),
        "value": data.replace(b": 1.0", b': "high"'),
    }[change]
    entry.path.write_bytes(damaged)
    try:
        found = history.entry(entry.name)
    except (InputError, UsageError):
        return
    except RankgaugeWarning:
        return
    assert len(found.scores) <= 3  # one flipped bit may be another number, never another shape
    assert np.isfinite(found.scores.values[found.scores.averaged]).all()


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
def test_a_clock_that_was_set_back_keeps_the_order_of_saving(history: History, save: Save) -> None:
    ahead = save(date=datetime.now(UTC) + timedelta(minutes=30))
    later = save(date=None)
    assert later.saved == ahead.saved
    assert history.entries()[-1].name == later.name


def test_nothing_is_saved_in_the_future_and_what_is_there_is_said(history: History, save: Save) -> None:
    entry = save()
    with pytest.raises(UsageError, match="an entry cannot be saved in the future, found 9999-01-01T00:00:00Z"):
        save(date=datetime(9999, 1, 1, tzinfo=UTC))
    facts = {**entry.facts, "saved": "9999-12-31T00:00:00Z"}
    entry.path.with_name("9999-12-31T00-00-00Z-x-1.jsonl").write_text(json.dumps(facts) + "\n")
    with pytest.warns(RankgaugeWarning, match="is from the future: check the clock, or delete the file"):
        assert history.count() == 2


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", ".hidden", "-o", "COM1 ", "ü∂", "x" * 300, "a\nb", "..", ""])
def test_no_name_of_a_system_leaves_the_folder(history: History, name: str) -> None:
    scores = evaluate(LABELS, Run.from_dict(FIRST, name=name or "run"), MEASURES)
    entry = history.save(scores, date=DAY, git=GitState())
    assert entry.path.parent == history.folder
    assert entry.path.is_file()
    assert not entry.path.name.startswith(".")
    assert len(os.fsencode(entry.path.name)) < 255
    assert [one.name for one in history.entries()] == [entry.name]
    assert history.entry(entry.name).scores.run == entry.system


def test_names_that_differ_only_in_case_are_two_files(history: History) -> None:
    for name in ("Search", "search"):
        history.save(evaluate(LABELS, Run.from_dict(FIRST, name=name), MEASURES), date=DAY, git=GitState())
    assert sorted(entry.system for entry in history.entries()) == ["Search", "search"]
    assert len({entry.path.name.casefold() for entry in history.entries()}) == 2


def test_two_machines_share_a_folder(history: History, save: Save, tmp_path: Path) -> None:
    save()
    other = History.open(tmp_path / "other")
    save(GROWN, into=other)
    for path in other.folder.iterdir():
        shutil.copy(path, history.folder)
    assert history.count() == 2
    assert {entry.labels for entry in history.entries()} == {entry.labels for entry in other.entries()} | {
        history.entries()[0].labels
    }


@pytest.mark.parametrize(
    ("file", "system"),
    [
        ("search-2026-11-01.jsonl", "search"),
        ("search_20261101.run", "search"),
        ("2026-11-01-search.jsonl.gz", "search"),
        ("search-2026-11-01T10-11-12Z.jsonl", "search"),
        ("bm25.v2", "bm25.v2"),
        ("20261101.jsonl", "20261101"),
        ("run-12345678.run", "run-12345678"),
        ("nDCG-2026", "nDCG-2026"),
    ],
)
def test_a_system_is_named_after_its_file_without_a_date(file: str, system: str) -> None:
    assert system_name(file) == system


def test_a_collection_keeps_its_ending() -> None:
    assert without_date("qrels-2026-11-01.txt") == "qrels.txt"
    assert file_part("a b/c") == "a_b_c"


def test_the_folder_of_the_project_is_found_from_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no history at .rankgauge/history"):
        History.open(create=False)
    inner = tmp_path / "repository" / "deep" / "er"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    monkeypatch.chdir(inner)
    assert History.open().folder == tmp_path / "repository" / ".rankgauge" / "history"
    monkeypatch.setenv("RANKGAUGE_HISTORY", "elsewhere")
    assert History.open().folder == Path("elsewhere")
    assert History.open("named").folder == Path("named")


def test_a_log_without_its_entry_is_removed(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = evaluate(LABELS, FIRST, MEASURES)

    def fail(_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr("rankgauge.history.folder.rows_of", fail)
        with pytest.raises(InputError, match="no space left"):
            history.save(scores, log=lambda _: b"log")
    assert list(history.folder.iterdir()) == []
    old, young = (history.folder / f"2026-01-01T00-00-00Z-{name}-00000000{LOG_ENDING}" for name in ("old", "young"))
    for path in (old, young):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    entry = history.save(scores, log=lambda _: b"log")
    assert {path.name for path in history.folder.iterdir()} == {young.name, entry.path.name, entry.log_path.name}
