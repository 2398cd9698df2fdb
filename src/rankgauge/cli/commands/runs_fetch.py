"""``rankgauge runs fetch``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from rankgauge._version import __version__
from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.asking import MAX_FAILURES, NO_CODE
from rankgauge.cli.options.declared import option, option_group
from rankgauge.cli.options.retriever import RETRIEVER_OPTIONS
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section
from rankgauge.errors import Note, UsageError, printable, shown
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.io.corpus.collection import QUERIES_FILE_NAMES
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.reading import CORPUS_FILE_NAMES, first_file, read_corpus
from rankgauge.io.queries import read_queries
from rankgauge.io.text import json_text
from rankgauge.io.writing import check_outputs, write_atomically
from rankgauge.retrieval.base import Identity, QueryBatch
from rankgauge.retrieval.decisions import Decisions, write_decisions
from rankgauge.retrieval.embedders.precomputed import vector_files
from rankgauge.retrieval.fetch.fetch import DEFAULT_FETCH_BATCH_SIZE, FetchOptions, FetchResult, fetch_run
from rankgauge.retrieval.fetch.language import language_notes
from rankgauge.retrieval.fetch.latency import Latency, measure_latency
from rankgauge.retrieval.fetch.modes import make_retriever, settings_from
from rankgauge.secrets import mask_values

FETCH_SCHEMA = "rankgauge.fetch/1"


@dataclass(frozen=True)
class FetchRequest:
    """How many documents to fetch, and how."""

    k: int
    tag: str | None
    batch: int
    restart: bool
    latency: int | None
    max_failures: int


@dataclass(frozen=True)
class FetchOutput:
    """The files that a fetch writes."""

    out: str
    log: str | None
    manifest: str | None

    def check(self, inputs: list[str]) -> None:
        """Raise, before any work, if a file cannot be written or would overwrite an input."""
        check_outputs((self.out, self.log, self.manifest), inputs=inputs)


@dataclass(frozen=True, eq=False)
class FetchSources:
    """The files that a fetch reads."""

    queries: str
    corpus: Corpus | None
    experts: Mapping[str, Corpus]
    vectors: tuple[str, ...]

    @classmethod
    def open(cls, options: Mapping[str, Any]) -> FetchSources:
        """Open the corpora that options name."""
        corpus = options["corpus"]
        return cls(
            queries=options["queries"] or _queries_beside(corpus),
            corpus=None if corpus is None else read_corpus(corpus),
            experts={name: read_corpus(path) for name, path in options.get("experts", {}).items()},
            vectors=tuple(
                file for key in ("vectors", "query_vectors") if key in options for file in vector_files(options[key])
            ),
        )

    @property
    def files(self) -> list[str]:
        """All files, which must not be overwritten."""
        corpora = [corpus for corpus in (self.corpus, *self.experts.values()) if corpus is not None]
        return [self.queries, *(str(file) for corpus in corpora for file in corpus.files), *self.vectors]


@documented(
    "fetch",
    """
    # Search a corpus with BM25
    rankgauge runs fetch --corpus corpus.jsonl --queries queries.jsonl \\
      -o lexical.run
    # Ask a function of your own
    rankgauge runs fetch --mode ./search.py:search --queries queries.jsonl \\
      -o mine.run
    # Ask a retriever of rankgauge.yaml, 8 queries at once
    rankgauge runs fetch --config rankgauge.yaml --retriever mine \\
      --concurrency 8 -o mine.run
    """,
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
    section=Section.RETRIEVER,
    metavar="NAME",
    help="Choose a retriever of the configuration.  [default: the only one]",
)
@option_group("options", dict, *RETRIEVER_OPTIONS)
@option_group(
    "request",
    FetchRequest,
    option(
        "--k",
        section=Section.RETRIEVER,
        type=click.IntRange(min=1),
        default=100,
        show_default=True,
        metavar="N",
        help="Fetch at most N documents per query.",
    ),
    option("--tag", section=Section.OUTPUT, metavar="NAME", help="Name the run.  [default: the retriever or the mode]"),
    option(
        "--batch",
        section=Section.RETRIEVER,
        rare=True,
        type=click.IntRange(min=1),
        default=DEFAULT_FETCH_BATCH_SIZE,
        show_default=True,
        metavar="N",
        help="Ask N queries at once.",
    ),
    option(
        "--restart",
        section=Section.RETRIEVER,
        is_flag=True,
        help="Discard the partial results of an interrupted fetch.",
    ),
    option(
        "--latency",
        section=Section.RETRIEVER,
        type=click.IntRange(min=1),
        metavar="N",
        help="Then time N calls, one query at a time.",
    ),
    MAX_FAILURES,
)
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
        help="Write the TREC run to FILE.",
    ),
    option(
        "--log",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write the decisions of gate, router and reranker to FILE, as JSON Lines for `rankgauge pipeline`.",
    ),
    option(
        "--manifest",
        section=Section.OUTPUT,
        type=click.Path(),
        metavar="FILE",
        help="Write what was fetched to FILE, with hashes, as JSON.",
    ),
)
@NO_CODE
def command(
    config: str | None, retriever: str | None, options: dict[str, Any], request: FetchRequest, output: FetchOutput
) -> None:
    """Make a run by asking a retriever every query.

    Nothing is downloaded, and no server is started. The same command resumes an interrupted fetch and writes the same
    bytes.
    """
    from rankgauge.cli.options.configured import retriever_options

    options = retriever_options(options, retriever)
    sources = FetchSources.open(options)
    output.check(sources.files)
    with collected_notes() as notes:
        queries = read_queries(sources.queries)
        batch = QueryBatch.from_queries(queries)
    print_warnings(notes)
    decisions = Decisions()
    settings = settings_from(options)
    corpora = [corpus for corpus in (sources.corpus, *sources.experts.values()) if corpus is not None]
    print_warnings(language_notes([settings], corpora, batch.texts))
    engine = make_retriever(settings, sources.corpus, batch, experts=sources.experts, decisions=decisions)
    fetch_options = FetchOptions(
        tag=request.tag or retriever,
        batch_size=request.batch,
        restart=request.restart,
        inputs=sources.files,
        max_failures=request.max_failures,
    )
    result = fetch_run(engine, batch, output.out, k=request.k, options=fetch_options, decisions=decisions)
    print_warnings(result.notes)
    if output.log is not None:
        write_decisions(result.decisions, queries.columns, output.log, inputs=sources.files)
    latency = Latency() if request.latency is None else measure_latency(engine, batch, request.k, request.latency)
    if output.manifest is not None:
        manifest = fetch_manifest(engine.identity(), sources, result, output.out, request.k, latency)
        write_json(output.manifest, manifest, sources.files)
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
    identity: Identity, sources: FetchSources, result: FetchResult, out: str, k: int, latency: Latency
) -> dict[str, Any]:
    """What was fetched, from which files and into which, and how long it took."""
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
            f"query as 0, or leaves it out with --query-set both ({shown(query)}: {reason})"
        )
        print_warnings([Note("queries-failed", message)])
    resumed = f"; {plural(result.resumed, 'answer')} reused from the journal" if result.resumed else ""
    print_message(f"wrote {results} of {queries}{without} to {printable(out, None)}{resumed}")
    if latency.calls:
        print_message(str(latency))
