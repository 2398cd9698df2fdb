from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import Conventions, InputError, Qrels, UsageError, compare, evaluate, load_settings
from rankgauge.evaluation.query_split import is_dev, parse_part, split_queries

Command = Callable[..., Any]
IDS = st.lists(st.text("abcqä0123", min_size=1, max_size=6), min_size=2, max_size=30, unique=True)
SHARES = st.floats(0.01, 0.99)
SEEDS = st.integers(-5, 5)


@pytest.fixture
def workshop(tmp_path: Path, command: Command) -> Path:
    command("demo", "--copy", tmp_path / "w")
    return tmp_path / "w"


def parts(queries: list[str], share: float, seed: int) -> list[set[str]]:
    """The queries of both parts."""
    qrels = Qrels.from_dict({query: {"d": 1} for query in queries})
    found = []
    for part in ("dev", "test"):
        try:
            kept = Conventions(split=f"{part}(dev_share={share!r}, seed={seed})").judgments(qrels)
            found.append(set(kept.queries.to_text()))
        except InputError:  # an empty part
            found.append(set())
    return found


@given(IDS, SHARES, SEEDS)
def test_each_query_is_in_one_part_and_stays_there_when_others_are_added(
    queries: list[str], share: float, seed: int
) -> None:
    dev, test = parts(queries, share, seed)
    assert dev | test == set(queries)
    assert not dev & test
    before = parts(queries[: len(queries) // 2], share, seed)
    assert before[0] <= dev
    assert before[1] <= test


@given(st.data())
def test_the_means_of_the_parts_make_the_mean_of_the_whole(data: st.DataObject) -> None:
    queries, seed = data.draw(IDS), data.draw(SEEDS)
    grades = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), min_size=1)
    judged = {query: data.draw(grades) for query in queries}
    run = {query: data.draw(st.permutations("abcd")) for query in queries}
    names = "ERR@3 nDCG@3 AP"
    whole = evaluate(judged, run, names)
    halves = []
    for part in ("dev", "test"):
        try:
            halves.append(evaluate(judged, run, names, conventions=Conventions(split=f"{part}(seed={seed})")))
        except InputError:
            assert len(parts(queries, 0.5, seed)[part == "test"]) == 0
    for measure in whole.measures:
        total = sum((half[measure] or 0) * half.over_queries[measure.name][1] for half in halves)
        assert total == pytest.approx((whole[measure] or 0) * len(queries), abs=1e-12)


def test_the_share_is_that_of_dev_in_both_parts() -> None:
    queries = [f"q{number}" for number in range(5000)]
    dev, test = parts(queries, 0.3, 0)
    assert 0.28 < len(dev) / 5000 < 0.32
    assert parts(queries, 0.3, 1)[0] != dev
    assert {query for query in queries if is_dev(query)} >= dev  # a larger share only adds
    assert len(test) == 5000 - len(dev)


def test_queries_of_one_unit_stay_together() -> None:
    qrels = Qrels.from_dict({f"q{number}": {"d": 1} for number in range(40)})
    qrels = qrels.with_columns({"unit": {f"q{number}": f"u{number // 4}" for number in range(40)}})
    kept = set(Conventions(split="dev").judgments(qrels).queries.to_text())
    assert kept == {f"q{number}" for number in range(40) if is_dev(f"u{number // 4}")}
    assert 0 < len(kept) < 40


