"""A folder of text or Markdown files, each a document named by its path."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from rankgauge.errors import InputError
from rankgauge.retrieval.corpus.documents import Document, Documents

SUFFIXES = (".txt", ".md", ".markdown")
HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$", re.MULTILINE)


class Folder(Documents):
    """Every ``.txt`` and ``.md`` file below a folder, by path; a Markdown file's first heading is its title."""

    def __init__(self, path: str | Path) -> None:
        self.source = str(path)
        root = Path(path)
        found = [file for file in root.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file()]
        self._files = sorted(
            (file.relative_to(root).as_posix().encode("utf-8", "surrogateescape"), file) for file in found
        )
        self._sha256: str | None = None
        if not self._files:
            raise InputError.at(path, None, f"no file that ends in {', '.join(SUFFIXES)}")

    def __iter__(self) -> Iterator[Document]:
        for name, file in self._files:
            text = _read(file).decode("utf-8", "replace").removeprefix("\ufeff")
            heading = HEADING.search(text) if file.suffix.lower() != ".txt" else None
            title = heading.group(1) if heading else ""
            body = text if heading is None else text[: heading.start()] + text[heading.end() :]
            yield Document(name, title, body.strip())

    @property
    def files(self) -> tuple[str, ...]:
        """Every file in it that is read."""
        return tuple(str(file) for _, file in self._files)

    @property
    def sha256(self) -> str:
        """The hash of all names and contents, taken once."""
        if self._sha256 is None:
            self._sha256 = self._hashed()
        return self._sha256

    def _hashed(self) -> str:
        digest = hashlib.sha256(b"rankgauge folder 1\n")
        for name, file in self._files:
            digest.update(name + b"\0" + hashlib.sha256(_read(file)).digest())
        return digest.hexdigest()


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError.at(file, None, f"cannot read: {error.strerror or error}") from None
