"""Judging: what is shown, what each decision writes, and that every command reads the result."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import RankgaugeWarning, read_qrels
from rankgauge.cli.main import run as run_command
from rankgauge.errors import InputError, UsageError
from rankgauge.io.formats.judgment_lines import current_judgments, median_grade
from rankgauge.labels import JudgmentFile, PoolItem, read_judgments
from rankgauge.labels.judging_session import Assessor, JudgingSession
from rankgauge.render.judging_screen import Screen, highlighted, judging_screen, query_words
from tests.labels.pools import DEPTH, items, judgment, pool_file


def session(path: Path, name: str = "ann") -> JudgingSession:
    return JudgingSession(items(), JudgmentFile(path), Assessor(name))


def grades(path: Path) -> dict[tuple[str, str, str], float | None]:
    return {(one.query, one.doc, one.assessor): one.grade for one in current_judgments(read_judgments(path))}


def test_every_judgment_keeps_who_when_how_grade_and_hash(tmp_path: Path) -> None:
    work = session(tmp_path / "j")
    item = work.current
    assert item is not None
    work.add_note("  unsure ")
    work.grade(2)
    (row,) = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    assert (row["query_id"], row["doc_id"], row["relevance"]) == (item.query, item.doc, 2)
    assert (row["assessor"], row["how"], row["note"]) == ("ann", "terminal", "unsure")
    assert row["at"].endswith("Z")
    assert row["text_sha256"] == item.text_sha256
    assert (row["strategy"], row["probability"]) == ("depth", 1.0)


def test_the_order_is_random_differs_by_assessor_and_stays_the_same(tmp_path: Path) -> None:
    def order(name: str) -> list[str]:
        work = JudgingSession(items(3, 8), JudgmentFile(tmp_path / name), Assessor(name))
        out = []
        while work.current is not None:
            out.append(f"{work.current.query} {work.current.doc}")
            work.grade(0)
        return out

    ann, bob = order("ann"), order("bob")
    (tmp_path / "ann").unlink()
    assert ann == order("ann")
    assert ann != bob
    assert sorted(ann) == sorted(bob)
    assert ann != sorted(ann)
    queries = [entry.split()[0] for entry in ann]
    assert len([1 for a, b in pairwise(queries) if a != b]) == 2  # query by query


def test_judging_resumes_where_it_was_for_each_assessor(tmp_path: Path) -> None:
    work = session(tmp_path / "j")
    work.grade(1)
    work.skip()
    again = session(tmp_path / "j")
    assert (again.decided, again.total) == (2, 6)
    assert session(tmp_path / "j", "bob").decided == 0
    assert JudgingSession(items(), JudgmentFile(tmp_path / "j"), Assessor("ann", show_skipped=True)).decided == 1


def test_a_document_whose_text_changed_is_shown_again(tmp_path: Path) -> None:
    old = PoolItem("q", "d", DEPTH, "query", "", "old text")
    JudgingSession([old], JudgmentFile(tmp_path / "j"), Assessor("ann")).grade(1)
    new = PoolItem("q", "d", DEPTH, "query", "", "new text")
    assert JudgingSession([old], JudgmentFile(tmp_path / "j"), Assessor("ann")).current is None
    assert JudgingSession([new], JudgmentFile(tmp_path / "j"), Assessor("ann")).current == new


def test_undo_withdraws_the_last_decision_even_if_the_assessor_quits(tmp_path: Path) -> None:
    work = session(tmp_path / "j")
    first = work.current
    work.grade(3)
    assert work.undo()
    assert work.current == first
    assert grades(tmp_path / "j") == {}
    assert not work.undo()
    work.grade(1)
    assert list(grades(tmp_path / "j").values()) == [1]
    assert len((tmp_path / "j").read_text().splitlines()) == 3  # nothing is ever removed


@settings(max_examples=25)
@given(st.lists(st.sampled_from("0123su"), max_size=25))
def test_the_file_has_what_a_plain_list_of_decisions_has(keys: list[str]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "j"
        work = session(path)
        decisions: list[tuple[tuple[str, str], str]] = []
        for key in keys:
            if key == "u":
                if decisions:
                    decisions.pop()
                work.undo()
            elif work.current is not None:
                decisions.append(((work.current.query, work.current.doc), key))
                if key == "s":
                    work.skip()
                else:
                    work.grade(int(key))
        expected = {(*pair, "ann"): float(key) for pair, key in decisions if key != "s"}
        found = grades(path) if path.stat().st_size else {}
        assert found == expected
        assert work.decided == len(decisions)


def test_texts_and_grades_that_are_missing_or_wrong_are_errors(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="document 'd' of query 'q' has no text to judge"):
        JudgingSession([PoolItem("q", "d", DEPTH)], JudgmentFile(tmp_path / "j"), Assessor("ann"))
    with pytest.raises(UsageError, match="from 0 to 3"):
        session(tmp_path / "j").grade(4)
    with pytest.raises(UsageError, match="needs a name"):
        Assessor(" ")
    with pytest.raises(UsageError, match="from 1 to 9"):
        Assessor("ann", max_grade=10)


def test_documents_that_the_sample_left_out_are_not_shown(tmp_path: Path) -> None:
    left_out = PoolItem("q", "x", DEPTH, sampled=False)
    work = JudgingSession([*items(1, 1), left_out], JudgmentFile(tmp_path / "j"), Assessor("ann"))
    assert work.total == 1


def test_an_incomplete_last_line_is_removed_and_a_foreign_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "j"
    file = JudgmentFile(path)
    file.add(judgment("q", "d", 1))
    complete = path.read_bytes()
    path.write_bytes(complete + b'{"query_id":"q","doc')
    file = JudgmentFile(path)
    assert len(file.judgments) == 1
    file.add(judgment("q", "e", 2))
    assert len(read_judgments(path)) == 2
    for content in (b"1 0 a 1", b"1 0 a 1\n", b'{"query_id": "1"}\n'):
        path.write_bytes(content)
        with pytest.raises(InputError):
            JudgmentFile(path)
        assert path.read_bytes() == content


def test_a_line_that_a_crash_left_is_not_read(tmp_path: Path) -> None:
    JudgmentFile(tmp_path / "j").add(judgment("q", "d", 1))
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"query_id":"q","doc_id":"e","relev')
    with pytest.warns(RankgaugeWarning, match="j:2: expected a complete judgment"):
        assert len(read_qrels(tmp_path / "j")) == 1


def test_two_assessors_write_into_one_file(tmp_path: Path) -> None:
    first, second = session(tmp_path / "j"), session(tmp_path / "j", "bob")
    for number in range(6):
        first.grade(number % 4)
        second.grade(3)
    assert len(read_judgments(tmp_path / "j")) == 12
    assert {assessor for _, _, assessor in grades(tmp_path / "j")} == {"ann", "bob"}


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_the_median_is_a_grade_that_was_given_and_of_two_middle_ones_the_lower(given_grades: list[int]) -> None:
    median = median_grade(given_grades)
    assert median in given_grades
    assert sum(grade < median for grade in given_grades) <= (len(given_grades) - 1) // 2
    assert sum(grade > median for grade in given_grades) <= len(given_grades) // 2


def test_every_command_reads_the_judgments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = JudgmentFile("j.jsonl")
    file.add(judgment("1", "a", 3))
    file.add(judgment("1", "a", 1))  # replaces the one before
    file.add(judgment("1", "b", None, status="skipped"))
    file.add(judgment("1", "c", 2))
    file.add(judgment("1", "c", 0, "bob"))
    file.add(judgment("2", "a", 2))
    file.add(judgment("2", "a", None, status="withdrawn"))
    file.add(judgment("2", "b", 2))
    qrels = read_qrels("j.jsonl")
    assert dict(zip(qrels.docs.to_text(), qrels.grades.tolist(), strict=True)) == {"a": 1.0, "c": 0.0, "b": 2.0}
    for name in ("old", "new"):
        Path(f"{name}.run").write_text(f"1 Q0 a 1 2 {name}\n1 Q0 c 2 1 {name}\n2 Q0 b 1 1 {name}\n")
    commands = [
        ["evaluate", "j.jsonl", "old.run"],
        ["compare", "j.jsonl", "old.run", "new.run"],
        ["gate", "j.jsonl", "new.run", "--require", "nDCG@10>=0.1"],
        ["agreement", "j.jsonl", "j.jsonl", "old.run", "new.run"],
        ["runs", "validate", "--labels", "j.jsonl"],
        ["convert", "j.jsonl", "q.txt"],
        ["labels", "agree", "j.jsonl", "q.txt"],
        ["pool", "old.run", "-o", "pool.jsonl", "--judged", "j.jsonl"],
        ["trec_eval", "q.txt", "old.run"],
    ]
    for command in commands:
        assert run_command(command) == 0, command
    assert Path("q.txt").read_text() == "1 0 a 1\n1 0 c 0\n2 0 b 2\n"


def test_judgments_of_which_none_is_left_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    file = JudgmentFile(path)
    file.add(judgment("1", "b", None, status="skipped"))
    with pytest.raises(InputError, match="no judgments in the file"):
        read_qrels(path)


def test_the_screen_shows_no_run_rank_or_score_and_escapes_control_characters(tmp_path: Path) -> None:
    item = PoolItem(
        "q1", "secret-id", DEPTH, "baking \x1b bread", "A title", "Bread is baked.\nThe end\x07 " + "word " * 400
    )
    work = JudgingSession([item], JudgmentFile(tmp_path / "j"), Assessor("ann"))
    plain = judging_screen(work, Screen(60, 20))
    assert "secret-id" not in plain
    assert "\x1b" not in plain
    assert "\x07" not in plain
    assert "1 of 1 (0% done) · ann" in plain
    assert "more lines: space" in plain
    assert len(plain.splitlines()) <= 22
    bold = judging_screen(work, Screen(60, 20, color=True))
    assert "\x1b[1mBread\x1b[0m is" in bold
    assert (
        highlighted("Breads and breaded", query_words("the bread")) == "\x1b[1mBreads\x1b[0m and \x1b[1mbreaded\x1b[0m"
    )


def test_keys_from_a_pipe_judge_without_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io

    pool = pool_file(tmp_path)
    out = tmp_path / "j"
    monkeypatch.setattr("sys.stdin", io.StringIO("2\n1\nn a note\n3\nz\nsu0\n"))
    assert run_command(["judge", str(pool), "-o", str(out), "--assessor", "ann"]) == 0
    assert sorted(value for value in grades(out).values() if value is not None) == [0, 1, 2, 3]
    assert [one.note for one in read_judgments(out) if one.note] == ["a note"]
    assert "4 of 6 documents judged by ann, 2 left; saved in" in capsys.readouterr().err


def test_an_option_of_machines_is_not_ignored_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pool = pool_file(tmp_path)
    assert run_command(["judge", str(pool), "-o", str(tmp_path / "j"), "--retries", "2"]) == 64
    assert "--retries applies to a program that judges" in capsys.readouterr().err
    assert run_command(["judge", str(pool), "-o", str(pool)]) == 2
