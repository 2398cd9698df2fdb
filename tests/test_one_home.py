"""One decision, one result: every command, format and page shows the same interval, p, conventions and marks."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankgauge
from rankgauge import (
    Conventions,
    Qrels,
    Statistics,
    compare,
    evaluate,
    evaluate_retriever,
    gate,
    load_settings,
    parse_measure,
)
from rankgauge.adapters import reranking_improvement
from rankgauge.benchmark.folder import REPORT
from rankgauge.comparison import GateRule
from rankgauge.comparison.answer_sentences import span_text
from rankgauge.core.formatting import p_equals, p_value, span
from rankgauge.measures.registry import DEFAULT_MEASURES
from rankgauge.render import as_html
from rankgauge.render.documents import benchmark as benchmark_text
from rankgauge.render.documents.scores import interval_span
from rankgauge.render.formats.markdown import as_markdown
from rankgauge.render.formats.terminal import as_text
from rankgauge.render.html.page_text import interval_text
from rankgauge.report import Report, build_report
from rankgauge.report.manifest import plain_text, plain_values
from rankgauge.retrieval.latency import Cost
from rankgauge.stats import Interval, joint_test, wilson_interval
from tests.render.formats.fragments import shown

Command = Callable[..., Any]
Rankings = dict[str, list[str]]
SOURCE = Path(__file__).parents[1] / "src" / "rankgauge"


def ends(interval: Interval) -> tuple[float | None, float | None]:
    return interval.low, interval.high


def write_json(folder: Path, **contents: Any) -> list[Path]:
    """Each content in a file of its own, under its name."""
    for name, content in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    return [folder / f"{name}.json" for name in contents]


# ------------------------------------------------------------------------------------------------- 1. one interval

# Nineteen hits of twenty: Student's t would end above 1. Two queries: it would end above 1 and below 0.
HITS = ({f"q{n:02}": {"d": 1} for n in range(20)}, {f"q{n:02}": ["d"] if n else ["x"] for n in range(20)})
TWO = ({"q1": {"d": 1}, "q2": {"d": 1}}, {"q1": ["d"], "q2": ["x", "d"]})
MEANS = pytest.mark.parametrize(("data", "measure"), [(HITS, "Success@1"), (TWO, "RR")], ids=["19 of 20", "RR of 2"])


@MEANS
def test_a_mean_has_the_same_interval_everywhere(data: Any, measure: str, tmp_path: Path, command: Command) -> None:
    judged, run = data
    expected = evaluate(judged, run, measure).interval(measure)
    required = gate(judged, run, require=f"{measure}>=0").required[0]
    assert (required.low, required.high) == ends(expected)
    cases = [{"query": query, "relevant_ids": list(docs)} for query, docs in judged.items()]
    assert ends(evaluate_retriever(run.__getitem__, cases, measures=measure).interval(measure)) == ends(expected)
    qrels = Qrels.from_dict(judged, columns={"all": dict.fromkeys(judged, "queries")})
    (group,) = evaluate(qrels, run, measure).by("all")
    assert group.interval == expected
    report = build_report(judged, {"run": run}, load_settings({"measures": measure}))
    data = json.loads(benchmark_text.json_texts(report)[0])
    assert data["scores"]["runs"][0]["measures"][measure]["ci"] == expected.to_dict()
    assert interval_text(expected) in as_html(report)
    files = write_json(tmp_path, qrels=judged, run=run)
    output = command("evaluate", *files, "-m", measure, "--ci", "--format", "json").out
    assert json.loads(output)["runs"][0]["measures"][measure]["ci"] == expected.to_dict()
    assert span(expected.low, expected.high) in command("evaluate", *files, "-m", measure, "--ci").out
    output = command("gate", *files, "--require", f"{measure}>=0", "--format", "json").out
    assert json.loads(output)["gate"]["required"][0]["interval"] == list(ends(expected))


@MEANS
def test_no_interval_of_a_mean_leaves_the_range_of_its_measure(data: Any, measure: str) -> None:
    judged, run = data
    interval = evaluate(judged, run, measure).interval(measure)
    assert interval.low is not None
    assert interval.high is not None
    assert 0 <= interval.low <= interval.high <= 1


def test_the_interval_of_hits_is_wilsons() -> None:
    interval, expected = evaluate(*HITS, "Success@1").interval("Success@1"), wilson_interval([1] * 19 + [0])
    assert ends(interval) == ends(expected)
    assert interval.high is not None
    assert interval.high < 1  # 19 of 20 hits do not exclude a miss


OLD = {f"q{n:02}": ["x", "d"] if n % 3 else ["d"] for n in range(20)}
NEW = {f"q{n:02}": ["x", "x2", "d"] if n < 3 else ["d"] for n in range(20)}


@pytest.mark.parametrize("measure", ["Success@1", "RR", "FirstRel"])  # Newcombe's, Student's, and lower is better
def test_a_difference_has_the_same_interval_everywhere(measure: str, tmp_path: Path, command: Command) -> None:
    judged = HITS[0]
    row = compare(judged, {"old": OLD, "new": NEW}, measure)["new", measure]
    (gated,) = gate(judged, NEW, measure, baseline=OLD, rule=GateRule(two_sided=True)).compared
    assert gated.interval == row.interval
    assert gated.decision.p == row.p_corrected
    qrels, old, new = write_json(tmp_path, qrels=judged, old=OLD, new=NEW)
    output = json.loads(command("compare", qrels, old, new, "-m", measure, "--format", "json").out)
    assert output["comparison"]["differences"][0]["ci"] == row.interval.to_dict()
    options = ("--set", "gate.two_sided=true", "-m", measure, "--format", "json")
    output = json.loads(command("gate", qrels, new, "--baseline", old, *options).out)
    assert output["gate"]["compared"][0]["interval"] == list(ends(row.interval))
    reranked = reranking_improvement(OLD, NEW, qrels=judged, measure=measure)
    assert ends(reranked.difference) == ends(row.interval)
    (notebook,) = shown(compare(judged, {"old": OLD, "new": NEW}, measure)).tables
    (shown_row,) = [cells for cells in notebook.rows if cells[1] == "new"]
    assert shown_row[notebook.head.index("95% CI")] == span_text(row.interval, row)


def test_a_live_retriever_shows_the_same_intervals_in_a_notebook() -> None:
    judged, run = HITS
    cases = [{"query": query, "relevant_ids": list(docs)} for query, docs in judged.items()]
    table = shown(evaluate_retriever(run.__getitem__, cases, k=1)).tables[0]
    expected = interval_span(evaluate(judged, run, "Success@1").interval("Success@1"))
    row = next(row for row in table.rows if row[0] == "Success@1")
    assert row[table.head.index("95% CI")] == expected


def test_the_default_measures_are_the_same_everywhere(tmp_path: Path, command: Command) -> None:
    judged, run = HITS
    qrels, old, new = write_json(tmp_path, qrels=judged, old=run, new=NEW)
    names = [str(parse_measure(name)) for name in DEFAULT_MEASURES]
    assert [str(measure) for measure in evaluate(judged, run).measures] == names
    assert [row.measure for row in compare(judged, {"old": run, "new": NEW}).differences] == names
    evaluated = json.loads(command("evaluate", qrels, old, "--format", "json").out)
    assert list(evaluated["runs"][0]["measures"]) == names
    compared = json.loads(command("compare", qrels, old, new, "--format", "json").out)
    assert [row["measure"] for row in compared["comparison"]["differences"]] == names
    gated = json.loads(command("gate", qrels, new, "--baseline", old, "--format", "json").out)
    assert [row["measure"] for row in gated["gate"]["compared"]] == names
    scores = tmp_path / "scores.json"
    scores.write_text(command("evaluate", qrels, old, "-q", "--format", "json").out, encoding="utf-8")
    for tested in ((qrels, new), (scores,)):
        given = json.loads(command("gate", *tested, "--baseline", scores, "--format", "json").out)
        assert [row["measure"] for row in given["gate"]["compared"]] == names


def test_no_interval_of_a_difference_leaves_its_range() -> None:
    judged = TWO[0]
    old, new = {"q1": ["x", "x2", "x3", "x4", "d"], "q2": ["d"]}, {"q1": ["d"], "q2": ["d"]}
    row = compare(judged, {"old": old, "new": new}, "RR")["new", "RR"]
    assert ends(row.interval) == (-1.0, 1.0)
    assert gate(judged, new, "RR", baseline=old, rule=GateRule(two_sided=True)).compared[0].interval == row.interval
    assert ends(gate(judged, new, "RR", baseline=old).compared[0].interval) == (-1.0, 1.0)


# --------------------------------------------------------------------------------------------- 2. one p, one family


def rankings(seed: int, skill: float) -> Rankings:
    """The relevant document at a rank that is often 1 if the skill is high."""
    rng = np.random.default_rng(seed)
    ranks = np.where(rng.random(40) < skill, 1, rng.integers(2, 8, 40))
    return {f"q{n:02}": [f"x{rank}" for rank in range(1, ranks[n])] + ["d"] for n in range(40)}


JUDGED = {f"q{n:02}": {"d": 2 if n % 2 else 1, "e": 1} for n in range(40)}
SYSTEMS = {"poor": rankings(1, 0.1), "fair": rankings(2, 0.4), "good": rankings(3, 0.9)}
STATISTICS = {"test": "wilcoxon", "significance_testing": True}


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Judgments and three runs."""
    return write_json(tmp_path, qrels=JUDGED, **SYSTEMS)


