"""Run a benchmark: fetch the run of every system, measure its cost, score, compare, and write the results."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rankgauge.benchmark.chunkings import (
    INPUTS_FOLDER,
    RETURNED_CHUNKS,
    WHOLE_DOCUMENTS,
    BenchmarkGold,
    CombinedCorpus,
    chunking_of,
    chunks_path,
    read_labels,
    resolved_labels,
    resolved_path,
    stored_labels,
    systems_with_own_chunks,
    text_notes,
    without_ideal,
    write_chunkings,
)
from rankgauge.benchmark.folder import (
    JOURNALS,
    MANIFEST,
    PAGE,
    RUNS_FOLDER,
    SNIPPETS,
    SUBFOLDERS,
    StoredInputs,
    StoredJudgments,
    claim,
    digests,
    evaluation_path,
    install,
    rendered,
    report_of_inputs,
    run_path,
    validate_judgments,
)
from rankgauge.benchmark.label_inputs import LABELS_FILE, BenchmarkLabels, labels_by_rule
from rankgauge.benchmark.plan import BenchmarkPlan, PlannedSystem
from rankgauge.benchmark.record import (
    RETURNED,
    BenchmarkInputs,
    CorpusRecord,
    IndexRecord,
    SystemResult,
    chunk_records,
    manifest_of,
    result_of_run,
)
from rankgauge.core.formatting import plural
from rankgauge.core.run import Run, RunExtras
from rankgauge.errors import (
    InputError,
    Note,
    RankgaugeError,
    RetrieverError,
    StorageError,
    held_warnings,
    printable,
    shown,
)
from rankgauge.evaluation.query_groups import check_columns
from rankgauge.io.atomic_files import write_atomically
from rankgauge.io.byte_streams import LoadedFile, load_file, loaded
from rankgauge.io.corpus.corpus import Corpus, InMemoryCorpus
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.io.formats.log_writer import is_log_name, write_log
from rankgauge.io.formats.trec import has_white_space, lost_extras, write_run
from rankgauge.io.matching import with_shown_text_ids
from rankgauge.io.owned_files import temporary_folder
from rankgauge.io.queries import Queries, read_queries
from rankgauge.io.read import build_qrels
from rankgauge.io.reading_options import Reading
from rankgauge.labels.gold.gold_evaluation import texts_of_runs
from rankgauge.labels.gold.gold_judgments import GoldOptions
from rankgauge.labels.gold.gold_labels import GoldLabels, labels_with_texts
from rankgauge.render.html import as_html
from rankgauge.report import manifest as manifests
from rankgauge.report.report import Report, snippets_and_count
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.fetch import FetchOptions, FetchProgress, fetch_run, journal_path
from rankgauge.retrieval.index_files import content_sha256
from rankgauge.retrieval.journal import check_journal, stored_answers
from rankgauge.retrieval.language import language_notes
from rankgauge.retrieval.latency import Cost, Latency, cost_of, measure_latency
from rankgauge.retrieval.open_retriever import make_retriever
from rankgauge.retrieval.retriever import QueryBatch, Retriever
from rankgauge.secrets import error_text, registered_secrets_ignored
from rankgauge.validation.findings import Validation


def run_benchmark(
    plan: BenchmarkPlan,
    out: str | Path,
    *,
    index: str | Path | None = None,
    resume: bool | None = None,
    listener: BenchmarkListener | None = None,
) -> Report:
    """Run every system of a plan and write everything into a folder.

    A system that fails is named in the report, and the others go on; if all fail, the first error is raised.
    ``index`` is a folder to keep indexes in; without one they are built in a temporary folder. ``resume`` decides about
    the answers of an interrupted benchmark, as in :class:`~rankgauge.retrieval.fetch.FetchOptions`.
    """
    listener, folder, begin = listener or BenchmarkListener(), Path(out), time.monotonic()
    start = datetime.now(UTC).replace(microsecond=0).isoformat()
    labels_file, queries_file = loaded(plan.labels), loaded(plan.queries)
    queries = read_queries(queries_file)
    documents = None if plan.corpus is None else read_corpus(plan.corpus)
    labels, judgments = None, None
    by_rule = None
    if plan.gold is None:
        by_rule = labels_by_rule(labels_file, plan.settings.reading, plan.title)
    if by_rule is not None:
        labels_file = LoadedFile(LABELS_FILE, by_rule.to_bytes())
    elif plan.gold is None:
        judgments = _valid_judgments(plan, labels_file, queries, listener)
    else:
        labels = read_labels(plan.gold, queries, documents)
    _check_settings(plan, queries)
    batch = _batch(plan, queries)
    for note in _language_notes(plan, documents, batch):
        listener.noted(note)
    with claim(folder) as work:
        if labels is not None:
            labels_file = LoadedFile("gold.jsonl", labels_with_texts(labels))
        kind = "gold" if labels is not None else "qrels" if by_rule is None else Path(LABELS_FILE).stem
        copies = _store(labels_file, work, kind), _store(queries_file, work, "queries")
        inputs = BenchmarkInputs(plan, *copies, queries)
        chunks = _chunks(plan, documents, work)
        _write_resolved(work, labels, chunks, plan.matching)
        with _index_folder(index) as indexes:
            for name, system in plan.systems.items():
                check_journal(journal_path(work / _fetched_path(name, system, batch, by_rule)), resume)
            runner = SystemRunner(plan, work, batch, documents, indexes, listener, resume, chunks, by_rule)
            results, failed = _run_systems(runner)
            results = runner.renamed(results)
        if not results:
            if not any((work / RUNS_FOLDER).glob("*.journal")):
                shutil.rmtree(work)
            raise next(iter(failed.values()))
        runs = {name: load_file(work / result.path) for name, result in results.items()}
        fetched = [result.run for result in results.values()]
        if documents is None:
            documents = _returned_documents(fetched)
            if labels is not None:
                texts = _texts_of(fetched)
                chunks = write_chunkings(texts, [WHOLE_DOCUMENTS], {}, work)
                _write_resolved(work, labels, chunks, plan.matching)
        elif labels is not None:
            on_documents = _runs_on_documents(plan, results)
            own = systems_with_own_chunks(on_documents, documents)
            for note in text_notes({name: run for name, run in on_documents.items() if name not in own}, documents):
                listener.noted(note)
            results, chunks = _with_own_chunks(plan, results, own, chunks, work)
            if own and (ideal := without_ideal(plan.settings, own)) is not None:
                plan = replace(plan, settings=ideal.settings)
                listener.noted(ideal.note)
            inputs = replace(inputs, plan=plan)
            _write_resolved(work, labels, chunks, plan.matching)
        snippets, count = _write_snippets(work, CombinedCorpus(chunks) if chunks else documents, fetched)
        if chunks and documents is not None:
            count = sum(1 for _ in documents)
        files = [inputs.labels, inputs.queries, *runs.values(), *snippets]
        of_chunkings = {path_of(name) for name in chunks for path_of in (chunks_path, resolved_path)}
        fetched_paths = {name: _fetched_path(name, system, batch) for name, system in plan.systems.items()}
        kept = _kept_journals(work, fetched_paths, results, resume)
        _remove_leftovers(work, results, {_name(work, file) for file in files} | of_chunkings | kept.keys())
        corpus = None if documents is None else CorpusRecord(documents.source, documents.sha256, count, *snippets)
        manifest = manifest_of(inputs, corpus, runs, results, failed, chunk_records(plan, chunks))
        manifest["times"] |= {"start": start, "seconds": round(time.monotonic() - begin, 3)}
        scored_on = judgments or by_rule or _stored_gold(work, inputs, chunks, results)
        stored = StoredInputs({_name(work, file): file for file in files}, queries, scored_on)
        report = write_reports(work, manifest, stored)
        install(work, folder)
    for journal, count in kept.items():
        answers = f"{plural(count, 'answer')} of {shown(Path(Path(journal).stem).stem)}"
        path = printable(str(folder.with_name(work.name) / journal), None)
        text = f"{answers} {'is' if count == 1 else 'are'} kept in {path}"
        listener.noted(Note("answers-kept", f"{text}: the same command asks the other queries, --restart all of them"))
    return report


def _kept_journals(
    folder: Path, paths: Mapping[str, str], results: Mapping[str, SystemResult], resume: bool | None
) -> dict[str, int]:
    """The journals with answers that no run of the benchmark holds, by their paths, and how many there are.

    They are those of systems that failed, and those of other systems, unless the caller discards these.
    """
    fetched = {journal_path(folder / path): name for name, path in paths.items()}
    kept = {}
    for journal in sorted((folder / RUNS_FOLDER).glob(JOURNALS)):
        is_written = fetched.get(journal) in results if journal in fetched else resume is False
        if not is_written and (count := stored_answers(journal).count):
            kept[journal.relative_to(folder).as_posix()] = count
    return kept


def _batch(plan: BenchmarkPlan, queries: Queries) -> QueryBatch:
    """The queries as retrievers are asked them; results that exist already need no texts."""
    if all(system.results is not None for system in plan.systems.values()):
        return QueryBatch(queries.ids, [text or "" for text in queries.texts])
    return QueryBatch.from_queries(queries)


def _stored_gold(
    folder: Path, inputs: BenchmarkInputs, chunks: Mapping[str, Corpus], results: Mapping[str, SystemResult]
) -> BenchmarkGold:
    """The gold of a benchmark as `benchmark verify` will read it."""
    labels = stored_labels(folder, _name(folder, inputs.labels), inputs.parsed_queries)
    chunkings = {name: one.chunking or chunking_of(inputs.plan.systems[name]) for name, one in results.items()}
    is_complete = inputs.plan.corpus is not None and RETURNED_CHUNKS not in chunks
    return BenchmarkGold(labels, chunks, chunkings, inputs.plan.matching, is_complete)


def _write_resolved(
    folder: Path, labels: GoldLabels | None, chunks: Mapping[str, Corpus], options: GoldOptions
) -> None:
    """Write the judgments of the chunks that labels by text stand for."""
    if labels is not None:
        for name, content in resolved_labels(labels, chunks, options):
            _write(folder / name, content)


def _returned_documents(runs: Sequence[Run]) -> Corpus | None:
    """The documents whose texts came with the results of some runs; None if there are none."""
    texts: dict[str, str | None] = {}
    for run in runs:
        if run.extras is not None:
            texts = {**run.extras.texts, **texts}
    known = {name: text for name, text in texts.items() if text is not None}
    return InMemoryCorpus(known, RETURNED) if known else None


def _texts_of(runs: Sequence[Run]) -> Corpus:
    """The chunks that runs came with; raises if one has none."""
    try:
        return texts_of_runs(runs, runs, Reading())
    except InputError as error:
        hint = "return the text of each result, or name the documents or chunks: --corpus PATH"
        raise InputError(error.message, hint=hint) from None


def _chunks(plan: BenchmarkPlan, documents: Corpus | None, folder: Path) -> dict[str, Corpus]:
    """The chunks that the systems search, by chunking, if there is gold to score them on."""
    if plan.gold is None or documents is None:
        return {}
    return write_chunkings(documents, map(chunking_of, plan.systems.values()), plan.chunkings, folder)


def _runs_on_documents(plan: BenchmarkPlan, results: Mapping[str, SystemResult]) -> dict[str, Run]:
    """The runs of systems that do not search chunks of the plan."""
    return {name: result.run for name, result in results.items() if plan.systems[name].chunking is None}


def _with_own_chunks(
    plan: BenchmarkPlan, results: Mapping[str, SystemResult], own: Sequence[str], chunks: Mapping[str, Corpus], to: Path
) -> tuple[dict[str, SystemResult], dict[str, Corpus]]:
    """The results and the chunks if systems returned chunks of their own: labels by text are matched with these."""
    if not own:
        return dict(results), dict(chunks)
    runs = [results[name].run for name in own]
    chunks = {**chunks, **write_chunkings(_texts_of(runs), [RETURNED_CHUNKS], {}, to)}
    results = {
        name: replace(result, chunking=RETURNED_CHUNKS if name in own else chunking_of(plan.systems[name]))
        for name, result in results.items()
    }
    used = {result.chunking for result in results.values()}
    return results, {name: corpus for name, corpus in chunks.items() if name in used}


def _run_systems(runner: SystemRunner) -> tuple[dict[str, SystemResult], dict[str, RankgaugeError]]:
    """The results of the systems that ran, and the errors of those that failed."""
    results: dict[str, SystemResult] = {}
    failed: dict[str, RankgaugeError] = {}
    for name, system in runner.plan.systems.items():
        try:
            results[name] = runner.run(name, system)
        except StorageError:
            raise  # the others could not be stored either
        except RankgaugeError as error:
            failed[name] = error
        except (Exception, SystemExit) as error:  # whatever an engine raises, the others go on
            failed[name] = RetrieverError(error_text(error))
        runner.listener.finished(name, failed[name].message if name in failed else None)
    return results, failed


def _valid_judgments(
    plan: BenchmarkPlan, qrels: LoadedFile, queries: Queries, listener: BenchmarkListener
) -> StoredJudgments:
    """The judgments and their validation; raises if they are invalid."""
    validation, parsed = validate_judgments(qrels, queries)
    listener.validated(validation)
    if not validation.ok:
        raise InputError.at(
            qrels.path,
            None,
            f"the judgments have {plural(validation.errors, 'error')}",
            hint="`rankgauge runs validate --labels` shows where, and --fix repairs what is safe to repair",
        )
    return StoredJudgments(validation, build_qrels(parsed.source_rows(), name=plan.title))


def _check_settings(plan: BenchmarkPlan, queries: Queries) -> None:
    """Raise, before any work, if the reports could not be made."""
    plan.settings.conventions.measures(plan.settings.measures)
    check_columns(plan.settings.by or (), queries.columns, hint=f"add it to {plan.queries}, or leave out --by")


def _language_notes(plan: BenchmarkPlan, documents: Corpus | None, queries: QueryBatch) -> tuple[Note, ...]:
    """Whether the texts are in a language that the systems do not know."""
    settings = [system.settings for system in plan.systems.values()]
    return language_notes(settings, documents, queries.texts)


@registered_secrets_ignored()
def write_reports(folder: Path, manifest: dict[str, Any], inputs: StoredInputs) -> Report:
    """Compute the report of the stored inputs, and write it into the folder."""
    report = report_of_inputs(inputs, manifest)
    written = {**rendered(report), PAGE: as_html(report).encode("utf-8", "surrogateescape")}
    for name, data in written.items():
        _write(folder / name, data)
    in_memory = {**inputs.files, **{name: LoadedFile(str(folder / name), data) for name, data in written.items()}}
    manifest = {**manifest, "files": digests(folder, in_memory)}
    _write(folder / MANIFEST, manifests.to_bytes(manifest))
    return report


def _write(path: Path, content: bytes) -> None:
    with write_atomically(path) as file:
        file.write(content)


@contextmanager
def _index_folder(path: str | Path | None) -> Iterator[Path]:
    """The folder of indexes; a temporary one if there is no path."""
    if path is not None:
        yield Path(path)
        return
    with temporary_folder() as temporary:
        yield temporary


def _store(file: LoadedFile, folder: Path, name: str) -> LoadedFile:
    """Write an input into the folder, byte by byte, and return it under its path there."""
    target = folder / f"{INPUTS_FOLDER}/{name}{''.join(Path(file.path).suffixes[-2:])}"
    with write_atomically(target, inputs=[file.path]) as output:
        output.write(file.stored)
    return LoadedFile(str(target), file.stored)


def _name(folder: Path, file: LoadedFile) -> str:
    return Path(file.path).relative_to(folder).as_posix()


def _write_snippets(folder: Path, documents: Corpus | None, runs: list[Run]) -> tuple[list[LoadedFile], int]:
    """The file of snippets, if there is a corpus, and the number of its documents."""
    if documents is None:
        return [], 0
    snippets, count = snippets_and_count(documents, runs)
    rows = (json.dumps({"_id": document, "text": text}, ensure_ascii=False) for document, text in snippets.items())
    data = "".join(f"{row}\n" for row in rows).encode("utf-8", "surrogateescape")
    _write(folder / SNIPPETS, data)
    return [LoadedFile(str(folder / SNIPPETS), data)], count


def _remove_leftovers(folder: Path, results: Mapping[str, SystemResult], inputs: set[str]) -> None:
    """Remove the files of an interrupted benchmark that are not part of this one."""
    kept = inputs | {SNIPPETS, *map(evaluation_path, results), *(result.path for result in results.values())}
    for part in SUBFOLDERS:
        for path in (folder / part).iterdir():
            if path.relative_to(folder).as_posix() not in kept:
                path.unlink()


# The turn of one system: build its retriever, fetch its run, and time single calls.

INDEX_FOLDERS = {"lexical": ("lexical",), "vector": ("vector",), "hybrid": ("lexical", "vector")}  # by built-in mode


@dataclass(frozen=True, eq=False)
class SystemRunner:
    """What all systems of a benchmark share: the plan, the queries, the corpus, and where files are written."""

    plan: BenchmarkPlan
    folder: Path
    queries: QueryBatch
    documents: Corpus | None
    indexes: Path
    listener: BenchmarkListener
    resume: bool | None
    chunks: Mapping[str, Corpus] = field(default_factory=dict)  # by chunking, if systems search these
    by_rule: BenchmarkLabels | None = None  # labels that are matched with texts or fields of results, which are kept
    digests: dict[Path, str | None] = field(default_factory=dict)  # of the content of indexes, by their folders

    def run(self, name: str, system: PlannedSystem) -> SystemResult:
        """Build the retriever of a system, fetch its run, and time single calls of it."""
        progress = self.listener.started(name)
        if system.results is not None:
            return self._stored(name, system.results)
        documents = self.chunks[chunking_of(system)] if self.chunks else self.documents
        index = self._index_folder(system, documents)
        parts = [index / part for part in INDEX_FOLDERS.get(system.settings.mode, ())]
        is_new = all(not part.exists() for part in parts)
        start = time.monotonic()
        settings = replace(system.settings, index=str(index))
        with held_warnings() as messages:
            retriever = make_retriever(settings, documents, self.queries)
        if self.by_rule is not None and isinstance(retriever, CallableRetriever):
            retriever.rules = self.by_rule.answer_rules(retriever.rules)
        seconds = round(time.monotonic() - start, 3)
        path = _fetched_path(name, system, self.queries, self.by_rule)
        fetched = fetch_run(
            retriever,
            self.queries,
            self.folder / path,
            k=self.plan.k,
            options=FetchOptions(tag=name, resume=self.resume, max_failures=self.plan.max_failures, keep_journal=True),
            progress=progress,
        )
        run = self._with_texts(fetched.run, documents)
        if is_log_name(path):
            self._write_log(run, path)
        if fetched.reused.count:
            self.listener.warned(name, Note("resumed", str(fetched.reused)))
        for message in dict.fromkeys(messages):
            self.listener.warned(name, Note("retriever", message))
        for note in fetched.notes:
            self.listener.warned(name, note)
        if not any(answer.docs for answer in fetched.answers):
            reason = next((answer.facts.error for answer in fetched.answers if answer.facts.error), None)
            raise RetrieverError(reason or "it returned no documents for any query")
        latency = self._latency(name, retriever) if self.plan.latency else Latency()
        files = [path for part in parts for path in part.rglob("*") if path.is_file()]
        cost = Cost(
            **asdict(latency),
            index_bytes=sum(path.stat().st_size for path in files) if files else None,
            index_seconds=seconds if is_new and files and self.plan.latency else None,
        )
        identity = retriever.identity()
        method = str(identity.get("mode", retriever.name))
        return SystemResult(run, path, fetched.failures, method, identity, cost, self._index_records(parts))

    def _with_texts(self, run: Run, documents: Corpus | None) -> Run:
        """A run with the texts of the corpus, if labels are compared with texts and its results came without them."""
        if self.by_rule is None or not self.by_rule.needs_texts or documents is None:
            return run
        if run.extras is not None and run.extras.texts:
            return run
        returned = set(run.docs)
        texts = {one.id.decode("utf-8", "surrogateescape"): one.full_text for one in documents if one.id in returned}
        return replace(run, extras=replace(run.extras or RunExtras(), texts=texts))

    def renamed(self, results: Mapping[str, SystemResult]) -> dict[str, SystemResult]:
        """The results with readable names of what is identified by its text, the same in all runs and files."""
        runs = with_shown_text_ids([result.run for result in results.values()])
        renamed: dict[str, SystemResult] = {}
        for (name, result), run in zip(results.items(), runs, strict=True):
            renamed[name] = replace(result, run=run)
            if run is not result.run:
                self._write_log(replace(run, name=name), result.path)
        return renamed

    def _write_log(self, run: Run, path: str) -> None:
        """Write the log of a fetched run without times: the same answers give the same files."""
        extras = None if run.extras is None else replace(run.extras, latency_ms={})
        texts = dict(zip(self.queries.ids.to_text(), self.queries.texts, strict=True))
        write_log(self.folder / path, replace(run, extras=extras), queries=texts)

    def _stored(self, name: str, run: Run) -> SystemResult:
        """The results of a system that is not asked, as they are."""
        if not len(run):
            raise RetrieverError("it has no documents for any query")
        is_spaced = has_white_space(run.queries) or has_white_space(run.docs)
        extras = run.extras
        has_numbers = extras is not None and bool(extras.numbers)
        path = run_path(name, is_log=is_spaced or has_numbers or bool(lost_extras(extras)))
        if is_log_name(path):
            write_log(self.folder / path, replace(run, name=name))
        else:
            write_run(run, self.folder / path, tag=name)
        cost = Cost() if extras is None or not self.plan.latency else cost_of(extras)
        return result_of_run(run, path, cost)

    def _index_records(self, parts: Sequence[Path]) -> tuple[IndexRecord, ...]:
        """The indexes in some folders, with the hash of each; a folder of the user's own is named without its path."""
        records = []
        for folder in parts:
            if folder not in self.digests:
                self.digests[folder] = content_sha256(folder)
            is_shared = folder.is_relative_to(self.indexes)
            name = folder.relative_to(self.indexes) if is_shared else Path(*folder.parts[-2:])
            digest = self.digests[folder]
            records += [] if digest is None else [IndexRecord(name.as_posix(), digest)]
        return tuple(records)

    def _latency(self, name: str, retriever: Retriever) -> Latency:
        """The latency of single calls; if a call fails now, the run is kept without it."""
        try:
            return measure_latency(retriever, self.queries, self.plan.k, self.plan.latency)
        except (Exception, SystemExit) as error:
            self.listener.warned(name, Note("no-latency", f"latency could not be measured: {error_text(error)}"))
            return Latency()

    def _index_folder(self, system: PlannedSystem, documents: Corpus | None) -> Path:
        """A folder for the indexes of all systems that can share them."""
        settings = system.settings
        if settings.index is not None:
            return Path(settings.index) / (chunking_of(system) if self.chunks else "")
        lexical = (settings.bm25, settings.stemmer, settings.stopwords)
        vectors = (settings.embedder, settings.vectors, settings.query_vectors, settings.center)
        searched = (documents.sha256,) if self.chunks and documents is not None else ()
        return self.indexes / hashlib.sha256(repr((lexical, vectors, *searched)).encode()).hexdigest()[:16]


def _fetched_path(name: str, system: PlannedSystem, queries: QueryBatch, by_rule: BenchmarkLabels | None = None) -> str:
    """The path of a run that is fetched: a retriever of the user's own may return texts, and ids with white space."""
    return run_path(name, is_log=system.is_own or by_rule is not None or has_white_space(queries.ids))


class BenchmarkListener:
    """Receive the progress of a benchmark. This one ignores it."""

    def validated(self, validation: Validation) -> None:
        """The judgments were validated."""

    def noted(self, note: Note) -> None:
        """A caveat about the collection and all systems."""

    def started(self, system: str) -> FetchProgress | None:
        """A system starts; returns what its progress is reported to."""

    def finished(self, system: str, error: str | None) -> None:
        """A system is finished, or failed with an error."""

    def warned(self, system: str, note: Note) -> None:
        """A warning about a system that did not fail."""
