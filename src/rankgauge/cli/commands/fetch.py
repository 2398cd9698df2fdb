"""``rankgauge runs fetch``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from rankgauge._version import __version__
from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option, option_group
from rankgauge.cli.options.fetch_retriever import RETRIEVER_OPTIONS, ChosenRetriever, chosen_retrievers
from rankgauge.cli.options.inputs import NO_CODE
from rankgauge.cli.printing import collected_notes, print_message, print_warnings
from rankgauge.config.retriever_settings import BenchmarkSettings
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section, setting_of
from rankgauge.errors import InputError, Note, UsageError, printable, shown, write_errors
from rankgauge.io.atomic_files import check_outputs, write_atomically
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.corpus_files import CORPUS_FILE_NAMES, QUERIES_FILE_NAMES, first_file, read_corpus
from rankgauge.io.formats.json_text import json_bytes, json_text
from rankgauge.io.formats.log_writer import is_log_name
from rankgauge.io.queries import Queries, read_queries
from rankgauge.report.manifest import SYSTEM_NAME
from rankgauge.retrieval.embedders.precomputed import vector_files
from rankgauge.retrieval.fetch import FetchOptions, FetchResult, fetch_run, journal_path
from rankgauge.retrieval.journal import check_journal, discard_journal
from rankgauge.retrieval.language import language_notes
from rankgauge.retrieval.latency import Latency, measure_latency
from rankgauge.retrieval.open_retriever import make_retriever, settings_from
from rankgauge.retrieval.retriever import Decisions, Identity, QueryBatch, Retriever, write_decisions
from rankgauge.secrets import mask_values

FETCH_SCHEMA = "rankgauge.fetch/1"
OUTPUT_SUFFIXES = {"-o": ".trec", "--log": ".jsonl", "--manifest": ".json"}  # of files in a folder


@dataclass(frozen=True)
class FetchRequest:
    """How many documents to fetch per query, and how many calls to time."""

    k: int = setting_of(BenchmarkSettings, "k")
    latency: int | None = setting_of(
        BenchmarkSettings, "latency", default=None, limits=">=1", help="Then time N calls, one query at a time."
    )


@dataclass(frozen=True)
class FetchOutput:
    """The files that a fetch writes, or the folders of those of several fetches."""

    out: str
    log: str | None
    manifest: str | None

    @property
    def paths(self) -> dict[str, str]:
        """The paths that are given, by their flags."""
        named = {"-o": self.out, "--log": self.log, "--manifest": self.manifest}
        return {flag: path for flag, path in named.items() if path is not None}

    def files_of(self, names: Sequence[str]) -> dict[str, FetchOutput]:
        """The files of each retriever; in a folder they have its name. Raises if several would share a file."""
        for flag, path in self.paths.items():
            if len(names) > 1 and not _is_folder(path):
                raise UsageError(
                    f"{flag} {printable(path, None)} is one file, and there are {len(names)} retrievers: "
                    f"{', '.join(names)}",
                    hint=f"name a folder for their files: {flag} FOLDER/, or one retriever: --retriever NAME",
                )
            for name in names:
                if _is_folder(path) and not SYSTEM_NAME.fullmatch(name):
                    raise UsageError(
                        f"a retriever's name must be usable as a file name, found {shown(name)}",
                        hint=f"name a file: {flag} FILE",
                    )
        return {name: FetchOutput(*(self._file(flag, name) for flag in OUTPUT_SUFFIXES)) for name in names}

    def _file(self, flag: str, name: str) -> Any:
        path = self.paths.get(flag)
        return str(Path(path) / f"{name}{OUTPUT_SUFFIXES[flag]}") if path is not None and _is_folder(path) else path

    def make_folders(self) -> None:
        """Make the folders that do not exist yet."""
        for path in self.paths.values():
            if _is_folder(path):
                with write_errors(path):
                    Path(path).mkdir(parents=True, exist_ok=True)


def _is_folder(path: str) -> bool:
    """Whether a path names a folder: one that exists, or one that ends with a slash."""
    return path.endswith(("/", os.sep)) or Path(path).is_dir()


@dataclass(frozen=True, eq=False)
class FetchSources:
    """The files that a fetch reads."""

    queries: str
    corpus: Corpus | None
    vectors: tuple[str, ...]

    @classmethod
    def open(cls, options: Mapping[str, Any], corpus: Corpus | None) -> FetchSources:
        """Find the files that options name."""
        return cls(
            queries=options["queries"] or _queries_beside(options["corpus"]),
            corpus=corpus,
            vectors=tuple(
                file for key in ("vectors", "query_vectors") if key in options for file in vector_files(options[key])
            ),
        )

    @property
    def files(self) -> list[str]:
        """All files, which must not be overwritten."""
        corpus_files = [] if self.corpus is None else map(str, self.corpus.files)
        return [self.queries, *corpus_files, *self.vectors]


@documented(
    "fetch",
    """
    # Search a corpus with BM25
    rankgauge runs fetch --corpus corpus.jsonl --queries queries.jsonl \\
      -o lexical.run
    # Ask a function of your own, 8 queries at once
    rankgauge runs fetch --retriever ./search.py:search \\
      --queries queries.jsonl --set retriever.concurrency=8 -o mine.run
    # Write the runs of BM25 and of a retriever of rankgauge.yaml to a folder
    rankgauge runs fetch --config rankgauge.yaml \\
      --retriever lexical --retriever mine -o runs/
    """,
    sections=("collection", "retrievers"),
)
@option(
    "--config",
    section=Section.INPUT,
    type=click.Path(),
    metavar="FILE",
    help="Read the collection and the retriever from a rankgauge.yaml; command-line options override the file.",
)
@option(
    "--retriever",
    "retrievers",
    section=Section.RETRIEVER,
    multiple=True,
    metavar="NAME",
    help="Ask lexical, vector, hybrid, one of the configuration, module:object, ./FILE.py:name, or FILE.yaml; "
    "repeatable.  [default: those of the configuration, or lexical]",
)
@option_group("options", dict, *RETRIEVER_OPTIONS)
@option_group("request", FetchRequest, *declared_options(FetchRequest))
@option_group("fetching", FetchOptions, *declared_options(FetchOptions))
@option_group(
    "output",
    FetchOutput,
    option(
        "-o",
        "--out",
        section=Section.OUTPUT,
        required=True,
        type=click.Path(),
        metavar="FILE",
        help="Write the TREC run to FILE, or each to a file of its own in FOLDER/.",
    ),
    option(
        "--log",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write the results before and after the reranker to FILE, as JSON Lines for `rankgauge pipeline`.",
    ),
    option(
        "--manifest",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write what was fetched and when to FILE, with hashes, as JSON.",
    ),
)
@NO_CODE
def runs_fetch_command(
    config: str | None,
    retrievers: tuple[str, ...],
    options: dict[str, Any],
    request: FetchRequest,
    fetching: FetchOptions,
    output: FetchOutput,
) -> None:
    """Make a run by asking a retriever every query.

    Nothing is downloaded, and no server is started. The same command resumes an interrupted fetch and writes the same
    bytes; if its answers are older than a day, it asks for --resume or --restart. Several retrievers write several
    runs, each to FOLDER/NAME.trec.
    """
    chosen = chosen_retrievers(options, retrievers)
    if fetching.tag is not None and len(chosen) > 1:
        raise UsageError(f"--tag names one run, and there are {len(chosen)} retrievers", hint="leave out --tag")
    outputs = output.files_of([one.name for one in chosen])
    corpus = chosen[0].options["corpus"]
    documents = None if corpus is None else read_corpus(corpus)
    sources = {one.name: FetchSources.open(one.options, documents) for one in chosen}
    inputs = list(dict.fromkeys(file for opened in sources.values() for file in opened.files))
    with collected_notes() as notes:
        queries = read_queries(sources[chosen[0].name].queries)
    print_warnings([*notes, *queries.notes])
    output.make_folders()
    named = None if is_log_name(output.out) else queries.numbered()
    texts = [] if named is None else [f"{output.out.rstrip('/')}{QUESTIONS_SUFFIX}"]
    check_outputs([*(path for files in outputs.values() for path in files.paths.values()), *texts], inputs=inputs)
    if named is not None:
        queries = named
        write_questions(texts[0], queries)
    for files in outputs.values():
        check_journal(journal_path(files.out), fetching.resume)
    fetches = [Fetch.open(one, sources[one.name], queries, outputs[one.name]) for one in chosen]
    for fetch in fetches:
        fetch.run(request, replace(fetching, inputs=inputs, keep_journal=len(fetches) > 1))
    for fetch in fetches:
        discard_journal(journal_path(fetch.output.out))


QUESTIONS_SUFFIX = ".queries.jsonl"


def write_questions(path: str, queries: Queries) -> None:
    """Write the ids that questions got, because a TREC run cannot hold the questions, and say so.

    The user did not choose the name: a file that has anything else is an error, and so is a link.
    """
    content = b"".join(json_bytes({"_id": name, "text": text}) + b"\n" for name, text in queries.known_texts().items())
    target = Path(path)
    if target.is_symlink() or (target.exists() and not (target.is_file() and target.read_bytes() == content)):
        raise InputError.at(
            path,
            None,
            "already there, and the ids of the questions would go into it",
            hint="move it away, or write a log, which has the questions: -o results.jsonl",
        )
    with write_atomically(path) as file:
        file.write(content)
    names = queries.ids.to_text()
    print_message(f"questions are named {names[0]} to {names[-1]}: wrote their texts to {printable(path, None)}")


@dataclass(frozen=True, eq=False)
class Fetch:
    """The fetch of one run: its retriever, what it reads and what it writes."""

    retriever: Retriever
    sources: FetchSources
    queries: Queries
    output: FetchOutput
    decisions: Decisions
    tag: str | None

    @classmethod
    def open(cls, chosen: ChosenRetriever, sources: FetchSources, queries: Queries, output: FetchOutput) -> Fetch:
        """Open the retriever."""
        decisions, batch = Decisions(), QueryBatch.from_queries(queries)
        settings = settings_from(chosen.options)
        print_warnings(language_notes([settings], sources.corpus, batch.texts))
        retriever = make_retriever(settings, sources.corpus, batch, decisions=decisions)
        return cls(retriever, sources, queries, output, decisions, chosen.name if chosen.is_named else None)

    def run(self, request: FetchRequest, options: FetchOptions) -> None:
        """Ask every query, and write the run and what was asked for besides."""
        batch, output, inputs = QueryBatch.from_queries(self.queries), self.output, list(map(str, options.inputs))
        options, start = replace(options, tag=options.tag or self.tag), datetime.now(UTC).replace(microsecond=0)
        result = fetch_run(self.retriever, batch, output.out, k=request.k, options=options, decisions=self.decisions)
        print_warnings(result.notes)
        if output.log is not None:
            write_decisions(result.decisions, output.log, inputs=inputs)
        latency = Latency()
        if request.latency is not None:
            latency = measure_latency(self.retriever, batch, request.k, request.latency)
        if output.manifest is not None:
            identity = self.retriever.identity()
            began = start.isoformat()
            manifest = fetch_manifest(identity, self.sources, result, output.out, request.k, latency, began)
            write_json(output.manifest, manifest, inputs)
        print_summary(result, output.out, latency)


def _queries_beside(corpus: str | None) -> str:
    """The file of queries in the folder of a collection."""
    folder = None if corpus is None else Path(corpus)
    if folder is not None and folder.is_dir() and first_file(folder, CORPUS_FILE_NAMES) is not None:
        queries = first_file(folder, QUERIES_FILE_NAMES)
        if queries is not None:
            return str(queries)
    raise UsageError("no queries are given", hint="name them: --queries FILE")


def fetch_manifest(
    identity: Identity, sources: FetchSources, result: FetchResult, out: str, k: int, latency: Latency, start: str
) -> dict[str, Any]:
    """What was fetched, from which files and into which, when, and how long it took."""
    corpus = sources.corpus
    return {
        "schema": FETCH_SCHEMA,
        "rankgauge": __version__,
        "retriever": mask_values(identity),
        "corpus": None if corpus is None else {"path": corpus.source, "sha256": corpus.sha256},
        "queries": _file_entry(sources.queries, count=len(result.answers)),
        "k": k,
        "run": _file_entry(out, results=_result_count(result)),
        "failed": result.failures,
        "start": start,
        "seconds": round(result.seconds, 3),
        "latency": latency.to_dict(),
    }


def _file_entry(path: str, **counts: int) -> dict[str, Any]:
    return {"path": path, "sha256": sha256_of_file(path) if Path(path).is_file() else None, **counts}


def write_json(path: str, data: Mapping[str, Any], inputs: list[str]) -> None:
    """Write JSON, completely or not at all."""
    with write_atomically(path, inputs=inputs) as file:
        file.write(json_text(data, indent=2).encode() + b"\n")


def _result_count(result: FetchResult) -> int:
    return sum(len(answer.docs) for answer in result.answers)


def print_summary(result: FetchResult, out: str, latency: Latency) -> None:
    """Print on standard error what was written."""
    failures = result.failures
    empty = sum(not answer.docs for answer in result.answers) - len(failures)
    results, queries = plural(_result_count(result), "result"), plural(len(result.answers), "query")
    without = f", {empty:,} without results" if empty else ""
    if failures:
        query, reason = next(iter(failures.items()))
        without += f", {len(failures):,} failed"
        verb = "is" if len(failures) == 1 else "are"
        message = (
            f"{plural(len(failures), 'query')} failed and {verb} not in the run: `rankgauge evaluate` counts a missing "
            f"query as 0, or leaves it out with --set measures.query_set=both ({shown(query)}: {reason})"
        )
        print_warnings([Note("queries-failed", message)])
    resumed = f"; {result.reused}" if result.reused.count else ""
    print_message(f"wrote {results} of {queries}{without} to {printable(out, None)}{resumed}")
    if latency.calls:
        print_message(str(latency))
