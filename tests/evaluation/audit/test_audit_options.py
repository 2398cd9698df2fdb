from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge import UsageError
from rankgauge.cli.options.outputs import View
from rankgauge.config.band_sources import named_bands
from rankgauge.evaluation.evaluate import evaluate_runs
from rankgauge.render.document import Table
from rankgauge.render.documents.audits import Audits, audit_parts, audits_of, with_audits
from rankgauge.render.documents.bands import with_bands
from rankgauge.render.documents.scores import as_dict

QRELS = {"1": {"a": 1, "b": 0}}
RUN = {"1": {"a": 1.0, "b": 1.0, "x": 1.0}}


def audited(*, ties: bool, unjudged: bool, kpi: str) -> tuple[Audits, dict[str, Any]]:
    evaluation = evaluate_runs(QRELS, [RUN, RUN], "nDCG@10 P@1")
    audits = audits_of(evaluation, ties=ties, unjudged=unjudged)
    data = with_audits(as_dict(evaluation.scores, per_query=False), audits)
    return audits, with_bands(data, evaluation.scores, named_bands(kpi))


def test_each_run_has_a_table_for_each_audit_that_was_asked_for() -> None:
    audits, data = audited(ties=True, unjudged=True, kpi="trec-2025")
    assert [part.caption.split(":")[0] for part in audit_parts(audits) if isinstance(part, Table)] == [
        *("ties", "ties", "unjudged", "unjudged")
    ]
    assert list(data)[-1] == "kpi"
    assert [list(run)[-3:] for run in data["runs"]] == [["ties", "unjudged", "bands"]] * 2


def test_nothing_is_added_if_nothing_is_asked_for() -> None:
    audits, data = audited(ties=False, unjudged=False, kpi="none")
    assert audits == Audits()
    assert audit_parts(audits) == []
    assert list(data) == ["schema", "conventions", "qrels", "runs", "warnings"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "trec", "markdown", "latex"])
def test_a_format_that_has_no_audits_refuses_them(format: str) -> None:
    View(format).check()
    with pytest.raises(UsageError, match=f"--format {format} has no audits"):
        View(format, audit=True).check()
    View("json", audit=True).check()


@pytest.mark.parametrize("format", ["csv", "jsonl", "trec"])
def test_a_format_that_has_no_bands_refuses_them(command: Callable[..., Any], tmp_path: Path, format: str) -> None:
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r").write_text("1 Q0 a 1 1 x\n")
    files = str(tmp_path / "q"), str(tmp_path / "r")
    assert command("evaluate", *files, "--format", format).code == 0
    done = command("evaluate", *files, "--format", format, "--set", "kpi=trec-2025")
    assert done.code == 64
    assert f"--format {format} has no target bands" in done.err
    assert command("evaluate", *files, "--set", "kpi=nonsense").code == 2
