from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from rankgauge import evaluate
from tests.render.html.unpacking import data_of
from tests.warm_process import WarmProcess

Command = Callable[..., Any]
MEASURES = ("-m", "RR", "-m", "P@1")
NAME = "a|b`<c>*@d"  # everything that a table, Markdown, HTML or GitHub could obey


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Judgments of twelve queries, a good run, a bad one, and one whose ids are hostile."""
    queries = range(12)
    good = {n: [f"d{n}", "s"] for n in queries}
    texts = {
        "qrels": "".join(f"q{n} 0 d{n} 1\n" for n in queries),
        "good": _run(good, "good"),
        "bad": _run({n: docs[::-1] for n, docs in good.items()}, NAME),
        "lost": _run({n: [f"{NAME}{n}", "s"] for n in queries}, "lost"),
        "unlabeled": "".join(f"q{n} 0 d{n} 0\n" for n in queries),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: tmp_path / name for name in texts}


def _run(docs: dict[int, list[str]], tag: str) -> str:
    return "".join(
        f"q{n} Q0 {doc} 1 {-rank} {tag}\n" for n, ranking in docs.items() for rank, doc in enumerate(ranking)
    )


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    """The log of the good run, with the labels."""
    path = tmp_path / "log" / "good"
    path.parent.mkdir()
    rows = [{"id": f"q{n}", "query": f"q{n}", "retrieved": [f"d{n}", "s"], "relevant": [f"d{n}"]} for n in range(12)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def scores(command: Command, files: dict[str, Path], tmp_path: Path) -> Path:
    """The scores of the good run."""
    path = tmp_path / "scores.json"
    done = command("evaluate", files["qrels"], files["good"], "-m", "RR", "-m", "P@1", "-q", "--format", "json")
    assert done.code == 0
    path.write_text(done.out)
    return path


def test_the_exit_code_is_the_verdict(
    command: Command, files: dict[str, Path], baseline: Path, scores: Path, tmp_path: Path
) -> None:
    qrels, good, bad = files["qrels"], files["good"], files["bad"]
    assert command("gate", qrels, good, "--require", "RR>0.6", "--baseline", baseline).code == 0
    assert command("gate", qrels, bad, "--require", "RR>0.6").code == 1
    assert command("gate", qrels, bad, "--baseline", baseline).code == 1
    assert command("gate", qrels, good, "--baseline", scores).code == 0
    assert command("gate", qrels, bad, "--baseline", scores).code == 1
    assert command("gate", qrels, bad, "--baseline", scores, "-m", "RR", "--margin", "0.9").code == 0
    assert command("gate", files["unlabeled"], bad, "--baseline", scores).code == 2
    assert command("gate", qrels, bad, "--baseline", good, "-m", "RR").code == 1
    assert command("gate", qrels, bad, "--baseline", baseline, "-m", "RR", "--margin", "0.9").code == 0
    assert command("gate", files["unlabeled"], bad, "--baseline", baseline).code == 2
    assert command("gate", files["unlabeled"], good, "--baseline", files["unlabeled"]).code == 2
    assert command("gate", qrels, good).code == 64
    assert command("gate", qrels, good, "--require", "nDGC>1").code == 64
    assert command("gate", qrels, good, "--require", "RR>0.5", "--confidence", "1").code == 64
    assert command("gate", "-", "-", "--require", "RR>0.5").code == 64
    assert command("gate", qrels, qrels.with_name("nowhere"), "--require", "RR>0.5").code == 2
    assert command("gate", qrels, good, "--baseline", qrels.with_name("nowhere")).code == 2
    (tmp_path / "foreign.csv").write_text("query,RR\n" + "".join(f"q{n},1\n" for n in range(12)))
    foreign = ("gate", qrels, good, "--baseline", tmp_path / "foreign.csv", "-m", "RR")
    refused = command(*foreign)
    assert (refused.code, refused.out) == (2, "")
    assert "may have been scored in another way: it does not say how" in refused.err
    assert "--set gate.scored_elsewhere=accept" in refused.err
    accepted = command(*foreign, "--set", "gate.scored_elsewhere=accept")
    assert accepted.code == 0
    assert "may have been scored in another way" in accepted.out


def test_the_answer_comes_first_in_one_sentence(command: Command, files: dict[str, Path], baseline: Path) -> None:
    outcome = command("gate", files["qrels"], files["bad"], "--baseline", baseline, "--require", "R@5>=1", *MEASURES)
    lines = outcome.out.splitlines()
    assert lines[0].startswith(
        f"fail: {NAME} is worse than good on RR (−0.5000, p < 0.001) and P@1 (−1.0000, p < 0.001)"
    )
    assert lines[0].endswith("; 1 requirement is met.")
    assert lines[2].split() == ["required", "value", "95%", "CI"]
    assert lines[6].split()[:4] == ["RR", "1.0000", "0.5000", "−0.5000"]
    assert "RR: 12 of 12 queries got worse" in outcome.out
    assert "  −0.500  q0   d0 1→2" in outcome.out
    assert "documents: all relevant documents that the baseline retrieved are still in this run\n" in outcome.out
    assert "one-sided paired bootstrap test, max-t over 2 comparisons (2 measures), 12 queries" in outcome.out


def test_labels_without_a_relevant_document_cannot_decide(
    command: Command, files: dict[str, Path], baseline: Path
) -> None:
    outcome = command("gate", files["unlabeled"], files["good"], "--baseline", baseline, "--require", "RR>0.5")
    assert outcome.out.startswith(
        "nothing to judge: no query of 'unlabeled' has a relevant document, so nothing can be tested.\n"
    )
    assert outcome.code == 2


def test_json_is_the_schema_of_scores_with_a_gate(command: Command, files: dict[str, Path], baseline: Path) -> None:
    outcome = command(
        "gate",
        files["qrels"],
        files["lost"],
        "--baseline",
        baseline,
        "--format",
        "json",
        "--require",
        "RR>0.5",
        *MEASURES,
    )
    data = json.loads(outcome.out)
    assert outcome.code == 1
    assert list(data) == ["schema", "conventions", "qrels", "runs", "warnings", "gate"]
    assert data["schema"] == "rankgauge.scores/1"
    assert data["runs"][0]["measures"]["RR"] == {"value": 0.0, "n": 12}
    gate = data["gate"]
    assert gate["verdict"] == "fail"
    assert [(row["measure"], row["outcome"], row["change"]) for row in gate["compared"]] == [
        ("RR", "worse", -1.0),
        ("P@1", "worse", -1.0),
    ]
    interval = evaluate(files["qrels"], files["lost"], "RR").interval("RR")
    assert gate["required"][0] == {
        "measure": "RR", "group": None, "sign": ">", "bound": 0.5, "value": 0.0, "interval": [0.0, interval.high],
        "met": False,
    }  # fmt: skip
    assert interval.high == pytest.approx(0.2425, abs=1e-4)  # of 0 successes in 12 queries
    assert gate["baseline"]["run"] == "good"
    assert gate["lost_documents"] == {
        "queries": {f"q{n}": [f"d{n}"] for n in range(12)},
        "not_in_corpus": [],
        "corpus": False,
    }
    assert gate["lost_queries"] == []
    assert gate["exit_code"] == 1
    first = gate["queries"][0]
    assert (first["kind"], first["measure"], first["total"], len(first["listed"])) == ("drop", "RR", 12, 5)
    assert first["listed"][0]["documents"] == [{"doc": "d0", "grade": 1.0, "before": 1, "now": None}]


def test_junit_has_a_case_for_each_requirement_and_measure(
    command: Command, files: dict[str, Path], baseline: Path
) -> None:
    outcome = command(
        "gate",
        files["qrels"],
        files["bad"],
        "--baseline",
        baseline,
        "--format",
        "junit",
        "--require",
        "RR>0.6",
        *MEASURES,
    )
    root = Xml.parse(io.StringIO(outcome.out)).getroot()
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "3", "0")
    assert [case.get("name") for case in suite.iter("testcase")] == ["RR > 0.6", "RR", "P@1"]
    assert [failure.get("message") for failure in suite.iter("failure")] == [
        "RR > 0.6 is missed: 0.5000",
        "RR dropped: −0.5000, p < 0.001",
        "P@1 dropped: −1.0000, p < 0.001",
    ]
    assert NAME in (suite.findtext("system-out") or "")
    assert "<c>" not in outcome.out
    passed = command("gate", files["qrels"], files["good"], "--baseline", baseline, "--format", "junit", *MEASURES).out
    assert [case.findtext("system-out") for case in Xml.fromstring(passed).iter("testcase")] == [
        "unchanged: +0.0000, p = 1.000"
    ] * 2
    details = [failure.text or "" for failure in suite.iter("failure")]
    assert details[0].startswith("RR > 0.6: 12 of 12 queries miss it by themselves\n  0.5000  q0")
    assert details[1].startswith("RR: 12 of 12 queries got worse\n  −0.500  q0   d0 1→2")
    nothing = command("gate", files["unlabeled"], files["good"], "--baseline", baseline, "--format", "junit").out
    assert [case.find("failure") is not None for case in Xml.fromstring(nothing).iter("testcase")] == [True]


def test_markdown_is_what_github_shows_and_names_are_harmless(
    command: Command, files: dict[str, Path], baseline: Path
) -> None:
    outcome = command(
        "gate",
        files["qrels"],
        files["bad"],
        "--baseline",
        baseline,
        "--format",
        "markdown",
        "--require",
        "RR>0.6",
        *MEASURES,
    )
    lines = outcome.out.splitlines()
    assert lines[0] == "### ❌ Retrieval gate: fail"
    assert lines[2].startswith(r"<code>a\|b\`\<c\>\*@<!-- -->d</code> is worse than `good` on RR (−0.5000")
    assert "| `RR > 0.6` | 0.5000 | 0.3677 to 0.6323 | **MISSED** |" in lines  # 12 equal values
    assert "| `P@1` | 1.0000 | 0.0000 | −1.0000 | **WORSE** | −1.0000 to −0.5542 | \\< 0.001 | 6 queries |" in lines
    lost = command("gate", files["qrels"], files["lost"], "--baseline", baseline, "--format", "markdown").out
    title = "**documents: 12 relevant documents that the baseline retrieved are nowhere in this run**"
    assert f"\n{title}\n- `q0`: `d0`\n- `q1`: `d1`\n- `q10`: `d10`\n" in lost
    nothing = command("gate", files["unlabeled"], files["good"], "--require", "RR>0", "--format", "markdown").out
    assert nothing.startswith("### ⚠️ Retrieval gate: nothing to judge\n\nNo query of 'unlabeled' has")


def test_a_name_cannot_command_the_terminal(command: Command, files: dict[str, Path], baseline: Path) -> None:
    files["bad"].write_text(files["bad"].read_text().replace(NAME, "\x1b[31mred"))
    for format in ("table", "junit", "markdown"):
        outcome = command("gate", files["qrels"], files["bad"], "--baseline", baseline, "--format", format)
        assert "\x1b" not in outcome.out
        assert "\\x1b[31mred" in outcome.out.replace("\\[", "[").replace("\\\\", "\\")


def test_a_summary_is_written_where_asked_and_nowhere_else(
    command: Command, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "summary.md"
    page.write_text("before\n")
    arguments = ("gate", files["qrels"], files["good"], "--require", "RR>0.6")
    assert "hint" not in command(*arguments).err
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert '--summary "$GITHUB_STEP_SUMMARY"' in command(*arguments).err
    assert page.read_text() == "before\n"
    command(*arguments, "--summary", page)
    assert page.read_text().startswith("before\n### ✅ Retrieval gate: pass\n")
    other = tmp_path / "other.md"
    for _ in range(2):
        command(*arguments, "--summary", other)
    assert other.read_text().count("###") == 1
    assert command(*arguments, "--summary", files["qrels"]).code == 2


@pytest.fixture
def searches(tmp_path: Path) -> dict[str, Path]:
    """Test cases, and searches that find all, nothing, or fail."""
    cases = [{"id": f"q{n}", "query": f"text {n}", "relevant_ids": [f"d{n}"]} for n in range(12)]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cases))
    (tmp_path / "search.py").write_text(
        "def good(text):\n    return ['d' + text.split()[1], 's']\n"
        "def bad(text):\n    return ['s', 'd' + text.split()[1]]\n"
        "def broken(text):\n    if text == 'text 3':\n        raise ValueError('down')\n    return good(text)\n"
    )
    names = ("good", "bad", "broken")
    return {"cases": tmp_path / "cases.jsonl", **{name: Path(f"{tmp_path / 'search.py'}:{name}") for name in names}}


def id_of(document: Any) -> Any:
    """The id of a document in a log, which may have more than that."""
    return document["id"] if isinstance(document, dict) else document


def test_a_log_is_written_whatever_the_verdict_is_and_never_of_failed_queries(
    command: Command, searches: dict[str, Path], tmp_path: Path
) -> None:
    cases, first, second = searches["cases"], tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    assert command("gate", cases, searches["good"], "--require", "RR>0.9", "-o", first).code == 0
    against = ("--baseline", first, "-m", "RR")
    failed = command("gate", cases, searches["bad"], *against, "-o", second)
    assert failed.code == 1
    rows = [json.loads(line) for line in second.read_text().splitlines()]
    ranked = {row["query_id"]: [*map(id_of, row["retrieved"])] for row in rows if "retrieved" in row}
    assert ranked == {f"q{n}": ["s", f"d{n}"] for n in range(12)}
    assert command("gate", cases, searches["good"], *against).out.startswith("pass: good has the same values as")
    assert command("gate", second, *against).code == 1  # as when it was asked
    assert command("gate", cases, searches["bad"], "--baseline", second, "-m", "RR").code == 0
    before = second.read_bytes()
    broken = command("gate", cases, searches["broken"], "--require", "RR>0.1", "-o", second)
    assert broken.code == 1
    assert second.read_bytes() == before
    assert command("gate", cases, searches["good"], *against, "-o", first).code in (2, 64)  # an input
    assert command("gate", first, "--require", "RR>0.1", "-o", second).code == 64  # nothing is asked


def test_several_baselines_are_repeats_of_one_system(
    command: Command, files: dict[str, Path], baseline: Path, scores: Path
) -> None:
    mixed = ("--baseline", baseline, "--baseline", scores)
    assert command("gate", files["qrels"], files["lost"], *mixed, *MEASURES).code == 64  # repeats are of one kind
    repeats = [("--baseline", one) for one in (baseline, files["bad"], files["good"])]
    arguments = [part for one in repeats for part in one]
    done = command("gate", files["qrels"], files["lost"], *arguments, *MEASURES, "--format", "json")
    assert done.code == 1
    gate = json.loads(done.out)["gate"]
    assert (gate["baseline"]["run"], gate["baseline"]["runs"]) == ("mean of 3 runs", 3)
    assert [row["before"] for row in gate["compared"]] == pytest.approx([(1 + 0.5 + 1) / 3, 2 / 3])
    assert [note["message"] for note in gate["notes"] if note["code"] == "repeats"] == [
        "the baseline is the mean of 3 runs: RR 0.5000 to 1.0000, P@1 0.0000 to 1.0000"
    ]
    assert "mean of 3 runs" in command("gate", files["qrels"], files["lost"], *arguments, *MEASURES).out
    one = command("gate", files["qrels"], files["good"], *arguments[:2], *MEASURES, "--format", "json").out
    assert "repeats" not in one


@pytest.mark.slow
def test_either_side_may_come_through_a_pipe(
    files: dict[str, Path], baseline: Path, warm_rankgauge: WarmProcess
) -> None:
    run = [str(warm_rankgauge.folder / "rankgauge"), "gate", str(files["qrels"])]
    for arguments, file in (
        (["-", "--baseline", str(baseline)], files["lost"]),
        ([str(files["lost"]), "--baseline", "-", "-m", "P@1"], baseline),
        ([str(files["lost"]), "--baseline", "-", "-m", "RR"], files["good"]),
    ):
        done = subprocess.run([*run, *arguments], input=file.read_bytes(), capture_output=True, check=False)
        assert done.returncode == 1, done.stderr
        assert b"12 relevant documents" in done.stdout


# -- what is shown of texts, and where -----------------------------------------------------------------------------

CASE_TEXT, DOCUMENT_TEXT = "how to reset the secret device", "the confidential manual"


@pytest.fixture
def texts(tmp_path: Path) -> dict[str, Path]:
    """Test cases with texts, a log that misses all of them, and the documents."""
    cases = [{"id": f"q{n}", "query": f"{CASE_TEXT} {n}", "relevant_ids": [f"d{n}"]} for n in range(12)]
    log = [{**case, "retrieved": [{"id": "x", "text": DOCUMENT_TEXT}, {"id": f"d{n}", "text": DOCUMENT_TEXT}]}
           for n, case in enumerate(cases)]  # fmt: skip
    corpus = [{"_id": f"d{n}", "text": DOCUMENT_TEXT} for n in range(12)]
    for name, rows in (("cases.jsonl", cases), ("log.jsonl", log), ("corpus.jsonl", corpus)):
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {name: tmp_path / f"{name}.jsonl" for name in ("cases", "log", "corpus")}


@pytest.mark.parametrize("format", ["table", "json", "junit", "markdown"])
def test_texts_of_documents_are_shown_only_if_asked_for(format: str, command: Command, texts: dict[str, Path]) -> None:
    arguments = ("gate", texts["log"], "--require-each", "Success@1>=1", "--format", format)
    default, all_texts, none = (
        command(*arguments, *more).out
        for more in (
            (),
            ("--set", "output.texts=true"),
            ("--set", "output.texts=false"),
        )
    )
    assert "how to reset" in default
    assert "confidential" not in default
    assert "how to reset" in all_texts
    assert "the confidential" in all_texts
    for out in (default, all_texts, none):
        assert "q0" in out
        assert "d0" in out
    assert "how to reset" not in none
    assert "confidential" not in none
    with_corpus = command(*arguments, "--set", "output.texts=true", "--set", f"gate.corpus={texts['corpus']}").out
    assert "the confidential" in with_corpus


def page_text(path: Path) -> str:
    """Everything on a page, also what is packed for its scripts."""
    page = path.read_text(encoding="utf-8")
    return page + json.dumps(data_of(page), default=str)


def test_no_texts_covers_the_summary_and_the_page(command: Command, texts: dict[str, Path], tmp_path: Path) -> None:
    page, summary = tmp_path / "page.html", tmp_path / "summary.md"
    arguments = ("gate", texts["log"], "--require-each", "Success@1>=1", "--html", page, "--summary", summary)
    command(*arguments)
    assert "how to reset" in page_text(page)
    assert "confidential" in page_text(page)
    assert "how to reset" in summary.read_text(encoding="utf-8")
    assert "confidential" not in summary.read_text(encoding="utf-8")
    command(*arguments, "--set", "output.texts=false", "--set", f"gate.corpus={texts['corpus']}")
    for text in (page_text(page), summary.read_text(encoding="utf-8")):
        assert "how to reset" not in text
        assert "confidential" not in text
        assert "q0" in text


def test_queries_that_are_named_by_their_texts_cannot_hide_them(command: Command, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"query": "a secret", "retrieved": ["x", "d"], "relevant": ["d"]}) + "\n")
    done = command("gate", log, "--require-each", "Success@1>=1", "--set", "output.texts=false")
    assert done.code == 64
    assert "a secret" not in done.out + done.err
    assert "add ids to the labels" in done.err


def test_a_failure_names_its_queries_in_every_output(command: Command, texts: dict[str, Path], tmp_path: Path) -> None:
    before = tmp_path / "before.jsonl"
    rows = [json.loads(line) for line in texts["log"].read_text().splitlines()]
    before.write_text("".join(json.dumps({**row, "retrieved": row["retrieved"][::-1]}) + "\n" for row in rows))
    page = tmp_path / "page.html"
    arguments = ("gate", texts["log"], "--baseline", before, "-m", "RR", "--html", page)
    for format in ("table", "junit", "markdown"):
        done = command(*arguments, "--format", format)
        assert done.code == 1
        assert "RR: 12 of 12 queries got worse" in done.out.replace("\\", "")
        assert "d0 1→2" in done.out
        assert "7 more" in done.out
    assert "RR: 12 of 12 queries got worse" in page.read_text(encoding="utf-8")
    assert "d0 1→2" in page.read_text(encoding="utf-8")
    data = json.loads(command(*arguments, "--format", "json", "--set", f"output.changes={2}").out)["gate"]["queries"][0]
    assert (data["total"], [row["query"] for row in data["listed"]]) == (12, ["q0", "q1"])


def test_the_configuration_has_everything_that_the_options_have(
    command: Command, texts: dict[str, Path], tmp_path: Path
) -> None:
    config = tmp_path / "rankgauge.yaml"
    (tmp_path / "allowed.txt").write_text("".join(f"q{n} # known\n" for n in range(12)))
    config.write_text(
        "gate:\n  require_each: Success@1>=1\n  allow: allowed.txt\n  undecided: fail\n  by: kind\n"
        "  require: RR>=0.9\n  requirements: {a: RR>=0.4, b: [RR>=0.4, P@1<=0.5]}\n"
    )
    rows = [json.loads(line) for line in texts["log"].read_text().splitlines()]
    kinds = [{**row, "kind": "ab"[n % 2]} for n, row in enumerate(rows)]
    texts["log"].write_text("".join(json.dumps(row) + "\n" for row in kinds))
    done = command("gate", texts["log"], "--config", config)
    assert done.code == 1
    assert done.out.startswith(
        "fail: missed RR >= 0.9 (0.5000); 0 of 12 queries meet Success@1 >= 1; 12 are known to miss"
    )
    assert "RR >= 0.4 [kind=a]" in done.out
    assert "P@1 <= 0.5 [kind=b]" in done.out
    assert command("gate", texts["log"], "--config", config, "--require", "RR>=0.5").code == 0
    bad = command("gate", texts["log"], "--config", config, "--set", "gate.requirements={c: RR>=0.4}")
    assert bad.code == 64
    assert "no group is called 'c'" in bad.err
