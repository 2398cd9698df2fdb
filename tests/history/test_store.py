from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from rankgauge import Conventions, InputError, Qrels, Run, UsageError, evaluate
from rankgauge.history import EntryFacts, EntryFilter, EntrySummary, GitState, History
from rankgauge.history.sql_tables import HISTORY_KIND
from rankgauge.io.owned_databases import OwnedDatabase
from rankgauge.retrieval.latency import Cost
from tests.history.conftest import COMMIT, DAY, FIRST, GROWN, LABELS, MEASURES, SECOND

Save = Callable[..., EntrySummary]


def test_an_entry_holds_what_was_saved(history: History, save: Save) -> None:
    name = save(keep=True, tags=("release",)).name
    assert name == "2026-11-02-abc1234"
    entry = history.entry(name)
    scores = evaluate(Qrels.from_dict(LABELS, name="workshop"), Run.from_dict(FIRST, name="system"), MEASURES)
    assert entry.scores.to_dict(per_query=True) == {
        **scores.to_dict(per_query=True),
        "sha256": Run.from_dict(FIRST).sha256,
    }
    assert entry.scores.values.tobytes() == scores.values.tobytes()
    assert entry.qrels is not None
    assert entry.qrels.sha256 == Qrels.from_dict(LABELS).sha256 == entry.summary.labels
    assert entry.run is not None
    assert entry.run.sha256 == Run.from_dict(FIRST).sha256
    summary = entry.summary
    assert (summary.saved, summary.system, summary.collection) == ("2026-11-02T10:11:12Z", "system", "workshop")
    assert (summary.tags, summary.has_run) == (("release",), True)
    assert summary.git == GitState(COMMIT, "main", dirty=False)
    assert {measure: mean.value for measure, mean in summary.means.items()} == {
        "nDCG@10": scores["nDCG@10"], "RR": scores["RR"], "ERR@5": scores["ERR@5"],
    }  # fmt: skip
    interval = scores.interval("RR")
    assert (summary.means["RR"].low, summary.means["RR"].high) == (interval.low, interval.high)


def test_no_two_entries_have_the_same_name(save: Save) -> None:
    names = [save().name for _ in range(3)] + [save(git=GitState()).name for _ in range(2)]
    assert names == [
        "2026-11-02-abc1234", "2026-11-02-abc1234-2", "2026-11-02-abc1234-3", "2026-11-02", "2026-11-02-2",
    ]  # fmt: skip


def test_facts_come_back(history: History) -> None:
    scores = evaluate(LABELS, FIRST, MEASURES)
    cost = Cost(calls=3, p50=1.5, p95=2.0, p99=2.5, max=3.0)
    facts = EntryFacts(command="gate", verdict="fail", cost=cost, coverage=0.5)
    found = history.summary(history.save(scores, LABELS, facts=facts).name)
    assert (found.cost, found.facts["command"], found.facts["verdict"]) == (cost, "gate", "fail")
    assert found.facts["coverage"] == 0.5
    assert found.conventions == Conventions()
    assert found.queries == {"averaged": 3, "missing": 0, "failed": 0, "without_relevant": 0}


def test_judgments_are_stored_once(history: History, save: Save) -> None:
    for labels in (LABELS, GROWN, LABELS):
        save(labels)
    assert history.database.query("SELECT count(*) FROM labels") == [(2,)]


def test_entries_are_ordered_by_time_and_can_be_filtered(history: History, save: Save) -> None:
    save(date=DAY + timedelta(days=2), git=GitState(COMMIT, "other", dirty=False))
    save(date=DAY, tags=("a",))
    save(date=DAY + timedelta(days=1), tags=("a", "b"))
    assert [entry.saved[:10] for entry in history.entries()] == ["2026-11-02", "2026-11-03", "2026-11-04"]
    assert [entry.saved[:10] for entry in history.entries(last=2)] == ["2026-11-03", "2026-11-04"]

    def days(**chosen: str) -> list[str]:
        filter = EntryFilter(**chosen)
        entries = history.entries(filter)
        assert history.count(filter) == len(entries)
        return [entry.saved[8:10] for entry in entries]

    assert days(branch="main") == ["02", "03"]
    assert days(tag="b") == ["03"]
    assert days(since="2026-11-03") == ["03", "04"]
    assert days(system="system", collection="workshop") == ["02", "03", "04"]
    assert days(system="another") == []


