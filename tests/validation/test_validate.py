from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankgauge
from rankgauge import InputError, Qrels, RankgaugeError, validate_qrels, validate_run
from rankgauge.core.id_overlap import folded, normalized, unquoted, without_zeros
from rankgauge.core.ids import Ids
from rankgauge.io.read import read_rows
from rankgauge.render.documents.validation import document
from rankgauge.render.formats.terminal import as_text
from rankgauge.validation import ValidationOptions
from rankgauge.validation.codes import CODES, SEVERITIES
from rankgauge.validation.findings import Place, as_dict
from rankgauge.validation.repair import repair_text
from tests.validation.generated import QUERIES, insert, put, qrels_lines, run_lines, swap, text

SOURCE = Path(rankgauge.__file__).parent


def written(folder: Path, data: bytes | list[str], name: str = "run") -> Path:
    (folder / name).write_bytes(data if isinstance(data, bytes) else text(data))
    return folder / name


def test_a_validation_says_what_was_validated(tmp_path: Path) -> None:
    import hashlib

    data = text(run_lines())
    found = validate_run(written(tmp_path, data))
    assert (found.rows, found.queries, found.format) == (36, 3, "trec")
    assert found.sha256 == hashlib.sha256(data).hexdigest()
    assert found.ok
    assert found.errors == found.warnings == 0


def test_counts_are_those_of_all_and_places_as_many_as_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, ["q1 Q0 only"] * 50)
    assert (validate_run(path)["columns"].count, len(validate_run(path)["columns"].places)) == (50, 50)
    few = validate_run(path, options=ValidationOptions(max_places=3))
    assert (few["columns"].count, len(few["columns"].places)) == (50, 3)
    assert few.errors == 50


def test_rows_can_be_validated_and_keep_their_faults(tmp_path: Path) -> None:
    rows = read_rows(written(tmp_path, put(6, 4, "5")(put(3, 5, "x")(run_lines()))), "run")
    found = validate_run(rows)
    assert set(found.codes) >= {"score", "duplicate-rank"}
    assert [fault.code for fault in rows.faults.examples] == ["score"]


def test_judgments_may_be_any_that_evaluate_takes(tmp_path: Path) -> None:
    path = written(tmp_path, run_lines())
    judged = {query: {"nothing-known": 1} for query in QUERIES}
    assert validate_run(path, judged).codes == ("no-common-document",)
    assert validate_run(path, Qrels.from_dict(judged)).codes == ("no-common-document",)


def test_judgments_that_cannot_be_read_say_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="runs validate --labels FILE"):
        validate_run(written(tmp_path, run_lines()), written(tmp_path, b"1 0 a 1\n1 0 a 2\n1 0 b 1 x\n", "qrels"))


