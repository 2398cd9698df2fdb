"""A folder of text or Markdown files, or one such file: each is a document named by its path."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from rankgauge.errors import InputError
from rankgauge.io.byte_streams import load_file, sha256_of_file
from rankgauge.io.corpus.corpus import Corpus, CorpusDocument
from rankgauge.io.formats.markdown import first_heading

SUFFIXES = (".txt", ".md", ".markdown")


class FolderCorpus(Corpus):
    """Every ``.txt`` and ``.md`` file below a folder, by path; the first heading of a Markdown file is its title.

    The path may also be that of one file, whose name is its id.
    """

    def __init__(self, path: str | Path) -> None:
        self.source = str(path)
        root = Path(path) if Path(path).is_dir() else Path(path).parent
        found = root.rglob("*") if root == Path(path) else [Path(path)]
        files = [file for file in found if file.suffix.lower() in SUFFIXES and file.is_file()]
        self._files = sorted(
            (file.relative_to(root).as_posix().encode("utf-8", "surrogateescape"), file) for file in files
        )
        self._sha256: str | None = None
        if not self._files:
            raise InputError.at(path, None, f"no files that end in {', '.join(SUFFIXES)}")

    def __iter__(self) -> Iterator[CorpusDocument]:
        for (name, file), original in zip(self._files, self.originals(), strict=True):
            text = original.text
            heading = first_heading(text) if file.suffix.lower() != ".txt" else None
            title = heading.text if heading else ""
            body = text if heading is None else text[: heading.start] + text[heading.end :]
            yield CorpusDocument(name, title, body.strip())

    def originals(self) -> Iterator[CorpusDocument]:
        """The whole text of each file, decoded from UTF-8, without a byte order mark; line ends stay as they are."""
        for name, file in self._files:
            yield CorpusDocument(name, "", load_file(file).stored.decode("utf-8", "replace").removeprefix("\ufeff"))

    @property
    def size_estimate(self) -> int:
        """How many files there are."""
        return len(self._files)

    @property
    def files(self) -> tuple[str, ...]:
        """Every file in the folder that is read."""
        return tuple(str(file) for _, file in self._files)

    @property
    def sha256(self) -> str:
        """The hash of all names and contents, computed once."""
        if self._sha256 is None:
            self._sha256 = self._compute_sha256()
        return self._sha256

    def _compute_sha256(self) -> str:
        digest = hashlib.sha256(b"rankgauge folder 1\n")
        for name, file in self._files:
            digest.update(name + b"\0" + bytes.fromhex(sha256_of_file(file)))
        return digest.hexdigest()