def test_an_entry_is_found_by_name_by_latest_and_by_tag(history: History, save: Save) -> None:
    first, second = save(tags=("good",)).name, save(tags=("good",)).name
    third = save().name
    assert history.summary(first).name == first
    assert history.summary("latest").name == third
    assert history.summary("good").name == second
    with pytest.raises(
        InputError, match=r"no entry and no tag '2026-11-02-abc1235' .*\nhint: did you mean 2026-11-02-abc"
    ):
        history.summary("2026-11-02-abc1235")


def test_an_empty_history_says_so(history: History) -> None:
    assert history.entries() == []
    with pytest.raises(InputError, match=r"history\.db has no entries\nhint: save a result with --save"):
        history.entry("latest")


def test_tags_are_added_and_removed(history: History, save: Save) -> None:
    name = save(tags=("a",)).name
    assert history.tag(name, "b", "a").tags == ("a", "b")
    assert history.tag("b", "a", remove=True).tags == ("b",)
    for tag in ("latest", "2026-11-02", "two words", "", "-x", "a" * 101):
        with pytest.raises(UsageError, match="cannot be a tag"):
            history.tag(name, tag)


def test_scores_of_other_judgments_are_refused(history: History) -> None:
    scores = evaluate(LABELS, FIRST)
    with pytest.raises(UsageError, match="the scores were made with other judgments"):
        history.save(scores, GROWN)
    with pytest.raises(UsageError, match="give the judgments with the scores"):
        history.save(scores)


def test_binary_judgments_are_those_that_the_conventions_see(history: History, save: Save) -> None:
    save(conventions=Conventions(graded=False, rel=2), measures=["P@5"], keep=True)
    save(GROWN, SECOND, conventions=Conventions(graded=False, rel=2), measures=["P@5"], keep=True)
    entry = history.entry("latest")
    assert entry.qrels is not None
    assert set(entry.qrels.grades.tolist()) == {0.0, 1.0}
    found = history.compare("2026-11-02-abc1234", "latest")
    assert found.method == "both orders"
    assert found.parts[0].after == entry.summary.means["P@5"].value


def test_entries_are_compared_although_labels_grew(history: History, save: Save) -> None:
    kept = save(keep=True).name
    plain = save().name
    newer = save(GROWN, SECOND, keep=True).name
    assert history.compare(kept, newer).method == "both orders"
    assert history.compare(plain, newer).method == "older labels"
    assert history.compare(kept, plain).method == "same labels"
    found = history.compare(kept, newer, "RR")
    assert (found.before, found.after) == (kept, newer)
    assert found.changes is not None
    assert (found.changes.queries_added, found.changes.queries_removed) == (("q4",), ("q3",))
    assert [part.measure for part in found.parts] == ["RR"]
    only_hash = replace(evaluate(GROWN, SECOND, MEASURES), qrels_sha256=Qrels.from_dict(GROWN).sha256)
    other = History.open("other.db")
    first = save(into=other, keep=True).name
    second = other.save(only_hash, git=GitState()).name
    found = other.compare(first, second)
    assert (found.method, found.changes, found.comparison) == ("joint", None, None)


@pytest.mark.parametrize("version", [HISTORY_KIND.version - 1, HISTORY_KIND.version + 3])
def test_a_file_of_another_version_is_refused_and_stays_as_it_is(history: History, save: Save, version: int) -> None:
    save()
    history.close()
    plain = sqlite3.connect(history.path)
    plain.execute(f"PRAGMA user_version = {version}")
    plain.close()
    before = history.path.read_bytes()
    with pytest.raises(InputError, match=f"a history of version {version}, but this rankgauge reads version 6: export"):
        history.entries()
    assert history.path.read_bytes() == before


