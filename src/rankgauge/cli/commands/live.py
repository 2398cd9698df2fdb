"""``rankgauge evaluate --retriever``: a live retriever from the command line."""

from __future__ import annotations

import json
from collections.abc import Sequence

from rankgauge.cli.options.live import LiveOptions
from rankgauge.cli.options.terminal import collected_notes, print_warnings, write
from rankgauge.rag.live import evaluate_retriever
from rankgauge.retrieval.asking.failures import is_too_many
from rankgauge.retrieval.loading import load_object

EXIT_TOO_MANY_FAILURES = 1


def evaluate_live(live: LiveOptions, measures: Sequence[str] = (), form: str = "table") -> int:
    """Call the retriever for every test case, print the result, and return 1 if too many queries failed."""
    retriever = load_object(live.retriever, "--retriever")
    with collected_notes() as notes:
        result = evaluate_retriever(
            retriever,
            live.cases,
            live.k,
            measures=list(measures) or None,
            id=live.id,
            unit=live.unit,
            scores=live.scores,
            calls=live.calls,
            max_failures=None,
            progress=True,
        )
    if form == "json":
        write(json.dumps(result.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    else:
        write(f"{result}\n")
    print_warnings(notes)
    return EXIT_TOO_MANY_FAILURES if is_too_many(len(result.failures), live.max_failures) else 0