def test_p_and_its_family_are_the_same_in_every_command(files: list[Path], command: Command) -> None:
    statistics = Statistics(test="wilcoxon")
    expected = compare(JUDGED, [*files[1:]], "RR R@2", statistics=statistics).to_dict()
    assert expected["family"] == (
        "wilcoxon test; RR (primary): Holm over 3 comparisons (3 pairs); "
        "other measures: Holm over 2 comparisons (2 systems × 1 measure)"
    )
    least = min((row for row in expected["differences"] if row["measure"] == "RR"), key=lambda row: row["p"])
    assert least["p_corrected"] == 3 * least["p"] < 0.05
    content = {"measures": ["RR", "R@2"], "statistics": STATISTICS}
    (config,) = write_json(files[0].parent, rankgauge=content)  # JSON is YAML
    options = ("-m", "RR", "-m", "R@2", "--test", "wilcoxon")
    outputs = [
        command("compare", *files, *options, "--format", "json").out,
        command("compare", *files, "--config", config, "--format", "json").out,
        command("evaluate", *files, "--config", config, "--format", "json").out,
        benchmark_text.json_texts(build_report(JUDGED, [*files[1:]], load_settings(content)))[0],
    ]
    for output in outputs:
        comparison = json.loads(output)["comparison"]
        for key in ("baseline", "answer", "test", "correction", "family", "family_sizes", "differences"):
            assert comparison[key] == expected[key], key


