"""`rankgauge evaluate --config`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

QRELS = "".join(f"q{n} 0 a {1 + n % 3}\nq{n} 0 b 1\n" for n in range(6))
RUN = "".join(f"q{n} Q0 {doc} {5 - place} {5 - place} one\n" for n in range(6) for place, doc in enumerate("bxa"))
OTHER = "".join(f"q{n} Q0 {'ab'[n % 2]} 1 1 two\n" for n in range(6))
CONFIG = """\
retrieval_metrics:
  enabled_metrics: [hit@1, ndcg@10, mrr]
  graded_relevance: false
  statistical_analysis: {confidence_intervals: true, significance_testing: true, alpha_level: 0.1}
  performance: {caching_enabled: true, cache_file: cache.sqlite}
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    for name, text in {"qrels": QRELS, "one": RUN, "two": OTHER, "c.yaml": CONFIG}.items():
        (tmp_path / name).write_text(text)
    return [tmp_path / name for name in ("qrels", "one", "two")]


def test_a_configuration_is_obeyed(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    for _ in range(2):  # the second time from the cache
        done = command("evaluate", *files, "--config", config)
        assert done.code == 0
        assert done.out.split("\n")[0].split() == ["Success@1", "nDCG@10", "RR"]
        assert "90% interval" in done.out
        assert "paired t test" in done.out
        assert "conventions: binary judgments, relevant from grade 1; " in done.out
    assert (files[0].parent / "cache.sqlite").exists()


def test_an_option_wins_over_the_configuration(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    done = command("evaluate", *files, "--config", config, "-m", "P@2", "--queries", "both", "--format", "json")
    data = json.loads(done.out)
    assert list(data["runs"][0]["measures"]) == ["P@2"]
    assert data["conventions"]["queries"] == "both"
    assert data["conventions"]["grades"] == "binary: 1 from grade 1 on, else 0"
    assert set(data["statistics"]["intervals"][0]) == {"P@2"}
    assert data["statistics"]["tests"][0]["measure"] == "P@2"


def test_a_wrong_configuration_is_bad_input(command: Callable[..., Any], files: list[Path]) -> None:
    config = files[0].parent / "c.yaml"
    config.write_text(CONFIG.replace("enabled_metrics", "enabled_metric"))
    done = command("evaluate", *files, "--config", config)
    assert done.code == 2
    assert "c.yaml:2: " in done.err
    assert "did you mean 'enabled_metrics'?" in done.err
    assert done.out == ""
