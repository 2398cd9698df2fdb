"""``rankgauge chunk``."""

from __future__ import annotations

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, option_group, out_option
from rankgauge.cli.printing import print_message
from rankgauge.core.formatting import plural
from rankgauge.errors import printable
from rankgauge.io.corpus.chunking import ChunkedCorpus, Chunking, write_chunks
from rankgauge.io.corpus.corpus_files import read_documents


@documented(
    "chunk",
    """
    # Split a folder of Markdown at its headings
    rankgauge chunk docs -o chunks.jsonl --by headings
    # Split into overlapping pieces of 500 characters
    rankgauge chunk docs -o chunks.jsonl --by characters --size 500 --overlap 50
    """,
)
@click.argument("documents", type=click.Path(), metavar="DOCS")
@out_option("Write the chunks to FILE.")
@option_group("chunking", Chunking, *declared_options(Chunking))
def chunk_command(documents: str, out: str, chunking: Chunking) -> None:
    """Split documents into chunks.

    DOCS is a folder of text or Markdown files, one such file (.md, .txt), or any corpus. Each line of FILE has a chunk:
    its id, as guide.md#120-310, its text, the document (doc), and the characters at which it starts and ends there.
    Code fences and tables are not cut at headings, even if they are longer than N. FILE is a corpus for every command.
    """
    counts = write_chunks(ChunkedCorpus(read_documents(documents), chunking), out)
    text = f"{plural(counts.chunks, 'chunk')} of {plural(counts.documents, 'document')} ({chunking})"
    print_message(f"wrote {text} to {printable(out, None)}")
