"""Agreement of files and of assessors, and estimates from machine labels, up to the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rankgauge import Qrels, Run, evaluate
from rankgauge.cli.main import run as run_command
from rankgauge.errors import InputError, UsageError
from rankgauge.io.formats.judgment_lines import Inclusion
from rankgauge.labels import JudgmentFile, estimate_with_machine_labels, rater_agreement, ratings_of, read_raters
from rankgauge.labels.assessors import Rater
from rankgauge.stats import cohen_kappa, krippendorff_alpha, prediction_powered_mean
from tests.labels.pools import judgment


def two_raters(seed: int = 1, queries: int = 12) -> tuple[Qrels, Qrels]:
    rng = np.random.default_rng(seed)
    first: dict[str, dict[str, float]] = {}
    second: dict[str, dict[str, float]] = {}
    for query in range(queries):
        grades = rng.integers(0, 4, 8)
        other = np.clip(grades + rng.integers(-1, 2, 8), 0, 3)
        first[f"q{query}"] = {f"d{doc}": float(grade) for doc, grade in enumerate(grades)}
        second[f"q{query}"] = {f"d{doc}": float(grade) for doc, grade in enumerate(other[:7])}  # one is missing
    return Qrels.from_dict(first, name="first"), Qrels.from_dict(second, name="second")


def test_the_values_are_those_of_the_shared_documents() -> None:
    first, second = two_raters()
    (agreement,) = rater_agreement(ratings_of([Rater("a", first), Rater("b", second)]))
    assert (agreement.documents, agreement.queries) == (84, 12)
    assert agreement.table is not None
    assert agreement.table.sum() == 84
    assert agreement.values["kappa"].estimate == pytest.approx(cohen_kappa(agreement.table).value)
    assert agreement.values["quadratic"].estimate == pytest.approx(
        cohen_kappa(agreement.table, weights="quadratic").value
    )
    pairs = [(row, column) for row in range(4) for column in range(4) for _ in range(int(agreement.table[row, column]))]
    assert agreement.values["alpha"].estimate == pytest.approx(krippendorff_alpha(pairs).value)
    for interval in agreement.values.values():
        assert interval.low is not None
        assert interval.high is not None
        assert interval.low < (interval.estimate or 0) < interval.high


def test_groups_partition_the_documents() -> None:
    first, second = two_raters()
    columns = {"kind": {f"q{query}": "even" if query % 2 == 0 else "odd" for query in range(12)}}
    ratings = ratings_of([Rater("a", first), Rater("b", second)])
    whole, *groups = rater_agreement(ratings, columns=columns, by=["kind"])
    assert [group.group for group in groups] == [("kind", "even"), ("kind", "odd")]
    assert sum(group.documents for group in groups) == whole.documents
    assert whole.table is not None
    assert whole.table.sum() == sum(group.table.sum() for group in groups if group.table is not None)
    with pytest.raises(UsageError, match="no column 'kid'"):
        rater_agreement(ratings, columns=columns, by=["kid"])


def test_assessors_of_one_file_are_compared_in_pairs_and_all_together(tmp_path: Path) -> None:
    file = JudgmentFile(tmp_path / "j")
    rng = np.random.default_rng(3)
    rows = []
    for query in range(6):
        for doc in range(5):
            truth = int(rng.integers(0, 4))
            row = [float(np.clip(truth + rng.integers(-1, 2), 0, 3)) for _ in range(3)]
            row[2] = float("nan") if doc == 0 else row[2]
            rows.append(row)
            for name, grade in zip(("ann", "bob", "cy"), row, strict=True):
                if grade == grade:
                    file.add(judgment(f"q{query}", f"d{doc}", grade, name))
    agreements = rater_agreement(ratings_of(read_raters([tmp_path / "j"])))
    assert [agreement.names for agreement in agreements] == [
        ("ann", "bob"),
        ("ann", "cy"),
        ("bob", "cy"),
        ("ann", "bob", "cy"),
    ]
    assert agreements[-1].values["alpha"].estimate == pytest.approx(krippendorff_alpha(rows).value)
    chosen = read_raters([tmp_path / "j"], ["cy", "ann"])
    assert [rater.name for rater in chosen] == ["cy", "ann"]
    with pytest.raises(InputError, match="expected an assessor 'dan', found 'ann', 'bob', 'cy'"):
        read_raters([tmp_path / "j"], ["dan"])


def test_files_that_cannot_be_compared_are_errors(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("1 0 a 1\n")
    with pytest.raises(UsageError, match="does not say who judged what"):
        read_raters([tmp_path / "q.txt"])
    with pytest.raises(InputError, match="no document is judged by both"):
        ratings_of([Rater("a", Qrels.from_dict({"1": {"a": 1}})), Rater("b", Qrels.from_dict({"1": {"b": 1}}))])
    JudgmentFile(tmp_path / "j").add(judgment("1", "a", 1))
    with pytest.raises(InputError, match="at least two assessors, found 1"):
        read_raters([tmp_path / "j"])


RUN = Run.from_lists({f"q{query}": [f"d{(doc + query) % 8}" for doc in range(8)] for query in range(200)}, name="sys")


def labels(seed: int, queries: int, bias: int) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """True grades, and those of a machine that is too generous."""
    rng = np.random.default_rng(seed)
    truth, machine = {}, {}
    for query in range(queries):
        grades = rng.choice(4, 8, p=[0.5, 0.3, 0.15, 0.05])
        noisy = np.clip(grades + rng.choice([0, 0, bias], 8), 0, 3)
        truth[f"q{query}"] = {f"d{doc}": float(grade) for doc, grade in enumerate(grades)}
        machine[f"q{query}"] = {f"d{doc}": float(grade) for doc, grade in enumerate(noisy)}
    return truth, machine


def test_the_estimate_uses_both_labels_and_drops_what_is_not_fully_judged() -> None:
    truth, machine = labels(4, 100, 1)
    human = {query: dict(truth[query]) for query in list(truth)[:30]}
    human["q3"].pop("d0")
    human["unknown"] = {"d0": 1.0}
    result = estimate_with_machine_labels(human, machine, [RUN], ["nDCG@10", "P@5"])
    assert (result.human_queries, result.machine_queries) == (29, 71)
    assert sorted(note.code for note in result.notes) == ["no-machine-labels", "partly-judged", "sample-not-recorded"]
    row = result.rows[0]
    assert (row.run, row.measure) == ("sys", "nDCG@10")
    kept = {query: grades for query, grades in human.items() if query not in ("q3", "unknown")}
    assert row.human.estimate == pytest.approx(evaluate(kept, RUN, "nDCG@10")["nDCG@10"])
    assert row.machine.estimate == pytest.approx(
        evaluate({q: g for q, g in machine.items() if q != "q3"}, RUN, "nDCG@10")["nDCG@10"], abs=0.02
    )
    assert row.estimate.weight is not None
    assert 0 < row.estimate.weight <= 1


def test_fewer_than_twenty_queries_are_refused() -> None:
    truth, machine = labels(4, 60, 1)
    few = {query: truth[query] for query in list(truth)[:19]}
    with pytest.raises(InputError, match="at least 20 queries whose documents are all judged by people, found 19"):
        estimate_with_machine_labels(few, machine, [RUN])


def test_a_measure_that_is_not_a_mean_is_refused() -> None:
    truth, machine = labels(4, 60, 1)
    human = {query: truth[query] for query in list(truth)[:25]}
    with pytest.raises(InputError, match="not a mean over queries"):
        estimate_with_machine_labels(human, machine, [RUN], ["num_rel"])


@pytest.mark.parametrize("most", [0.0, 1.0])
def test_an_estimate_stays_within_the_range_of_its_measure(most: float) -> None:
    """People judge one of 20 first documents differently from the others: a free interval would leave the range."""
    machine = {f"q{query}": {"d0": most, "d1": 1.0} for query in range(40)}
    human = {f"q{query}": {"d0": most if query else 1 - most, "d1": 1.0} for query in range(20)}
    run = Run.from_lists({query: ["d0", "d1"] for query in machine})
    (row,) = estimate_with_machine_labels(human, machine, [run], ["P@1"]).rows
    truth = np.array([grades["d0"] for grades in human.values()])
    free = prediction_powered_mean(truth, np.full(20, most), np.full(20, most), limits=(-9.0, 9.0)).interval
    assert free.low is not None
    assert free.high is not None
    assert free.low < 0
    assert free.high > 1
    low, high = row.estimate.interval.low, row.estimate.interval.high
    assert low is not None
    assert high is not None
    assert (low, high < 1) == (0.0, True) if most == 0 else (low > 0, high) == (True, 1.0)


def test_labels_that_record_a_random_sample_of_queries_have_no_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    truth, machine = labels(4, 60, 1)
    names = list(truth)
    for name, share in (("drawn", 0.5), ("chosen", None)):
        file = JudgmentFile(f"{name}.jsonl")
        inclusion = Inclusion("depth", query_probability=share)
        for query in names[:30]:
            for doc, grade in truth[query].items():
                file.add(judgment(query, doc, grade, inclusion=inclusion))
    assert not estimate_with_machine_labels("drawn.jsonl", machine, [RUN], ["P@5"]).notes
    (note,) = estimate_with_machine_labels("chosen.jsonl", machine, [RUN], ["P@5"]).notes
    assert "hold only if they were drawn at random" in note.message
    assert not estimate_with_machine_labels(truth, machine, [RUN], ["P@5"]).notes  # every query, not a sample
    lines = [f"{query} 0 {doc} {int(grade)}\n" for query, docs in machine.items() for doc, grade in docs.items()]
    Path("machine.txt").write_text("".join(lines))
    Path("a.run").write_text("".join(f"q{query} Q0 d{doc} 1 {9 - doc} a\n" for query in range(60) for doc in range(8)))
    assert run_command(["labels", "estimate", "chosen.jsonl", "a.run", "--machine", "machine.txt", "-m", "P@5"]) == 0
    out, err = capsys.readouterr()
    assert "Estimated is the mean of all queries like these 60" in " ".join(out.split())
    assert "do not record how their queries were chosen" in " ".join(err.split())


@pytest.mark.slow
def test_intervals_of_a_measure_cover_and_those_of_machine_labels_alone_do_not() -> None:
    truth, machine = labels(9, 200, 1)
    value = evaluate(truth, RUN, "P@5")["P@5"]
    assert value is not None
    rng = np.random.default_rng(2)
    covered, naive, draws = 0, 0, 40
    for _ in range(draws):
        drawn = rng.choice(200, 30, replace=False)
        human = {f"q{query}": truth[f"q{query}"] for query in drawn}
        (row,) = estimate_with_machine_labels(human, machine, [RUN], ["P@5"]).rows
        for interval, is_naive in ((row.estimate.interval, False), (row.machine, True)):
            inside = interval.low is not None and interval.high is not None and interval.low <= value <= interval.high
            naive += inside and is_naive
            covered += inside and not is_naive
    assert covered >= 0.9 * draws
    assert naive == 0


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    truth, machine = labels(4, 40, 1)
    for name, grades in (("machine", machine), ("human", {query: truth[query] for query in list(truth)[:25]})):
        lines = [f"{query} 0 {doc} {int(grade)}\n" for query, docs in grades.items() for doc, grade in docs.items()]
        Path(f"{name}.txt").write_text("".join(lines))
    for tag, shift in (("one", 0), ("two", 3)):
        lines = [f"q{query} Q0 d{(doc + shift) % 8} 1 {9 - doc} {tag}\n" for query in range(40) for doc in range(8)]
        Path(f"{tag}.run").write_text("".join(lines))
    Path("queries.jsonl").write_text(
        "".join(f'{{"_id": "q{n}", "text": "t", "kind": "k{n % 2}"}}\n' for n in range(40))
    )
    return tmp_path


@pytest.mark.parametrize("format", ["table", "json", "csv", "jsonl", "markdown", "latex"])
def test_the_commands_show_every_format(files: Path, capsys: pytest.CaptureFixture[str], format: str) -> None:
    agree = ["labels", "agree", "human.txt", "machine.txt", "--by", "kind"]
    assert run_command([*agree, "--queries", "queries.jsonl", "--format", format]) == 0
    assert "kappa" in capsys.readouterr().out
    estimate = ["labels", "estimate", "human.txt", "one.run", "two.run", "--machine", "machine.txt", "-m", "nDCG@5"]
    assert run_command([*estimate, "--format", format]) == 0
    assert "nDCG@5" in capsys.readouterr().out
