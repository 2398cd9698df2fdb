"""JSON files of our own are read in one place, with clear errors."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from rankgauge import InputError
from rankgauge.io.byte_streams import sha256_of_file
from rankgauge.io.stored_json import Maybe, read_document

SOURCE = Path(__file__).parents[2] / "src" / "rankgauge"
SCHEMA = "rankgauge.example/1"


def test_a_document_of_the_schema_is_read(tmp_path: Path) -> None:
    path = tmp_path / "d.json"
    document = {"schema": SCHEMA, "rows": [{"a": 1.5, "b": None}], "name": "ü"}
    path.write_text(json.dumps(document), encoding="utf-8")
    assert (
        read_document(path, SCHEMA, hint="", shape={"rows": [{"a": float, "b": Maybe(float), "c?": int}], "name": str})
        == document
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "d.json:1: not JSON"),
        ("[]", "d.json: expected a JSON object, found a list"),
        ("3", "d.json: expected a JSON object, found '3'"),
        ('{"rows": 1}', "d.json: expected a string at schema, found nothing"),
        ('{"schema": 1}', "d.json: expected a string at schema, found '1'"),
        ('{"schema": "other/1"}', "d.json: expected the schema rankgauge.example/1 at schema, found 'other/1'"),
        (
            '{"schema": "rankgauge.example/2"}',
            "d.json: rankgauge.example of version 2, but this rankgauge reads version 1: make it again",
        ),
        ('{"schema": "rankgauge.example/1"}', "d.json: expected a value at rows, found nothing\nhint: make it again"),
        ('{"schema": "rankgauge.example/1", "rows": 1, "rows": 2}', "d.json: expected each key once"),
        ('{"schema": "rankgauge.example/1", "rows": NaN}', "d.json: not JSON: NaN"),
        ('{"rows": 1e999}', "d.json: expected finite numbers, found '1e999'"),
        ('{"rows": 1' + "0" * 400 + "}", "d.json: expected whole numbers up to 2^63, found '1000"),
        ('{"rows": 1' + "0" * 5000 + "}", "d.json: expected whole numbers up to 2^63, found '1000"),
        ('{"schema": "rankgauge.example/1", "rows": true}', "expected a whole number at rows, found 'true'"),
        ('{"rows":' + "[" * 65 + "]" * 65 + "}", "d.json: JSON is nested too deeply"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "d.json: JSON is nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_document_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "d.json"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_document(path, SCHEMA, shape={"rows": int}, hint="make it again")
    assert message in str(error.value)
    with pytest.raises(InputError, match="cannot read"):
        read_document(tmp_path / "missing", SCHEMA, hint="make it again")


@pytest.mark.slow
def test_a_file_is_hashed_in_one_place(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"abc")
    assert sha256_of_file(tmp_path / "f") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    with pytest.raises(InputError, match="cannot read"):
        sha256_of_file(tmp_path / "missing")
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr != "file_digest", path
                is_hash = node.func.attr == "sha256" and node.args
                assert not (is_hash and "read_bytes" in ast.dump(node.args[0])), path
