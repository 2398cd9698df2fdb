"""The same input gives the same bytes: on another processor, with other libraries' kernels, in other batches."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("bm25s")

NAMES = ["hashed", "vsa", *(["wordllama"] if find_spec("wordllama") else [])]


def optional_features() -> str:
    """The optional vector instructions that NumPy would use here."""
    features = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    return " ".join(features)


def hashes(sizes: tuple[int, int, int, int], **environment: str) -> str:
    worker = Path(__file__).parent / "determinism_worker.py"
    done = subprocess.run(
        [sys.executable, str(worker), *map(str, sizes), *NAMES],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def usual() -> str:
    return hashes((4096, 256, 256, 64))


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(21, 3, 5, 1), (899, 64, 1000, 40)])
def test_other_block_and_batch_sizes_change_nothing(usual: str, sizes: tuple[int, int, int, int]) -> None:
    assert hashes(sizes) == usual


@pytest.mark.slow
def test_another_processor_changes_nothing(usual: str) -> None:
    """NumPy without its vector instructions and OpenBLAS with the kernels of an old processor stand for one."""
    features = optional_features()
    if not features:
        pytest.skip("NumPy has no optional vector instructions here")
    environment = {"NPY_DISABLE_CPU_FEATURES": features, "OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "1"}
    assert hashes((1000, 16, 100, 9), PYTHONHASHSEED="1", **environment) == usual
