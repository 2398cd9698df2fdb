"""What an argument is, seen before it is read: labels or results, and of which kind.

Labels are judgments, test cases, labels by text, or those of a log. Results are a run, a folder, a table, a log, a
file of scores, an entry of the history, or a live retriever. Rooms after this one are found by name when they are
needed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.io.byte_streams import (
    AnyFile,
    LoadedFile,
    file_of,
    is_dataset,
    load_file,
    open_source,
    read_bytes,
    split_selector,
)
from rankgauge.io.formats import question_log
from rankgauge.io.formats.arrow import column_names
from rankgauge.io.formats.case_lists import is_test_set
from rankgauge.io.formats.case_tables import is_case_header
from rankgauge.io.formats.detection import HEAD_BYTES, YAML_SUFFIXES, Head
from rankgauge.io.formats.frames import is_frame
from rankgauge.io.formats.json_text import as_json
from rankgauge.io.formats.named_columns import LABEL_ROLES, SHARED_ROLES, names_labels
from rankgauge.io.read import head_record
from rankgauge.io.reading_options import Reading
from rankgauge.io.sources import is_plain

LATER = {  # what rooms after this one do, imported on first use
    "ask": "rankgauge.rag.live:ask_queries",
    "journals": "rankgauge.rag.live:live_journals",
    "given scores": "rankgauge.evaluation.given_scores:as_given",
    "scores alone": "rankgauge.evaluation.given_scores:evaluate_alone",
    "history": "rankgauge.history.folder:named_results",
    "is retriever": "rankgauge.retrieval.asking.retriever_functions:is_retriever",
    "names retriever": "rankgauge.retrieval.open_retriever:is_own_retriever",
    "is quoted": "rankgauge.labels.gold.gold_labels:is_gold_record",
    "evaluate by text": "rankgauge.labels.gold.gold_evaluation:evaluate_gold_runs",
    "judge by text": "rankgauge.labels.gold.gold_evaluation:judge_runs",
    "text labels": "rankgauge.labels.gold.gold_evaluation:as_gold_inputs",
    "matching": "rankgauge.io.matching:LabelMatching",
    "shown text ids": "rankgauge.io.matching:with_shown_text_ids",
    "corpus": "rankgauge.io.corpus.corpus_files:read_corpus",
    "texts of runs": "rankgauge.labels.gold.gold_evaluation:texts_of_runs",
}
HISTORY, COMMAND = "history:", "command:"
MATCH_KEY = "match"
MATCH_MARK = re.compile(
    rb'"match"|^[^\n{\[]*\bmatch\b|(?m:^[ \t-]*match[ \t]*:)'
)  # a key of JSON or YAML, a column of CSV
DETECTED_ROWS, MAX_DETECTED_BYTES = 1000, 1 << 22  # of a log whose first row does not say what it holds


def later(name: str) -> Any:
    """A function of a room after this one."""
    module, _, function = LATER[name].partition(":")
    return getattr(import_module(module), function)


def is_stored(result: Any) -> bool:
    """Whether a result is scores: values without rankings."""
    return hasattr(result, "measures") and not isinstance(result, Run)


def is_live(data: Any) -> bool:
    """Whether results are a live retriever: its name, its file, or an object that answers queries."""
    if isinstance(data, (str, Path)):
        text = str(data)
        if text == "-" or is_dataset(text) or text.startswith((HISTORY, COMMAND)) or _exists(text):
            return False
        return bool(later("names retriever")(text)) or is_url(text)
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


def is_url(text: str) -> bool:
    """Whether a text is a URL, which is neither a file nor a retriever."""
    return "://" in text


def is_file_name(text: str) -> bool:
    """Whether an argument names a file: neither a live retriever nor an entry of the history."""
    return not text.startswith(HISTORY) and not is_live(text)


class InputKinds:
    """Looks at the arguments of one command, each as far as its kind needs it."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.matching: Any = None  # of labels with results, if that is not by exact ids
        self._rows: dict[str, list[dict[str, Any]]] = {}

    def match_labels(self, *, by_text: bool) -> None:
        """Match labels with results as the settings or the test cases say; what follows is read for that."""
        self.matching = later("matching")(self.reading, by_text=by_text)
        self.reading = self.matching.reading

    def loaded(self, labels: Any) -> Any:
        """Labels whose kind can be seen before they are read: JSON, standard input and pipes are loaded."""
        if not isinstance(labels, (str, Path)) or is_dataset(labels) or Path(labels).is_dir():
            return labels
        is_log = Path(file_of(labels)).is_file() and not is_plain(labels, "qrels") and self.reading.qrels_format is None
        is_pipe = str(labels) == "-" or (Path(labels).exists() and not Path(labels).is_file())
        return load_file(labels) if is_log or is_pipe else labels

    def needs_matching(self, labels: Any) -> bool:
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

    def label_kind(self, data: Any) -> tuple[bool, bool]:
        """Whether something has labels by text, and whether it has results besides its labels."""
        if self.matching is not None and self.reading.match == "text" and not hasattr(data, "query_texts"):
            first = self.record(data) or {}  # quotes are text that results contain
            return False, question_log.is_log_record(first, "run") and self.matching.has_labels(first)
        if isinstance(data, (list, tuple)):
            records = islice((dict(one) for one in data if isinstance(one, Mapping)), DETECTED_ROWS)
            return any(self._is_quoted(dict(as_json(one))) for one in records), False
        if hasattr(data, "query_texts"):  # GoldLabels, GoldInputs
            return True, False
        record = None if self.reading.qrels_format is not None else self.record(data)
        if record is None:
            return False, False
        is_quoted = self._is_quoted(record)
        has_labels = is_quoted or row_has_labels(record)
        has_results = question_log.is_log_record(record, "run")
        if has_labels != has_results:  # the first query may have failed, or have no labels
            rows = self.first_rows(data)
            is_quoted = is_quoted or any(map(self._is_quoted, rows))
            has_labels = has_labels or is_quoted or any(map(row_has_labels, rows))
            has_results = has_results or any(question_log.is_log_record(row, "run") for row in rows)
        return is_quoted, has_results and has_labels

    def _is_quoted(self, record: Mapping[str, Any]) -> bool:
        """Whether an object has quotes or spans, and the user does not say that it has documents, or their fields."""
        names_documents = "relevant" in (self.reading.columns or {}) or bool(self.reading.match_fields)
        return not names_documents and bool(later("is quoted")(record))

    def first_rows(self, data: AnyFile) -> list[dict[str, Any]]:
        """The first objects of JSON Lines; nothing is reported, for whoever reads the file will."""
        if str(data) in self._rows:
            return self._rows[str(data)]
        rows: list[dict[str, Any]] = []
        with open_source(data, limits=self.reading.limits) as stream, suppress(ValueError, RecursionError):
            head = stream.grow_head(MAX_DETECTED_BYTES) or b""
            for line in head.split(b"\n")[:DETECTED_ROWS]:
                row = json.loads(line) if line.strip() else None
                rows += [
                    dict(as_json(one)) for one in (row if isinstance(row, list) else [row]) if isinstance(one, dict)
                ]
        self._rows[str(data)] = rows
        return rows

    def record(self, data: Any) -> dict[str, Any] | None:
        """The first record of a JSON file; None for anything else."""
        if not isinstance(data, (str, Path, LoadedFile)) or is_dataset(data):
            return None
        if not isinstance(data, LoadedFile) and (not Path(file_of(data)).is_file() or is_plain(data, "run")):
            return None
        with open_source(data, limits=self.reading.limits) as stream:
            return head_record(stream)

    def is_list(self, data: AnyFile) -> bool:
        """Whether a JSON file is a list of objects, rather than one object or one per line."""
        with open_source(data, limits=self.reading.limits) as stream:
            return Head(stream.grow_head(HEAD_BYTES) or b"").is_array

    def are_cases(self, data: Any) -> bool:
        """Whether labels are test cases: one object or row per query, in a file or in memory."""
        if isinstance(data, (list, tuple)):
            return True
        if isinstance(data, Mapping):
            return is_test_set(data)
        if not isinstance(data, (str, Path, LoadedFile)) or is_dataset(data):
            return False
        if self.reading.qrels_format is not None or self.is_folder_or_pipe(data):
            return False
        if not isinstance(data, LoadedFile) and is_plain(data, "qrels") and not self.names_labels:
            return False
        with open_source(data, limits=self.reading.limits) as stream:
            head = Head(stream.grow_head(HEAD_BYTES) or b"", *split_selector(data))
            if head.is_arrow:
                return is_case_header(column_names(stream), self.reading.columns)
            if head.is_json or head.is_yaml:
                record = head_record(stream)
                if record is None:  # of YAML, the reader says what is missing
                    return head.is_yaml and (self.matching is not None or bool(self.reading.columns))
                is_chosen = head.selector is not None or "relevant" in (self.reading.columns or {})
                has_text = self.matching is not None and self.matching.has_labels(record)
                return is_chosen or has_text or question_log.is_log_record(record, "qrels")
        return is_case_header(question_log.header_names(head), self.reading.columns)

    @staticmethod
    def is_folder_or_pipe(data: Any) -> bool:
        """Whether something is not a file that can be looked at."""
        return not isinstance(data, LoadedFile) and not Path(file_of(data)).is_file()

    @property
    def names_labels(self) -> bool:
        """Whether the user names a column of the labels."""
        return names_labels(self.reading.columns)

    def label_columns(self, data: Any) -> dict[str, str]:
        """The named columns that apply to the labels: those of labels only, and others that their file has."""
        return {
            role: name
            for role, name in (self.reading.columns or {}).items()
            if role in LABEL_ROLES or (role in SHARED_ROLES and self.has_name(data, name))
        }

    def has_name(self, data: Any, name: str) -> bool:
        """Whether a name is at the beginning of a file, or in test cases in memory."""
        if isinstance(data, (list, tuple, Mapping)):
            return True
        if not isinstance(data, (str, Path, LoadedFile)) or is_dataset(data) or self.is_folder_or_pipe(data):
            return False
        with open_source(data, limits=self.reading.limits) as stream:
            head = Head(stream.grow_head(HEAD_BYTES) or b"")
            names = column_names(stream) if head.is_arrow else []
        return name in names or name.rpartition(".")[2].encode("utf-8", "surrogateescape") in head.text


def row_has_labels(record: Mapping[str, Any]) -> bool:
    """Whether a row has labels, besides results or by itself."""
    return question_log.is_log_record(record, None if question_log.is_log_record(record, "run") else "qrels")