def test_a_query_without_a_unit_is_a_unit_of_its_own_and_changes_no_other() -> None:
    queries = [f"q{number}" for number in range(40)]
    units = {query: number // 4 for number, query in enumerate(queries[:20])}
    qrels = Qrels.from_dict({query: {"d": 1} for query in queries}).with_columns({"unit": units})
    kept = set(Conventions(split="dev").judgments(qrels).queries.to_text())
    assert kept == {query for query in queries if is_dev(str(units.get(query, query)))}
    assert kept == set(split_queries(qrels).dev)


def test_a_column_may_name_the_part(tmp_path: Path, command: Command) -> None:
    judged = {f"q{number}": {"d": 1} for number in range(4)}
    qrels = Qrels.from_dict(judged).with_columns({"fold": {"q0": "dev", "q1": "test", "q2": "Dev", "q3": "test"}})
    found = evaluate(
        qrels, {query: ["d"] for query in judged}, "RR", conventions=Conventions(split="test(column=fold)")
    )
    assert (found.queries, found.qrels) == (("q1", "q3"), "qrels (test: 2 of 4 queries)")
    other = qrels.with_columns({"fold": {"q0": "train"}})
    with pytest.raises(InputError, match="column 'fold': expected dev or test for query 'q0', found 'train'"):
        Conventions(split="test(column=fold)").judgments(other)
    with pytest.raises(UsageError, match="no column 'nope' to split by"):
        Conventions(split="test(column=nope)").judgments(qrels)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("train", "unknown part of the queries 'train'"),
        ("dev(", "unknown part"),
        ("dev(share=0.1)", "found 'share=0.1'"),
        ("dev(seed=1, seed=2)", "found 'seed=2'"),
        ("dev(seed=x)", "expected numbers"),
        ("dev(dev_share=1)", "between 0 and 1, found 1"),
        ("dev(dev_share=nan)", "between 0 and 1, found nan"),
        ("dev(column=a, seed=1)", "has no dev_share and no seed"),
    ],
)
def test_a_wrong_part_is_refused(spec: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        Conventions(split=spec)


def test_a_part_has_one_name() -> None:
    assert str(parse_part(" test ( seed = 7 , dev_share=0.50 ) ")) == "test(seed=7)"
    assert Conventions(split="dev(dev_share=0.5)") == Conventions(split="dev()") == Conventions(split="dev")


def test_every_output_states_the_part(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    for name in ("evaluate", "compare"):
        done = command(name, *files, "-m", "RR", "--set", "measures.split=test(seed=3)")
        assert done.code == 0
        assert "judgments: qrels.trec (test: 16 of 48 queries)\n" in done.out
        assert "conventions: test queries by hash of their ids (dev 50%, seed 3); " in done.out
        assert "queries-unjudged" not in done.err
        data = json.loads(
            command(name, *files, "-m", "RR", "--set", "measures.split=test(seed=3)", "--format", "json").out
        )
        assert data["conventions"]["split"] == {"part": "test", "dev_share": 0.5, "seed": 3}
        assert (data["qrels"]["queries"], data["runs"][0]["measures"]["RR"]["n"]) == (16, 16)
    page = workshop / "page.html"
    assert command("compare", *files, "-m", "RR", "--set", "measures.split=dev", "--html", page).code == 0
    assert "dev queries by hash of their ids (dev 50%, seed 0)" in page.read_text(encoding="utf-8")


def test_python_and_the_configuration_have_it_too(workshop: Path) -> None:
    conventions = load_settings({"measures": {"split": "dev"}}).conventions
    assert conventions == Conventions(split="dev")
    runs = [workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    found = compare(workshop / "qrels.trec", runs, "RR", conventions=conventions)
    assert found[found.names[1], "RR"].n == len(found.scores[0].queries) == 27
    with pytest.raises(InputError, match=r"expected a part of the queries in 'measures\.split'"):
        load_settings({"measures": {"split": "train"}})


def test_values_of_different_parts_are_not_compared(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec"]
    scores, part = workshop / "base.csv", ("-m", "RR", "--set", "measures.split=dev")
    scores.write_text(command("evaluate", *files, *part, "-q", "--format", "csv").out)
    assert command("gate", *files, *part, "--baseline", scores).code == 0
    done = command("gate", *files, "-m", "RR", "--baseline", scores)
    assert done.code == 2
    assert "may have been scored in another way" in done.err
    accepted = ("--set", "gate.scored_elsewhere=accept")
    assert command("gate", *files, "-m", "RR", "--baseline", scores, *accepted).code == 0
