"""Where a history is: in a named file, or in the folder ``.rankgauge`` of the project; and the names in it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rankgauge.errors import RankgaugeError
from rankgauge.io.atomic_files import write_together

FOLDER, FILE = ".rankgauge", "history.db"
VARIABLE = "RANKGAUGE_HISTORY"
NAME_QUERIES = {  # what a history can be asked for → the query
    "entry": "SELECT name FROM entries ORDER BY saved DESC, id DESC LIMIT 50",
    "tag": "SELECT DISTINCT tag FROM tags ORDER BY tag",
    "branch": "SELECT DISTINCT branch FROM entries WHERE branch IS NOT NULL ORDER BY branch",
    "system": "SELECT DISTINCT system FROM entries ORDER BY system",
    "collection": "SELECT DISTINCT collection FROM entries ORDER BY collection",
}


def history_path(given: str | Path | None = None) -> Path:
    """The file that is named, here or in the environment, or that of the project.

    The project is the nearest folder, from the working folder upward, that has a history or is a git repository; else
    the working folder.
    """
    if given is not None or os.environ.get(VARIABLE):
        return Path(given if given is not None else os.environ[VARIABLE])
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER / FILE).exists() or (folder / ".git").exists():
            return (folder if folder != here else Path()) / FOLDER / FILE
    return Path(FOLDER, FILE)


def make_folder(path: Path) -> None:
    """Create the folder of a project's history, and keep git from tracking it; another folder must exist."""
    folder = path.parent
    if folder.name == FOLDER and not folder.exists():
        with suppress(RankgaugeError):  # opening the file reports it
            write_together({folder / ".gitignore": b"*\n"})


def saved_names(path: Path, kind: str) -> list[str]:
    """The names of one kind in a history, read without any check, for completion; none if it cannot be read."""
    if not path.is_file():
        return []
    import sqlite3  # which a command that saves nothing does without

    with suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=0.2)
        try:
            found = [str(row[0]) for row in connection.execute(NAME_QUERIES[kind])]
            tags = [str(row[0]) for row in connection.execute(NAME_QUERIES["tag"])] if kind == "entry" else []
        finally:
            connection.close()
        return [*found, *tags, "latest"] if kind == "entry" else found
    return []
