"""``rankgauge index``."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.inputs import NO_CODE
from rankgauge.cli.printing import print_message
from rankgauge.core.formatting import plural
from rankgauge.errors import UsageError, printable
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.retrieval.engines.postgres_index import DEFAULT_INDEX_BATCH_SIZE, IndexResult, index_corpus
from rankgauge.retrieval.open_retriever import section_of_file


@documented(
    "index",
    """
    # Load a corpus into the table that pg.yaml names
    rankgauge index corpus.jsonl --to pg.yaml
    # Load it anew
    rankgauge index corpus.jsonl --to pg.yaml --rebuild
    """,
)
@click.argument("corpus", metavar="CORPUS", type=click.Path())
@click.option(
    "--to",
    "target",
    required=True,
    type=click.Path(),
    metavar="FILE",
    help="Load into the table that the section postgres of FILE (YAML) names.",
)
@click.option("--rebuild", is_flag=True, help="Drop the table first, if rankgauge created it.")
@click.option(
    "--batch",
    type=click.IntRange(min=1),
    default=DEFAULT_INDEX_BATCH_SIZE,
    show_default=True,
    metavar="N",
    help="Write N documents per transaction.",
)
@NO_CODE
def index_command(corpus: str, target: str, rebuild: bool, batch: int) -> None:
    """Load a corpus into PostgreSQL, to search it there.

    CORPUS is a file or folder, in any format that `runs fetch --corpus` takes. The table gets a full-text index and, if
    the section names an embedder or its kind compares vectors, an HNSW index of pgvector. The same command updates the
    table: documents that did not change are not written again, and those that CORPUS no longer has are deleted. A table
    that rankgauge did not create is never changed.
    """
    section = section_of_file(target).postgres
    if section is None:
        raise UsageError(
            f"{printable(target, None)}: expected the section postgres, found none",
            hint="postgres: {dsn: '${DATABASE_URL}', table: documents, kind: hybrid}",
        )
    result = index_corpus(read_corpus(corpus), section, rebuild=rebuild, batch_size=batch)
    print_message(summary(result))


def summary(result: IndexResult) -> str:
    """One line: what the table holds, and what changed."""
    documents = f"table {printable(result.table)} holds {plural(result.documents, 'document')}"
    if result.is_unchanged:
        return f"{documents}, unchanged"
    return f"{documents}: {result.added:,} added, {result.updated:,} updated, {result.deleted:,} deleted"