def test_a_file_whose_tables_cannot_be_created_stays_empty(tmp_path: Path) -> None:
    path = tmp_path / "history.db"
    twice = replace(HISTORY_KIND, tables=(*HISTORY_KIND.tables, "CREATE TABLE entries (id INTEGER)"))
    with pytest.raises(InputError, match=r"cannot use .* as a history: table entries already exists"):
        OwnedDatabase(path, twice).query("SELECT 1")
    assert History(path).entries() == []


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    for content, message in (
        (b"my notes, longer than the header of a database" * 50, "cannot use .* as a history: file is not a database"),
        (b"", None),
    ):
        path = tmp_path / "notes.txt"
        path.write_bytes(content)
        if message is None:
            assert History.open(path).entries() == []  # an empty file becomes a history
            continue
        with pytest.raises(InputError, match=message):
            History.open(path).entries()
        assert path.read_bytes() == content
    theirs = tmp_path / "theirs.db"
    plain = sqlite3.connect(theirs)
    plain.execute("CREATE TABLE entries (key TEXT)")
    plain.commit()
    plain.close()
    before = theirs.read_bytes()
    with pytest.raises(InputError, match="is a database of another program, not a history of rankgauge"):
        History.open(theirs).entries()
    assert theirs.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("UPDATE contents SET scores = x'00'", "the entry 2026-11-02-abc1234 is damaged"),
        ("UPDATE contents SET scores = 'text'", "the entry 2026-11-02-abc1234 is damaged"),
        ("UPDATE contents SET run = x'789c030000000001'", "the entry 2026-11-02-abc1234 is damaged"),
        ("DELETE FROM contents", "the entry 2026-11-02-abc1234 is damaged"),
        ("UPDATE labels SET content = x'00'", "the entry 2026-11-02-abc1234 is damaged"),
        ("UPDATE entries SET facts = '{'", "an entry is damaged"),
        ("UPDATE entries SET facts = '[]'", "an entry is damaged"),
        ("UPDATE entries SET facts = '{}'", "an entry is damaged: expected a value at git, found nothing"),
        ("UPDATE entries SET facts = json_set(facts, '$.means', 5)", "expected an object at means"),
        ("UPDATE entries SET name = x'ff'", "an entry is damaged"),
        ("UPDATE entries SET saved = '9999-99-99T00:00:00Z'", "an entry is damaged: expected a time as in"),
        ("UPDATE entries SET saved = '9999-11-02T00:00:00Z'", "was saved in the future, at 9999-11-02"),
        ("UPDATE entries SET saved = '2026-11-03T00:00:00Z'", "is not that of its time and commit"),
        ("UPDATE entries SET uid = 'x'", "expected 32 hexadecimal digits at uid"),
        ("UPDATE entries SET facts = json_set(facts, '$.means.RR.value', 0.9)", "its mean of RR is not that of its"),
        ("UPDATE entries SET facts = replace(facts, '\"n\": 3', '\"n\": 2')", "its mean of nDCG@10 is not that of"),
        (
            'UPDATE entries SET facts = replace(facts, \'"low": 0.\', \'"low": 1e999, "x": 0.\')',
            "expected a number from",
        ),
        ("UPDATE entries SET facts = replace(facts, '\"coverage\": null', '\"coverage\": NaN')", "is damaged: "),
        ("UPDATE entries SET has_run = 0", "has_run says otherwise than its content"),
        ("UPDATE tags SET tag = 'two words'", "cannot be a tag"),
        ("CREATE TRIGGER t AFTER INSERT ON contents BEGIN DELETE FROM contents; END", "it has the trigger 't', which"),
        ("CREATE VIEW v AS SELECT 1", "it has the view 'v', which rankgauge did not create"),
        ("CREATE TABLE more (a)", "it has the table 'more', which rankgauge did not create"),
        ("CREATE INDEX i ON entries (lower(name))", "it has the index 'i', which rankgauge did not create"),
        ("ALTER TABLE tags ADD COLUMN a DEFAULT 1", "its table 'tags' is not the one that rankgauge creates"),
        ("DROP TABLE contents", "it lacks the table 'contents'"),
    ],
)
def test_a_damaged_file_is_one_clear_error(history: History, save: Save, statement: str, message: str) -> None:
    save(keep=True, tags=("good",))
    history.close()
    plain = sqlite3.connect(history.path)
    plain.execute(statement)
    plain.commit()
    plain.close()
    with pytest.raises(InputError, match=message):
        history.entry("latest")


