"""Labels and results in whatever form a user has them: what each argument is, decided once for every command.

Labels are judgments, test cases, labels by text, or those of a log. Results are a run, a folder, a table, a log, a
stored baseline, an entry of the history, or a live retriever. What comes out is what every reader takes: a path, a
``Run`` or ``Qrels`` in memory, values that were stored without their run, or labels by text. Rooms after this one are
found by name when they are needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankgauge.core.formatting import listing, plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, UsageError, printable, shown
from rankgauge.io.byte_streams import (
    SERVER_HINT,
    AnyFile,
    LoadedFile,
    file_of,
    is_dataset,
    load_file,
    open_source,
    read_bytes,
    source_name,
    split_selector,
)
from rankgauge.io.faults import Faults
from rankgauge.io.formats import question_log
from rankgauge.io.formats.arrow import column_names
from rankgauge.io.formats.case_keys import KEYS
from rankgauge.io.formats.detection import HEAD_BYTES, YAML_SUFFIXES, Head
from rankgauge.io.formats.frames import is_frame
from rankgauge.io.formats.named_columns import LABEL_ROLES, SHARED_ROLES, names_labels, normalize_name
from rankgauge.io.formats.test_sets import CASES_SOURCE, as_json, is_case_header, is_test_set
from rankgauge.io.queries import Queries, as_queries
from rankgauge.io.read import (
    SourceRows,
    as_qrels,
    build_qrels,
    documents_of,
    head_record,
    log_from_stream,
    read_pairs,
    read_qrels,
    runs_and_notes,
)
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.row_checks import report_long_ids
from rankgauge.io.sources import can_read_again, is_plain
from rankgauge.measures.registry import default_measures

LATER = {  # what rooms after this one do, imported on first use
    "ask": "rankgauge.rag.live:ask_queries",
    "entry": "rankgauge.history.store:saved_entry",
    "is retriever": "rankgauge.retrieval.asking.functions:is_retriever",
    "names retriever": "rankgauge.retrieval.open_retriever:is_own_retriever",
    "baseline": "rankgauge.comparison.gate.baseline_file:read_baseline",
    "is quoted": "rankgauge.labels.gold.gold_labels:is_gold_record",
    "evaluate by text": "rankgauge.labels.gold.gold_evaluation:evaluate_gold_runs",
    "judge by text": "rankgauge.labels.gold.gold_evaluation:judge_runs",
    "text labels": "rankgauge.labels.gold.gold_evaluation:as_gold_inputs",
    "matching": "rankgauge.io.matching:LabelMatching",
    "shown text ids": "rankgauge.io.matching:with_shown_text_ids",
    "corpus": "rankgauge.io.corpus.corpus_files:read_corpus",
    "texts of runs": "rankgauge.labels.gold.gold_evaluation:texts_of_runs",
}
ENTRY, HISTORY, COMMAND = "entry:", "history:", "command:"
BASELINE_MARK = b'"rankgauge.baseline/'
MATCH_KEY = "match"
MATCH_MARK = re.compile(
    rb'"match"|^[^\n{\[]*\bmatch\b|(?m:^[ \t-]*match[ \t]*:)'
)  # a key of JSON or YAML, a column of CSV
NAMED_QUERIES = 3
DETECTED_ROWS, MAX_DETECTED_BYTES = 1000, 1 << 22  # of a log whose first row does not say what it holds
MIN_SENTENCE = 5  # words from which a label is a sentence, even if ids have white space
RESULT_KINDS = (
    "results are a run, a log, a folder, a table, a stored baseline, entry:NAME, or a live retriever: "
    "module:object, ./FILE.py:name, FILE.yaml"
)
NO_TEXTS_HINT = 'name a file with the texts: --queries FILE, or use test cases: {"query": "…", "relevant_ids": ["…"]}'
Newest = Literal["first", "last", "named"]


def later(name: str) -> Any:
    """A function of a room after this one."""
    module, _, function = LATER[name].partition(":")
    return getattr(import_module(module), function)


@dataclass(frozen=True)
class Opening:
    """What a command needs of its labels and results.

    ``depth`` is what its measures need of a live ranking, ``text_depth`` if the labels are by text. ``needs_rankings``
    refuses values that were stored without their run. ``newest`` says whose labels apply to several logs: those of the
    first or of the last result, or those that are named as labels. With ``log_is_system``, a log that is named as
    labels is also the first of the systems. ``text_labels`` are further arguments of labels by text: chunks, documents,
    options. Without ``asks``, live retrievers stay as they are named, for a caller that asks them itself; the texts of
    the queries are read all the same.
    """

    depth: int
    text_depth: int = 100
    needs_rankings: bool = False
    newest: Newest = "last"
    log_is_system: bool = True
    asking: Asking = field(default_factory=Asking)
    history: str | None = None
    text_labels: Mapping[str, Any] = field(default_factory=dict)
    asks: bool = True


@dataclass(frozen=True, eq=False)
class OpenedInputs:
    """Labels and results that every reader takes, the queries as far as they were read, and what to know of them."""

    labels: Any
    results: list[Any]
    queries: Any = None
    notes: tuple[Note, ...] = ()
    is_by_text: bool = False  # whether the labels are quotes or spans
    are_cases: bool = False  # whether the labels are test cases
    live: tuple[int, ...] = ()  # which of the results were asked for
    label_set: Any = None  # labels by rules, if nothing was asked yet, for a caller that matches them itself

    def judged(self, reading: Reading) -> OpenedInputs:
        """With judgments in place of labels by text, for runs on the same chunks."""
        if not self.is_by_text:
            return self
        parts = later("judge by text")(self.labels, self.results, reading=reading, queries=self.queries)
        if len(parts) > 1:
            raise UsageError("these runs need one --chunks", hint="runs on other chunks have other judgments")
        notes = (*self.notes, *parts[0].notes)
        return replace(self, labels=parts[0].judgments, results=parts[0].runs, notes=notes, is_by_text=False)

    @property
    def default_measures(self) -> tuple[str, ...] | None:
        """The measures if none is named: those of stored values, or those of test cases; None: the usual ones."""
        return self.measures or (default_measures(self.labels, are_cases=True) if self.are_cases else None)

    @property
    def warnings(self) -> list[Note]:
        """The notes that Python warns of: not those that only say how test cases were read."""
        return [note for note in self.notes if note.code not in question_log.QUIET_NOTES]

    @property
    def measures(self) -> tuple[str, ...] | None:
        """The measures of values that were stored without their run; None if all results can be scored."""
        stored = [tuple(map(str, result.measures)) for result in self.results if is_stored(result)]
        return stored[0] if stored else None


class MatchedInputs(NamedTuple):
    """Judgments of the results that labels match, the results in memory, and which of them were asked for."""

    labels: Any
    results: list[Any]
    live: list[int]


def is_stored(result: Any) -> bool:
    """Whether a result is values without rankings: those of a baseline or of an entry."""
    return hasattr(result, "measures") and not isinstance(result, Run)


def is_live(data: Any) -> bool:
    """Whether results are a live retriever: its name, its file, or an object that answers queries."""
    if isinstance(data, (str, Path)):
        text = str(data)
        if text == "-" or is_dataset(text) or text.startswith((ENTRY, HISTORY, COMMAND)) or _exists(text):
            return False
        return bool(later("names retriever")(text)) or _is_url(text)
    if isinstance(data, (Run, Mapping, LoadedFile)) or is_frame(data) or isinstance(getattr(data, "run", None), Run):
        return False
    return bool(later("is retriever")(data))


def _exists(text: str) -> bool:
    """Whether a text is the path of a file or folder that is not the description of a retriever."""
    path = Path(file_of(text))
    if path.suffix not in YAML_SUFFIXES:
        return path.exists()
    return path.is_file() and _is_yaml_log(text, path.stat().st_size, path.stat().st_mtime_ns)


@lru_cache(maxsize=64)
def _is_yaml_log(text: str, *state: int) -> bool:
    """Whether a YAML file holds results, rather than a retriever's description; looked at once while it is the same."""
    with open_source(text) as stream:
        record = head_record(stream)
    return record is not None and question_log.is_log_record(record, "run")


