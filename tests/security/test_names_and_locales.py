"""File names that are not UTF-8, and the C locale, in which Python takes every file name for ASCII."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankgauge.errors import printable
from rankgauge.history import History
from rankgauge.io.formats.json_text import json_text

ACCEPT = ("--set", "gate.scored_elsewhere=accept")
ENTRY_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ-|-[0-9a-f]{8}(?=\.)")  # the time, and what makes it unique
NOT_UTF8 = os.fsdecode(b"l\xe4uf")  # Latin-1
QRELS = "fråga 0 dök 1\nq2 0 日本 1\n"
RUN = "fråga Q0 dök 1 3 läuf\nfråga Q0 x 2 2 läuf\nq2 Q0 x 1 3 läuf\nq2 Q0 日本 2 1 läuf\n"


def write_files(folder: Path, name: str) -> None:
    (folder / f"{name}.qrels").write_text(QRELS, encoding="utf-8")
    (folder / f"{name}.trec").write_text(RUN, encoding="utf-8")
    (folder / f"{name}-other.trec").write_text(RUN.replace("läuf", "o").replace("dök", "y"), encoding="utf-8")
    rows = [{"_id": "fråga", "text": "dök"}, {"_id": "q2", "text": "x"}]
    for kind in ("queries", "corpus"):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}-{kind}.jsonl").write_text(lines, encoding="utf-8")
    (folder / f"{name}-scores.csv").write_text("query,RR\nfråga,1\nq2,0.5\n", encoding="utf-8")
    (folder / "find.py").write_text("def find(query, k):\n    return ['x']\n")


def commands(name: str) -> list[list[str]]:
    """Commands that read and write files with a name, and print it."""
    qrels, run, other = f"{name}.qrels", f"{name}.trec", f"{name}-other.trec"
    queries, out = f"{name}-queries.jsonl", f"out-{name}"
    fetch = ["runs", "fetch", "--retriever", "./find.py:find"]
    return [
        ["evaluate", qrels, run, "-q", "-m", "RR", "--format", "json"],
        ["evaluate", qrels, run, "-q", "-m", "RR", "--html", f"{out}.html"],
        ["evaluate", qrels, run, "-q", "-m", "RR", "--save", "--save-run", "--history", f"{out}.d"],
        ["gate", qrels, run, "-m", "RR", "--baseline", "history:läuf", "--history", f"{out}.d", "--format", "json"],
        ["compare", qrels, run, other, "-m", "RR", "--format", "json"],
        ["runs", "validate", run, "--format", "json"],
        ["runs", "validate", run],
        ["convert", run, f"{out}.csv"],
        ["convert", run, f"{out}.jsonl"],
        ["fuse", run, other, "-o", f"{out}.trec"],
        ["gate", qrels, run, "-m", "RR", "--baseline", f"{out}.jsonl", "--format", "json"],
        ["gate", qrels, run, "-m", "RR", "--baseline", f"{name}-scores.csv", *ACCEPT],
        [*fetch, "--queries", queries, "-o", f"{out}-f", "--manifest", f"{out}-m"],
        ["trec_eval", "-q", "-m", "map", qrels, run],
        ["evaluate", qrels, f"{name}-missing.trec"],
    ]


@pytest.mark.slow
def test_files_whose_names_are_not_utf8_are_read_written_and_named_in_valid_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Callable[..., Any]
) -> None:
    """What must hold: the numbers of any other name, JSON that every parser reads, one message, and the exit code."""
    monkeypatch.chdir(tmp_path)
    outputs: dict[str, list[Any]] = {}
    for name in (NOT_UTF8, "zzz"):
        write_files(tmp_path, name)
        outputs[name] = [command(*arguments) for arguments in commands(name)]
    for arguments, odd, plain in zip(commands(NOT_UTF8), outputs[NOT_UTF8], outputs["zzz"], strict=True):
        assert odd.code == plain.code == (2 if "missing" in arguments[-1] else 0), (arguments, odd.err)
        if "json" in arguments:
            one, other = (ENTRY_NAME.sub("NAME", out) for out in (odd.out, plain.out.replace("zzz", r"l\udce4uf")))
            assert json.loads(one.encode("utf-8")) == json.loads(other)
        elif "trec_eval" in arguments:
            assert odd.out == plain.out
    missing = outputs[NOT_UTF8][-1]
    assert missing.err.splitlines()[0] == r"error: l\xe4uf-missing.trec: cannot read: No such file or directory"
    written = {path.name for path in tmp_path.iterdir() if path.name.startswith("out-")}
    assert {name.replace(NOT_UTF8, "zzz") for name in written} == {name for name in written if "zzz" in name}
    for name in written:
        if name.endswith(".d"):
            (entry,) = History.open(tmp_path / name).entries()
            assert (entry.log is not None, entry.system, entry.means["RR"].value) == (True, "läuf", 0.75)
            continue
        data = (tmp_path / name).read_bytes()
        data.decode("utf-8")
        if name.endswith((".csv", ".trec", ".jsonl", "-f")):
            assert data == (tmp_path / name.replace(NOT_UTF8, "zzz")).read_bytes()


def test_a_byte_that_is_not_utf8_is_an_escape_in_json_and_comes_back() -> None:
    text = json_text({"name": NOT_UTF8, "half": "\ud800", "bytes of ü": "\udcc3\udcbc"})
    assert json.loads(text.encode("utf-8")) == {"name": NOT_UTF8, "half": "\ud800", "bytes of ü": "\udcc3\udcbc"}
    assert json_text({"name": "\udcc3\udcbc"}) == '{"name": "ü"}'
    assert printable("\udcc3\udcbc \udce4") == r"ü \xe4"


SCRIPT = """
import json, os, sys
from rankgauge.cli.main import run