def test_an_entry_from_the_future_is_neither_the_latest_nor_does_it_prune_others(
    history: History, save: Save, command: Callable[..., Any]
) -> None:
    real = save(git=GitState()).name
    save(git=GitState())
    with history.database.transaction() as connection:
        connection.execute("UPDATE entries SET saved = '9999-12-31T00:00:00Z', name = '9999-12-31' WHERE id = 2")
    for words in (("list",), ("show", "latest"), ("prune", "--keep", 1), ("export", "--openmetrics")):
        done = command("history", *words, "--history", history.path)
        assert (done.code, "the entry 9999-12-31 was saved in the future" in done.err) == (2, True), words
    assert command("history", "prune", "9999-12-31", "--history", history.path).code == 0
    assert [entry.name for entry in history.entries()] == [real]


def test_nothing_is_saved_in_the_future(history: History, save: Save) -> None:
    save(date=datetime.now(UTC) + timedelta(hours=23))  # a clock that is ahead
    with pytest.raises(UsageError, match="an entry cannot be saved in the future, found 9999-01-01T00:00:00Z"):
        save(date=datetime(9999, 1, 1, tzinfo=UTC))
    assert history.count() == 1


@pytest.mark.parametrize("table", ["entries", "contents", "tags", "labels"])
def test_what_is_written_is_read_back(history: History, save: Save, table: str) -> None:
    save(tags=("good",))
    other = sqlite3.connect(history.path)  # while the history is open, so that its tables are not looked at again
    change = {"entries": "system = 'x'", "contents": "scores = x'00'", "tags": "tag = 'x'", "labels": "content = x'00'"}
    other.execute(f"CREATE TRIGGER t AFTER INSERT ON {table} BEGIN UPDATE {table} SET {change[table]}; END")
    other.close()
    with pytest.raises(InputError, match="what was written is not what the file has now"):
        save(GROWN, tags=("good",))
    other = sqlite3.connect(history.path)
    other.execute("DROP TRIGGER t")
    other.close()
    assert history.count() == 1


def test_judgments_with_another_hash_are_damaged(history: History, save: Save) -> None:
    save()
    save(GROWN)
    with history.database.transaction() as connection:
        connection.execute("UPDATE labels SET content = (SELECT content FROM labels ORDER BY sha256 LIMIT 1)")
    errors = 0
    for entry in history.entries():
        try:
            history.entry(entry.name)
        except InputError as error:
            errors += "its judgments have another hash" in str(error)
    assert errors == 1


def test_a_failed_transaction_leaves_no_trace(history: History, save: Save, monkeypatch: pytest.MonkeyPatch) -> None:
    save()

    def fail(*_: Any) -> None:
        raise RuntimeError("stop")

    monkeypatch.setattr("rankgauge.history.store.insert_entry", fail)
    with pytest.raises(RuntimeError):
        save(GROWN)
    assert history.count() == 1
    assert history.database.query("SELECT count(*) FROM labels") == [(1,)]


def test_the_file_of_the_project_is_found_from_its_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"no history at .rankgauge/history\.db"):
        History.open(create=False)
    inner = tmp_path / "repository" / "deep" / "er"
    inner.mkdir(parents=True)
    (tmp_path / "repository" / ".git").mkdir()
    monkeypatch.chdir(inner)
    assert History.open().path == tmp_path / "repository" / ".rankgauge" / "history.db"
    assert (tmp_path / "repository" / ".rankgauge" / ".gitignore").read_text() == "*\n"
    monkeypatch.setenv("RANKGAUGE_HISTORY", "elsewhere.db")
    assert History.open().path == Path("elsewhere.db")
    assert History.open("named.db").path == Path("named.db")
