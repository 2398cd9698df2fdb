"""ir_measures: its providers compute as ever, and what they return is recorded.

A provider that is not installed has no numbers: what the test asserts of judged queries is recorded all the same.
Measures that a test defines itself (the provider ``runtime``) stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from benchmarks.peers.checks import ALL_QUERIES, Input, Numbers, Value
from benchmarks.peers.recorder import EXACT, Recorder

OWN_MEASURES = "runtime"


def patch(recorder: Recorder) -> str:
    """Record every call of a provider; returns the version."""
    package: Any = import_module("ir_measures")
    for provider in package.providers.registry.values():
        if provider.NAME != OWN_MEASURES:
            _patch_provider(type(provider), recorder, package)

    def assert_equal(found: Any, expected: Any, *_: Any, **__: Any) -> None:
        recorder.compare(found, expected, EXACT)

    setattr(import_module("numpy.testing"), "assert_equal", assert_equal)  # noqa: B010 (mypy knows no such attribute)
    for name in ("parse_measure", "parse_trec_measure"):
        setattr(package, name, _recording_parser(getattr(package, name), recorder))
    return f"ir_measures {package.__version__}"


def _recording_parser(parse: Callable[[Any], Any], recorder: Recorder) -> Callable[[Any], Any]:
    def recording(name: Any) -> Any:
        recorder.last_names = (name,) if isinstance(name, str) else ()
        return parse(name)

    return recording


def _patch_provider(provider: Any, recorder: Recorder, package: Any) -> None:
    make, is_available = provider._evaluator, provider.is_available

    def evaluator(self: Any, measures: Iterable[Any], qrels: Any) -> Any:
        measures = list(measures)
        rows = list(package.util.QrelsConverter(qrels).as_namedtuple_iter())

        def computing() -> Any:
            if not is_available(self):
                raise RuntimeError(f"{self.NAME} is not installed")
            return make(self, measures, rows)

        return _evaluator_class(package)(self.NAME, measures, rows, computing, recorder)

    provider._evaluator = evaluator
    provider.is_available = lambda _: True


def _evaluator_class(package: Any) -> Any:
    class RecordingEvaluator(package.Evaluator):  # type: ignore[misc]  # a class of a module that is loaded by name
        def __init__(
            self,
            provider: str,
            measures: list[Any],
            rows: list[Any],
            computing: Callable[[], Any],
            recorder: Recorder,
        ) -> None:
            super().__init__(measures, {row.query_id for row in rows})
            self.provider, self.rows, self.computing, self.recorder = provider, rows, computing, recorder

        def iter_calc(self, run: Any) -> Iterator[Any]:
            documents = list(package.util.RunConverter(run).as_namedtuple_iter())
            data = self._begin(documents)
            try:
                metrics = list(self.computing().iter_calc(documents))
            except Exception:  # whatever a provider raises: the expected numbers are in the test
                queries = dict.fromkeys(row.query_id for row in self.rows)
                metrics = [package.Metric(query, one, None) for one in self.measures for query in queries]
            for metric in metrics:
                value = Value(self.provider, str(metric.measure), data, metric.query_id)
                yield metric._replace(value=self.recorder.number(value, metric.value))

        def calc_aggregate(self, run: Any) -> dict[Any, float]:
            documents = list(package.util.RunConverter(run).as_namedtuple_iter())
            data = self._begin(documents)
            try:
                means = self.computing().calc_aggregate(documents)
            except Exception:  # as above
                means = dict.fromkeys(self.measures)
            return {
                one: self.recorder.number(Value(self.provider, str(one), data, ALL_QUERIES), mean)
                for one, mean in means.items()
            }

        def calc(self, run: Any) -> Any:
            documents = list(package.util.RunConverter(run).as_namedtuple_iter())
            return package.CalcResults(self.calc_aggregate(documents), list(self.iter_calc(documents)))

        def _begin(self, documents: list[Any]) -> int:
            qrels: Numbers = {}
            run: Numbers = {}
            for row in self.rows:
                qrels.setdefault(row.query_id, {})[row.doc_id] = row.relevance
            for document in documents:
                run.setdefault(document.query_id, {})[document.doc_id] = document.score
            by_subtopic = tuple((row.query_id, str(row.iteration), row.doc_id, row.relevance) for row in self.rows)
            data = self.recorder.add_input(Input(qrels, run, by_subtopic=by_subtopic))
            self.recorder.begin_call(self.provider, map(str, self.measures), data)
            return data

    return RecordingEvaluator