@pytest.mark.parametrize("data", [b"\xff\xfe1\0", b"1 Q0 a\0 1 1 x\n", b"1 Q0 a 1 1 x\r1 Q0 b 2 0 x\r"])
def test_a_file_that_is_not_text_is_an_error(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(InputError):
        validate_run(written(tmp_path, data))


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n"])
def test_a_header_and_nothing_else_is_empty(tmp_path: Path, end: bytes) -> None:
    assert validate_run(written(tmp_path, b"qid Q0 docid rank score tag" + end)).codes == ("empty", "header")


def test_query_ids_that_all_match_only_nearly_say_nothing_of_documents(tmp_path: Path) -> None:
    run, upper = written(tmp_path, run_lines()), written(tmp_path, qrels_lines(["Q1", "Q2", "Q3"]), "qrels")
    assert validate_run(run, upper).codes == validate_qrels(upper, [run]).codes == ("ids-case",)
    assert validate_run(run, upper)["ids-case"].count == 3
    with pytest.raises(KeyError):
        validate_run(run, upper)["ids-zeros"]


def test_packed_files_are_validated(tmp_path: Path) -> None:
    assert validate_run(written(tmp_path, gzip.compress(text(put(6, 4, "5")(run_lines()))))).codes == (
        "duplicate-rank",
    )


def test_scores_that_grow_with_the_rank_are_taken_for_distances(tmp_path: Path) -> None:
    lines = [f"q Q0 d{rank} {rank} {rank / 10} dense" for rank in range(1, 9)]
    found = validate_run(written(tmp_path, lines))["rank-order"]
    assert found.count == 1
    assert found.places == (
        Place(
            2,
            "scores that increase with the rank (7 rows in 1 query): score 0.2 at rank 2, 0.1 at rank 1 of query 'q'",
            "are the scores distances? negate them",
        ),
    )
    assert validate_run(written(tmp_path, swap(5, 6, 5)(run_lines())))["rank-order"].places[0].hint is None


@pytest.mark.parametrize(
    ("rank", "code", "found"),
    [
        (lambda n: 0, "duplicate-rank", "rank 0 of query 'q1' again (first on line 1) (57 rows in 3 queries)"),
        (lambda n: 2 * n, "rank-gap", "rank 4 after 2 in query 'q1' (57 rows in 3 queries)"),
    ],
)
def test_ranks_that_are_all_wrong_in_one_way_are_one_fault(
    tmp_path: Path, rank: Callable[[int], int], code: str, found: str
) -> None:
    lines = [f"q{query} Q0 d{n} {rank(n)} {-n} t" for query in (1, 2, 3) for n in range(1, 21)]
    finding = validate_run(written(tmp_path, lines))[code]
    assert (finding.count, finding.places) == (1, (Place(2, found),))


def test_a_line_that_cannot_be_read_makes_no_gap(tmp_path: Path) -> None:
    lines = put(1, 5, "x")(put(5, 5, "x")(put(24, 5, "x")(run_lines())))
    assert validate_run(written(tmp_path, lines)).codes == ("score",)


def test_rows_in_any_order_are_validated_by_rank(tmp_path: Path) -> None:
    lines = sorted(run_lines(), key=lambda line: int(line.split()[3]))
    assert validate_run(written(tmp_path, lines)).codes == ("split-query",)
    assert validate_run(written(tmp_path, lines))["split-query"].count == 3
    assert validate_run(written(tmp_path, run_lines()[::-1])).codes == ()


def test_judgments_of_subtopics_are_no_duplicates(tmp_path: Path) -> None:
    path = written(tmp_path, b"1 1 a 1\n1 2 a 2\n", "qrels")
    assert validate_qrels(path).codes == ("conflicting-judgment",)
    assert validate_qrels(path, options=ValidationOptions(by_subtopic=True)).codes == ()


def test_judgments_are_looked_for_in_all_runs_together(tmp_path: Path) -> None:
    qrels = written(tmp_path, qrels_lines(), "qrels")
    one, other = written(tmp_path, run_lines()[:20], "one"), written(tmp_path, run_lines()[20:], "other")
    assert set(validate_qrels(qrels, [one]).codes) == {"query-unretrieved", "judged-unretrieved"}
    assert validate_qrels(qrels, [one, other]).codes == ()


@pytest.mark.parametrize(
    ("name", "data", "codes"),
    [
        ("run.json", b'{"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}', ()),
        ("run.json", b'{"q1": {"a": 2.0, "b": null}}', ("score",)),
        ("run.json", b'{"q1": {}}', ("empty",)),
        ("run.tsv", b"q1\ta\t1\nq1\tb\t2\nq2\tc\t1\n", ()),
        ("run.tsv", b"query_id\tdoc_id\trank\nq1\ta\t1\nq1\tb\t1\n", ("duplicate-rank",)),
        ("run.csv", b"query_id,doc_id,score\nq1,a,2\nq1,a,1\n", ("duplicate-document",)),
        ("run.jsonl", b'{"query_id": "q1", "doc_id": "a", "score": 1}\n[]\n', ("record",)),
    ],
)
def test_other_formats_have_the_same_checks(tmp_path: Path, name: str, data: bytes, codes: tuple[str, ...]) -> None:
    found = validate_run(written(tmp_path, data, name))
    assert found.codes == codes
    assert found.format == {"json": "json", "tsv": "msmarco", "csv": "csv", "jsonl": "jsonl"}[name.split(".")[1]] or (
        found.format == "tsv"
    )
    json.dumps(found.to_dict())


some_ids = st.lists(st.text(min_size=1, max_size=12).map(lambda s: s.encode("utf-8", "replace")), min_size=1)


@given(some_ids)
def test_ids_written_otherwise_are_those_that_python_writes(values: list[bytes]) -> None:
    import unicodedata

    ids = Ids.from_bytes(values)
    texts = [value.decode() for value in values]
    # Lower case before folding is what happens to ASCII in a column; it changes no folding.
    assert [value.decode() for value in folded(ids)] == [value.casefold() for value in texts]
    assert [value.decode() for value in normalized(ids)] == [unicodedata.normalize("NFKC", value) for value in texts]
    assert list(without_zeros(ids)) == [value.lstrip(b"0") or b"0" for value in values]
    for value, bare in zip(values, unquoted(ids), strict=True):
        quoted = len(value) > 2 and value[:1] == value[-1:] and value[:1] in (b'"', b"'", b"`")
        assert bare == (value[1:-1] if quoted else value)


def test_every_code_that_a_reader_uses_is_in_the_table() -> None:
    used: set[str] = set()
    for path in [*SOURCE.glob("io/**/*.py"), *SOURCE.glob("validation/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                first = next((arg for arg in node.args if isinstance(arg, ast.Constant)), None)
                if called in ("add", "add_lines", "_add") and first is not None and isinstance(first.value, str):
                    used.add(first.value)
    not_validated = {"duplicate-id", "probability", "stratum", "text"}  # of corpora, queries, and how lines were judged
    assert used - not_validated <= set(CODES)
    assert {"columns", "score", "duplicate-rank", "crlf"} <= used


def test_every_code_says_why_it_matters_and_what_to_do() -> None:
    for name, code in CODES.items():
        assert name == name.lower().replace(" ", "-")
        assert code.severity in SEVERITIES
        assert code.title[0].islower() or code.title[0].isdigit()
        assert code.why.endswith(".")
        assert code.action
        assert not code.action.endswith(".")


def test_no_python_object_is_made_for_each_row_of_a_clean_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    getitem = Ids.__getitem__

    def counted(self: Ids, row: int) -> bytes:
        nonlocal made
        made += 1
        return getitem(self, row)

    monkeypatch.setattr(Ids, "__getitem__", counted)
    run = written(tmp_path, run_lines(depth=500))
    assert not validate_run(run, written(tmp_path, qrels_lines(depth=500), "qrels")).findings
    assert made < 20


def test_a_query_is_invisible_once_and_a_document_each_time(tmp_path: Path) -> None:
    lines = [line.replace("q2 ", "q2\u00ad ") for line in run_lines()]
    found = validate_run(written(tmp_path, insert(1, "q0 Q0 \u2028x 1 1 bm25")(lines)))["invisible-character"]
    assert [place.line for place in found.places] == [1, 14]
    assert found.places[1].found == "query 'q2\\xad'"
    assert np.array([place.hint is None for place in found.places]).all()


def test_visible_characters_beside_invisible_ones_are_left_alone(tmp_path: Path) -> None:
    path = written(tmp_path, [f"q Q0 {c} {n} {-n} t" for n, c in enumerate("é€ー–¡®„ａ한😀", start=1)])
    assert validate_run(path).codes == ()
    latin = "q Q0 \xc2x 1 2 t\nq Q0 \xe2\xe9 2 1 t\n".encode("latin-1")
    assert validate_run(written(tmp_path, latin)).codes == ()


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 600), st.binary(max_size=3)), min_size=1, max_size=4), st.booleans())
@settings(max_examples=150)
def test_whatever_the_bytes_the_outcome_is_a_validation_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, bytes]], judgments: bool
) -> None:
    data = text(qrels_lines() if judgments else run_lines())
    for place, new in changes:
        data = data[:place] + new + data[place + 1 :]
    folder = tmp_path_factory.mktemp("fuzz")
    path, qrels = written(folder, data, "file"), written(folder, qrels_lines(), "qrels")
    try:
        if judgments:
            found = validate_qrels(
                path, [written(folder, run_lines())], QUERIES, ValidationOptions(min_judged=5, strict=True)
            )
        else:
            found = validate_run(path, qrels, QUERIES, ValidationOptions(max_depth=10, min_depth=5))
    except RankgaugeError:
        return
    json.dumps(as_dict([found]))
    as_text(document(found))
    repair = repair_text(data, "qrels" if judgments else "run", found, max_depth=10) if found.format == "trec" else None
    if repair is not None and repair.text is not None:
        copy = written(folder, repair.text, "copy")
        again = validate_qrels(copy) if judgments else validate_run(copy, options=ValidationOptions(max_depth=10))
        # A line that cannot be read is left alone, with all that is wrong with it.
        if not {"columns", "score", "grade"} & set(again.codes):
            assert not {code for code in again.codes if CODES[code].repair}
