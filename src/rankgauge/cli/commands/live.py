"""``rankgauge evaluate --retriever``: a live retriever from the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from rankgauge.cli.options.live import LiveOptions
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write
from rankgauge.errors import UsageError, shown
from rankgauge.rag.live import evaluate_retriever

EXIT_TOO_MANY_FAILURES = 1


def evaluate_live(live: LiveOptions, measures: Sequence[str] = (), form: str = "table") -> int:
    """Call the retriever for every test case, print the result, and return 1 if too many queries failed."""
    retriever = load_object(live.retriever)
    with collected_notes() as notes:
        result = evaluate_retriever(
            retriever,
            live.cases,
            live.k,
            measures=list(measures) or None,
            id=live.id,
            unit=live.unit,
            calls=live.calls,
            progress=True,
        )
    if form == "json":
        write(json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        write(f"{result}\n")
    print_warnings(notes)
    return EXIT_TOO_MANY_FAILURES if len(result.failures) > live.max_failures else 0


def load_object(spec: str) -> Any:
    """The object of ``module:object``; the working directory comes first, as in ``python -m``."""
    module, colon, path = spec.partition(":")
    if not colon or not module or not path:
        raise UsageError(
            f"--retriever takes MODULE:OBJECT, found {shown(spec)}", hint="--retriever my_app.search:search"
        )
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        loaded: Any = import_module(module)
    except ModuleNotFoundError as error:
        raise UsageError(
            f"--retriever {shown(spec)}: no module {shown(error.name or module)}", hint=f"searched {folder} first"
        ) from None
    for name in path.split("."):
        if not hasattr(loaded, name):
            raise UsageError(f"--retriever {shown(spec)}: {shown(module)} has no {shown(path)}")
        loaded = getattr(loaded, name)
    return loaded
