"""`rankgauge evaluate --config` and `rankgauge gate --config`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.io.byte_streams import sha256_of_file

QRELS = "".join(f"q{n} 0 a {1 + n % 3}\nq{n} 0 b 1\n" for n in range(6))
RUN = "".join(f"q{n} Q0 {doc} {5 - rank} {5 - rank} one\n" for n in range(6) for rank, doc in enumerate("bxa"))
OTHER = "".join(
    f"q{n} Q0 {doc} {rank} {-rank} two\n" for n in range(6) for rank, doc in enumerate(("ab"[n % 2], "x", "y"), 1)
)
CONFIG = """\
retrieval_metrics:
  enabled_metrics: [hit@1, ndcg@10, mrr]
  graded_relevance: false
  statistical_analysis: {confidence_intervals: true, significance_testing: true, alpha_level: 0.1}
  performance: {caching_enabled: true}
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in {"qrels": QRELS, "one": RUN, "two": OTHER, "c.yaml": CONFIG}.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in ("qrels", "one", "two")]


def test_a_configuration_is_obeyed(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    done = command("evaluate", *files, "--config", config)
    assert done.code == 0
    assert done.out.split("\n")[0].split() == ["hit@1", "ndcg@10", "mrr"]
    assert "90% CI" in done.out
    # Sign flips give p = 0.031, the adjusted interval a little more: significant at 90% over two measures.
    assert "ndcg@10: worse (−0.307, −0.414 to −0.046, p = 0.062)." in done.out
    assert "intervals are simultaneous" in done.out
    assert "bootstrap test, 10,000 resamples, seed 0; hit@1 (primary): not corrected; " in done.out
    assert "other measures: max-t over 2 comparisons (1 system × 2 measures)" in done.out
    assert "conventions: binary judgments, relevant from grade 1, " in done.out


def test_an_option_overrides_the_configuration(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    done = command(
        "evaluate", *files, "--config", config, "-m", "P@2", "--set", "measures.query_set=both", "--format", "json"
    )
    data = json.loads(done.out)
    assert list(data["runs"][0]["measures"]) == ["P@2"]
    assert data["conventions"]["query_set"] == "both"
    assert (data["conventions"]["graded"], data["conventions"]["rel"]) == (False, 1)
    assert data["runs"][0]["measures"]["P@2"]["ci"]["confidence"] == 0.9
    assert [row["measure"] for row in data["comparison"]["differences"]] == ["P@2"]


def test_a_wrong_configuration_is_bad_input(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    config.write_text(CONFIG.replace("enabled_metrics", "enabled_metric"))
    done = command("evaluate", *files, "--config", config)
    assert done.code == 2
    assert "c.yaml:2: " in done.err
    assert "did you mean 'enabled_metrics'?" in done.err
    assert done.out == ""


def test_audits_are_made_as_the_configuration_says(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    done = command("evaluate", *files, "--config", config, "--audit", "--format", "json")
    assert done.code == 0
    data = json.loads(done.out)
    assert (data["conventions"]["graded"], data["conventions"]["rel"]) == (False, 1)
    for run in data["runs"]:
        assert list(run["ties"]["measures"]) == list(run["unjudged"]["measures"]) == ["Success@1", "nDCG@10", "RR"]
        assert run["ties"]["measures"]["RR"]["reported"] == run["measures"]["RR"]["value"]
    assert data["runs"][0]["unjudged"]["grade"] == 1  # of binary judgments
    config.write_text("measures: {names: [P@2], rel: 2}\n")
    table = command("evaluate", *files, "--config", config, "--audit").out
    assert "ties: one" in table
    assert "P(rel=2)@2" in table


GATE = """\
measures: {query_set: both}
gate:
  require: [RR>0.4, "P@2>=0.1"]
  baseline: base.run
  measures: [RR]
  margin: 0.3
  confidence: 0.99
kpi: {name: ours, bands: {RR: {good: 0.4}}}
"""


def test_a_gate_is_configured_and_options_override_the_file(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "gate.yaml"
    config.write_text(GATE)
    shutil.copy(files[1], files[0].parent / "base.run")
    done = command("gate", files[0], files[2], "--config", config, "--format", "json")
    data = json.loads(done.out)
    gate = data["gate"]
    assert (gate["margin"], gate["confidence"]) == (0.3, 0.99)
    assert [row["measure"] for row in gate["compared"]] == ["RR"]
    assert [row["measure"] for row in gate["required"]] == ["RR", "P@2"]
    assert gate["baseline"]["sha256"] == sha256_of_file(files[1])
    assert data["conventions"]["query_set"] == "both"
    assert (data["kpi"]["name"], data["runs"][0]["bands"]) == ("ours", {"RR": "good"})
    own = ("--margin", "0", "--require", "P@2>0.99", "--set", "measures.query_set=both", "--set", "kpi=none")
    other = command("gate", *files[:2], "--config", config, "--format", "json", *own)
    assert other.code == 1
    data = json.loads(other.out)
    assert data["gate"]["margin"] == 0
    assert [row["measure"] for row in data["gate"]["required"]] == ["P@2"]
    assert "kpi" not in data


def test_bands_are_shown_in_every_format_of_a_gate(command: Callable[..., Any], files: list[Path]) -> None:
    plain = ("gate", *files[:2], "--require", "RR@10>0.1", "--baseline", files[2])
    words = (*plain, "--set", "kpi=trec-2025")
    assert "band (trec-2025)" in command(*words).out
    assert "| band (trec-2025) |" in command(*words, "--format", "markdown").out
    assert '<property name="band (trec-2025) RR@10" value="' in command(*words, "--format", "junit").out
    assert json.loads(command(*words, "--format", "json").out)["kpi"]["name"] == "trec-2025"
    summary = files[0].parent / "summary.md"
    command(*words, "--summary", summary)
    assert "band (trec-2025)" in summary.read_text()
    for format in ("table", "markdown", "junit", "json"):
        assert "trec-2025" not in command(*plain, "--format", format).out
        without = ("gate", *files[:2], "--require", "P@7>=0.0", "--format", format, "--set", "kpi=trec-2025")
        assert "trec-2025" not in command(*without).out
    hostile = files[0].parent / "own.yaml"
    hostile.write_text('name: "a|<b>"\nbands: {RR@10: {good: 0.1}}\n')
    assert "| band (a\\|\\<b\\>) |" in command(*plain, "--set", f"kpi={hostile}", "--format", "markdown").out
