"""Open the judge that a text names: ``module:callable``, ``FILE.py:name``, or a YAML file with a model's address.

Nothing else is ever called: there is no default model and no default address.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankgauge.errors import UsageError, shown
from rankgauge.labels.machine import MachineJudge
from rankgauge.labels.session import DEFAULT_MAX_GRADE
from rankgauge.retrieval.engines.callables import source_identity
from rankgauge.retrieval.loading import load_object
from rankgauge.retrieval.named import is_retriever_file

JUDGE_CALLS = ("concurrency", "rate", "retries")


def open_judge(
    source: str, *, name: str | None = None, max_grade: int = DEFAULT_MAX_GRADE, batch_size: int | None = None
) -> MachineJudge:
    """The judge that a text names, under its own name or a given one.

    The identity of a function is where it is defined and the hash of that file, so that a changed prompt is asked
    again; an object may say more in ``identity()``. That of a YAML file is its address, model, prompt and options.
    """
    if is_retriever_file(source):
        return _model(source, name, max_grade, batch_size)
    judge = load_object(source, "judge")
    if not callable(judge):
        raise UsageError(f"judge {shown(source)} is not callable", hint="name a function of a query and a text")
    title = name or source.rpartition(":")[2]
    return MachineJudge(title, judge, source_identity(judge), batch_size, max_grade)


def judge_calls(source: str) -> dict[str, Any]:
    """How the file of a model says that it is called; nothing for a function."""
    if not is_retriever_file(source):
        return {}
    from rankgauge.config.reading import load_judge_section

    section = load_judge_section(source)
    return {key: value for key in JUDGE_CALLS if (value := getattr(section, key)) is not None}


def _model(source: str, name: str | None, max_grade: int, batch_size: int | None) -> MachineJudge:
    from rankgauge.config.reading import load_judge_section
    from rankgauge.labels.http_judge import HttpJudge

    if batch_size is not None:
        raise UsageError("a model is sent one text per call", hint="leave out --batch; --concurrency N asks N at once")
    judge = HttpJudge(load_judge_section(source), folder=Path(source).parent)
    return MachineJudge(name or judge.section.model, judge, judge.identity(), None, max_grade)
