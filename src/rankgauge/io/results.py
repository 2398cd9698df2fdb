"""Labels and results in whatever form a user has them, opened in one way for every command.

What comes out is what every reader takes: a path, a ``Run`` or ``Qrels`` in memory, scores, or labels by text.
``input_kinds`` says what each argument is; ``input_labels`` reads the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rankgauge.core.formatting import listing, plural
from rankgauge.core.ids import Ids
from rankgauge.core.qrels import Qrels
from rankgauge.core.run import Run
from rankgauge.errors import InputError, Note, UsageError, printable, shown
from rankgauge.io.byte_streams import (
    SELECTOR_MARK,
    SERVER_HINT,
    AnyFile,
    LoadedFile,
    file_of,
    is_dataset,
    open_source,
    source_name,
)
from rankgauge.io.formats import question_log
from rankgauge.io.formats.case_keys import FORBIDDEN_UNUSED, names_for
from rankgauge.io.formats.log_rows import QUIET_NOTES
from rankgauge.io.formats.named_columns import LABEL_ROLES, SHARED_ROLES
from rankgauge.io.input_kinds import (
    COMMAND,
    HISTORY,
    InputKinds,
    is_live,
    is_stored,
    is_url,
    later,
    row_has_labels,
)
from rankgauge.io.input_labels import LabelReader
from rankgauge.io.queries import Queries, as_queries
from rankgauge.io.read import (
    as_qrels,
    log_from_stream,
    read_pairs,
    runs_and_notes,
)
from rankgauge.io.reading_options import Asking, Reading
from rankgauge.io.row_checks import find_system
from rankgauge.io.sources import can_be_scores, can_read_again, is_plain, split_system
from rankgauge.measures.registry import default_measures

NAMED_QUERIES = 3
RESULT_KINDS = (
    "results are a run, a log, a folder, a table, scores, history:NAME, or a live retriever: "
    "module:object, ./FILE.py:name, FILE.yaml"
)
NO_TEXTS_HINT = 'name a file with the texts: --queries FILE, or use test cases: {"query": "…", "relevant_ids": ["…"]}'
Newest = Literal["first", "last", "named"]


@dataclass(frozen=True)
class Opening:
    """What a command needs of its labels and results.

    ``depth`` is what its measures need of a live ranking, ``text_depth`` if the labels are by text. ``needs_rankings``
    refuses scores. ``newest`` says whose labels apply to several logs: those of the
    first or of the last result, or those that are named as labels. With ``log_is_system``, a log that is named as
    labels is also the first of the systems. ``text_labels`` are further arguments of labels by text: chunks, documents,
    options. With ``follows_system``, a further file of several systems means the one that the first result chooses by
    its name. Without ``asks``, live retrievers stay as they are named, for a caller that asks them itself; the texts of
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
    follows_system: bool = False


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
    answered: tuple[Run, ...] = ()  # what these returned, before labels were matched
    own_id: Callable[[str], str] | None = None  # the id of a result as it was returned, if it is identified otherwise
    lost: tuple[str, ...] = ()  # labeled queries of a baseline's log that the labels which apply do not have
    label_set: Any = None  # labels by rules, if nothing was asked yet, for a caller that matches them itself

    def judged(self, reading: Reading) -> OpenedInputs:
        """With judgments in place of labels by text, for runs on the same chunks."""
        if not self.is_by_text:
            return self
        rankings = [result for result in self.results if not is_stored(result)]
        parts = later("judge by text")(self.labels, rankings, reading=reading, queries=self.queries)
        if len(parts) > 1:
            raise UsageError("these runs need one file of chunks", hint="runs on other chunks have other judgments")
        notes = (*self.notes, *parts[0].notes)
        runs = iter(parts[0].runs)
        results = [result if is_stored(result) else next(runs) for result in self.results]
        return replace(self, labels=parts[0].judgments, results=results, notes=notes, is_by_text=False)

    @property
    def default_measures(self) -> tuple[str, ...] | None:
        """The measures if none is named: those of scores, or those of test cases; None: the usual ones."""
        return self.measures or (default_measures(self.labels, are_cases=True) if self.are_cases else None)

    @property
    def warnings(self) -> list[Note]:
        """The notes that Python warns of: not those that only say how test cases were read."""
        return [note for note in self.notes if note.code not in QUIET_NOTES]

    @property
    def measures(self) -> tuple[str, ...] | None:
        """The measures of the first results that are scores; None if all are rankings."""
        stored = [tuple(map(str, result.measures)) for result in self.results if is_stored(result)]
        return stored[0] if stored else None


