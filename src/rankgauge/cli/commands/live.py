"""``rankgauge evaluate --retriever``: a live retriever from the shell."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rankgauge.cli.options.terminal import collected_notes, print_warnings, write
from rankgauge.errors import UsageError, shown
from rankgauge.rag.documents import Unit
from rankgauge.rag.live import evaluate_retriever
from rankgauge.rag.scoring import DEFAULT_K

FAILED = 1


def evaluate_live(
    spec: str,
    cases: str,
    *,
    k: int = DEFAULT_K,
    id: str | None = None,
    unit: Unit = "chunk",
    measures: Sequence[str] = (),
    fetch: int | None = None,
    concurrency: int = 1,
    timeout: float | None = None,
    retries: int = 0,
    max_failures: int = 0,
    form: str = "table",
) -> int:
    """Ask the retriever every case, print what comes of it, and return 1 where more failed than may."""
    retriever = load(spec)
    with collected_notes() as notes:
        result = evaluate_retriever(
            retriever,
            cases,
            k,
            id=id,
            unit=unit,
            measures=list(measures) or None,
            fetch=fetch,
            concurrency=concurrency,
            timeout=timeout,
            retries=retries,
            progress=True,
        )
    if form == "json":
        write(json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        write(f"{result}\n")
    print_warnings(notes)
    return FAILED if len(result.failures) > max_failures else 0


def load(spec: str) -> Any:
    """The object behind ``module:object``; the working directory is looked at first, as ``python -m`` does."""
    module, mark, path = spec.partition(":")
    if not mark or not module or not path:
        raise UsageError(
            f"--retriever takes MODULE:OBJECT, found {shown(spec)}", hint="--retriever my_app.search:search"
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--retriever {shown(spec)}: no module {shown(error.name or module)}", hint=f"looked in {here} first"
        ) from None
    for name in path.split("."):
        if not hasattr(found, name):
            raise UsageError(f"--retriever {shown(spec)}: {shown(module)} has no {shown(path)}")
        found = getattr(found, name)
    return found
