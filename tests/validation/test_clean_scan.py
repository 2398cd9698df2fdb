"""A run that is scanned has the same findings as one that is read as a whole."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rankgauge.core import compiled
from rankgauge.validation import clean_scan
from rankgauge.validation.run_validation import validate_run
from rankgauge.validation.validated_file import ValidationOptions

pytestmark = pytest.mark.skipif(compiled.scanner is None, reason="the extension is not in use")

CELLS = {
    0: [b"1", b"q 1", b"caf\xc3\xa9", b"\xe2\x80\x8bq", b"#"],
    1: [b"0", b"Q0"],
    2: [b"d1", b"d2", b"\xc2\xa0d", b"d" * 40],
    3: [b"0", b"1", b"01", b"1.0", b"x", b"-1", b"1e0", b"99999999999999999999", b"9", b"10", b"11"],
    4: [b"1", b"1.0", b"inf", b"nan", b"x", b"1e-3", b"12345678901234567890.5", b"-0.0", b"0.99999999999"],
    5: [b"other", b"t t", b"t" * 300],
}


def run_text(rng: random.Random, queries: int, depth: int) -> bytes:
    """Lines in order, with ties at some places."""
    lines = []
    for query in range(queries):
        score = 30.0
        for rank in range(1, rng.randint(1, depth) + 1):
            score -= rng.choice([0.5, 0.25, 1e-9, 0.0]) if rng.random() < 0.5 else 0.125
            lines.append(b"%d Q0 d%d %d %.10g t" % (query, rank * 7 % 101, rank, score))
    for _ in range(rng.choice([0, 0, 1, 1, 2, 5])):
        change(rng, lines)
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n", b" \n"])
    text = end.join(lines) + rng.choice([end, end, b"", b"\n\n"])
    return rng.choice([b"", b"", b"", b"\xef\xbb\xbf", b"\n", b"  "]) + text


def change(rng: random.Random, lines: list[bytes]) -> None:
    at = rng.randrange(len(lines))
    columns = lines[at].split(b" ")
    column = rng.randrange(6)
    match rng.randrange(7):
        case 0:
            lines.insert(at, rng.choice(lines))
        case 1:
            del lines[at : at + rng.choice([0, 1]) if len(lines) > 1 else at]
        case 2:
            lines[at] = lines[at].replace(b" ", rng.choice([b"\t", b"  ", b"\r", b"\x0b"]))
        case 3:
            lines.insert(at, rng.choice([b"", b" ", b"query Q0 doc rank score tag", b"1 0 a 1", b"\x00"]))
        case 4:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case _ if len(columns) == 6:
            columns[column] = rng.choice(CELLS[column])
            lines[at] = b" ".join(columns)


def compare(path: Path, monkeypatch: pytest.MonkeyPatch, options: ValidationOptions) -> bool:
    """Assert that both findings are the same; whether the run was scanned."""
    scanned = clean_scan.scan_for_validation(path, options)
    with monkeypatch.context() as patch:
        quick = outcome(path, options)
        patch.setattr(clean_scan, "scan_for_validation", lambda *_: None)
        patch.setattr("rankgauge.validation.run_validation.scan_for_validation", lambda *_: None)
        assert outcome(path, options) == quick
    return scanned is not None


def outcome(path: Path, options: ValidationOptions) -> object:
    try:
        return validate_run(path, options=options)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("seed", range(5))
def test_the_findings_are_those_of_the_plain_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    rng, path, scanned = random.Random(seed), tmp_path / "run", 0
    for _ in range(40):
        path.write_bytes(run_text(rng, rng.randint(1, 5), 24))
        options = ValidationOptions(
            max_depth=rng.choice([None, None, 20]),
            min_depth=rng.choice([None, None, 3]),
            cutoffs=rng.choice([(10, 100, 1000), (1,), (2, 5), (23, 24)]),
            max_places=rng.choice([None, 2]),
            strict=rng.random() < 0.2,
        )
        scanned += compare(path, monkeypatch, options)
    assert scanned >= 5  # otherwise nothing was compared


@pytest.mark.parametrize("block", [64, 200, 1000])
def test_lines_are_numbered_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("rankgauge.io.formats.text_blocks.BLOCK_BYTES", block)
    path, rng = tmp_path / "run", random.Random(block)
    for _ in range(20):
        path.write_bytes(run_text(rng, 12, 12))
        compare(path, monkeypatch, ValidationOptions(cutoffs=(3, 6)))


def test_a_systematic_fault_is_measured_against_all_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    clean = b"".join(b"1 Q0 d%d %d %d t\n" % (n, n, 100 - n) for n in range(1, 41))
    wrong = b"".join(b"2 Q0 d%d 7 %d t\n" % (n, 100 - n) for n in range(1, 31))
    path.write_bytes(clean + wrong)
    assert compare(path, monkeypatch, ValidationOptions())
    validation = validate_run(path)
    assert (validation.rows, validation.queries, validation["duplicate-rank"].count) == (70, 2, 29)


def test_the_hash_is_left_out_if_it_is_not_needed(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.write_bytes(b"1 Q0 a 1 1 t\n")
    assert validate_run(path).sha256 is not None
    assert validate_run(path, options=ValidationOptions(hashed=False)).sha256 is None
