"""The table of faults is the one home of their wording."""

from __future__ import annotations

from pathlib import Path

from rankgauge.validation.codes import CODES, tie_message

SOURCE = Path(__file__).parents[2] / "src" / "rankgauge"


def test_a_tie_at_a_cutoff_is_worded_in_one_place() -> None:
    assert CODES["tie-at-cutoff"].title == tie_message() == "tied scores straddle a cutoff"
    assert tie_message("rank 10", judged=True) == "tied scores with a judged document straddle rank 10"
    files = [path for path in SOURCE.rglob("*.py") if "tied scores{" in path.read_text(encoding="utf-8")]
    assert [path.relative_to(SOURCE).as_posix() for path in files] == ["validation/codes.py"]
    phrases = ("tied scores with", "straddles rank", "straddle rank", "straddle {rank")
    for path in SOURCE.rglob("*.py"):
        assert not any(phrase in path.read_text(encoding="utf-8") for phrase in phrases), path


def test_no_title_or_action_repeats_another() -> None:
    titles = [code.title for code in CODES.values()]
    assert len(set(titles)) == len(titles)
