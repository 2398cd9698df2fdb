"""The guide "Start without labels", with a scripted assessor who reads the screen and presses the keys."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from scripts.examples import blocks, environment, session

from tests.labels.test_judge_terminal import judging
from tests.warm_process import WarmProcess

pytest.importorskip("pty")
pytest.importorskip("bm25s")
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "no-labels.md"
SCRIPTED = " --judge ./ann.py:judge"
ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def judge_by_reading(folder: Path) -> None:
    """Judge the pool in a pseudo-terminal as the authors of the collection did, from what the screen shows."""
    workshop = folder / "workshop"
    lines = {
        name: (workshop / name).read_text().splitlines() for name in ("corpus.jsonl", "queries.jsonl", "qrels.trec")
    }
    titles = {doc["title"]: doc["_id"] for doc in map(json.loads, lines["corpus.jsonl"])}
    queries = {query["text"]: query["_id"] for query in map(json.loads, lines["queries.jsonl"])}
    grades = {(query, doc): grade for query, _, doc, grade in map(str.split, lines["qrels.trec"])}
    count = len((folder / "pool.jsonl").read_text().splitlines())
    with judging(folder / "pool.jsonl", folder / "judgments.jsonl", "--assessor", "ann") as terminal:
        for _ in range(count):
            screen = ESCAPES.sub("", terminal.read_until("q quit")).replace("\r", "")
            head, *query_lines = screen.split("─" * 80)[0].strip().splitlines()
            assert head.endswith("ann")
            passage = " ".join(screen.split("─" * 80)[1].split("0 not relevant")[0].split())
            title = max((title for title in titles if passage.startswith(title)), key=len)
            terminal.type(grades.get((queries[" ".join(query_lines)], titles[title]), "0"))
        terminal.read_until(f"{count} of {count} documents judged by ann")
        assert terminal.process.wait(30) == 0


@pytest.mark.slow
def test_the_guide_leads_to_its_numbers_with_an_assessor_at_the_terminal(
    tmp_path: Path, warm_rankgauge: WarmProcess
) -> None:
    commands = [pair for text in blocks(GUIDE, "console") for pair in session(text)]
    last = next(row for row, (command, _) in enumerate(commands) if command.startswith("rankgauge evaluate"))
    judged = False
    for command, _ in commands[: last + 1]:
        if SCRIPTED in command:
            judge_by_reading(tmp_path)
            judged = True
            continue
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=warm_rankgauge.on_path(environment()),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
    assert judged
    assert done.stdout.rstrip() == commands[last][1].rstrip()