for arguments in json.loads(sys.argv[1]):
    code = run([os.fsdecode(argument.encode()) for argument in arguments])  # as Python decodes the command line
    sys.stdout.flush()
    sys.stdout.buffer.write(b"exit code %d\\n" % code)
    sys.stderr.flush()
"""


def locale_variables(locale: str, folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    return kept | {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HOME": str(folder)}


@pytest.mark.slow
def test_the_c_locale_changes_no_byte_of_any_output(tmp_path: Path) -> None:
    """What must hold: every file, output, message and exit code is that of a UTF-8 locale."""
    results = {}
    for locale in ("C", "C.UTF-8"):
        folder = tmp_path / locale
        folder.mkdir()
        write_files(folder, "läuf")
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))
        }
        environment |= {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HOME": str(folder)}
        calls = [call for call in commands("läuf") if "--history" not in call]  # a history has the time
        arguments = [sys.executable, "-c", SCRIPT, json.dumps(calls)]
        done = subprocess.run(
            arguments, cwd=folder, env=locale_variables(locale, folder), capture_output=True, check=False
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        files = {os.fsencode(path.name): path.read_bytes() for path in folder.glob("*läuf*") if path.suffix != ".html"}
        manifest = "out-läuf-m".encode()
        files[manifest] = re.sub(rb'"(seconds|start)": [^,}]+', b"", files[manifest])
        results[locale] = (done.stdout, done.stderr, files)
    assert results["C"][0].count(b"exit code") == len(commands("")) - 2
    assert results["C"] == results["C.UTF-8"]


@pytest.mark.slow
def test_a_name_in_a_file_that_the_locale_cannot_encode_is_one_clear_error(tmp_path: Path) -> None:
    """What must hold: one message with the name and what to do, exit code 71, and nothing written."""
    write_files(tmp_path, "läuf")
    (tmp_path / "c.yaml").write_text("reading: {forbidden: cäche}\n", encoding="utf-8")
    arguments = [sys.executable, "-m", "rankgauge", "evaluate", "läuf.qrels", "läuf.trec", "--config", "c.yaml"]
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(
        arguments, cwd=tmp_path, env=locale_variables("C", tmp_path), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout) == (71, b""), done.stderr
    message = done.stderr.decode("utf-8")
    assert "cäche" in message
    assert "ASCII file names\nhint: set PYTHONUTF8=1" in message
    assert sorted(tmp_path.iterdir()) == before
