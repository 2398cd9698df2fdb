"""The fixture ``retrieval_gate``, so that a team can write its gate as a test.

pytest imports this file before coverage starts, so it imports nothing else until the fixture is used. By then pytest
has put the folders of tests first on the path for modules. They are left out while rankgauge is imported: a file there
that has the name of a library is not taken for it.
"""

from __future__ import annotations

import sys

import pytest

PATH_WITHOUT_TESTS = tuple(sys.path)
TYPE_CHECKING = False  # as typing has it, without importing typing
if TYPE_CHECKING:
    from collections.abc import Callable

    from rankgauge.comparison.gate.gate_result import GateResult


@pytest.fixture
def retrieval_gate() -> Callable[..., GateResult]:
    """A function that takes what ``rankgauge.gate`` takes: the test fails if the gate does, or cannot decide.

    It is skipped if the gate is undecided.

    def test_search_is_no_worse(retrieval_gate):
        retrieval_gate("qrels.trec", "today.trec", require=["R@10>=0.75"], baseline="baseline.json")
    """

    def check(qrels: object, run: object = None, **options: object) -> GateResult:
        __tracebackhide__ = True
        path, sys.path[:] = sys.path[:], PATH_WITHOUT_TESTS
        try:
            from rankgauge.comparison.gate.gate import gate
            from rankgauge.render.documents.gate import document
            from rankgauge.render.formats.terminal import as_text
        finally:
            sys.path[:] = path
        result = gate(qrels, run, **options)  # type: ignore[arg-type]  # whatever gate takes; it checks
        if result.exit_code:
            pytest.fail(as_text(document(result)), pytrace=False)
        if not result.passed:
            pytest.skip(result.sentence)
        return result

    return check