def flips(confidence: float) -> Statistics:
    """Sign flips, whose p values are known exactly."""
    return Statistics(test="randomization", confidence=confidence)


def test_a_p_that_equals_alpha_is_significant_in_every_command() -> None:
    judged = {f"q{n}": {"d": 1} for n in range(5)}
    better, worse = {query: ["d"] for query in judged}, {query: ["x", "d"] for query in judged}
    compared = compare(judged, {"old": worse, "new": better}, "RR", statistics=flips(1 - 2 / 32))
    assert compared["new", "RR"].p == compared.alpha == 1 / 16
    assert compared["new", "RR"].mark(compared.alpha) == "▲"
    statistics = flips(1 - 1 / 32)
    (gated,) = gate(judged, worse, "RR", baseline=better, rule=GateRule(statistics=statistics)).compared
    assert gated.decision.p == statistics.alpha == 1 / 32
    assert gated.decision.outcome == "worse"


def test_runs_of_the_same_name_are_numbered_everywhere(tmp_path: Path, command: Command) -> None:
    (qrels,) = write_json(tmp_path, qrels=JUDGED)
    paths = []
    for system, ranking in SYSTEMS.items():
        lines = (f"{q} Q0 {doc} 1 {-rank} tag" for q, docs in ranking.items() for rank, doc in enumerate(docs))
        paths.append(tmp_path / f"{system}.trec")
        paths[-1].write_text("\n".join(lines) + "\n")
    names = ["tag", "tag (2)", "tag (3)"]
    for verb in ("evaluate", "compare"):
        output = command(verb, qrels, *paths, "--format", "json", "--html", tmp_path / f"{verb}.html").out
        assert [run["name"] for run in json.loads(output)["runs"]] == names
        page = (tmp_path / f"{verb}.html").read_text(encoding="utf-8")
        assert all(name in page for name in names)
    report = build_report(JUDGED, [*paths])
    assert [run.run for run in report.scores] == names
    assert (
        "this run is worse than the baseline"
        in command("gate", qrels, paths[0], "--baseline", paths[1], "-m", "RR").out
    )


