"""pytrec_eval: its evaluator computes as ever, and what it returns is recorded."""

from __future__ import annotations

import unittest
from collections.abc import Iterable
from importlib import import_module
from importlib.metadata import packages_distributions, version
from types import ModuleType
from typing import Any

from benchmarks.peers.checks import ALL_QUERIES, Input, Numbers, Value
from benchmarks.peers.recorder import Number, Recorder

PROVIDER = "pytrec_eval"


def patch(recorder: Recorder) -> str:
    """Record every evaluation and every mean; returns the version."""
    package: Any = import_module("pytrec_eval")
    mean_of = package.compute_aggregated_measure

    class RecordingEvaluator(package.RelevanceEvaluator):  # type: ignore[misc]  # a class of a module loaded by name
        def __init__(
            self, query_relevance: Numbers, measures: Iterable[str], relevance_level: int = 1, **options: Any
        ) -> None:
            super().__init__(query_relevance, measures, relevance_level=relevance_level, **options)
            self.recorded = query_relevance, list(measures), relevance_level

        def evaluate(self, scores: Numbers) -> dict[str, dict[str, float]]:
            qrels, measures, rel = self.recorded
            data = recorder.add_input(Input(dict(qrels), dict(scores), rel))
            recorder.begin_call(PROVIDER, measures, data)
            return {
                query: {
                    name: recorder.number(Value(PROVIDER, name, data, query), _as_float(number))
                    for name, number in numbers.items()
                }
                for query, numbers in super().evaluate(scores).items()
            }

    def aggregated(measure: str, values: list[Any]) -> float:
        mean = float(mean_of(measure, values))
        known = next((number.value for number in values if isinstance(number, Number)), None)
        return mean if known is None else recorder.number(Value(PROVIDER, measure, known.input, ALL_QUERIES), mean)

    package.RelevanceEvaluator = RecordingEvaluator
    package.compute_aggregated_measure = aggregated
    distribution = packages_distributions()["pytrec_eval"][0]  # pytrec_eval, or its fork pytrec_eval-terrier
    return f"{distribution} {version(distribution)}"


def add_tests_of_files(module: ModuleType) -> unittest.TestSuite:
    """The tests that read trec_eval's own files, which the module adds only when it is run as a program."""
    suite = unittest.TestSuite()
    for number, (run, qrels, expected, options) in enumerate(module.TRADITIONAL_TREC_EVAL_TEST_CASES):
        name = f"test_files_{number}"
        test = module.generate_traditional_test(run, qrels, expected, **options)
        suite.addTest(type("FileTest", (unittest.TestCase,), {name: test})(name))
    return suite


def _as_float(number: Any) -> float | None:
    return float(number) if isinstance(number, (int, float)) else None  # runid and relstring are texts
