from rankgauge.io.byte_streams import Limits as Limits
from rankgauge.io.conversion import Conversion as Conversion
from rankgauge.io.conversion import convert as convert
from rankgauge.io.corpus.chunking import Chunk as Chunk
from rankgauge.io.corpus.chunking import ChunkedCorpus as ChunkedCorpus
from rankgauge.io.corpus.chunking import Chunking as Chunking
from rankgauge.io.corpus.chunking import split_text as split_text
from rankgauge.io.corpus.chunking import write_chunks as write_chunks
from rankgauge.io.corpus.corpus import Corpus as Corpus
from rankgauge.io.corpus.corpus import CorpusDocument as CorpusDocument
from rankgauge.io.corpus.corpus import InMemoryCorpus as InMemoryCorpus
from rankgauge.io.corpus.corpus_files import Collection as Collection
from rankgauge.io.corpus.corpus_files import open_collection as open_collection
from rankgauge.io.corpus.corpus_files import read_corpus as read_corpus
from rankgauge.io.formats.log_writer import write_log as write_log
from rankgauge.io.formats.trec import write_run as write_run
from rankgauge.io.queries import Queries as Queries
from rankgauge.io.queries import read_queries as read_queries
from rankgauge.io.read import looks_like_log as looks_like_log
from rankgauge.io.read import qrels_from_frame as qrels_from_frame
from rankgauge.io.read import read_log as read_log
from rankgauge.io.read import read_qrels as read_qrels
from rankgauge.io.read import read_run as read_run
from rankgauge.io.read import run_from_frame as run_from_frame
from rankgauge.io.reading_options import Reading as Reading

__all__: list[str]