@pytest.mark.parametrize("verb", ["evaluate", "compare", "gate"])
def test_a_warning_about_a_file_reaches_every_output(verb: str, tmp_path: Path, command: Command) -> None:
    (qrels,) = write_json(tmp_path, qrels=JUDGED)
    runs = []
    for system in ("poor", "good"):
        runs.append(tmp_path / f"{system}.trec")
        ranked = [(query, *item) for query, docs in SYSTEMS[system].items() for item in enumerate(docs)]
        lines = (f"{query} Q0 {doc} {9 - place} {-place} {system}" for query, place, doc in ranked)
        runs[-1].write_text("\n".join(lines) + "\n")  # the ranks contradict the scores
    page = tmp_path / "page.html"
    options = [runs[0], "--baseline", runs[1]] if verb == "gate" else runs
    done = command(verb, qrels, *options, "-m", "RR", "--format", "json", "--html", page)
    for output in (done.out, done.err, page.read_text(encoding="utf-8")):
        assert "found scores that increase with the rank" in output


# ---------------------------------------------------------------------------------------------- 3. one conventions line


def find_relevant(text: str) -> list[str]:
    """A retriever for the benchmark of these tests."""
    return ["e", "d", text]


@pytest.mark.parametrize(
    ("options", "config", "conventions"),
    [
        ((), {}, Conventions()),
        (("--rel", "2"), {}, Conventions(rel=2)),
        (
            (
                "--set",
                "measures.graded=false",
            ),
            {},
            Conventions(graded=False),
        ),
        ((), {"graded": False, "rel": 2}, Conventions(graded=False, rel=2)),
        (("--rel", "1"), {"graded": False, "rel": 2}, Conventions(graded=False)),
    ],
)
def test_conventions_are_the_same_in_every_command(
    options: tuple[str, ...], config: dict[str, Any], conventions: Conventions, files: list[Path], command: Command
) -> None:
    folder = files[0].parent
    lines = {"corpus": [{"_id": doc, "text": doc} for doc in "dex"], "queries": [{"_id": q, "text": q} for q in JUDGED]}
    for name, rows in lines.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (path,) = write_json(
        folder,
        rankgauge={
            "measures": {"names": ["RR"], **config},
            "collection": {"corpus": "corpus.jsonl", "queries": "queries.jsonl", "qrels": "qrels.json"},
            "retrievers": {"mine": {"mode": "tests.test_one_home:find_relevant"}},
            "benchmark": {"latency": 0},
        },
    )
    command("benchmark", "run", path, *options, "-o", folder / "out")
    shared = (*options, "--config", path, "--format", "json")
    outputs = [
        json.loads(command("evaluate", *files, *shared).out),
        json.loads(command("compare", *files, *shared).out),
        json.loads(command("gate", files[0], files[1], "--require", "RR>=0", *shared).out),
        json.loads((folder / "out" / REPORT).read_text())["scores"],
    ]
    assert [output["conventions"] for output in outputs] == [conventions.to_dict()] * 4
    shown = outputs[0]["conventions"]
    assert (shown["rel"], shown["graded"]) == (conventions.grade, conventions.graded)
    assert [list(output["runs"][0]["measures"]) for output in outputs] == [[str(conventions.measure("RR"))]] * 4
    for text in (
        command("evaluate", *files, *shared[:-2]).out,
        command("compare", *files, *shared[:-2]).out,
        (folder / "out" / "BenchmarkComparison.md").read_text(),
    ):
        assert str(conventions) in text


