"""What makes a command line start and end fast. The library itself never changes its process."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

from rankgauge.core.lazy import has_memory_limit

# Linear algebra that would start idle threads when NumPy is imported, which costs a fifth of a short evaluation.
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# The commands that only read files. Retrievers and resampling multiply matrices, for which threads may be worth it.
SINGLE_THREADED = ("agreement", "convert", "evaluate", "fuse", "measures", "qrels", "trec_eval", "runs validate")

# Objects between two searches for cycles: importing makes tens of thousands, and none of them is garbage.
COLLECTION_THRESHOLD = 100_000


def prepare(arguments: Sequence[str]) -> None:
    """Before NumPy is imported: search for cycles rarely, and keep commands that only read files to one thread.

    So are all if memory is limited: each thread takes 40 MB of it. The user's own choice of threads comes first.
    """
    gc.set_threshold(COLLECTION_THRESHOLD)
    is_single = " ".join(arguments[:2]).startswith(SINGLE_THREADED)
    only_reads = is_single and not any(word.startswith("--retriever") for word in arguments)
    if only_reads or has_memory_limit():
        for name in THREAD_VARIABLES:
            os.environ.setdefault(name, "1")


def finish() -> None:
    """Skip the search for cycles among all objects at the end of the process."""
    gc.freeze()
