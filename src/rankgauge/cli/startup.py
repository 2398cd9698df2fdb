"""What makes a command line start and end fast. The library itself never changes its process."""

from __future__ import annotations

import gc
import os
from collections.abc import Sequence

# Linear algebra that would start idle threads when NumPy is imported, which costs a fifth of a short evaluation.
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# The commands that only read files. Retrievers and resampling multiply matrices, for which threads may be worth it.
SINGLE_THREADED = ("agreement", "convert", "evaluate", "fuse", "measures", "qrels", "trec_eval", "runs validate")


def prepare(arguments: Sequence[str]) -> None:
    """Keep commands that only read files to one thread; before NumPy is imported, and unless the user decides."""
    is_single = " ".join(arguments[:2]).startswith(SINGLE_THREADED)
    if is_single and not any(word.startswith("--retriever") for word in arguments):
        for name in THREAD_VARIABLES:
            os.environ.setdefault(name, "1")


def finish() -> None:
    """Skip the search for cycles among all objects at the end of the process."""
    gc.freeze()