# --------------------------------------------------------------------------------------------------- 4. p as text


@given(st.floats(0, 1))
def test_p_is_never_shown_as_zero(p: float) -> None:
    for text in (p_value(p), p_equals(p).removeprefix("p ").removeprefix("= ")):
        assert text == "< 0.001" if p < 0.001 else abs(float(text) - p) <= 0.0005 + 1e-12
    assert p_equals(p) in (f"p = {p_value(p)}", "p < 0.001")


@given(st.floats(0.04, 0.06), st.floats(0.04, 0.06))
def test_p_values_on_both_sides_of_a_level_never_look_the_same(first: float, second: float) -> None:
    if (first <= 0.05) != (second <= 0.05) and abs(first - 0.05) > 1e-8 and abs(second - 0.05) > 1e-8:
        assert p_value(first) != p_value(second)
    assert (p_value(0.0496), p_value(0.0504), p_value(0.05)) == ("0.0496", "0.0504", "0.050")


def test_a_small_p_is_never_shown_as_zero_in_any_format(files: list[Path], command: Command) -> None:
    runs = (files[0], files[1], files[3])
    comparison = compare(JUDGED, {"poor": SYSTEMS["poor"], "good": SYSTEMS["good"]}, "RR")
    assert (comparison["good", "RR"].p or 1) < 0.0005
    texts = [
        comparison._repr_html_(),
        *(command("compare", *runs, "-m", "RR", "--format", format).out for format in ("table", "markdown", "latex")),
        *(
            command("gate", files[0], files[1], "--baseline", files[3], "-m", "RR", "--format", format).out
            for format in ("table", "markdown", "junit")
        ),
        as_html(build_report(JUDGED, SYSTEMS, load_settings({"measures": "RR"}))),
    ]
    for text in texts:
        shown = re.sub(r"&lt;|\\textless\{\}|\\<", "<", text)
        assert "< 0.001" in shown
        assert not re.search(r"\bp\b[^0-9\n]{0,12}0\.000", shown)
        assert "<td>0.0000</td>" not in shown


@pytest.mark.slow
def test_p_is_formatted_in_one_place_only() -> None:
    """No f-string outside core/formatting.py gives a variable that is a p value a number of digits."""
    faults = []
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue) and node.format_spec and path != SOURCE / "core" / "formatting.py":
                names = [getattr(part, "attr", getattr(part, "id", "")) for part in ast.walk(node.value)]
                is_p = any(re.fullmatch(r"p|p_\w+|\w+_p", name) for name in names)
                if is_p and re.search(r"\.\d", ast.unparse(node.format_spec)):
                    faults.append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    assert faults == []


FIXED_DIGITS = re.compile(r"[+,]?\.\d*[fge%]|[+,]?\.\{.*\}[fge%]|%")
OTHER_DIGITS = {  # files that give a number digits for another reason than to show a result
    "core/formatting.py": "the one place",
    "config/bands.py": "a key of a file, which is read back",
    "io/rank_checks.py": "ranks of an input, in an error",
    "io/formats/named_columns.py": "ranks of an input, in an error",
    "render/formats/data_rows.py": "the columns of trec_eval",
    "render/html/charts/boxes.py": "data of a script",
    "render/html/charts/drawing.py": "coordinates",
    "retrieval/ranked_scores.py": "rounds scores",
    "stats/draws.py": "a level, in an error",
    "validation/run_validation.py": "ranks of an input, in a finding",
}