class SystemOf(NamedTuple):
    """Results, and the system among them that is chosen by its name; None: all of them."""

    file: Any
    system: str | None


class MatchedInputs(NamedTuple):
    """Judgments of the results that labels match, the results in memory, and which of them were asked for."""

    labels: Any
    results: list[Any]
    live: list[int]


def open_inputs(labels: Any, results: Sequence[Any], reading: Reading, queries: Any, opening: Opening) -> OpenedInputs:
    """Open the labels and all results; retrievers are asked here, once.

    ``queries`` is a file or an object with the queries' texts. Without labels (None), retrievers are asked all of them.
    """
    return _Opener(reading, opening, queries).open(labels, list(results))


def open_runs(results: Sequence[Any], reading: Reading, queries: Any, opening: Opening) -> OpenedInputs:
    """Open results that need no labels, as runs in memory."""
    opened = open_inputs(None, results, reading, queries, replace(opening, needs_rankings=True))
    reading = _with_meaning(reading, opening)
    runs, notes = zip(*(runs_and_notes(result, reading) for result in opened.results), strict=True)
    return replace(opened, results=[*chain(*runs)], notes=(*opened.notes, *chain(*notes)))


def _with_meaning(reading: Reading, opening: Opening) -> Reading:
    """How results are read: what scores mean is asked of live retrievers, and holds for lists in files, too."""
    meaning = opening.asking.options.get("scores")
    return reading if meaning is None else replace(reading, scores=meaning)


