"""The command line of the drop-in, its leniency and its exit codes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

QRELS = "1 0 a 1\n1 0 b 0\n2 0 c 1\n"
RUN = "1 Q0 a 1 2 x\n1 Q0 b 2 1 x\n2 Q0 d 1 2 x\n2 Q0 c 2 1 x\n"
Command = Callable[..., Any]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path / "qrels", tmp_path / "run"


def test_short_glued_and_long_options_are_the_same(command: Command, files: tuple[Path, Path]) -> None:
    outputs = {
        command("trec_eval", *text.split(), *files).out
        for text in (
            "-q -c -M 1 -l 1 -m recip_rank -m recall.1",
            "-qc -M1 -l1 -mrecip_rank -mrecall.1",
            "--query_eval_wanted --complete_rel_info_wanted --Max_retrieved_per_topic=1 --level_for_rel 1 "
            "--measure recip_rank --measure=recall.1",
        )
    }
    assert len(outputs) == 1
    assert "recip_rank            \tall\t0.5000\n" in outputs.pop()


def test_options_may_follow_the_files(command: Command, files: tuple[Path, Path]) -> None:
    assert command("trec_eval", *files, "-m", "map").out == "map                   \tall\t0.7500\n"


def test_a_parameter_that_trec_eval_ignores_is_ignored_with_a_note(command: Command, files: tuple[Path, Path]) -> None:
    outcome = command("trec_eval", "-m", "recip_rank.1", *files)
    assert outcome.out == "recip_rank            \tall\t0.7500\n"
    assert "takes no parameter" in outcome.err
    assert "-M 1" in outcome.err


def test_only_the_first_parameter_of_a_measure_counts_with_a_note(command: Command, files: tuple[Path, Path]) -> None:
    outcome = command("trec_eval", "-m", "P.3", "-m", "P.4", *files)
    assert outcome.out == "P_3                   \tall\t0.3333\n"
    assert "P.4 is ignored" in outcome.err


def test_a_cutoff_that_trec_eval_misreads_is_misread_with_a_note(command: Command, files: tuple[Path, Path]) -> None:
    outcome = command("trec_eval", "-m", "P.1e3", *files)
    assert outcome.out.startswith("P_1 ")
    assert "is read as 1" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-m", "mapp"], 1, "did you mean map"),
        (["-m", "P.0"], 2, "above 0"),
        (["-m", "P.5,5"], 2, "unique"),
        (["-m", "ndcg.1=0.5,2=0.9"], 2, "less than 1 apart"),
        (["-m", "ndcg.0=4e9"], 2, "too far apart"),
        (["-m", "ndcg.x"], 2, "grade=gain"),
        (["-m", "iprec_at_recall.nan"], 2, "must be numbers"),
        (["-m", "utility.1,2"], 4, "four numbers"),
        (["-M", "-1"], 1, "at least 0"),
        (["-l", "-1"], 1, "level below 0"),
        (["-R", "other"], 2, "expected one of"),
        (["-T", "other"], 2, "only trec_results"),
        (["--compat", "trec_eval-8"], 1, "expected one of"),
        (["-x"], 1, "-x"),
        (["-m", "rbp"], 1, "illegal measure"),
    ],
)
def test_wrong_options_exit_with_trec_evals_codes(
    command: Command, files: tuple[Path, Path], arguments: list[str], code: int, message: str
) -> None:
    outcome = command("trec_eval", *arguments, *files)
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


@pytest.mark.parametrize(
    ("qrels", "run", "code", "message"),
    [
        (b"", RUN.encode(), 2, "empty"),
        (QRELS.encode(), b"\n\n", 2, "no result lines"),
        (QRELS.encode() + b"\n", RUN.encode(), 2, "qrels:4: malformed"),
        (b"1 0 a\n", RUN.encode(), 2, "qrels:1: malformed"),
        (QRELS.encode(), b"1 Q0 a 1 2\n", 2, "run:1: malformed"),
        (QRELS.encode(), b"1 Q0 a\0 1 2 x\n", 2, "NUL"),
        (QRELS.encode(), b"1 Q0 a 1 nan x\n", 2, "NaN"),
        (QRELS.encode(), b"9 Q0 a 1 1 x\n", 7, "'9'"),
        (b"1 0 a 99999999999999999999\n", RUN.encode(), 4, "too large"),
        (b"1 0 a 1\n1 0 a 1\n", RUN.encode(), 4, "twice"),
    ],
)
def test_files_that_cannot_be_read_exit_with_trec_evals_codes(
    command: Command, tmp_path: Path, qrels: bytes, run: bytes, code: int, message: str
) -> None:
    (tmp_path / "qrels").write_bytes(qrels)
    (tmp_path / "run").write_bytes(run)
    outcome = command("trec_eval", tmp_path / "qrels", tmp_path / "run")
    assert (outcome.code, outcome.out) == (code, "")
    assert message in outcome.err


def test_lines_of_queries_before_a_broken_one_are_printed(command: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN + "2 Q0 c 3 0 x\n")
    outcome = command("trec_eval", "-q", "-m", "map", tmp_path / "qrels", tmp_path / "run")
    assert (outcome.code, outcome.out) == (4, "map                   \t1\t1.0000\n")
    assert command("trec_eval", "-M", "2", "-m", "map", tmp_path / "qrels", tmp_path / "run").code == 0


@pytest.mark.parametrize(
    ("score", "rank"), [("0x10", 1), ("abc", 2), ("1,5", 2), ("1_000", 2), ("inf", 1), ("1e400", 1), ("+3", 1)]
)
def test_scores_are_read_as_c_reads_them(command: Command, tmp_path: Path, score: str, rank: int) -> None:
    (tmp_path / "qrels").write_text("1 0 b 1\n")
    (tmp_path / "run").write_text(f"1 Q0 a 1 2 x\n1 Q0 b 1 {score} x\n")
    outcome = command("trec_eval", "-m", "recip_rank", tmp_path / "qrels", tmp_path / "run")
    assert outcome.out == f"recip_rank            \tall\t{1 / rank:6.4f}\n"


@pytest.mark.parametrize(("grade", "read"), [("1.9", 1), ("yes", 0), ("+2", 2), ("1e3", 1), ("0x10", 0), ("-3", -3)])
def test_grades_are_read_as_c_reads_them(command: Command, tmp_path: Path, grade: str, read: int) -> None:
    (tmp_path / "qrels").write_text(f"1 0 a {grade}\n1 0 b 0\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 x\n")
    outcome = command("trec_eval", "-q", "-m", "relstring", tmp_path / "qrels", tmp_path / "run")
    assert outcome.out == f"relstring             \t1\t'{'.' if read < 0 else read}'\n"


def test_an_empty_ranking_gives_trec_evals_nan(command: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("1 0 a 1\n")
    (tmp_path / "run").write_text("1 Q0 b 1 2 x\n")
    outcome = command("trec_eval", "-J", "-m", "iprec_at_recall.0,.5", tmp_path / "qrels", tmp_path / "run")
    assert outcome.out == "iprec_at_recall_0.00  \tall\t  -nan\niprec_at_recall_0.50  \tall\t0.0000\n"


def test_help_and_version_need_no_files(command: Command) -> None:
    assert "--Judged_docs_only" in command("trec_eval", "-h").out
    version = command("trec_eval", "--version")
    assert version.out == ""
    assert "rankgauge" in version.err
    assert command("trec_eval").code == 1


def test_help_describes_the_measures_given_with_it(command: Command) -> None:
    text = command("trec_eval", "-h", "-m", "map", "-m", "relstring.5").out
    assert "\nmap\n    The mean of the precision at each relevant document" in text
    assert "\nrelstring\n    The judgments of the first documents" in text


def test_the_z_file_must_reach_the_last_measure_of_its_last_query(
    command: Command, files: tuple[Path, Path], tmp_path: Path
) -> None:
    (tmp_path / "z").write_text("1 map 0.5 0.25\n2 aaa 0.5 0.25\n")
    outcome = command("trec_eval", "-m", "map", "-Z", tmp_path / "z", *files)
    assert (outcome.code, outcome.out) == (4, "")
    assert "last measure" in outcome.err


def test_version_10_fails_at_a_judged_query_that_the_run_lacks(command: Command, tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text("1 Q0 a 1 2 x\n")
    paths = (tmp_path / "qrels", tmp_path / "run")
    outcome = command("trec_eval", "--compat", "trec_eval-10", "-q", "-m", "map", *paths)
    assert (outcome.code, outcome.out) == (4, "map                   \t1\t1.0000\n")
    complete = command("trec_eval", "--compat", "trec_eval-10", "-q", "-c", "-m", "map", *paths)
    assert complete.out.split() == ["map", "1", "1.0000", "map", "2", "0.0000", "map", "all", "0.5000"]


def test_the_z_file_must_reach_the_last_query(command: Command, files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "z").write_text("1\tmap\t0.5\t0.25\n")
    outcome = command("trec_eval", "-m", "map", "-Z", tmp_path / "z", *files)
    assert (outcome.code, outcome.out) == (4, "")
    (tmp_path / "z").write_text("1\tmap\t0.5\t0.25\n2\tmap\t0.5\t0\n")
    assert command("trec_eval", "-q", "-m", "map", "-Z", tmp_path / "z", *files).out.split() == [
        "Zmap", "1", "2.0000", "Zmap", "2", "0.0000", "Zmap", "all", "1.0000",
    ]  # fmt: skip