def test_numbers_get_their_digits_in_one_place_only() -> None:
    found = set()
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue) and node.format_spec:
                spec = ast.unparse(node.format_spec).removeprefix("f").strip("'\"")
                if FIXED_DIGITS.fullmatch(spec):
                    found.add(path.relative_to(SOURCE).as_posix())
    assert found == set(OTHER_DIGITS)


LATENCY = Cost(calls=50, p50=8.2549, p95=41.215, p99=1234.5, index_bytes=1_500_000, index_seconds=2.5)


def test_a_latency_looks_the_same_in_every_output() -> None:
    report = replace(build_report(HITS[0], {"run": HITS[1]}, load_settings({"measures": "RR"})), costs={"run": LATENCY})
    summary = as_text(benchmark_text.summary_document(report)).splitlines()
    assert summary[3].split()[-3:] == ["41.2", "1.5", "MB"]
    assert "| run | 8.25 | 41.2 | 1,234 | 50 | 1.5 MB | 2.50 s |" in as_markdown(
        benchmark_text.benchmark_document(report)
    )
    cells = ("8.25", "41.2", "1,234", "50", "1.5 MB", "2.50 s")
    assert "".join(f'<td class="n">{cell}</td>' for cell in cells) in as_html(report)


# --------------------------------------------------------------------------------------- 5. guards of single decisions


def test_the_confidence_of_a_gate_is_that_of_its_intervals(tmp_path: Path, command: Command) -> None:
    judged = HITS[0]

    def interval(confidence: float) -> Interval:
        statistics = Statistics(confidence=confidence)
        return gate(judged, NEW, "RR", baseline=OLD, rule=GateRule(statistics=statistics)).compared[0].interval

    def width(confidence: float) -> float:
        low, high = ends(interval(confidence))
        return (high or 0.0) - (low or 0.0)

    old, new = (evaluate(judged, run, "RR").values for run in (OLD, NEW))
    for confidence in (0.8, 0.95):
        bounds = {
            side: joint_test(new - old, alternative=side, confidence=confidence, ranges=[(-1, 1)]).rows[0].interval
            for side in ("less", "greater")
        }
        assert interval(confidence).high == bounds["less"].high
        assert interval(confidence).low == bounds["greater"].low
    assert width(0.8) < width(0.95)
    statistics = Statistics(confidence=0.8)
    required = gate(judged, NEW, require="RR>=0", rule=GateRule(statistics=statistics)).required[0]
    assert (required.low, required.high) == ends(evaluate(judged, NEW, "RR").interval("RR", confidence=0.8))
    qrels, before, after = write_json(tmp_path, qrels=judged, old=OLD, new=NEW)
    arguments = ("gate", qrels, after, "--baseline", before, "-m", "RR")
    (config,) = write_json(tmp_path, rankgauge={"statistics": {"confidence": 0.95}, "gate": {"confidence": 0.8}})
    for options in (("--confidence", "0.8"), ("--config", config)):
        output = json.loads(command(*arguments, *options, "--format", "json").out)["gate"]
        assert (output["confidence"], output["compared"][0]["interval"]) == (0.8, list(ends(interval(0.8))))
        assert "80% bounds" in command(*arguments, *options).out
        assert "80% CI" in command(*arguments, *options, "--set", "gate.two_sided=true").out


