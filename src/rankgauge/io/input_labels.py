"""Labels in any form as judgments in memory, and what comes with them: the texts of queries and their other fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankgauge.core.formatting import listing
from rankgauge.core.qrels import Qrels
from rankgauge.errors import InputError, Note, shown
from rankgauge.io.byte_streams import LoadedFile, is_dataset, open_source, source_name
from rankgauge.io.faults import Faults
from rankgauge.io.formats import question_log
from rankgauge.io.formats.case_keys import KEYS
from rankgauge.io.formats.case_lists import filtered_name
from rankgauge.io.formats.case_refusals import likely_text_keys
from rankgauge.io.formats.log_rows import Log
from rankgauge.io.formats.named_columns import normalize_name
from rankgauge.io.formats.test_sets import CASES_SOURCE
from rankgauge.io.input_kinds import InputKinds, is_live, is_stored
from rankgauge.io.queries import Queries
from rankgauge.io.read import SourceRows, as_qrels, build_qrels, documents_of, read_qrels
from rankgauge.io.row_checks import report_long_ids

EXAMINED_PARTS = 500  # labels and ids that are compared, to see whether labels are parts of ids
MIN_SENTENCE = 5  # words from which a label is a sentence, even if ids have white space
TEXT_KEYS = {normalize_name(key) for tier in KEYS["query"] for key in tier}


class LabelReader:
    """Reads the labels of one command; ``notes`` is the list that it adds to."""

    def __init__(self, kinds: InputKinds, queries: Queries | None, notes: list[Note]) -> None:
        self.kinds, self.queries, self.notes = kinds, queries, notes
        self.text_hint = ""  # what helps if test cases have no text to ask
        self.may_be_texts = False  # whether the key of the labels does not say that they are ids

    def case_log(self, data: Any) -> Log:
        """Test cases in memory or in a file, or a log, whatever their keys are called."""
        limits, fields, match = self.kinds.reading.limits, self.kinds.reading.match_fields, self.kinds.reading.match
        if isinstance(data, (list, tuple, Mapping)):
            faults = Faults(CASES_SOURCE, strict=limits.strict)
            return question_log.load_objects(faults, data, self.kinds.label_columns(data), fields, match)
        faults = Faults(str(data), strict=limits.strict)
        with open_source(data, limits=limits) as stream:
            return question_log.load(faults, stream.read(), self.kinds.label_columns(data), fields, match)

    def cases(self, data: Any) -> tuple[Qrels, dict[str, str]]:
        """The judgments of test cases, and the texts of their queries."""
        cases = self.case_log(data)
        if "query" not in cases.keys and (texts := likely_text_keys(cases.records)):
            self.text_hint = f"name the key of the text: --column query={texts[0]}"
        else:
            leave_out = filtered_name(cases.faults.source, cases.keys.get("query", "query"))
            self.text_hint = f"to leave such cases out: {leave_out}"
        self.notes += [note for note in cases.notes if note.code != "text-unused" or self.kinds.reading.match != "text"]
        name = source_name(data) if isinstance(data, (str, Path, LoadedFile)) else CASES_SOURCE
        if self.kinds.matching is not None:
            label_set = self.kinds.matching.read(cases, name)
            return label_set.judgments, dict(label_set.texts)
        rows = cases.qrels_rows(cases.faults)
        report_long_ids(cases.faults, rows, self.kinds.reading.limits.max_line)
        judgments = build_qrels(SourceRows(rows, cases.faults), name=name)
        self.may_be_texts = not cases.has_id_key
        return judgments, {query.decode("utf-8", "surrogateescape"): text for query, text in cases.texts().items()}

    def named_judgments(self, labels: Any) -> Any:
        """Judgments in a table whose columns the user names."""
        if not isinstance(labels, (str, Path, LoadedFile)) or is_dataset(labels):
            return labels
        reading = self.kinds.reading
        return read_qrels(
            labels, format=reading.qrels_format, columns=self.kinds.label_columns(labels), limits=reading.limits
        )

    def judgments(self, labels: Any) -> Qrels:
        """Judgments in memory; labels that are not matched by exact ids are kept with what they expect."""
        if self.kinds.matching is None or self.kinds.record(labels) is None:
            return as_qrels(labels, self.kinds.reading)
        made: Qrels = self.kinds.matching.read(self.case_log(labels), source_name(labels)).judgments
        return made

    def with_texts(self, labels: Any) -> tuple[Qrels, dict[str, str]]:
        """Judgments in memory, and the texts of their queries."""
        judgments = self.judgments(labels)
        return judgments, self.asked_texts(judgments, self.texts_in(labels))

    def asked_texts(self, judgments: Qrels, texts: Mapping[str, str]) -> dict[str, str]:
        """The texts of the judged queries; a query id with white space is a text itself."""
        known = {**texts, **({} if self.queries is None else self.queries.known_texts())}
        ids = judgments.queries.to_text()
        self.check_first_words(ids)
        if not known and sum(len(query.split()) > 1 for query in ids) > len(ids) / 2:
            known = {query: query for query in ids}
        missing = [query for query in ids if query not in known]
        if missing and self.queries is None and (texts or self.text_hint):
            found = listing(map(shown, missing), 3)
            raise InputError(
                f"{judgments.name}: {len(missing)} of {len(ids)} cases have no text to ask: {found}",
                hint=f"{self.text_hint}; texts in another file: --queries FILE",
            )
        return {query: known[query] for query in ids if query in known}

    def check_first_words(self, judged: Sequence[str]) -> None:
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

    def texts_in(self, labels: Any) -> dict[str, str]:
        """The texts that a file of test cases or a log has for its queries; a column of the judgments otherwise."""
        if isinstance(labels, Qrels):
            names = [name for name in labels.columns if normalize_name(name) in TEXT_KEYS]
            column = labels.columns[names[0]].tolist() if names else []
            pairs = zip(labels.queries.to_text(), column, strict=False)
            return {query: text for query, text in pairs if isinstance(text, str)}
        if self.kinds.record(labels) is None:
            return {}
        texts = self.case_log(labels).texts()
        return {query.decode("utf-8", "surrogateescape"): text for query, text in texts.items()}

    def case_fields(self, labels: Any, results: Sequence[Any]) -> dict[str, dict[str, Any]]:
        """What else is known of each query: the columns of its file, and the other keys of its test case."""
        fields: dict[str, dict[str, Any]] = {}
        for name, values in ({} if self.queries is None else self.queries.columns).items():
            for query, value in values.items():
                fields.setdefault(query, {})[name] = value
        files = [one for one in results if isinstance(one, (str, Path)) and not is_live(one)]
        sources = files if labels is None else [labels]
        for source in sources:
            for query, values in self.fields_in(source).items():
                fields.setdefault(query, {}).update(values)
        return fields

    def fields_in(self, labels: Any) -> dict[str, dict[str, Any]]:
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
        if labels is None or not (self.kinds.are_cases(labels) or self.kinds.record(labels) is not None):
            return {}
        return self.case_log(labels).case_fields()

    def texts_of_all(self, results: Sequence[Any]) -> dict[str, str]:
        """The texts of the queries to ask without labels: those that are given, else those of logs."""
        if self.queries is not None:
            return self.queries.known_texts()
        files = [
            result for result in results if isinstance(result, (str, Path)) and self.kinds.record(result) is not None
        ]
        return {query: text for file in files for query, text in self.texts_in(file).items()}

    def check_labels_are_ids(self, labels: Qrels, results: Sequence[Any]) -> None:
        """Raise if most labels have white space and none is the id of a result: they are texts, and worth 0 as ids.

        If results have ids with white space, only a sentence is a text.
        """
        docs = labels.docs.to_text()
        texts = {doc for doc in docs if len(doc.split()) > 1}
        if 2 * len(texts) <= len(docs):
            return
        least = 2
        for result in results:
            for ids in () if is_stored(result) else documents_of(result, self.kinds.reading):
                names = set(ids.to_text())
                if texts & names or _are_parts(texts, names):
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


def _are_parts(texts: Collection[str], names: Collection[str]) -> bool:
    """Whether most of some labels are parts of ids, such as the names of files without extension: no texts, then."""
    examined = list(texts)[:EXAMINED_PARTS]
    ids = list(names)[:EXAMINED_PARTS]
    return 2 * sum(any(text in name for name in ids) for text in examined) > len(examined)