def _is_url(text: str) -> bool:
    return "://" in text


def is_file_name(text: str) -> bool:
    """Whether an argument names a file: neither a live retriever nor an entry of the history."""
    return not text.startswith((ENTRY, HISTORY)) and not is_live(text)


def open_inputs(labels: Any, results: Sequence[Any], reading: Reading, queries: Any, opening: Opening) -> OpenedInputs:
    """Open the labels and all results; retrievers are asked here, once.

    ``queries`` is a file or an object with the queries' texts. Without labels (None), retrievers are asked all of them.
    """
    return _Opener(reading, opening, queries).open(labels, list(results))


def open_runs(results: Sequence[Any], reading: Reading, queries: Any, opening: Opening) -> OpenedInputs:
    """Open results that need no labels, as runs in memory."""
    opened = open_inputs(None, results, reading, queries, replace(opening, needs_rankings=True))
    runs, notes = zip(*(runs_and_notes(result, reading) for result in opened.results), strict=True)
    return replace(opened, results=[*chain(*runs)], notes=(*opened.notes, *chain(*notes)))


class _Opener:
    """The labels and results of one command while they are opened."""

    def __init__(self, reading: Reading, opening: Opening, queries: Any) -> None:
        self.reading, self.opening = reading, opening
        self.may_be_texts = False  # whether the key of the labels does not say that they are ids
        self.queries: Queries | None = None if queries is None else as_queries(queries, limits=reading.limits)
        self.notes: list[Note] = [] if self.queries is None else list(self.queries.notes)
        self.first_rows: dict[str, list[dict[str, Any]]] = {}
        self.fields: dict[str, dict[str, Any]] = {}  # of queries, besides their texts
        self.matching: Any = None  # of labels with results, if that is not by exact ids

    def open(self, labels: Any, results: list[Any]) -> OpenedInputs:
        path, labels = labels, self._loaded(labels)
        loaded = labels
        if labels is not None and self._needs_matching(labels):
            by_text = self.opening.text_labels.get("chunks") is None
            self.matching = later("matching")(self.reading, by_text=by_text)
            self.reading = self.matching.reading
        is_by_text, has_results = self._label_kind(labels)
        if is_by_text and not self.reading.matches_ids:
            raise UsageError(
                f"--match {self.reading.match} does not apply to labels that are quotes or spans",
                hint="leave it out, or use --match text for text that one result contains",
            )
        if not has_results or is_by_text:
            labels = path if isinstance(path, (str, Path)) and Path(file_of(path)).is_file() else labels
        # A log may be the baseline of its own gate; anywhere else, a second mention of it adds no system.
        names = [str(one) for one in results if isinstance(one, (str, Path))]
        is_named_twice = self.opening.newest != "first" and isinstance(path, (str, Path)) and str(path) in names
        if has_results and not is_named_twice and (self.opening.log_is_system or not results):
            results = [labels, *results]
        logs: dict[int, tuple[Qrels, list[Run]]] = {}
        if has_results and not is_by_text:
            labels, logs = self._labels_of_logs(labels, results)
        elif has_results and self.opening.newest != "named":
            labels = next((one for one in self._newest(results) if self._label_kind(one) == (True, True)), labels)
        texts: dict[str, str] = {}
        are_cases = not is_by_text and not has_results and self._are_cases(labels)
        if are_cases:
            labels, texts = self._cases(labels)  # before any results, which cases by text identify
        elif labels is not None and self._label_columns(labels):
            labels = self._named_judgments(labels)
        opened: list[Any] = []
        for row, result in enumerate(results):
            opened += logs[row][1] if row in logs else self._runs_of_log(result) or [result]
        live = tuple(row for row, result in enumerate(opened) if not isinstance(result, Run) and is_live(result))
        needs_texts = bool(live) or not self.opening.asks
        if is_by_text:
            self.opening = replace(self.opening, needs_rankings=True)  # whose texts are compared with the labels
            labels = later("text labels")(labels, **self.opening.text_labels)
            if needs_texts:
                texts = labels.query_texts(self.queries, self.reading)
        elif needs_texts and labels is not None and not are_cases:
            labels, texts = self._with_texts(labels)
        elif needs_texts and are_cases:
            texts = self._asked_texts(labels, texts)
        elif needs_texts:
            texts = self._texts_of_all(results)
        elif self.matching is not None and not are_cases and not isinstance(labels, Qrels):
            labels = self._judgments(labels)
        if live:
            self.fields = self._case_fields(loaded, results)
        live_rows: list[int] = []
        ready: list[Any] = []
        for row, result in enumerate(opened):
            if row not in live:
                ready += self._named_runs(self._open(result))
            else:
                live_rows.append(len(ready))
                ready.append(self._ask(result, labels, texts) if self.opening.asks else result)
        if self.may_be_texts and self.opening.asks:
            self._check_labels_are_ids(labels, ready)
        if self.matching is not None and not is_by_text and self.opening.asks:
            labels, ready, live_rows = self._matched(labels, ready, live_rows)
        label_set = None
        if self.matching is not None and not is_by_text and not self.opening.asks:
            labels = as_qrels(labels, replace(self.reading, forbidden=None))
            label_set = self.matching.needed_set(labels)
        queries: Any = self.queries
        if queries is None and texts:
            queries = Queries(Ids.from_text(texts, "query id"), list(texts.values()), {})
        notes = tuple(self.notes)
        return OpenedInputs(labels, ready, queries, notes, is_by_text, are_cases, tuple(live_rows), label_set)

    # -- labels --------------------------------------------------------------------------------------------------

    def _loaded(self, labels: Any) -> Any:
        """Labels whose kind can be seen before they are read: JSON, standard input and pipes are loaded."""
        if not isinstance(labels, (str, Path)) or is_dataset(labels) or Path(labels).is_dir():
            return labels
        is_log = Path(file_of(labels)).is_file() and not is_plain(labels, "qrels") and self.reading.qrels_format is None
        is_pipe = str(labels) == "-" or (Path(labels).exists() and not Path(labels).is_file())
        return load_file(labels) if is_log or is_pipe else labels

    def _needs_matching(self, labels: Any) -> bool:
        """Whether labels have yet to be matched other than by exact ids: by the settings, or by rules of test cases."""
        if getattr(getattr(labels, "by_group", None), "kind", None) == "labels":
            return False
        if not self.reading.matches_ids:
            return True
        if isinstance(labels, (list, tuple)):
            return any(isinstance(one, Mapping) and MATCH_KEY in one for one in labels)
        if isinstance(labels, Qrels):
            return MATCH_KEY in labels.columns
        if not isinstance(labels, LoadedFile) or self.reading.qrels_format is not None:
            return False
        return MATCH_MARK.search(read_bytes(labels, limits=self.reading.limits)[0]) is not None

    def _label_kind(self, data: Any) -> tuple[bool, bool]:
        """Whether something has labels by text, and whether it has results besides its labels."""
        if self.matching is not None and self.reading.match == "text" and not hasattr(data, "query_texts"):
            first = self._record(data) or {}  # quotes are text that results contain
            return False, question_log.is_log_record(first, "run") and self.matching.has_labels(first)
        if isinstance(data, (list, tuple)):
            record = next((dict(one) for one in data if isinstance(one, Mapping)), None)
            return record is not None and bool(later("is quoted")(dict(as_json(record)))), False
        if hasattr(data, "query_texts"):  # GoldLabels, GoldInputs
            return True, False
        record = None if self.reading.qrels_format is not None else self._record(data)
        if record is None:
            return False, False
        is_quoted = bool(later("is quoted")(record))
        has_labels = is_quoted or _has_labels(record)
        has_results = question_log.is_log_record(record, "run")
        if has_labels != has_results:  # the first query may have failed, or have no labels
            rows = self._first_rows(data)
            is_quoted = is_quoted or any(later("is quoted")(row) for row in rows)
            has_labels = has_labels or is_quoted or any(map(_has_labels, rows))
            has_results = has_results or any(question_log.is_log_record(row, "run") for row in rows)
        return is_quoted, has_results and has_labels

    def _first_rows(self, data: AnyFile) -> list[dict[str, Any]]:
        """The first objects of JSON Lines; nothing is reported, for whoever reads the file will."""
        if str(data) in self.first_rows:
            return self.first_rows[str(data)]
        rows: list[dict[str, Any]] = []
        with open_source(data, limits=self.reading.limits) as stream, suppress(ValueError, RecursionError):
            head = stream.grow_head(MAX_DETECTED_BYTES) or b""
            for line in head.split(b"\n")[:DETECTED_ROWS]:
                row = json.loads(line) if line.strip() else None
                rows += [
                    dict(as_json(one)) for one in (row if isinstance(row, list) else [row]) if isinstance(one, dict)
                ]
        self.first_rows[str(data)] = rows
        return rows

    def _record(self, data: Any) -> dict[str, Any] | None:
        """The first record of a JSON file; None for anything else."""
        if not isinstance(data, (str, Path, LoadedFile)) or is_dataset(data):
            return None
        if not isinstance(data, LoadedFile) and (not Path(file_of(data)).is_file() or is_plain(data, "run")):
            return None
        with open_source(data, limits=self.reading.limits) as stream:
            return head_record(stream)

    def _are_cases(self, data: Any) -> bool:
        """Whether labels are test cases: one object or row per query, in a file or in memory."""
        if isinstance(data, (list, tuple)):
            return True
        if isinstance(data, Mapping):
            return is_test_set(data)
        if not isinstance(data, (str, Path, LoadedFile)) or is_dataset(data):
            return False
        if self.reading.qrels_format is not None or self._is_folder_or_pipe(data):
            return False
        if not isinstance(data, LoadedFile) and is_plain(data, "qrels") and not self._names_labels:
            return False
        with open_source(data, limits=self.reading.limits) as stream:
            head = Head(stream.grow_head(HEAD_BYTES) or b"", *split_selector(data))
            if head.is_arrow:
                return is_case_header(column_names(stream), self.reading.columns)
            if head.is_json or head.is_yaml:
                record = head_record(stream)
                has_named_labels = "relevant" in (self.reading.columns or {})
                is_chosen = has_named_labels or head.selector is not None
                return record is not None and (is_chosen or question_log.is_log_record(record, "qrels"))
        return is_case_header(question_log.header_names(head), self.reading.columns)

    @staticmethod
    def _is_folder_or_pipe(data: Any) -> bool:
        return not isinstance(data, LoadedFile) and not Path(file_of(data)).is_file()

    def _case_log(self, data: Any) -> question_log.Log:
        """Test cases in memory or in a file, or a log, whatever their keys are called."""
        limits, fields, match = self.reading.limits, self.reading.match_fields, self.reading.match
        if isinstance(data, (list, tuple, Mapping)):
            faults = Faults(CASES_SOURCE, strict=limits.strict)
            return question_log.load_objects(faults, data, self._label_columns(data), fields, match)
        faults = Faults(str(data), strict=limits.strict)
        with open_source(data, limits=limits) as stream:
            return question_log.load(faults, stream.read(), self._label_columns(data), fields, match)

    def _cases(self, data: Any) -> tuple[Qrels, dict[str, str]]:
        """The judgments of test cases, and the texts of their queries."""
        cases = self._case_log(data)
        self.notes += [note for note in cases.notes if note.code != "text-unused" or self.reading.match != "text"]
        name = source_name(data) if isinstance(data, (str, Path, LoadedFile)) else CASES_SOURCE
        if self.matching is not None:
            label_set = self.matching.read(cases, name)
            return label_set.judgments, dict(label_set.texts)
        rows = cases.qrels_rows(cases.faults)
        report_long_ids(cases.faults, rows, self.reading.limits.max_line)
        judgments = build_qrels(SourceRows(rows, cases.faults), name=name)
        self.may_be_texts = not cases.has_id_key
        return judgments, {query.decode("utf-8", "surrogateescape"): text for query, text in cases.texts().items()}

    def _check_labels_are_ids(self, labels: Qrels, results: Sequence[Any]) -> None:
        """Raise if most labels have white space and none is the id of a result: they are texts, and worth 0 as ids.

        If results have ids with white space, only a sentence is a text.
        """
        docs = labels.docs.to_text()
        texts = {doc for doc in docs if len(doc.split()) > 1}
        if 2 * len(texts) <= len(docs):
            return
        least = 2
        for result in results:
            for ids in () if is_stored(result) else documents_of(result, self.reading):
                names = set(ids.to_text())
                if texts & names:
                    return
                least = MIN_SENTENCE if any(len(name.split()) > 1 for name in names) else least
        text = next((doc for doc in docs if len(doc.split()) >= least), None)
        if text is not None and any(not is_stored(result) for result in results):
            raise InputError.at(
                labels.name,
                None,
                f"expected the ids of documents, found texts, of which none is the id of a result: {shown(text)}",
                hint="compare with the texts of the results: --match text; or label by text: "
                '{"query": "…", "gold": ["a sentence"]}',
            )

    # -- columns that the user names ------------------------------------------------------------------------------

    @property
    def _names_labels(self) -> bool:
        return names_labels(self.reading.columns)

    def _label_columns(self, data: Any) -> dict[str, str]:
        """The named columns that apply to the labels: those of labels only, and others that their file has."""
        return {
            role: name
            for role, name in (self.reading.columns or {}).items()
            if role in LABEL_ROLES or (role in SHARED_ROLES and self._has_name(data, name))
        }

    def _has_name(self, data: Any, name: str) -> bool:
        """Whether a name is at the beginning of a file, or in test cases in memory."""
        if isinstance(data, (list, tuple, Mapping)):
            return True
        if not isinstance(data, (str, Path, LoadedFile)) or is_dataset(data) or self._is_folder_or_pipe(data):
            return False
        with open_source(data, limits=self.reading.limits) as stream:
            head = Head(stream.grow_head(HEAD_BYTES) or b"")
            names = column_names(stream) if head.is_arrow else []
        return name in names or name.rpartition(".")[2].encode("utf-8", "surrogateescape") in head.text

    def _named_judgments(self, labels: Any) -> Any:
        """Judgments in a table whose columns the user names."""
        if not isinstance(labels, (str, Path, LoadedFile)) or is_dataset(labels):
            return labels
        reading = self.reading
        return read_qrels(
            labels, format=reading.qrels_format, columns=self._label_columns(labels), limits=reading.limits
        )

    def _named_runs(self, result: Any) -> list[Any]:
        """Results, read here if a column is named that is one of the labels; else they are read later."""
        if not self._names_labels or not isinstance(result, (str, Path)) or is_dataset(result):
            return [result]
        columns = self.reading.columns or {}
        if all(role not in LABEL_ROLES and self._has_name(result, name) for role, name in columns.items()):
            return [result]
        return self._runs(result)

    def _runs(self, data: Any) -> list[Run]:
        """The runs of a file; columns that the user names may be those of the labels alone."""
        columns = {
            role: name
            for role, name in (self.reading.columns or {}).items()
            if role not in LABEL_ROLES and (role not in SHARED_ROLES or self._has_name(data, name))
        }
        runs, notes = runs_and_notes(data, replace(self.reading, columns=columns or None))
        self.notes += notes
        return list(runs)

    def _newest(self, results: Sequence[Any]) -> list[Any]:
        return list(results) if self.opening.newest == "first" else list(reversed(results))

    def _labels_of_logs(self, labels: Any, results: Sequence[Any]) -> tuple[Qrels, dict[int, tuple[Qrels, list[Run]]]]:
        """The labels that apply if they come with results, and what each log holds; which labels differ is noted."""
        logs = {row: self._log(result) for row, result in enumerate(results) if self._label_kind(result)[1]}
        if not logs:
            return self._log(labels)[0], {}
        if self.opening.newest == "named":
            return self._log(labels)[0], logs
        chosen = max(logs) if self.opening.newest == "last" else 0
        newest = logs[chosen][0] if chosen in logs else self._log(labels)[0]
        for row, (other, _) in logs.items():
            if row != chosen and (differing := _differing_queries(newest, other)):
                queries = f"{plural(len(differing), 'query')} {'has' if len(differing) == 1 else 'have'}"
                names = listing(map(shown, differing), NAMED_QUERIES)
                self.notes.append(
                    Note(
                        "labels-differ",
                        f"{queries} other labels in {shown(other.name)} than in {shown(newest.name)}, whose labels "
                        f"apply: {names}",
                    )
                )
        return newest, logs

    def _log(self, data: AnyFile) -> tuple[Qrels, list[Run]]:
        """The labels of a log, and the run of each of its systems."""
        reading = self.reading
        if self.matching is not None:
            path = data.path if isinstance(data, LoadedFile) and Path(data.path).is_file() else data
            return self._judgments(data), self._runs(path)
        with open_source(data, limits=reading.limits, hashed=True) as stream:
            return log_from_stream(
                stream, columns=reading.columns, name=source_name(data), on_duplicate=reading.on_duplicate
            )

    def _runs_of_log(self, data: Any) -> list[Run]:
        """The runs of a log that is scored on other labels, with what came with their results; none of another file."""
        record = self._record(data) if isinstance(data, (str, Path)) and self.reading.run_format is None else None
        if record is None or not question_log.is_log_record(record, "run"):
            # One object alone may also be a run with a fault, which its reader reports.
            is_alone = record is None or (len(self._first_rows(data)) == 1 and not _lists_labels(record))
            if record and not is_alone and (_has_labels(record) or later("is quoted")(record)):
                if self._label_kind(data)[1]:
                    return self._log(data)[1]
                raise InputError.at(str(data), None, "holds labels, and results are expected", hint=RESULT_KINDS)
            return []
        return self._runs(data)

    def _with_texts(self, labels: Any) -> tuple[Qrels, dict[str, str]]:
        """Judgments in memory, and the texts of their queries."""
        judgments = self._judgments(labels)
        return judgments, self._asked_texts(judgments, self._texts_in(labels))

    def _asked_texts(self, judgments: Qrels, texts: Mapping[str, str]) -> dict[str, str]:
        """The texts of the judged queries; a query id with white space is a text itself."""
        known = {**texts, **({} if self.queries is None else self.queries.known_texts())}
        ids = judgments.queries.to_text()
        self._check_first_words(ids)
        if not known and sum(len(query.split()) > 1 for query in ids) > len(ids) / 2:
            known = {query: query for query in ids}
        return {query: known[query] for query in ids if query in known}

    def _check_first_words(self, judged: Sequence[str]) -> None:
        """Raise if labels use the first words of lines as ids, which were read as questions."""
        if self.queries is None or not self.queries.notes:
            return
        words = {text.split(None, 1)[0] for text in self.queries.known_texts().values()}
        ids = [query for query in judged if query in words]
        if ids and not any(query in self.queries.known_texts() for query in judged):
            raise InputError(
                f"each line of the queries was read as a question, but {shown(ids[0])}, the first word of one, is the "
                "id of a query in the labels",
                hint="separate ids from texts with a tab",
            )

    def _judgments(self, labels: Any) -> Qrels:
        """Judgments in memory; labels that are not matched by exact ids are kept with what they expect."""
        if self.matching is None or self._record(labels) is None:
            return as_qrels(labels, self.reading)
        made: Qrels = self.matching.read(self._case_log(labels), source_name(labels)).judgments
        return made

    def _matched(self, labels: Any, results: list[Any], live: list[int]) -> MatchedInputs:
        """Labels as judgments of what was returned; as they are if all of them are ids."""
        judgments = as_qrels(labels, replace(self.reading, forbidden=None))
        if not self.matching.is_needed(judgments):
            return MatchedInputs(as_qrels(judgments, self.reading), results, live)
        opened: list[Any] = []
        sources: list[Any] = []
        new_live: list[int] = []
        for row, result in enumerate(results):
            runs = [result] if is_stored(result) else self._runs(result)
            new_live += [len(opened)] if row in live else []
            opened += runs
            sources += [result] * len(runs)
        ranked = [row for row, run in enumerate(opened) if isinstance(run, Run)]
        for row, run in zip(ranked, later("shown text ids")([opened[row] for row in ranked]), strict=True):
            opened[row] = run
        rankings = [(sources[row], opened[row]) for row in ranked]
        texts = self._result_texts(rankings) if self.matching.needs_texts(judgments) else None
        named = self.reading.forbidden
        forbidden = {} if named is None else read_pairs(named, self.reading.limits)
        matched = self.matching.match(judgments, [run for _, run in rankings], texts, forbidden)
        self.notes += matched.notes
        return MatchedInputs(matched.judgments, opened, new_live)

    def _result_texts(self, rankings: list[tuple[Any, Run]]) -> dict[str, str]:
        """The texts of what was returned: those of the chunks that are named, or those that came with the results."""
        chunks = self.opening.text_labels.get("chunks")
        if chunks is None:
            sources, runs = [source for source, _ in rankings], [run for _, run in rankings]
            corpus = later("texts of runs")(sources, runs, self.reading)
        else:
            named = list(dict.fromkeys(chunks)) if isinstance(chunks, (list, tuple)) else [chunks]
            if len(named) > 1:
                raise UsageError("--match text takes the same chunks for all results", hint="name one --chunks")
            corpus = later("corpus")(named[0], limits=self.reading.limits)
        return {document.id.decode("utf-8", "surrogateescape"): document.full_text for document in corpus}

    def _texts_in(self, labels: Any) -> dict[str, str]:
        """The texts that a file of test cases or a log has for its queries; a column of the judgments otherwise."""
        if isinstance(labels, Qrels):
            names = [name for name in labels.columns if normalize_name(name) in TEXT_KEYS]
            column = labels.columns[names[0]].tolist() if names else []
            pairs = zip(labels.queries.to_text(), column, strict=False)
            return {query: text for query, text in pairs if isinstance(text, str)}
        if self._record(labels) is None:
            return {}
        texts = self._case_log(labels).texts()
        return {query.decode("utf-8", "surrogateescape"): text for query, text in texts.items()}

    def _case_fields(self, labels: Any, results: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """What else is known of each query: the columns of its file, and the other keys of its test case."""
        fields: dict[str, dict[str, Any]] = {}
        for name, values in ({} if self.queries is None else self.queries.columns).items():
            for query, value in values.items():
                fields.setdefault(query, {})[name] = value
        sources = [labels] if labels is not None else [one for one in results if isinstance(one, (str, Path))]
        for source in sources:
            for query, values in self._fields_in(source).items():
                fields.setdefault(query, {}).update(values)
        return fields

    def _fields_in(self, labels: Any) -> dict[str, dict[str, Any]]:
        """The other keys of test cases, or of a log; the columns of judgments."""
        if isinstance(labels, Qrels):
            names = labels.queries.to_text()
            columns = {name: zip(names, values.tolist(), strict=True) for name, values in labels.columns.items()}
            fields: dict[str, dict[str, Any]] = {query: {} for query in names}
            for name, pairs in columns.items():
                for query, value in pairs:
                    if value is not None:
                        fields[query][name] = value
            return fields
        if labels is None or not (self._are_cases(labels) or self._record(labels) is not None):
            return {}
        return self._case_log(labels).case_fields()

    def _texts_of_all(self, results: Sequence[Any]) -> dict[str, str]:
        """The texts of the queries to ask without labels: those that are given, else those of logs."""
        if self.queries is not None:
            return self.queries.known_texts()
        files = [result for result in results if isinstance(result, (str, Path)) and self._record(result) is not None]
        return {query: text for file in files for query, text in self._texts_in(file).items()}

    # -- results -------------------------------------------------------------------------------------------------

    def _ask(self, retriever: Any, labels: Any, texts: Mapping[str, str]) -> Run:
        """What a live retriever answers to the judged queries, or to all of them without labels."""
        name = retriever if isinstance(retriever, str) else str(getattr(retriever, "name", type(retriever).__name__))
        if isinstance(retriever, str) and _is_url(retriever):
            raise UsageError(
                f"{printable(retriever, None)} is a URL, which does not say how the server is asked",
                hint=SERVER_HINT,
            )
        if not texts:
            raise UsageError(f"retriever {shown(name)} needs the texts of the queries to ask", hint=NO_TEXTS_HINT)
        judgments = labels if isinstance(labels, Qrels) else None
        asking = replace(self.opening.asking, fields=self.fields)
        if self.matching is not None and judgments is not None:
            judgments = self.matching.without_documents(judgments)  # which are not ids of results
            asking = replace(asking, options={**asking.options, **self.matching.asking_options()})
        depth = self.opening.depth if judgments is not None or labels is None else self.opening.text_depth
        run, notes = later("ask")(retriever, texts, asking.k or depth, judgments, asking)
        self.notes += notes
        made: Run = run
        return made

    def _open(self, data: Any) -> Any:
        """Results that are not asked for: as they are, or from where they are stored."""
        if not isinstance(data, (str, Path)) or is_dataset(data):
            return self._checked(data) if is_stored(data) else data
        text = str(data)
        if text.startswith(ENTRY):
            return self._entry(text.removeprefix(ENTRY))
        if text.startswith((HISTORY, COMMAND)):
            raise UsageError(
                f"{shown(text)} names no results",
                hint="history:BRANCH is a baseline of `rankgauge gate`; one entry is entry:NAME",
            )
        if text == "-" or not can_read_again(data):
            if text != "-" and not Path(text).exists() and "\0" not in text:
                raise InputError.at(text, None, "cannot read: No such file or directory", hint=RESULT_KINDS)
            return data
        if Path(text).is_file() and not is_plain(text, "run") and self._is_baseline(text):
            return self._baseline(text)
        return data

    def _is_baseline(self, path: str) -> bool:
        with open_source(path, limits=self.reading.limits) as stream:
            return BASELINE_MARK in (stream.grow_head(HEAD_BYTES) or b"")[:HEAD_BYTES]

    def _baseline(self, path: str) -> Any:
        return self._checked(later("baseline")(path, limits=self.reading.limits))

    def _checked(self, stored: Any) -> Any:
        """A baseline's run if it was stored, else its values."""
        rankings = [run.ranking for run in getattr(stored, "runs", ())]
        if len(rankings) == 1 and rankings[0] is not None:
            return rankings[0]
        if self.opening.needs_rankings:
            what = "several runs" if len(rankings) > 1 else "values without their run"
            raise InputError.at(
                getattr(stored, "source", None),
                None,
                f"has {what}, and rankings are needed",
                hint="store the run too: `rankgauge gate LABELS RESULTS --write-baseline FILE --save-run`",
            )
        return stored

    def _entry(self, name: str) -> Any:
        entry = later("entry")(name, self.opening.history)
        if entry.run is not None:
            return replace(entry.run, name=entry.name)
        if self.opening.needs_rankings:
            raise InputError(
                f"the entry {shown(entry.name)} has values without its run, and rankings are needed",
                hint="store the run too: --save --save-run",
            )
        return replace(entry.scores, run=entry.name, qrels_sha256=entry.summary.labels)


TEXT_KEYS = {normalize_name(key) for tier in KEYS["query"] for key in tier}


def _has_labels(record: Mapping[str, Any]) -> bool:
    """Whether a row has labels, besides results or by itself."""
    return question_log.is_log_record(record, None if question_log.is_log_record(record, "run") else "qrels")


def _lists_labels(record: Mapping[str, Any]) -> bool:
    """Whether an object has a list of labels, which no row of a run has."""
    lists = {name: value for name, value in record.items() if isinstance(value, list)}
    return bool(lists) and question_log.is_log_record(lists, "qrels")


def _differing_queries(newest: Qrels, other: Qrels) -> list[str]:
    """The queries of both whose labels are not the same."""
    now, before = newest.to_dict(), other.to_dict()
    return [query for query in now if query in before and now[query] != before[query]]
