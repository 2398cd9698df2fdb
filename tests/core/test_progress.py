"""Progress: phases that are long enough are shown, on one line, without escape sequences."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import types
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge.core import progress
from rankgauge.core.formatting import short_duration
from rankgauge.core.progress import Phase, ProgressLine, line_of, listening, phase, reported, shown
from rankgauge.io.corpus.corpus_files import read_corpus
from rankgauge.retrieval.engines.lexical import Lexical
from rankgauge.stats.draws import RESAMPLES_PER_BLOCK, blocks


class Clock:
    """The time, which passes only if a test says so."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(progress, "time", clock)
    return clock


class Terminal(io.StringIO):
    def __init__(self, *, is_terminal: bool = True) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute of StringIO
        return "utf-8"

    def isatty(self) -> bool:
        return self._is_terminal


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return replaced_stderr(monkeypatch, Terminal())


def replaced_stderr(monkeypatch: pytest.MonkeyPatch, stream: Terminal) -> Terminal:
    """Let progress be written to a stream; pytest replaces the one of the process itself."""
    monkeypatch.setattr(progress, "sys", types.SimpleNamespace(stderr=stream, modules=sys.modules))
    monkeypatch.setenv("COLUMNS", "80")
    return stream


def test_a_phase_is_shown_after_a_second_with_rate_and_time_left(clock: Clock, terminal: Terminal) -> None:
    with shown(), phase("embedding", "document", 1000) as work:
        clock.now += 0.9
        work.report(90)
        assert terminal.getvalue() == ""
        clock.now += 0.3
        work.report(120)
        line = "embedding  [██··················]  120 of 1,000 documents  100/s  9 s left"
        assert terminal.getvalue() == f"\r{line}"
        clock.now += 0.1
        work.report(130)
        assert terminal.getvalue() == f"\r{line}", "not drawn again at once"
        clock.now += 0.2
        work.report(1000)
    drawn, cleared = terminal.getvalue()[len(line) + 1 :].split("\r")[1:3]
    assert drawn.startswith("embedding  [████████████████████]  1,000 of 1,000 documents")
    assert cleared.strip() == ""
    assert terminal.getvalue().endswith("\r"), "nothing of the line is left"


def test_a_pipe_gets_a_line_every_ten_seconds(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = replaced_stderr(monkeypatch, Terminal(is_terminal=False))
    with shown(), phase("fetching mine", "query", 100) as work:
        for done in range(1, 26):
            clock.now += 1
            work.report(done)
    lines = pipe.getvalue().splitlines()
    assert lines[0] == "fetching mine  10 of 100 queries  1.0/s  90 s left"
    assert [line.split()[2] for line in lines] == ["10", "20"]
    assert not re.search(r"[\r\x1b]", pipe.getvalue())


def test_nothing_is_shown_if_nobody_listens_or_the_user_wants_none(
    clock: Clock, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    with phase("testing", "draw", 10) as work:
        clock.now += 5
        work.report(5)
    monkeypatch.setenv("RANKGAUGE_PROGRESS", "0")
    with shown(), phase("testing", "draw", 10) as work:
        clock.now += 5
        work.report(5)
    assert terminal.getvalue() == ""


def test_a_caller_can_get_the_reports_instead(terminal: Terminal) -> None:
    seen: list[tuple[int, int]] = []
    with shown(), reported(lambda done, total: seen.append((done, total)), "reading", "byte") as report:
        report(3, 9)
    assert seen == [(3, 9)]


def test_a_notebook_gets_the_line_without_asking(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = replaced_stderr(monkeypatch, Terminal(is_terminal=False))
    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    with listening(None), phase("testing", "draw", 20_000) as work:
        clock.now += 2
        work.report(10_000)
    assert kernel.getvalue().startswith("\rtesting  [██████████··········]  10,000 of 20,000 draws  5,000/s  2 s left")
    assert kernel.getvalue().endswith("\r")


def test_draws_are_reported_in_blocks_and_many_tests_are_one_phase(clock: Clock, terminal: Terminal) -> None:
    line = ProgressLine()
    with listening(line):
        for _ in range(3):
            for _ in blocks(2 * RESAMPLES_PER_BLOCK):
                clock.now += 0.3
    assert line.closed is not None
    assert line.closed.done == 6 * RESAMPLES_PER_BLOCK
    assert "testing" in terminal.getvalue()
    assert "left" not in terminal.getvalue().split("\r")[-3], "how many tests follow is not known"


def test_a_family_of_tests_knows_how_many_draws_there_are(clock: Clock, terminal: Terminal) -> None:
    with shown(), phase("testing", "draw", 4 * RESAMPLES_PER_BLOCK) as family:
        for _ in range(2):
            for _ in blocks(2 * RESAMPLES_PER_BLOCK):
                clock.now += 1
        assert family.done == family.total == 4 * RESAMPLES_PER_BLOCK
    assert "1 s left" in terminal.getvalue()


def test_indexing_counts_documents(clock: Clock, terminal: Terminal, tmp_path: Path) -> None:
    pytest.importorskip("bm25s")
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(f'{{"_id": "d{number}", "text": "word {number}"}}\n' for number in range(600)))
    assert abs(read_corpus(path).size_estimate - 600) < 10
    line = ProgressLine()
    with listening(line):
        Lexical(read_corpus(path))
    assert line.closed is not None
    assert (line.closed.name, line.closed.done) == ("indexing", 600)


@given(
    done=st.integers(0, 10**12),
    total=st.integers(0, 10**12),
    seconds=st.floats(0, 10**6),
    unit=st.sampled_from(["byte", "draw", "document"]),
    width=st.integers(20, 200),
    is_estimate=st.booleans(),
)
def test_a_line_fits_and_has_no_control_characters(
    done: int, total: int, seconds: float, unit: str, width: int, is_estimate: bool
) -> None:
    work = Phase("reading", unit, total)
    work.done, work.is_estimate = done, is_estimate
    line, whole = line_of(work, seconds, width), line_of(work, seconds)
    assert line.isprintable()
    assert len(line) <= width
    assert ("left" in whole) == (0 < done < total)
    if len(whole) <= width:
        assert line.endswith(whole.split("  ")[-1]), "the bar gives way to the time that is left"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h 0 min"), (172_800, "2 days")]
)
def test_durations_are_what_people_say(seconds: float, text: str) -> None:
    assert short_duration(seconds) == text


SLOW = "def search(text):\n    import time\n    time.sleep(0.3)\n    return ['a']\n"


@pytest.mark.slow
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_slow_retriever_is_shown_on_a_real_terminal(tmp_path: Path, environment: dict[str, str]) -> None:
    (tmp_path / "search.py").write_text(SLOW)
    (tmp_path / "queries.tsv").write_text("".join(f"q{number}\ttext {number}\n" for number in range(5)))
    words = "runs fetch --retriever ./search.py:search --queries queries.tsv --batch 1 -o out".split()
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "rankgauge", *words],
        cwd=tmp_path,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **environment},
    )
    os.close(theirs)
    text = read_all(ours)
    assert process.wait() == 0
    assert re.search(r"\rfetching search  \[█+·+\]  4 of 5 queries  3\.\d/s  1 s left", text)
    assert "\x1b" not in text
    assert text.replace("\r", "\n").rstrip().endswith("wrote 5 results of 5 queries to out")


def read_all(handle: int) -> str:
    data = b""
    while select.select([handle], [], [], 30)[0]:
        try:
            data += os.read(handle, 4096)
        except OSError:  # the other side is closed
            break
    os.close(handle)
    return data.decode()
