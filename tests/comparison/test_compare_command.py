"""The command compare: what it shows, in which format, and which options it takes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Command = Callable[..., Any]


def test_the_command_answers_first(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    outcome = command("compare", *files, "--queries", workshop / "queries.jsonl", "--by", "difficulty")
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[0].startswith("vector vs. lexical is inconclusive: nDCG@10 +0.024")
    assert "by difficulty" in outcome.out
    assert "Largest changes in nDCG@10: vector − lexical" in outcome.out
    assert "(grade 3)" in outcome.out
    explained = command("compare", *files, "--explain", "--set", "output.changes=1", "-m", "AP").out
    assert explained.count("(grade") > 2
    markdown = command("compare", *files, "--format", "markdown").out
    assert "| nDCG@10 | vector | **0.5432** |" in markdown
    assert "|  | lexical | 0.5193 |" in markdown
    swapped = command("compare", *files, "--baseline", "vector").out
    assert swapped.startswith("lexical vs. vector")
    assert command("compare", *files, "--baseline", files[2]).out.startswith("lexical vs. vector")


def test_json_has_the_scores_in_their_schema_and_the_comparison_beside(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    data = json.loads(command("compare", *files, "--format", "json").out)
    assert data["schema"] == "rankgauge.scores/1"
    assert [run["name"] for run in data["runs"]] == ["lexical", "vector"]
    row = data["comparison"]["differences"][0]
    keys = {"system", "measure", "n", "difference", "ci", "p", "p_corrected", "wins", "minimum_detectable_difference"}
    assert keys <= set(row)
    assert (row["outcome"], row["rope"]) == ("inconclusive", 0.01)
    assert (data["comparison"]["primary"], data["comparison"]["family_sizes"]) == ("nDCG@10", [1, 2])
    assert data["comparison"]["intervals"] == "simultaneous"
    assert "max-t over 2 comparisons" in data["comparison"]["family"]
    assert data["comparison"]["changes"]["vector"][0]["documents"][0]["share"] != 0
    flips = ("--test", "randomization", "--format", "json")
    data = json.loads(command("compare", *files, *flips).out)
    assert "Holm over 2 comparisons" in data["comparison"]["family"]
    assert data["comparison"]["intervals"] == "unadjusted"


def test_options_name_the_target_difference_and_the_region_of_practical_equivalence(
    command: Command, workshop: Path
) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    out = command("compare", *files, "--set", "statistics.target_difference=0.05", "--set", "statistics.rope=0.15").out
    assert "queries needed to detect a true difference of 0.05 between vector and lexical with 80% power" in out
    assert "vector and lexical are equivalent within ±0.15: nDCG@10 +0.024 (95% CI" in out
    assert "equivalent" not in command("compare", *files).out
    refused = command("compare", *files, "--set", "statistics.rope=0")
    assert refused.code == 64
    assert "--set statistics.rope" in refused.err


def test_the_same_file_twice_is_warned_about(command: Command, workshop: Path) -> None:
    run = workshop / "runs/lexical.trec"
    outcome = command("compare", workshop / "qrels.trec", run, run)
    assert outcome.code == 0
    assert "have the same content" in outcome.err


def test_groups_and_intervals_of_evaluate(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec"]
    topics = ("--queries", workshop / "queries.jsonl", "--by", "difficulty", "--ci", "-m", "nDCG@10")
    assert "\neasy           nDCG@10       16  0." in command("evaluate", *files, *topics).out
    data = json.loads(command("evaluate", *files, *topics, "--format", "json").out)
    ci = data["runs"][0]["measures"]["nDCG@10"]["ci"]
    assert ci["low"] < data["runs"][0]["measures"]["nDCG@10"]["value"] < ci["high"]
    assert [entry["label"] for entry in data["runs"][0]["by"]] == ["easy", "hard", "medium"]
    assert command("evaluate", *files, *topics, "--format", "csv").code == 64
    assert command("evaluate", *files, "--by", "difficulty").code == 64


KPI = ("--set", "kpi=trec-2025")


def test_target_bands_are_in_every_table_only_if_asked_for(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    compared = command("compare", *files, "-m", "nDCG@10", "-m", "P@5", *KPI).out
    lines = [line.split() for line in compared.splitlines()[3:8]]
    assert lines[0][:4] == ["measure", "system", "score", "band"]
    assert "; band: by trec-2025" in compared
    assert [line[3] if line[0] == "nDCG@10" else line[2] for line in lines[1:3]] == ["strong", "strong"]
    assert [line[3] if line[0] == "P@5" else line[2] for line in lines[3:5]] == ["–", "–"]
    assert "| band |" in command("compare", *files, "-m", "nDCG@10", "--format", "markdown", *KPI).out
    data = json.loads(command("compare", *files, "-m", "nDCG@10", "--format", "json", *KPI).out)
    assert data["runs"][0]["bands"] == {"nDCG@10": "strong"}
    assert "trec-2025" not in command("compare", *files, "-m", "P@5", *KPI).out
    for name in ("evaluate", "compare"):
        for form in ("table", "json", "markdown", "latex"):
            shown, off = (command(name, *files, "--format", form, *kpi).out for kpi in (KPI, ()))
            assert "trec-2025" in shown
            assert "trec-2025" not in off
            assert "band" not in off
    assert command("compare", *files, "--set", "kpi=nowhere").code == 2


CONFIG = """\
measures: {names: [AP, "nDCG@10"], rel: 2, query_set: both}
statistics: {test: t, confidence: 0.9, resamples: 500, seed: 7, baseline: vector}
kpi: {name: ours, bands: {nDCG@10: {good: 0.2}}}
"""


def test_a_configuration_says_how_to_compare_and_options_win(command: Command, workshop: Path) -> None:
    files = [workshop / "qrels.trec", workshop / "runs/lexical.trec", workshop / "runs/vector.trec"]
    config = workshop / "rankgauge.yaml"
    config.write_text(CONFIG)
    data = json.loads(command("compare", *files, "--config", config, "--format", "json").out)
    found = data["comparison"]
    assert [found[name] for name in ("baseline", "test", "correction", "confidence")] == ["vector", "t", "Holm", 0.9]
    assert list(data["runs"][0]["measures"]) == ["AP(rel=2)", "nDCG@10"]
    assert (data["conventions"]["query_set"], data["conventions"]["rel"]) == ("both", 2)
    assert data["kpi"]["name"] == "ours"
    options = "--test randomization -m RR --baseline lexical --set kpi=none --set measures.query_set=qrels".split()
    data = json.loads(command("compare", *files, "--config", config, "--format", "json", *options).out)
    assert data["comparison"]["baseline"] == "lexical"
    assert data["comparison"]["family"] == "randomization test, 500 resamples, seed 7; not corrected"
    assert list(data["runs"][0]["measures"]) == ["RR(rel=2)"]
    assert data["conventions"]["query_set"] == "qrels"
    assert "kpi" not in data
    config.write_text("measures: {names: [nDCG@10], graded: false}\n")
    data = json.loads(command("compare", *files, "--config", config, "--format", "json").out)
    assert data["conventions"]["graded"] is False
    config.write_text("statistics: {tset: t}\n")
    outcome = command("compare", *files, "--config", config)
    assert outcome.code == 2
    assert "did you mean 'test'?" in outcome.err
