"""NIST's own test cases: the same bytes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CASES = {
    "": "qrels.test results.test",
    ".a": "-m all_trec qrels.test results.test",
    ".aq": "-m all_trec -q qrels.test results.test",
    ".aqc": "-m all_trec -q -c qrels.test results.trunc",
    ".aqcM": "-m all_trec -q -c -M100 qrels.test results.trunc",
    ".aql": "-m all_trec -m relstring.20 -q -l2 qrels.rel_level results.test",
    ".meas_params": "-q -m iprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -m utility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -m ndcg.1=3,2=9,4=4.5 "
    "-m ndcg_cut.10,20,23.4 -m success.2,5,20 qrels.test results.test",
    ".aqZ": "-q -m all_trec -Z zscores_file qrels.test results.test",
    ".prefs": "-m all_prefs -q -R prefs prefs.test prefs.results.test",
    ".qrels_prefs": "-m all_prefs -q -R qrels_prefs qrels.test results.test",
    ".qrels_jg": "-m qrels_jg -q -R qrels_jg qrels.123 results.test",
}
EXTRA = {"x": "", "xJ": "-J", "xM10": "-M10", "xc": "-c", "xl2": "-l2", "xn": "-n"}
VERSIONS = {"9.0.8": "trec_eval-9", "10.0": "trec_eval-10"}


def check(command: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str) -> None:
    monkeypatch.chdir(folder)
    outcome = command("trec_eval", *text.split())
    assert outcome.code == 0, outcome.err
    assert outcome.out == (folder / expected).read_text()


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("case", CASES)
def test_output_is_nists_to_the_byte(
    command: Callable[..., Any], collections: Path, monkeypatch: pytest.MonkeyPatch, version: str, case: str
) -> None:
    folder = collections / f"nist-trec_eval-{version}"
    check(command, folder, monkeypatch, f"--compat {VERSIONS[version]} {CASES[case]}", f"out.test{case}")


@pytest.mark.parametrize("flag", EXTRA)
def test_more_flags_on_graded_judgments(
    command: Callable[..., Any], collections: Path, monkeypatch: pytest.MonkeyPatch, flag: str
) -> None:
    text = f"{EXTRA[flag]} -q -m all_trec qrels.rel_level results.test"
    check(command, collections / "nist-trec_eval-9.0.8", monkeypatch, text, f"extra/rel_level.{flag}.out")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ("qrels.comment.test results.comment.test", "out.comment.test"),
        ("qrels.test.with-comments results.test", "out.test"),
        ("-m all_prefs -q -R prefs prefs.comment.test prefs.results.test", "out.test.prefs"),
        ("-m qrels_jg -q -R qrels_jg qrels.comments.123 results.test", "out.test.qrels_jg"),
    ],
)
def test_version_10_knows_comments_and_leaves_ids_with_the_sign_alone(
    command: Callable[..., Any], collections: Path, monkeypatch: pytest.MonkeyPatch, files: str, expected: str
) -> None:
    folder = collections / "nist-trec_eval-10.0"
    check(command, folder, monkeypatch, f"--compat trec_eval-10 {files}", expected)
