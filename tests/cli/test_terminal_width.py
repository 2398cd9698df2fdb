"""What commands print fits the terminal: no line is wider, no word is cut, and nothing is lost in a pipe."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.adapters.story.stories import BUNDLED
from tests.needs import ROOT

Command = Callable[..., Any]

pytest.importorskip("pty")

COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
MANY_MEASURES = "nDCG@5 nDCG@10 nDCG@20 P@5 P@10 R@10 R@50 AP RR Rprec RBP(p=0.8) Success@1 Bpref".split()
NOTE_WORDS = {"hidden", "widen", "json", "more", "with", "name"}  # only a narrow terminal hides columns
LONG_NAMES = {
    "bm25-k1-0.9-b-0.4-title-and-body-english-stemmer": "lexical",
    "bm25-k1-1.2-b-0.75-title-and-body-english-stemmer": "vector",
    "検索システム-ハイブリッド-再ランキング付き": "lexical",
    "de\u0301ja\u0300-vu": "vector",
    "short": "lexical",
}


class TerminalProcess:
    """A process of its own that runs commands on terminals: this one has threads, and must not be forked."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cli.terminal_process"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *arguments: object, width: int, **variables: str) -> str:
        """What a command prints on a terminal of this width, both streams; escape sequences included."""
        request = {"arguments": list(map(str, arguments)), "width": width, "folder": str(Path.cwd())}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({**request, "variables": variables}) + "\n")
        self._process.stdin.flush()
        return str(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


@pytest.fixture(scope="module")
def on_terminal() -> Iterator[TerminalProcess]:
    process = TerminalProcess()
    yield process
    process.close()


def visible_lines(text: str) -> list[str]:
    """The lines that stay on the screen: a carriage return starts a line over."""
    return [COLOR.sub("", line).split("\r")[-1] for line in text.split("\n")]


def check_fits(text: str, width: int) -> None:
    lines = visible_lines(text)
    assert "Traceback" not in text
    assert [line for line in lines if cell_len(line) > width] == []


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The bundled collection, and five runs with long, Japanese and accented names."""
    from rankgauge.benchmark.plan import SHIPPED

    folder = tmp_path_factory.mktemp("runs")
    runs = []
    for number, (name, source) in enumerate(LONG_NAMES.items()):
        rows = (SHIPPED / "runs" / f"{source}.trec").read_text().splitlines()
        kept = [row for row in rows if hash_of(row) % 5 != number] if number > 1 else rows
        path = folder / f"{number}.trec"
        path.write_text("".join(f"{row.rsplit(maxsplit=1)[0]} {name}\n" for row in kept), encoding="utf-8")
        runs.append(path)
    return {"qrels": SHIPPED / "qrels.trec", "topics": SHIPPED / "queries.jsonl", "runs": runs, "folder": folder}


def hash_of(row: str) -> int:
    return sum(map(ord, row.split()[0] + row.split()[2]))


def command_lines(files: dict[str, Any]) -> dict[str, list[Any]]:
    qrels, runs, folder = files["qrels"], files["runs"], files["folder"]
    topics = ["--queries", files["topics"]]
    measures = [part for name in MANY_MEASURES for part in ("-m", name)]
    history = folder / "history.sqlite"
    return {
        "many runs": ["evaluate", qrels, *runs, *topics, "--by", "difficulty", "--ci"],
        "many measures": ["evaluate", qrels, *runs, *measures, "--set", "kpi=trec-2025"],
        "audits": ["evaluate", qrels, *runs[:2], "--audit", "--plot"],
        "queries": ["evaluate", qrels, runs[0], "-q", *measures],
        "two": ["compare", qrels, *runs[:2], *topics, "--by", "difficulty", "--plot"],
        "five": ["compare", qrels, *runs, *topics, "--by", "category", "--test", "t"],
        "explain": ["compare", qrels, *runs[:2], *topics, "--explain", "--test", "t", "--set", "kpi=trec-2025"],
        "gate": ["gate", qrels, runs[2], "--baseline", runs[0], "--require", "nDCG@10>=0.99", "--test", "t"],
        "diff": ["diff", *runs[:2], "--queries", files["topics"]],
        "agreement": ["agreement", qrels, qrels, *runs],
        "run": ["runs", "validate", runs[0], "--labels", qrels],
        "judgments": ["runs", "validate", "--labels", qrels],
        "tune": ["tune", qrels, *runs[:2]],
        "listing": ["measures"],
        "measure": ["measures", "nDCG"],
        "error": ["evaluate", qrels, folder / "nowhere.trec"],
        "usage": ["evaluate", qrels, runs[0], "-m", "nDGC@10"],
        "sort": ["evaluate", qrels, *runs[:2], "--set", "output.sort=AP"],
        "save": ["evaluate", qrels, runs[0], "--save", "--tag", "old", "--history", history],
        "again": ["evaluate", qrels, runs[2], "--save", "--tag", "new", "--history", history],
        "list": ["history", "list", "--history", history],
        "trend": ["history", "trend", "-m", "nDCG@10", "--history", history],
        "show": ["history", "show", "--history", history],
        "entries": ["history", "compare", "old", "new", "--history", history],
        "quality": ["rq", BUNDLED / "story.md", BUNDLED / "queries.jsonl"],
        "labels": ["labels", "agree", qrels, qrels, *topics, "--by", "category"],
        "rot": ["runs", "validate", "--labels", qrels, "--corpus", qrels.parent / "corpus.jsonl"],
        "fuse": ["fuse", *runs[:2], "-o", folder / "fused.trec"],
        "pool": ["pool", *runs[:2], "-o", folder / "pool.jsonl"],
        "refused": ["compare", qrels, runs[0], runs[1], "--format", "csv", "--plot"],
    }


NAMES = list(command_lines({"qrels": Path(), "runs": [""] * 5, "folder": Path(), "topics": ""}))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_command_is_wider_than_the_terminal(
    on_terminal: TerminalProcess, name: str, files: dict[str, Any]
) -> None:
    """The text of the narrow terminal has the words of the wide one: none is cut across lines."""
    arguments = command_lines(files)[name]
    texts = {width: on_terminal(*arguments, width=width) for width in (80, 100, 160)}
    for width, text in texts.items():
        check_fits(text, width)
        assert len(visible_lines(text)) > 1
    whole = set(on_terminal(*arguments, width=4000).replace("\n", " ").split())
    for text in texts.values():
        words = set(" ".join(visible_lines(text)).split()) - {COLOR.sub("", word) for word in whole} - NOTE_WORDS
        assert [word for word in words if re.fullmatch(r"[a-z]{4,}", word)] == []


def test_color_is_bold_and_never_counted(on_terminal: TerminalProcess, files: dict[str, Any]) -> None:
    """Bold marks the best on a terminal, a star without color; both are explained once."""
    arguments = ["evaluate", files["qrels"], *files["runs"][:2]]
    bold = on_terminal(*arguments, width=80)
    assert "\x1b[1m" in bold
    assert (bold.count("bold: the best"), bold.count("* the best")) == (1, 0)
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = on_terminal(*arguments, width=80, **variables)
        assert "\x1b" not in plain
        assert (plain.count("bold: the best"), plain.count("* the best")) == (0, 1)
        check_fits(plain, 80)


def test_a_pipe_loses_no_name_and_no_column(files: dict[str, Any], command: Command, monkeypatch: Any) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    arguments = ["compare", files["qrels"], *files["runs"], "--test", "t"]
    piped = command(*arguments).out
    assert "\x1b" not in piped
    assert all(name in piped for name in LONG_NAMES)
    assert "win/tie/loss" in piped
    assert "hidden to fit" not in piped
    assert "…" not in piped
    monkeypatch.setenv("COLUMNS", "80")  # asks for a width, also in a pipe
    narrow = command(*arguments).out
    check_fits(narrow, 80)
    assert narrow.count("hidden to fit the terminal: win/tie/loss, detectable") == 1


def test_warnings_and_hints_hang_below_their_text_on_a_terminal(
    on_terminal: TerminalProcess, files: dict[str, Any], command: Command
) -> None:
    arguments = ["evaluate", files["qrels"], files["runs"][0], "-m", "P@500", "-m", "P@1000"]
    lines = visible_lines(on_terminal(*arguments, width=80))
    first = next(number for number, line in enumerate(lines) if line.startswith("warning: the run has at most"))
    assert lines[first + 1].startswith(" " * len("warning: ") + "n")
    assert "\nwarning: the run has at most 50 documents per query, fewer than @500, @1000 needs [shallow-run]\n" in (
        "\n" + command(*arguments).err
    )


@pytest.mark.slow
def test_the_demo_fits_one_screen_and_says_every_caveat_once(
    on_terminal: TerminalProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("bm25s")
    monkeypatch.chdir(tmp_path)
    text = on_terminal("demo", width=80, NO_COLOR="1")
    check_fits(text, 80)
    screen = "\n".join(visible_lines(text))
    screen = screen[screen.index("workshop: 216 documents") :].strip()
    assert len(screen.splitlines()) <= 36
    lines = screen.splitlines()
    assert re.match(r"Best: hybrid \(nDCG@10 0\.\d+\)\. Not distinguishable from lexical: ", lines[2])
    assert next(line.split()[0] for line in lines if re.match(r"(hybrid|vector|lexical) +0\.", line)) == "lexical"
    for label in ("Caveats", "Groups", "Changes", "Scoring", "Wrote", "Next"):
        assert len([line for line in lines if line.startswith(f"{label:<10}")]) == 1
    assert screen.count("q48") == 1
    assert "warning:" not in screen


def test_a_gate_shows_its_changes_in_one_table_of_80_columns(
    on_terminal: TerminalProcess, files: dict[str, Any]
) -> None:
    against = ["--baseline", files["runs"][0], "--set", "kpi=trec-2025"]
    lines = visible_lines(on_terminal("gate", files["qrels"], files["runs"][1], *against, width=80))
    (head,) = [number for number, line in enumerate(lines) if "before  " in line]
    assert lines[head].endswith(" p")
    assert [line.split()[0] for line in lines[head + 1 : head + 4]] == ["nDCG@10", "RR@10", "R@10"]
    legend = " ".join(" ".join(lines[head + 4 :]).split())
    assert legend.startswith("band (trec-2025): nDCG@10 strong, RR@10 good; detectable drop: nDCG@10 0.")


def test_the_help_of_trec_eval_has_80_columns(on_terminal: TerminalProcess, files: dict[str, Any]) -> None:
    check_fits(on_terminal("trec_eval", "--help", width=80), 80)