class _Opener:
    """The labels and results of one command while they are opened."""

    def __init__(self, reading: Reading, opening: Opening, queries: Any) -> None:
        self.kinds, self.opening = InputKinds(_with_meaning(reading, opening)), opening
        self.queries: Queries | None = None if queries is None else as_queries(queries, limits=reading.limits)
        self.notes: list[Note] = [] if self.queries is None else list(self.queries.notes)
        self.labels = LabelReader(self.kinds, self.queries, self.notes)
        self.fields: dict[str, dict[str, Any]] = {}  # of queries, besides their texts
        self.lost: list[str] = []

    @property
    def reading(self) -> Reading:
        """How files are read."""
        return self.kinds.reading

    @property
    def matching(self) -> Any:
        """How labels are matched with results; None: by exact ids."""
        return self.kinds.matching

    def open(self, labels: Any, results: list[Any]) -> OpenedInputs:
        results = [*chain(*(self._given(self._resolved(result)) for result in results))]
        labels = self._resolved(labels)
        named, (path, system) = labels, self._split_system(labels)
        sources = [self._split_system(result) for result in results]
        loaded = labels = self.kinds.loaded(path)
        if labels is not None and self.kinds.needs_matching(labels):
            by_text = self.opening.text_labels.get("chunks") is None
            self.kinds.match_labels(by_text=by_text)
        is_by_text, has_results = self.kinds.label_kind(labels)
        if is_by_text and not self.reading.matches_ids:
            raise UsageError(
                f"--match {self.reading.match} does not apply to labels that are quotes or spans",
                hint="leave it out, or use --match text for text that one result contains",
            )
        if not has_results or is_by_text:
            path = path if has_results else named  # a system is one of results
            labels = path if isinstance(path, (str, Path)) and Path(file_of(path)).is_file() else labels
        # A log may be the baseline of its own gate; anywhere else, a second mention of it adds no system.
        twice = [(str(file), one) for file, one in sources if isinstance(file, (str, Path))]
        is_named_twice = isinstance(path, (str, Path)) and any(
            file == str(path) and system in (None, one) for file, one in twice
        )
        is_named_twice = is_named_twice and self.opening.newest != "first"
        if has_results and not is_named_twice and (self.opening.log_is_system or not results):
            sources = [SystemOf(labels, system), *sources]
        results = [source.file for source in sources]
        logs: dict[int, tuple[Qrels, list[Run]]] = {}
        if has_results and not is_by_text:
            labels, logs = self._labels_of_logs(labels, results)
        elif has_results and self.opening.newest != "named":
            labels = next((one for one in self._newest(results) if self.kinds.label_kind(one) == (True, True)), labels)
        texts: dict[str, str] = {}
        are_cases = not is_by_text and not has_results and self.kinds.are_cases(labels)
        if are_cases:
            labels, texts = self.labels.cases(labels)  # before any results, which cases by text identify
        elif labels is not None and self.kinds.label_columns(labels):
            labels = self.labels.named_judgments(labels)
        opened: list[Any] = []
        for row, result in enumerate(results):
            runs = logs[row][1] if row in logs else self._runs_of_log(result) or [result]
            follows = sources[0].system if row and self.opening.follows_system else None
            chosen = self._chosen_runs(sources[row], runs, follows)
            opened += self._with_file_names(sources[row], chosen, sources)
        if self.reading.scores is not None:
            self._check_are_lists(opened)
        live = tuple(row for row, result in enumerate(opened) if not isinstance(result, Run) and is_live(result))
        needs_texts = bool(live) or not self.opening.asks
        if is_by_text:
            if not self.opening.follows_system:  # a gate may have scores beside rankings
                self.opening = replace(self.opening, needs_rankings=True)  # whose texts are compared with the labels
            labels = later("text labels")(labels, **self.opening.text_labels).loaded(self.reading)
            if needs_texts:
                texts = labels.query_texts(self.queries, self.reading)
        elif needs_texts and labels is not None and not are_cases:
            labels, texts = self.labels.with_texts(labels)
        elif needs_texts and are_cases:
            texts = self.labels.asked_texts(labels, texts)
        elif needs_texts:
            texts = self.labels.texts_of_all(results)
        elif self.matching is not None and not are_cases and not isinstance(labels, Qrels):
            labels = self.labels.judgments(labels)
        if live:
            self.fields = self.labels.case_fields(loaded, results)
        journals: dict[int, Path] = {}
        if live and self.opening.asking.out is not None:
            names = [str(opened[row]) for row in live]
            journals = dict(zip(live, later("journals")(self.opening.asking.out, names), strict=True))
        live_rows: list[int] = []
        ready: list[Any] = []
        for row, result in enumerate(opened):
            if row not in live:
                ready += self._named_runs(self._open(result))
            else:
                live_rows.append(len(ready))
                ready.append(self._ask(result, labels, texts, journals.get(row)) if self.opening.asks else result)
        answered = tuple(ready[row] for row in live_rows if isinstance(ready[row], Run))
        if self.labels.may_be_texts and self.opening.asks:
            self.labels.check_labels_are_ids(labels, ready)
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
        own_id = None if self.matching is None else self.matching.own_id
        facts = (is_by_text, are_cases, tuple(live_rows), answered, own_id, tuple(self.lost), label_set)
        return OpenedInputs(labels, ready, queries, notes, *facts)

    def _check_are_lists(self, results: Sequence[Any]) -> None:
        """Raise if some results are rankings by score already, of which nobody can say what the scores mean."""
        plain = next((one for one in results if isinstance(one, (str, Path)) and is_plain(one, "run")), None)
        if plain is not None:
            raise UsageError(f"reading.scores applies to lists of results: {source_name(plain)} has none")

    def _resolved(self, result: Any) -> Any:
        """The file of saved results that are named after a branch or a system; anything else as it is."""
        is_saved = isinstance(result, str) and result.startswith(HISTORY)
        return later("history")(result, self.opening.history) if is_saved else result

    def _given(self, result: Any) -> list[Any]:
        """Each system of scores; any other result as it is."""
        return (later("given scores")(result, self.reading) if can_be_scores(result) else None) or [result]

    def _named_runs(self, result: Any) -> list[Any]:
        """Results, read here if a column is named that is one of the labels; else they are read later."""
        if not self.kinds.names_labels or not isinstance(result, (str, Path)) or is_dataset(result):
            return [result]
        columns = self.reading.columns or {}
        if all(role not in LABEL_ROLES and self.kinds.has_name(result, name) for role, name in columns.items()):
            return [result]
        return self._runs(result)

    def _runs(self, data: Any) -> list[Run]:
        """The runs of a file; columns that the user names may be those of the labels alone."""
        columns = {
            role: name
            for role, name in (self.reading.columns or {}).items()
            if role not in LABEL_ROLES and (role not in SHARED_ROLES or self.kinds.has_name(data, name))
        }
        runs, notes = runs_and_notes(data, replace(self.reading, columns=columns or None))
        self.notes += notes
        return list(runs)

    def _newest(self, results: Sequence[Any]) -> list[Any]:
        return list(results) if self.opening.newest == "first" else list(reversed(results))

    def _labels_of_logs(self, labels: Any, results: Sequence[Any]) -> tuple[Qrels, dict[int, tuple[Qrels, list[Run]]]]:
        """The labels that apply if they come with results, and what each log holds; which labels differ is noted."""
        rows = [row for row, result in enumerate(results) if self.kinds.label_kind(result)[1]]
        if not rows:
            return self._log(labels)[0], {}
        chosen = max(rows) if self.opening.newest == "last" else 0
        is_named = self.opening.newest == "named"
        logs = {row: self._log(results[row], labels_apply=row == chosen and not is_named) for row in rows}
        if is_named:
            return self._log(labels)[0], logs
        newest = logs[chosen][0] if chosen in logs else self._log(labels)[0]
        if self.opening.newest == "first":
            known = set(newest.queries.to_text())
            before = [other.queries.to_text() for row, (other, _) in logs.items() if row != chosen]
            before += [result.table.queries for result in results if is_stored(result)]
            every = chain(*before)
            self.lost += [query for query in dict.fromkeys(every) if query not in known]
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

    def _log(self, data: AnyFile, *, labels_apply: bool = True) -> tuple[Qrels, list[Run]]:
        """The labels of a log, and the run of each of its systems."""
        reading = self.reading
        if self.matching is not None:
            path = data.path if isinstance(data, LoadedFile) and Path(data.path).is_file() else data
            return self.labels.judgments(data), self._runs(path)
        with open_source(data, limits=reading.limits, hashed=True) as stream:
            return log_from_stream(
                stream,
                columns=reading.columns,
                name=source_name(data),
                on_duplicate=reading.on_duplicate,
                scores=reading.scores,
                labels_apply=labels_apply,
            )

    def _runs_of_log(self, data: Any) -> list[Run]:
        """The runs of a log that is scored on other labels, with what came with their results; none of another file."""
        record = self.kinds.record(data) if isinstance(data, (str, Path)) and self.reading.run_format is None else None
        if record is None or not question_log.is_log_record(record, "run"):
            # One object alone may also be a run with a fault, which its reader reports.
            is_alone = record is None or (len(self.kinds.first_rows(data)) == 1 and not self.kinds.is_list(data))
            if record and not is_alone and (row_has_labels(record) or later("is quoted")(record)):
                if self.kinds.label_kind(data)[1]:
                    return self._log(data)[1]
                raise InputError.at(str(data), None, "holds labels, and results are expected", hint=RESULT_KINDS)
            return []
        rows = [record, *self.kinds.first_rows(data)]
        names = list(dict.fromkeys(name for row in rows for name, value in row.items() if value))
        if key := next(iter(names_for(names, "forbidden")), None):
            text = f"{source_name(data)}: {shown(key)} is not used: the forbidden documents of the labels apply"
            self.notes.append(Note(FORBIDDEN_UNUSED, text))
        return self._runs(data)

    def _split_system(self, data: Any) -> SystemOf:
        if not isinstance(data, (str, Path)) or SELECTOR_MARK not in str(data):
            return SystemOf(data, None)
        return SystemOf(*split_system(data, self.reading.limits))

    def _chosen_runs(self, source: SystemOf, runs: list[Any], follows: str | None) -> list[Any]:
        """The system that is chosen, all of them without a choice; ``follows`` is the choice if there are several."""
        file, system = source
        if system is None and (follows is None or not isinstance(file, (str, Path)) or not Path(file).exists()):
            return runs
        if not all(isinstance(run, Run) for run in runs):  # a table, not read so far
            runs = self._runs(file)
        names = [run.name for run in runs]
        if system is None:
            return [runs[names.index(follows)]] if len(runs) > 1 and follows in names else runs
        return [runs[find_system(str(file), names, system)]]

    def _with_file_names(self, source: SystemOf, runs: list[Any], sources: Sequence[SystemOf]) -> list[Any]:
        """A system that is chosen in several files has the names of the files, too, unless one is the baseline."""
        name = source.system
        if name is None or self.opening.follows_system or sum(one.system == name for one in sources) == 1:
            return runs
        return [replace(run, name=f"{source_name(source.file)}{SELECTOR_MARK}{name}") for run in runs]

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
                raise UsageError(
                    "--match text takes the same chunks for all results", hint="name one: --set reading.chunks=CHUNKS"
                )
            corpus = later("corpus")(named[0], limits=self.reading.limits)
        return {document.id.decode("utf-8", "surrogateescape"): document.full_text for document in corpus}

    # -- results -------------------------------------------------------------------------------------------------

    def _ask(self, retriever: Any, labels: Any, texts: Mapping[str, str], journal: Path | None) -> Run:
        """What a live retriever answers to the judged queries, or to all of them without labels."""
        name = retriever if isinstance(retriever, str) else str(getattr(retriever, "name", type(retriever).__name__))
        if isinstance(retriever, str) and is_url(retriever):
            raise UsageError(
                f"{printable(retriever, None)} is a URL, which does not say how the server is asked",
                hint=SERVER_HINT,
            )
        if not texts:
            raise UsageError(f"retriever {shown(name)} needs the texts of the queries to ask", hint=NO_TEXTS_HINT)
        judgments = labels if isinstance(labels, Qrels) else None
        asking = replace(self.opening.asking, fields=self.fields, journal=journal)
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
        if text.startswith(COMMAND):
            raise UsageError(f"{shown(text)} names no results", hint=RESULT_KINDS)
        if text == "-" or not can_read_again(data):
            if text != "-" and not Path(text).exists() and "\0" not in text:
                raise InputError.at(text, None, "cannot read: No such file or directory", hint=RESULT_KINDS)
            return data
        return data

    def _checked(self, scores: Any) -> Any:
        """Scores, unless rankings are needed."""
        if self.opening.needs_rankings:
            raise InputError(
                f"{shown(str(scores.name))} has scores, and rankings are needed", hint="name the log or the run itself"
            )
        return scores


def _differing_queries(newest: Qrels, other: Qrels) -> list[str]:
    """The queries of both whose labels are not the same."""
    now, before = newest.to_dict(), other.to_dict()
    return [query for query in now if query in before and now[query] != before[query]]
