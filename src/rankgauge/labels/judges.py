"""Open the judge that a text names: ``module:callable``, or ``FILE.py:name``. Nothing else is ever called."""

from __future__ import annotations

from rankgauge.errors import UsageError, shown
from rankgauge.labels.machine import MachineJudge
from rankgauge.labels.session import DEFAULT_MAX_GRADE
from rankgauge.retrieval.engines.callables import source_identity
from rankgauge.retrieval.loading import load_object


def open_judge(
    source: str, *, name: str | None = None, max_grade: int = DEFAULT_MAX_GRADE, batch_size: int | None = None
) -> MachineJudge:
    """The judge that a text names, under its own name or a given one.

    Its identity is where it is defined and the hash of that file, so that a changed prompt is asked again; an object
    may say more in ``identity()``.
    """
    judge = load_object(source, "judge")
    if not callable(judge):
        raise UsageError(f"judge {shown(source)} is not callable", hint="name a function of a query and a text")
    title = name or source.rpartition(":")[2]
    return MachineJudge(title, judge, source_identity(judge), batch_size, max_grade)
