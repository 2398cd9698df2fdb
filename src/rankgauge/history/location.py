"""Where a history is: in a named file, or in the folder ``.rankgauge`` of the project."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from rankgauge.errors import RankgaugeError
from rankgauge.io.atomic_files import write_together

FOLDER, FILE = ".rankgauge", "history.db"
VARIABLE = "RANKGAUGE_HISTORY"


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
