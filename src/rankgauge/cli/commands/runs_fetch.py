"""``rankgauge runs fetch``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from rankgauge._version import __version__
from rankgauge.cli.commands.fuse import numbers
from rankgauge.cli.options.progress import FetchLine
from rankgauge.cli.options.terminal import collected_notes, print_warnings
from rankgauge.errors import UsageError, shown
from rankgauge.io.corpus.collection import QUERIES_FILE_NAMES
from rankgauge.io.corpus.corpus import Corpus
from rankgauge.io.corpus.reading import CORPUS_FILE_NAMES, read_corpus
from rankgauge.io.queries import read_queries
from rankgauge.io.sources import sha256_of_file
from rankgauge.io.writing import check_not_an_input, write_atomically
from rankgauge.retrieval.base import QueryBatch, Retriever
from rankgauge.retrieval.decisions import Decisions, write_decisions
from rankgauge.retrieval.embedders.named import EMBEDDER_NAMES
from rankgauge.retrieval.engines.bm25 import BM25_VARIANTS
from rankgauge.retrieval.engines.gate import GATE_RULES
from rankgauge.retrieval.engines.rerank import DEFAULT_RERANK_DEPTH
from rankgauge.retrieval.fetch.fetch import DEFAULT_FETCH_BATCH_SIZE, FetchOptions, FetchResult, fetch_run
from rankgauge.retrieval.fetch.latency import Latency, measure_latency
from rankgauge.retrieval.fetch.modes import make_retriever, settings_from
from rankgauge.retrieval.fusion.fusion import DEFAULT_RRF_K
from rankgauge.retrieval.fusion.methods import FUSION_METHODS
from rankgauge.retrieval.fusion.normalization import NORMALIZATIONS

SCHEMA = "rankgauge.fetch/1"


@click.command("fetch")
@click.option("--config", type=click.Path(), metavar="YAML", help="A configuration; options given here come first.")
@click.option("--retriever", metavar="NAME", help="Which of the configuration's retrievers.  [default: the only one]")
@click.option("--mode", default="lexical", show_default=True, help="lexical, vector, hybrid, or module:callable.")
@click.option(
    "--corpus",
    type=click.Path(),
    metavar="PATH",
    help="JSON Lines, CSV, TSV, Parquet, TREC SGML, a folder of .txt and .md files, or a BEIR folder.",
)
@click.option(
    "--queries", type=click.Path(), metavar="PATH", help="The queries, in any format.  [default: the BEIR folder's]"
)
@click.option("-o", "--out", required=True, type=click.Path(), metavar="OUT", help="The TREC run to write.")
@click.option("--k", type=click.IntRange(min=1), default=100, show_default=True, help="Documents a query, at most.")
@click.option("--tag", metavar="TAG", help="The run's name.  [default: the mode]")
@click.option("--index", type=click.Path(), metavar="DIR", help="A folder to keep indexes in, for the next time.")
@click.option("--k1", type=float, default=1.2, show_default=True, help="BM25.")
@click.option("--b", type=float, default=0.75, show_default=True, help="BM25.")
@click.option("--variant", type=click.Choice(BM25_VARIANTS), default="lucene", show_default=True, help="BM25.")
@click.option("--stemmer", default="english", show_default=True, help="A Snowball language, or none.")
@click.option("--stopwords", default="english", show_default=True, help="english, none, or a file with a word a line.")
@click.option("--embedder", default="wordllama", show_default=True, help=f"{EMBEDDER_NAMES}.")
@click.option("--vectors", type=click.Path(), metavar="NPY", help="Document vectors made beforehand.")
@click.option("--query-vectors", type=click.Path(), metavar="NPY", help="Query vectors made beforehand.")
@click.option(
    "--center",
    type=click.FloatRange(0, 1),
    help="vector: share of the corpus's mean vector to subtract.  [default: 0.5 for wordllama, else 0]",
)
@click.option("--search", default="exact", show_default=True, help="exact, faiss, or faiss:FACTORY.")
@click.option("--fusion", type=click.Choice(list(FUSION_METHODS)), default="rrf", show_default=True, help="hybrid.")
@click.option("--weights", metavar="W,W", help="hybrid: the weights of lexical and vector.")
@click.option("--normalization", type=click.Choice(list(NORMALIZATIONS)), default="min-max", show_default=True)
@click.option("--rrf-k", type=float, default=DEFAULT_RRF_K, show_default=True, help="hybrid.")
@click.option("--rerank", metavar="NAME", help="sentences, cross-encoder/MODEL, or module:callable.")
@click.option(
    "--rerank-top",
    type=click.IntRange(min=1),
    default=DEFAULT_RERANK_DEPTH,
    show_default=True,
    help="How many to rerank.",
)
@click.option("--gate", metavar="RULE", help=f"Which queries to retrieve for: {GATE_RULES}.")
@click.option("--shadow", is_flag=True, help="Retrieve for the gate's log even what it skips.")
@click.option("--expert", "experts", multiple=True, metavar="NAME=PATH", help="An expert's corpus; again for more.")
@click.option("--router", metavar="NAME", help="A module:callable that names the expert.  [default: nearest centroid]")
@click.option("--id-key", metavar="KEY", help="Where a callable's results have their id.")
@click.option("--log", type=click.Path(), metavar="FILE", help="What gate, router and reranker decided, as JSON Lines.")
@click.option("--latency", type=click.IntRange(min=1), metavar="N", help="Then time N calls, one query at a time.")
@click.option("--manifest", type=click.Path(), metavar="FILE", help="What was done, with hashes, as JSON.")
@click.option(
    "--batch", type=click.IntRange(min=1), default=DEFAULT_FETCH_BATCH_SIZE, show_default=True, help="Queries at once."
)
@click.option("--restart", is_flag=True, help="Forget what an earlier fetch that was stopped has got.")
def command(out: str, k: int, tag: str | None, batch: int, restart: bool, **options: Any) -> None:
    """Make a run by asking a retriever every query.

    Nothing is started or downloaded. A fetch that was stopped goes on where it stopped when the same command is given
    again, and writes the same bytes. The log of --log is what `rankgauge pipeline` reads.
    """
    if options["config"] is not None:
        from rankgauge.cli.options.configured import options_from_config

        options = options_from_config(options, options["config"], options["retriever"])
        tag = tag or options["retriever"]
    elif options["retriever"] is not None:
        raise UsageError("--retriever names one of a configuration", hint="name it: --config rankgauge.yaml")
    corpus, queries_path = options["corpus"], options["queries"]
    experts = {name: read_corpus(path) for name, path in _experts(options["experts"]).items()}
    queries_path = queries_path or _beir_queries(corpus)
    documents = None if corpus is None else read_corpus(corpus)
    corpora = [one for one in (documents, *experts.values()) if one is not None]
    inputs = [queries_path, *(file for one in corpora for file in one.files)]
    inputs += [path for path in (options["vectors"], options["query_vectors"]) if path is not None]
    for path in (out, options["log"], options["manifest"]):
        if path is not None:
            check_not_an_input(path, inputs)
    with collected_notes() as notes:
        queries = read_queries(queries_path)
        asked = QueryBatch.from_queries(queries)
    print_warnings(notes)
    decisions = Decisions()
    weights = None if options["weights"] is None else numbers(options["weights"])
    settings = settings_from({**options, "weights": weights})
    retriever = make_retriever(settings, documents, asked, experts=experts, decisions=decisions)
    talk = FetchLine()
    fetch_options = FetchOptions(tag=tag, batch_size=batch, restart=restart, inputs=inputs)
    done = fetch_run(retriever, asked, out, k=k, options=fetch_options, decisions=decisions, progress=talk)
    talk.end()
    if options["log"] is not None:
        write_decisions(done.decisions, queries.columns, options["log"], inputs=inputs)
    latency = Latency()
    if options["latency"] is not None:
        latency = measure_latency(retriever, asked, k, options["latency"])
    if options["manifest"] is not None:
        _write_manifest(options["manifest"], retriever, documents, queries_path, done, out, k, latency, inputs)
    _report(done, out, latency)


def _experts(given: tuple[str, ...]) -> dict[str, str]:
    out: dict[str, str] = {}
    for text in given:
        name, mark, path = text.partition("=")
        if not mark or not name or not path or name in out:
            raise UsageError(f"--expert takes NAME=PATH, each name once, found {shown(text)}")
        out[name] = path
    return out


def _beir_queries(corpus: str | None) -> str:
    folder = None if corpus is None else Path(corpus)
    if folder is not None and folder.is_dir() and any((folder / name).is_file() for name in CORPUS_FILE_NAMES):
        found = next((folder / name for name in QUERIES_FILE_NAMES if (folder / name).is_file()), None)
        if found is not None:
            return str(found)
    raise UsageError("no queries", hint="name them: --queries")


def _write_manifest(
    path: str,
    retriever: Retriever,
    documents: Corpus | None,
    queries: str,
    done: FetchResult,
    out: str,
    k: int,
    latency: Latency,
    inputs: list[str],
) -> None:
    said = {
        "schema": SCHEMA,
        "rankgauge": __version__,
        "retriever": retriever.identity(),
        "corpus": None if documents is None else {"path": documents.source, "sha256": documents.sha256},
        "queries": {
            "path": queries,
            "sha256": sha256_of_file(queries) if Path(queries).is_file() else None,
            "count": len(done.answers),
        },
        "k": k,
        "run": {
            "path": out,
            "sha256": sha256_of_file(out) if Path(out).is_file() else None,
            "results": sum(len(one.docs) for one in done.answers),
        },
        "seconds": round(done.seconds, 3),
        "latency": latency.to_dict(),
    }
    with write_atomically(path, inputs=inputs) as file:
        file.write(json.dumps(said, indent=2, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n")


def _report(done: FetchResult, out: str, latency: Latency) -> None:
    results = sum(len(one.docs) for one in done.answers)
    empty = sum(not one.docs for one in done.answers)
    more = f", {empty} of them empty" if empty else ""
    again = f"; {done.resumed} were in the journal" if done.resumed else ""
    click.echo(f"wrote {results} results of {len(done.answers)} queries{more} to {out}{again}", err=True)
    if latency.calls:
        click.echo(str(latency), err=True)
