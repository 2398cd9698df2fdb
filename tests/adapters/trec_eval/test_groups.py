"""Preference judgments and judgments by group: the bytes and the exit codes of trec_eval."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

# Group a orders d1 > d2 > d3 and d2 > d4, hence d1 > d4; group b prefers d4 to d1. d1 and d2 are tied in the run.
PREFERENCES = """\
1 a s1 d1 3
1 a s1 d2 2
1 a s1 d3 1
1 a s2 d2 5
1 a s2 d4 4
1 b s1 d4 2
1 b s1 d1 0
2 a s1 d1 1
2 a s1 d2 0
2 a s1 d3 0
2 a s1 d4 0
"""
GROUPS = "1 a d1 1\n1 a d2 0\n1 b d1 0\n1 b d2 1\n1 b d3 1\n2 a d1 1\n3 a d1 1\n"
RUN = """\
1 Q0 d2 1 3 t
1 Q0 d1 2 3 t
1 Q0 x 3 2 t
1 Q0 d4 4 1 t
2 Q0 d2 1 3 t
2 Q0 d1 2 2 t
2 Q0 d3 2 1 t
"""
PREFERENCE_VALUES = {
    "prefs_num_prefs_poss": "6 3 9",
    "prefs_num_prefs_ful": "5 2 7",
    "prefs_num_prefs_ful_ret": "3 1 4",
    "prefs_simp": "0.8333 0.6667 0.7500",
    "prefs_pair": "0.9000 0.6667 0.7833",
    "prefs_avgjg": "0.5000 0.6667 0.5833",
    "prefs_avgjg_Rnonrel": "0.4048 0.0000 0.2024",
    "prefs_simp_ret": "0.7500 0.5000 0.6250",
    "prefs_pair_ret": "0.8333 0.5000 0.6667",
    "prefs_avgjg_ret": "0.5000 0.5000 0.5000",
    "prefs_avgjg_Rnonrel_ret": "0.4000 0.0000 0.2000",
    "prefs_simp_imp": "0.8333 0.6667 0.7500",
    "prefs_pair_imp": "0.9000 0.6667 0.7833",
    "prefs_avgjg_imp": "0.5000 0.6667 0.5833",
}
GROUP_VALUES = {
    "map_avgjg": "0.5000 0.5000 0.0000 0.3333",
    "P_avgjg_1": "0.5000 0.0000 0.0000 0.1667",
    "P_avgjg_2": "0.5000 0.5000 0.0000 0.3333",
    "Rprec_mult_avgjg_0.50": "0.5000 0.0000 0.0000 0.1667",
    "Rprec_mult_avgjg_1.00": "0.2500 0.0000 0.0000 0.0833",
}
VERSIONS = ("trec_eval-9", "trec_eval-10")


def run(command: Command, folder: Path, text: str, judgments: str, results: str = RUN) -> Any:
    (folder / "judgments").write_text(judgments)
    (folder / "run").write_text(results)
    return command("trec_eval", *text.split(), folder / "judgments", folder / "run")


def printed(values: dict[str, str], queries: list[str]) -> str:
    rows = {name: dict(zip(queries, text.split(), strict=True)) for name, text in values.items()}
    return "".join(f"{name:<22s}\t{query}\t{rows[name][query]}\n" for query in queries for name in values)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", PREFERENCE_VALUES)
def test_each_preference_measure_is_trec_evals(command: Command, tmp_path: Path, version: str, name: str) -> None:
    outcome = run(command, tmp_path, f"--compat {version} -q -R prefs -m {name}", PREFERENCES)
    assert outcome.out == printed({name: PREFERENCE_VALUES[name]}, ["1", "2", "all"])


@pytest.mark.parametrize("version", VERSIONS)
def test_means_over_groups_are_trec_evals(command: Command, tmp_path: Path, version: str) -> None:
    text = f"--compat {version} -c -q -R qrels_jg -m map_avgjg -m P_avgjg.1,2 -m Rprec_mult_avgjg.0.5,1"
    expected = printed(GROUP_VALUES, ["1", "2", "3", "all"])
    if version == "trec_eval-9":  # it prints no lines for a query that the run lacks
        expected = "".join(line for line in expected.splitlines(keepends=True) if "\t3\t" not in line)
    assert run(command, tmp_path, text, GROUPS).out == expected


@pytest.mark.parametrize("version", VERSIONS)
def test_qrels_are_read_as_preferences(command: Command, tmp_path: Path, version: str) -> None:
    outcome = run(command, tmp_path, f"--compat {version} -c -R qrels_prefs -m prefs", GROUPS)
    values = ["t", "3", "3", "1", "1", "0.1111", "0.0833", "0.1667"]
    assert [line.split("\t")[2] for line in outcome.out.splitlines()] == values


@pytest.mark.parametrize(
    ("text", "judgments", "code", "message"),
    [
        ("-R prefs -m map", PREFERENCES, 4, "needs -R qrels"),
        ("-R prefs", PREFERENCES, 4, "cannot be computed from -R prefs"),
        ("-R prefs -m qrels_jg", PREFERENCES, 4, "needs -R qrels_jg"),
        ("-R qrels -m prefs", GROUPS, 4, "needs -R prefs or qrels_prefs"),
        ("-R qrels_jg -m prefs", GROUPS, 4, "needs -R prefs or qrels_prefs"),
        ("-R prefs -m prefs", GROUPS, 2, "expected 5 columns"),
        ("-R qrels_jg -m qrels_jg", PREFERENCES, 2, "expected 4 columns"),
        ("-R qrels_jg -m qrels_jg", "1 a d1 1\n1 a d1 1\n", 2, "judged twice by group 'a'"),
        ("-R qrels_jg -m P_avgjg.0", GROUPS, 2, "above 0"),
        ("-R prefs -m prefs_simpl", PREFERENCES, 1, "did you mean prefs_simp"),
        ("-R prefs -m prefs", "9 a s d1 1\n", 7, "no query is in both files"),
        ("-R qrels_prefs -m prefs", "1 a d1 1\n1 a d1 0\n", 4, "two levels in one subgroup"),
        ("-R prefs -m prefs", "1 a s d1 1\n1 a t d1 0\n", 4, "level 0 in one subgroup"),
        ("-R prefs -m prefs", "1 a s d1 1\n1 a s d2 2\n1 a t d1 2\n1 a t d2 1\n", 4, "preferred to it"),
        ("-R qrels_prefs -m prefs", "1 a d1 nan\n", 2, "level is NaN"),
    ],
)
def test_what_cannot_be_computed_exits_with_trec_evals_code(
    command: Command, tmp_path: Path, text: str, judgments: str, code: int, message: str
) -> None:
    outcome = run(command, tmp_path, text, judgments)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_lines_of_the_queries_before_an_error_are_printed(command: Command, tmp_path: Path) -> None:
    outcome = run(command, tmp_path, "-q -R qrels_prefs -m prefs_simp", "1 a d1 1\n1 a d2 0\n2 a d1 1\n2 a d1 2\n")
    assert (outcome.code, outcome.out) == (4, "prefs_simp            \t1\t1.0000\n")
    assert "query '2', document 'd1'" in outcome.err


def test_a_document_twice_in_the_run_is_an_error_only_within_the_depth(command: Command, tmp_path: Path) -> None:
    judgments, results = "1 a d1 1\n1 a d2 0\n", "1 Q0 d1 1 3 t\n1 Q0 d2 2 2 t\n1 Q0 d2 3 1 t\n"
    for name, measure in (("qrels_prefs", "prefs_simp"), ("qrels_jg", "map_avgjg")):
        assert run(command, tmp_path, f"-R {name} -m {measure}", judgments, results).code == 4
        assert run(command, tmp_path, f"-R {name} -m {measure} -M2", judgments, results).out.endswith("\t1.0000\n")
        assert run(command, tmp_path, f"-R {name} -m num_q", judgments, results).code == 0


def test_the_lowest_level_of_a_group_below_minus_two_is_overlooked_as_in_trec_eval(
    command: Command, tmp_path: Path
) -> None:
    judgments = "1 a d1 -3\n1 a d2 -4\n1 a d4 -5\n"
    outcome = run(command, tmp_path, "-R qrels_prefs -m prefs_num_prefs_poss", judgments)
    assert outcome.out == "prefs_num_prefs_poss  \tall\t1\n"


def test_version_10_takes_the_line_after_a_comment_as_a_judgment(command: Command, tmp_path: Path) -> None:
    text = "--compat trec_eval-10 -R qrels_prefs -m num_q"
    assert run(command, tmp_path, text, "# note\n1 a d1 1\n2 a d1 1\n").out == "num_q                 \tall\t2\n"
    assert run(command, tmp_path, text, "# note\n# two\n1 a d1 1\n").code == 2
    assert "last line is a comment" in run(command, tmp_path, text, "1 a d1 1\n# note\n").err