def test_a_group_of_one_query_has_no_row() -> None:
    labels = {query: "single" if n == 0 else "even" if n % 2 == 0 else "odd" for n, query in enumerate(JUDGED)}
    qrels = Qrels.from_dict(
        JUDGED, columns={"kind": labels, "lone": {q: "a" if n else "b" for n, q in enumerate(JUDGED)}}
    )
    found = compare(qrels, {"poor": SYSTEMS["poor"], "fair": SYSTEMS["fair"]}, "RR", by=["kind", "lone"])
    assert [(row.by, row.label, row.difference.n) for row in found.groups] == [
        ("kind", "even", 19),
        ("kind", "odd", 20),
        ("lone", "a", 39),
    ]
    assert found.group_families["kind"] == "max-t over 2 comparisons (1 system × 1 measure × 2 groups)"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("postgresql://me:pw@host/db refused", "postgresql://host/db refused"),
        ("token=abc123 is invalid", "token=… is invalid"),
        ("cannot read /srv/data/x.npy", "cannot read x.npy"),
        (r"cannot read C:\data\x.npy", "cannot read x.npy"),
    ],
)
def test_secrets_and_places_are_masked(text: str, plain: str) -> None:
    assert plain_text(text) == plain
    assert plain_values({"message": text, "list": [text, 3], "nested": {"tuple": (text,)}, "api_key": "12"}) == {
        "message": plain,
        "list": [plain, 3],
        "nested": {"tuple": [plain]},
        "api_key": "…",
    }


@pytest.fixture(scope="module")
def lower_is_better() -> Report:
    """The rank of the first relevant document: ``fair`` is better than the baseline, ``poor`` is worse."""
    runs = {"base": rankings(4, 0.5), "fair": SYSTEMS["good"], "poor": SYSTEMS["poor"]}
    return build_report(JUDGED, runs, load_settings({"measures": "FirstRel"}))


MARKS = {"fair": "▲", "poor": "▼"}


def test_marks_mean_better_and_worse_in_every_format_of_compare(
    lower_is_better: Report, tmp_path: Path, command: Command
) -> None:
    comparison = lower_is_better.comparison
    assert comparison is not None
    fair, poor = comparison["fair", "FirstRel"], comparison["poor", "FirstRel"]
    assert (fair.difference or 0) < 0 < (poor.difference or 0)
    assert comparison.answer().startswith("Best: fair (FirstRel 1.200). Worse: base (p < 0.001), poor (p < 0.001).")
    runs = {"base": rankings(4, 0.5), "fair": SYSTEMS["good"], "poor": SYSTEMS["poor"]}
    arguments = ("compare", *write_json(tmp_path, qrels=JUDGED, **runs), "-m", "FirstRel", "--format")
    for format, better, worse in (
        ("table", "▲", "▼"),
        ("markdown", "▲", "▼"),
        ("latex", r"$\uparrow$", r"$\downarrow$"),
    ):
        lines = command(*arguments, format).out.splitlines()
        rows = [line for line in lines if re.search(r"\d+/\d+/\d+", line)]  # wins, ties and losses
        assert ["fair" in row for row in rows] == [True, False]
        assert [(better in row, worse in row) for row in rows] == [(True, False), (False, True)]
    data = json.loads(command(*arguments, "json").out)["comparison"]
    records = csv.DictReader(io.StringIO(command(*arguments, "csv").out))
    differences = {found["system"]: found for found in data["differences"]}
    for row in records:
        found = differences[row["system"]]
        assert (float(row["difference"]), float(row["p_corrected"])) == (found["difference"], found["p_corrected"])
        assert (int(row["wins"]), int(row["losses"])) == (found["wins"], found["losses"])
        is_better = row["system"].startswith("fair")
        assert (found["difference"] < 0, found["wins"] > found["losses"]) == (is_better, is_better)


