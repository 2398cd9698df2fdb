"""Open the judge that a text names: ``module:callable``, ``FILE.py:name``, or a YAML file with a model's address.

Nothing else is ever called: there is no default model and no default address.
"""

from __future__ import annotations

import sys
import uuid
from pathlib import Path
from typing import Any

from rankgauge.errors import UsageError, shown
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.labels.machine import MachineJudge
from rankgauge.labels.session import DEFAULT_MAX_GRADE
from rankgauge.retrieval.engines.callables import source_identity
from rankgauge.retrieval.loading import FILE_SUFFIX, load_object
from rankgauge.retrieval.named import is_retriever_file

JUDGE_CALLS = ("concurrency", "rate", "retries")
CODE_NOTE = "judgments are reused if the judge's file is the same; what it imports is not compared"


def open_judge(
    source: str, *, name: str | None = None, max_grade: int = DEFAULT_MAX_GRADE, batch_size: int | None = None
) -> MachineJudge:
    """The judge that a text names, under its own name or a given one.

    The identity of a function is where it is defined, and the hashes of that file and of the file that was named, so
    that a changed prompt is asked again; what these import is not part of it. An object may say more in ``identity()``.
    That of a YAML file is the hash of what is sent: address, model, prompt and options.
    """
    if is_retriever_file(source):
        return _model(source, name, max_grade, batch_size)
    judge = load_object(source, "judge")
    if not callable(judge):
        raise UsageError(f"judge {shown(source)} is not callable", hint="name a function of a query and a text")
    title = name or source.rpartition(":")[2]
    identity = {**source_identity(judge), "named_sha256": _named_sha256(source)}
    return MachineJudge(title, judge, identity, batch_size, max_grade)


def is_code(source: str) -> bool:
    """Whether a judge is a function, rather than a model that a file describes."""
    return not is_retriever_file(source)


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
    judge = HttpJudge(load_judge_section(source), max_grade=max_grade, folder=Path(source).parent)
    return MachineJudge(name or judge.section.model, judge, judge.identity(), None, max_grade, judge.again)


def _named_sha256(source: str) -> str:
    """The hash of the file that a judge was loaded from, which may hold no more than a partial call of its function.

    Code without a file is new each time: nothing says whether it is the same.
    """
    module = source.rpartition(":")[0]
    path = module if module.endswith(FILE_SUFFIX) else getattr(sys.modules.get(module), "__file__", None)
    return uuid.uuid4().hex if path is None else sha256_of_file(path)
