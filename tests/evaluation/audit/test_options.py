from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import pytest
from click.testing import CliRunner
from rankgauge.cli.options.audits import NONE, Asked, Audits, audit_options

from rankgauge import InputError, UsageError
from rankgauge.evaluation.conventions import Conventions
from rankgauge.render.text.scores import as_dict

QRELS = {"1": {"a": 1, "b": 0}}
RUN = {"1": {"a": 1.0, "b": 1.0, "x": 1.0}}


def found(asked: Asked) -> tuple[Audits, dict[str, object]]:
    qrels, joined, scores, _ = joined_scores(QRELS, [RUN, RUN], asked_measures("nDCG@10 P@1"), Conventions())
    audits = asked.of(qrels, joined, scores, asked.bands())
    return audits, audits.added(as_dict(scores, per_query=False), scores, per_query=False)


def test_a_command_gets_what_was_asked_for_as_one_argument() -> None:
    @click.command()
    @audit_options
    def command(audits: Asked) -> None:
        click.echo(repr(audits))

    run = CliRunner()
    assert run.invoke(command, []).output.strip() == repr(Asked(False, False, None))
    assert run.invoke(command, ["--ties", "--unjudged", "--kpi", "x"]).output.strip() == repr(Asked(True, True, "x"))
    assert "trec-2025" in run.invoke(command, ["--help"]).output


def test_each_run_has_a_table_for_each_audit_that_was_asked_for() -> None:
    audits, data = found(Asked(ties=True, unjudged=True, kpi="trec-2025"))
    assert [text.split(":")[0] for text in audits.texts(colour=False)] == ["ties", "ties", "unjudged", "unjudged"]
    assert list(data)[-1] == "kpi"
    assert [list(run)[-3:] for run in data["runs"]] == [["ties", "unjudged", "bands"]] * 2  # type: ignore[attr-defined]  # plain JSON


def test_the_default_preset_is_there_unasked() -> None:
    audits, data = found(Asked(ties=False, unjudged=False, kpi=None))
    assert audits.bands is not None
    assert audits.bands.name == "trec-2025"
    assert list(data)[-1] == "kpi"


def test_nothing_is_added_where_nothing_is_wanted() -> None:
    audits, data = found(Asked(ties=False, unjudged=False, kpi="none"))
    assert audits == NONE
    assert audits.texts(colour=False) == []
    assert list(data) == ["schema", "conventions", "qrels", "runs", "warnings"]


def test_what_has_no_place_is_refused() -> None:
    for asked in (Asked(True, False, None), Asked(False, True, None), Asked(False, False, "trec-2025")):
        asked.check("json")
        with pytest.raises(UsageError, match="--format csv has no audits and no bands"):
            asked.check("csv")
    Asked(False, False, None).check("csv")
    Asked(False, False, "trec-2025").check("markdown")
    with pytest.raises(UsageError, match="--format markdown has no audits"):
        Asked(True, False, None).check("markdown")
    with pytest.raises(InputError, match="no target bands"):
        Asked(False, False, "nonsense").bands()


@pytest.mark.parametrize("option", [["--ties"], ["--unjudged"], ["--kpi", "none"]])
def test_a_live_retriever_has_no_audits_and_no_bands(command: Callable[..., Any], option: list[str]) -> None:
    done = command("evaluate", "--retriever", "nowhere:search", "--cases", "none.jsonl", *option)
    assert done.code == 64
    assert f"{option[0]} applies to runs in files" in done.err
