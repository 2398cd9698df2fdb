"""``--html`` of the commands that have it, and ``demo``."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import rankgauge.cli.commands.demo
from tests.render.html.unpacking import Parts, data_of
from tests.warm_process import WarmProcess

Command = Callable[..., Any]


@pytest.fixture
def workshop(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    assert command("demo", "--copy", tmp_path / "w").code == 0
    monkeypatch.chdir(tmp_path)
    return Path("w")


def test_evaluate_writes_a_page(workshop: Path, command: Command) -> None:
    done = command("evaluate", workshop / "qrels.trec", workshop / "runs/vector.trec", "--html", "page.html")
    assert done.code == 0
    assert "wrote page.html" in done.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "rankgauge evaluate w/qrels.trec w/runs/vector.trec --html page.html" in page
    assert "0.543" in page


def test_evaluate_with_a_configuration_writes_the_page_of_its_measures(workshop: Path, command: Command) -> None:
    Path("c.yaml").write_text("measures: {names: [P@3], graded: false}\n")
    done = command(
        "evaluate", workshop / "qrels.trec", workshop / "runs/vector.trec", "--config", "c.yaml", "--html", "page.html"
    )
    assert done.code == 0, done.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "P@3" in page
    assert "nDCG@10" not in page
    assert "binary judgments" in page


def test_a_page_is_about_the_given_judgments_whatever_else_is_shown(workshop: Path, command: Command) -> None:
    Path("c.yaml").write_text("measures: {names: [P@3], graded: false, rel: 2}\n")
    words = ("evaluate", workshop / "qrels.trec", workshop / "runs/vector.trec", "--config", "c.yaml", "--html")
    assert command(*words, "plain.html").code == 0
    assert command(*words, "audited.html", "--audit").code == 0
    plain, audited = (data_of(Path(name).read_text(encoding="utf-8")) for name in ("plain.html", "audited.html"))
    assert plain == audited


def test_compare_shows_texts_groups_and_documents(workshop: Path, command: Command) -> None:
    runs = [workshop / f"runs/{name}.trec" for name in ("lexical", "vector")]
    done = command(
        "compare", workshop / "qrels.trec", *runs, "--queries", workshop / "queries.jsonl", "--by", "difficulty",
        "--corpus", workshop, "--baseline", "vector", "--html", "page.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    page = Path("page.html").read_text(encoding="utf-8")
    assert "lexical vs. vector is inconclusive: " in page
    assert "nDCG@10 by difficulty" in page
    data = data_of(page)
    assert data["texts"][0] == "how to patch an inner tube"
    assert data["snippets"]["kb-193"].startswith("Removing a rounded bolt Tap in")
    again = command("compare", workshop / "qrels.trec", *runs, "--html", "page.html")
    assert again.code == 0  # a page that is there may be written again


def test_the_page_of_a_gate_has_its_verdict(workshop: Path, command: Command) -> None:
    done = command(
        "gate",
        workshop / "qrels.trec",
        workshop / "runs/vector.trec",
        "--require",
        "nDCG@10>=0.9",
        "--html",
        "page.html",
    )
    assert done.code == 1
    page = Path("page.html").read_text(encoding="utf-8")
    text = Parts(page).text
    assert "✗ Fail missed nDCG@10 >= 0.9 (0.5432)." in text
    assert "nDCG@10 >= 0.9 ✗ Missed" in text


def test_the_page_of_a_gate_has_one_p_and_one_detectable_difference_per_measure(
    workshop: Path, command: Command
) -> None:
    qrels, vector, lexical = workshop / "qrels.trec", workshop / "runs/vector.trec", workshop / "runs/lexical.trec"
    done = command("gate", qrels, vector, "--baseline", lexical, "-m", "nDCG@10", "-m", "AP", "--html", "page.html")
    assert done.code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    text = Parts(page).text
    assert text.count("detectable drop") == 2  # the head of the column, and what it means
    assert "inimum detectable difference" not in text
    assert "p (" not in text
    rows = re.findall(r'<tr class="(\w+)"><th scope="row">(.*?)</th>.*?</tr>', page)
    assert rows == [("undecided", "nDCG@10"), ("undecided", "AP")]


def test_the_page_of_a_gate_shows_the_baseline_if_it_is_a_run(workshop: Path, command: Command) -> None:
    qrels, vector, lexical = workshop / "qrels.trec", workshop / "runs/vector.trec", workshop / "runs/lexical.trec"
    assert command("gate", qrels, vector, "--baseline", lexical, "--html", "two.html").code == 0
    assert "2 systems: lexical, vector" in Path("two.html").read_text(encoding="utf-8")
    Path("base.csv").write_text(command("evaluate", qrels, lexical, "-q", "--format", "csv").out)
    assert command("gate", qrels, vector, "--baseline", "base.csv", "--html", "one.html").code == 0
    assert "2 systems: lexical, vector" in Path("one.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_a_page_never_overwrites_an_input(name: str, workshop: Path, command: Command) -> None:
    qrels, run = workshop / "qrels.trec", workshop / "runs/vector.trec"
    before = run.read_bytes()
    done = command(name, qrels, workshop / "runs/lexical.trec", run, "--html", run)
    assert done.code == 2
    assert "would overwrite" in done.err
    assert run.read_bytes() == before


@pytest.mark.slow
@pytest.mark.parametrize("words", [["evaluate"], ["gate", "--require", "nDCG@10>=0.1"]])
def test_a_page_of_standard_input_needs_it_only_once(
    words: list[str], workshop: Path, warm_rankgauge: WarmProcess
) -> None:
    run = (workshop / "runs/vector.trec").read_bytes()
    line = [str(warm_rankgauge.folder / "rankgauge"), words[0], str(workshop / "qrels.trec")]
    for source in ("-", str(workshop / "runs/vector.trec")):
        command = [*line, source, *words[1:], "--html", f"{'pipe' if source == '-' else 'file'}.html"]
        done = subprocess.run(command, input=run, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
    of_pipe, of_file = (data_of(Path(f"{name}.html").read_text(encoding="utf-8")) for name in ("pipe", "file"))
    assert of_pipe == of_file  # with every ranking


def test_only_one_file_can_be_standard_input(workshop: Path, command: Command) -> None:
    for words in (("evaluate", "-", "-"), ("compare", workshop / "qrels.trec", "-", "-"), ("gate", "-", "-")):
        done = command(*words, "--html", "page.html")
        assert done.code == 64
        assert "only one of the files can be standard input" in done.err
    assert not Path("page.html").exists()


def test_a_page_compares_scores(workshop: Path, command: Command) -> None:
    qrels, runs = workshop / "qrels.trec", workshop / "runs"
    for name in ("lexical", "vector"):
        scores = command("evaluate", qrels, runs / f"{name}.trec", "-m", "nDCG@10", "-q", "--format", "csv")
        Path(f"{name}.csv").write_text(scores.out)
    done = command("compare", "lexical.csv", "vector.csv", "--html", "page.html")
    assert done.code == 0, done.err
    assert "vector vs. lexical is inconclusive: " in Path("page.html").read_text(encoding="utf-8")


def test_options_that_would_do_nothing_are_refused(workshop: Path, command: Command) -> None:
    qrels, vector, lexical = workshop / "qrels.trec", workshop / "runs/vector.trec", workshop / "runs/lexical.trec"
    for words, message in (
        (("evaluate", qrels, vector, "--corpus", workshop), "--corpus is for the HTML report"),
        (("compare", qrels, vector, lexical, "--explain", "--format", "markdown"), "markdown has no --explain"),
        (("gate", qrels, vector, "--require", "RR>0", "-o", "live.jsonl"), "applies to a live retriever"),
    ):
        done = command(*words)
        assert done.code == 64, words
        assert message in done.err
    assert not Path("live.jsonl").exists()


def test_a_page_has_no_path_outside_of_the_working_folder(workshop: Path, command: Command) -> None:
    Path("bands.yaml").write_text("bands: {nDCG@10: {good: 0.5}}\n")
    here = Path.cwd()
    runs = [here / workshop / f"runs/{name}.trec" for name in ("lexical", "vector")]
    options = ("--set", f"kpi={here / 'bands.yaml'}", "--baseline", runs[1], "--html", "p.html")
    done = command("compare", workshop / "qrels.trec", *runs, *options)
    assert done.code == 0, done.err
    page = Path("p.html").read_text(encoding="utf-8")
    assert str(here) not in page
    assert "rankgauge compare w/qrels.trec w/runs/lexical.trec w/runs/vector.trec --baseline w/runs/vector.trec" in page
    for run in runs:
        run.rename(here.parent / run.name)
    outside = [here.parent / run.name for run in runs]
    assert command("compare", workshop / "qrels.trec", *outside, "--html", "p.html").code == 0
    page = Path("p.html").read_text(encoding="utf-8")
    assert str(here.parent) not in page
    assert "rankgauge compare w/qrels.trec lexical.trec vector.trec" in page


def test_a_page_has_the_day_of_the_newest_file_or_the_day_that_is_stated(
    workshop: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, run = workshop / "qrels.trec", workshop / "runs/vector.trec"
    os.utime(qrels, (0, 86_400 * 365))
    os.utime(run, (0, 86_400 * 366))
    pages = []
    for stated in ("", "", "86400", "no day"):
        monkeypatch.setenv("SOURCE_DATE_EPOCH", stated)
        assert command("evaluate", qrels, run, "--html", "page.html").code == 0
        pages.append(Path("page.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1] == pages[3]
    assert "<title>qrels.trec · 1971-01-02 · 1 system: vector</title>" in pages[0]
    assert "<title>qrels.trec · 1970-01-02 · 1 system: vector</title>" in pages[2]
    assert "1971-01-02 · 1 system: vector · 48 queries" in Parts(pages[0]).text


ODD_NAMES = ["a run's copy.trec", "-x.trec", "$(touch pwned).trec", "a;b&c.trec", "tab\there.trec", "naïve.trec"]


@pytest.mark.slow
@pytest.mark.parametrize("words", [["evaluate"], ["compare"], ["gate", "--require", "nDCG@10>=0.1"]])
def test_the_command_on_a_page_runs_when_it_is_pasted(
    words: list[str], workshop: Path, command: Command, warm_rankgauge: WarmProcess
) -> None:
    for name in ODD_NAMES:
        shutil.copy(workshop / "runs/vector.trec", name)
    runs = [f"./{name}" for name in ODD_NAMES[: 1 if words[0] == "gate" else None]]
    assert command(words[0], str(workshop / "qrels.trec"), *runs, *words[1:], "--html", "my page.html").code == 0
    pasted_runs_again("my page.html", warm_rankgauge.on_path())
    assert not Path("pwned").exists()


@pytest.mark.slow
def test_the_command_of_a_benchmark_runs_when_it_is_pasted(
    workshop: Path, command: Command, warm_rankgauge: WarmProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workshop)
    collection, retrievers = {"corpus": ".", "name": "mine"}, {"lexical": {"mode": "lexical"}}
    config = {"collection": collection, "retrievers": retrievers, "measures": ["RR"], "benchmark": {"latency": 0}}
    Path("my config.yaml").write_text(yaml.safe_dump(config))
    done = command("benchmark", "run", "my config.yaml", "--out", "results", "--html", "page.html")
    assert done.code == 0, done.err
    pasted_runs_again("page.html", warm_rankgauge.on_path(), same=False)


def pasted_runs_again(page: str, variables: dict[str, str], *, same: bool = True) -> None:
    """Run the command that a page shows in a shell: it must make the same page, unless that has latencies."""
    before = Path(page).read_bytes()
    shown = re.search('<code id="reproduce">(.*?)</code>', before.decode("utf-8"), re.DOTALL)
    assert shown
    Path(page).unlink()
    script = html.unescape(shown[1])
    done = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not same or Path(page).read_bytes() == before


@pytest.mark.parametrize("path", ["-", "w", "no/such/page.html"])
def test_a_page_that_cannot_be_written_is_refused_at_once(path: str, workshop: Path, command: Command) -> None:
    done = command("evaluate", workshop / "qrels.trec", workshop / "runs/vector.trec", "--html", path)
    assert done.code == 2
    assert "cannot write" in done.err
    assert done.out == ""


def test_the_demo_without_engines_compares_the_bundled_runs(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rankgauge.cli.commands.demo, "find_spec", lambda name: None)
    monkeypatch.chdir(tmp_path)
    done = command("demo")
    assert done.code == 0
    assert "the extra 'retrieval' is not installed: comparing the two bundled runs" in done.err
    assert "vector vs. lexical is inconclusive: nDCG@10 +0.024 (95% CI −0.066 to +0.113, p = 0.606; minimum" in done.out
    assert Path("rankgauge-demo/report.html").is_file()


@pytest.mark.slow
def test_the_demo_is_the_benchmark(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bm25s")
    monkeypatch.chdir(tmp_path)
    done = command("demo")
    assert done.code == 0, done.err
    assert "workshop: 216 documents, 48 queries, 874 judgments (grades 0 to 3)" in done.out
    assert "rankgauge-demo/report.html   ← open this" in done.out
    assert json.loads(Path("rankgauge-demo/BenchmarkReport.json").read_bytes())["title"] == "workshop"
    assert command("benchmark", "verify", "rankgauge-demo").code == 0
