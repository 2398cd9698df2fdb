"""Run the tests of a peer and record what they expect; by the Python that has the peer, without rankgauge.

python -m benchmarks.peers.record PEER SOURCE OUTPUT
"""

from __future__ import annotations

import contextlib
import io
import pickle
import sys
import unittest
from pathlib import Path

from benchmarks.peers import record_ir_measures, record_pytrec_eval
from benchmarks.peers.recorder import Recorder, patch_assertions

PATCHES = {"ir_measures": record_ir_measures.patch, "pytrec_eval": record_pytrec_eval.patch}


def main(peer: str, source: Path, output: Path) -> int:
    """Record; 1 if there was nothing to record."""
    is_package = (source / "tests" / "__init__.py").exists()
    # Before the current folder, which has tests of its own.
    sys.path[:0] = [str(source if is_package else source / "tests")]
    recorder = Recorder()
    version = PATCHES[peer](recorder)
    patch_assertions(recorder)
    tests = source / "tests"
    suite = unittest.defaultTestLoader.discover(str(tests), "*test*.py", str(source if is_package else tests))
    module = sys.modules.get("pytrec_eval_tests")
    if module is not None and Path(module.TREC_EVAL_TEST_DIR).is_dir():
        suite.addTest(record_pytrec_eval.add_tests_of_files(module))
    with contextlib.redirect_stdout(io.StringIO()):
        result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
    for test, why in (*result.failures, *result.errors):
        print(f"{test}: {why.strip().splitlines()[-1]}", file=sys.stderr)
    recording = recorder.recording(version)
    output.write_bytes(pickle.dumps(recording))
    return int(not recording.checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
