"""``rankgauge chunk``."""

from __future__ import annotations

import click

from rankgauge.cli.documented import documented
from rankgauge.cli.messages import print_message
from rankgauge.cli.options.declared import option_group, out_option
from rankgauge.core.formatting import plural
from rankgauge.errors import printable
from rankgauge.io.corpus.chunking.chunks import ChunkedCorpus, write_chunks
from rankgauge.io.corpus.chunking.options import SPLITTERS, Chunking
from rankgauge.io.corpus.reading import read_documents


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
@option_group(
    "chunking",
    Chunking,
    click.option(
        "--by",
        type=click.Choice(SPLITTERS),
        default="sentences",
        show_default=True,
        help="Split every N characters, between sentences, at Markdown headings, or every N tokens.",
    ),
    click.option(
        "--size",
        type=int,
        metavar="N",
        help="Make no chunk longer than N characters, or N tokens.  [default: 800 characters, 200 tokens; whole "
        "sections if split at headings]",
    ),
    click.option(
        "--overlap",
        type=int,
        default=0,
        show_default=True,
        metavar="N",
        help="Begin each chunk with the last N characters or tokens of the one before, in whole sentences if split "
        "between them.",
    ),
)
def command(documents: str, out: str, chunking: Chunking) -> None:
    """Split documents into chunks.

    DOCS is a folder of text or Markdown files, one such file (.md, .txt), or any corpus. Each line of FILE has a chunk:
    its id, as guide.md#120-310, its text, the document (doc), and the characters at which it starts and ends there.
    Code fences and tables are not cut at headings, even if they are longer than N. FILE is a corpus for every command.
    """
    counts = write_chunks(ChunkedCorpus(read_documents(documents), chunking), out)
    text = f"{plural(counts.chunks, 'chunk')} of {plural(counts.documents, 'document')} ({chunking})"
    print_message(f"wrote {text} to {printable(out, None)}")
