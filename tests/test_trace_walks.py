"""The walks through the code in docs/concepts/architecture.md are those that the commands take."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from scripts.trace_walks import PAGE, Entries, Walk, listing, main, with_listings

from rankgauge.core import compiled
from tests.needs import require


@pytest.mark.slow
def test_the_walks_on_the_page_are_up_to_date(capfd: pytest.CaptureFixture[str]) -> None:
    require("compiler", compiled.scanner is not None)
    assert main(["--check"]) == 0, capfd.readouterr().err


def test_a_module_is_entered_by_a_call_and_not_by_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "walked"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "imported.py").write_text("class Unused: pass\n\ndef unused(): pass\n")
    (package / "decorating.py").write_text("def decorate(function):\n    return function\n")
    (package / "last.py").write_text(
        "from walked import imported\nfrom walked.decorating import decorate\n\n@decorate\ndef work(): return 1\n"
    )
    (package / "first.py").write_text("def start():\n    from walked.last import work\n    return work()\n")
    monkeypatch.syspath_prepend(tmp_path)
    start = importlib.import_module("walked.first").start
    entries, before = Entries("walked"), sys.getprofile()
    sys.setprofile(entries)
    try:
        start()
    finally:
        sys.setprofile(before)
    assert list(entries.modules) == ["walked.first", "walked.last"]


def test_a_folder_is_listed_at_its_first_file() -> None:
    files = [Path(name) for name in ("core/ids.py", "cli/main.py", "io/read.py", "core/hits.py")]
    rows = listing(Walk("x", "x", by_folder=True), files).splitlines()[2:]
    assert [row.split(" | ")[0] for row in rows] == ["| `core/`: `ids`, `hits`", "| `io/`: `read`"]
    assert len(listing(Walk("x", "x"), files).splitlines()) == 2 + 3


def test_a_listing_replaces_what_is_between_its_markers() -> None:
    page = PAGE.read_text(encoding="utf-8")
    changed = with_listings(page, {"compare": "| new |"})
    assert changed != page
    assert "| new |" in changed
    assert with_listings(changed, {"compare": "| new |"}) == changed
    with pytest.raises(SystemExit, match="no markers for the walk of gate"):
        with_listings(page, {"gate": ""})
