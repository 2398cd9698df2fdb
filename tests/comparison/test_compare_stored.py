"""A stored baseline in the place of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import compare

Command = Callable[..., Any]


def test_a_stored_baseline_is_compared_with_as_its_run_would_be(command: Command, workshop: Path) -> None:
    qrels, lexical, vector = (workshop / name for name in ("qrels.trec", "runs/lexical.trec", "runs/vector.trec"))
    base = workshop / "base.json"
    command("gate", qrels, lexical, "-m", "nDCG@10", "-m", "RR", "--write-baseline", base)
    topics = ("--queries", workshop / "queries.jsonl", "--by", "difficulty", "--format", "json")
    stored = json.loads(command("compare", qrels, vector, "--baseline", base, *topics).out)
    whole = json.loads(command("compare", qrels, lexical, vector, "-m", "nDCG@10", "-m", "RR", *topics).out)
    for key in ("baseline", "answer", "differences", "groups"):
        assert stored["comparison"][key] == whole["comparison"][key], key
    assert stored["runs"][0]["sha256"] == whole["runs"][0]["sha256"]
    changes, known = (data["comparison"]["changes"]["vector"] for data in (stored, whole))
    assert [(row["query"], row["difference"]) for row in changes] == [
        (row["query"], pytest.approx(row["difference"])) for row in known
    ]
    assert changes[0]["documents"] == []  # it has values, and no rankings
    assert "Largest changes in nDCG@10: vector − lexical" in command("compare", qrels, vector, "--baseline", base).out
    again = compare(str(qrels), [str(lexical)], baseline=base)
    assert again.baseline == "baseline"  # both have the name of the run
    assert again["lexical", "RR"].difference == 0


def test_a_stored_baseline_of_other_judgments_queries_conventions_or_measures_is_refused(
    command: Command, workshop: Path
) -> None:
    qrels, lexical, vector = (workshop / name for name in ("qrels.trec", "runs/lexical.trec", "runs/vector.trec"))
    base = workshop / "base.json"
    command("gate", qrels, lexical, "-m", "RR", "--write-baseline", base)
    other = workshop / "other.trec"
    other.write_text("".join(line for line in qrels.read_text().splitlines(True) if not line.startswith("q07 ")))
    less = workshop / "less.trec"
    less.write_text("".join(line for line in vector.read_text().splitlines(True) if not line.startswith("q07 ")))
    for arguments, said in (
        ((other, vector), "the judgments changed"),
        (
            (qrels, vector, "--set", "measures.compat=trec_eval-10"),
            "compat was 'trec_eval-9' and is now 'trec_eval-10'",
        ),
        ((qrels, vector, "--set", "measures.query_set=both"), "query_set was 'qrels' and is now 'both'"),
        ((qrels, vector, "-m", "AP"), "the baseline has no values for AP; it has RR"),
    ):
        outcome = command("compare", *arguments, "--baseline", base)
        assert outcome.code == 2
        assert said in outcome.err
    command("gate", qrels, lexical, "-m", "RR", "--set", "measures.query_set=both", "--write-baseline", base)
    outcome = command("compare", qrels, less, "--baseline", base, "--set", "measures.query_set=both")
    assert outcome.code == 2
    assert "other queries have values: 1 query only in the baseline ('q07')" in outcome.err
    assert command("compare", qrels, vector).code == 64