def test_marks_mean_better_and_worse_in_every_format_of_a_benchmark(lower_is_better: Report) -> None:
    comparison = lower_is_better.comparison
    assert comparison is not None
    systems_row = next(
        line
        for line in as_markdown(benchmark_text.benchmark_document(lower_is_better)).splitlines()
        if line.startswith("| FirstRel")
    )
    base, fair, poor, best = [cell.strip() for cell in systems_row.split("|")[2:6]]
    assert ("▲" in base or "▼" in base, fair[-1], poor[-1], best) == (False, "▲", "▼", "fair")
    lines = as_text(benchmark_text.summary_document(lower_is_better)).splitlines()
    for name, mark in MARKS.items():
        row = next(line for line in lines if re.match(rf"{name} +\d", line))
        assert [character for character in row if character in "▲▼"] == [mark]
    data = json.loads(benchmark_text.json_texts(lower_is_better)[0])
    assert data["answer"][0] == "Best: fair (FirstRel 1.200). Worse: base (p < 0.001), poor (p < 0.001)."
    page = as_html(lower_is_better)
    assert re.findall(r'<i class="\w+" role="img" aria-label="(\w+)">(.)</i>', page)[:2] == [
        ("better", "▲"),
        ("worse", "▼"),
    ]


@pytest.mark.slow
def test_topics_and_sgml_are_parsed_in_one_place() -> None:
    """A tag of a TREC file as a constant in another file would be a second parser."""
    tags = {"<top>", "<num>", "<docno>", "<doc>"}
    source = Path(rankgauge.__file__).parent
    files = set()
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            value = node.value if isinstance(node, ast.Constant) else None
            text = value.decode("latin-1") if isinstance(value, bytes) else value
            if isinstance(text, str) and text.strip().lower() in tags:
                files.add(path.relative_to(source).as_posix())
    assert files == {"io/corpus/corpus_files.py"}


# Text that may quote a secret is shortened by printable, shown and first_line, which mask it first. These files shorten
# only what their reason says, which was masked before or is no message.
CUTS = {
    "benchmark/verify.py": "hashes, and bytes of files that were written masked",
    "config/environment_variables.py": "the text of a configuration, with names of variables",
    "config/json_paths.py": "the text of a configuration, from the place of a fault",
    "io/formats/json_text.py": "the place of a fault in a data file",
    "io/formats/judgment_lines.py": "the last line of a data file",
    "retrieval/embedders/precomputed.py": "hashes of ids",
    "render/html/page_text.py": "names, and texts of queries and documents, on a page",
    "render/formats/wrapping.py": "cells of tables on a terminal, with names and texts",
    "report/report.py": "texts of documents",
    "secrets.py": "the masked start of a text",
}
QUOTING = {"shown", "printable", "mask_secrets", "mask_values", "first_line", "error_text", "plain_text"}


def is_cut(node: ast.AST) -> bool:
    """Whether an expression takes a part of a sequence: ``text[:60]``."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)


def shortens_text(node: ast.AST) -> bool:
    """Whether an expression adds an ellipsis to a part of a text, or quotes or masks a part only."""
    parts = list(ast.walk(node))
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name == "shorten" and ast.unparse(node.func) == "textwrap.shorten":
            return True
        return name in QUOTING and any(map(is_cut, node.args[:1]))
    if isinstance(node, ast.BinOp) and any(map(is_ellipsis, (node.left, node.right))):
        return True
    return isinstance(node, (ast.JoinedStr, ast.IfExp)) and any(map(is_ellipsis, parts)) and any(map(is_cut, parts))


def is_ellipsis(node: ast.AST) -> bool:
    name = isinstance(node, ast.Name) and node.id in ("ELLIPSIS", "MASK")
    return name or (isinstance(node, ast.Constant) and str(node.value).strip() in ("…", "..."))


@pytest.mark.slow
def test_text_that_may_quote_a_secret_is_shortened_in_one_place_only() -> None:
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(map(shortens_text, ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert found == set(CUTS)


@pytest.mark.parametrize(
    "text",
    ["shown(text[:60])", "text[:60] + '…'", "f'{text[:limit]}…'", "textwrap.shorten(text, 60)", "mask_secrets(t[:9])"],
)
def test_a_new_way_to_shorten_text_is_found(text: str) -> None:
    assert any(map(shortens_text, ast.walk(ast.parse(text))))
    assert not any(map(shortens_text, ast.walk(ast.parse("f'{names[:3]} and …'.join(shown(text, 60))"))))
