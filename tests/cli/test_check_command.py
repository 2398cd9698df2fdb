"""``rankgauge history check`` and ``rankgauge history export --openmetrics``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rankgauge import evaluate
from rankgauge.history import GitState, History
from rankgauge.history.entries import parse_time
from tests.conftest import Outcome
from tests.retrieval.engines.loopback import Reply, Request, serving

Command = Callable[..., Outcome]
LABELS = {f"query{number:02}": {"document": 1} for number in range(24)}
CHECK = ("history", "check", "--since", "2026-11-04")
TOKEN = "T0123456789abcdef"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A history of ten entries, the last four of them worse."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKGAUGE_HISTORY", raising=False)
    monkeypatch.delenv("RANKGAUGE_WEBHOOK", raising=False)
    with History.open() as history:
        for day in range(1, 11):
            rng = np.random.default_rng(day)
            run = {}
            for query in LABELS:
                place = int(rng.random() < 0.3) + 3 * int(rng.random() < (0.8 if day > 6 else 0))
                run[query] = {name: 9.0 - rank for rank, name in enumerate([*"xyzwv"])}
                run[query]["document"] = 9.5 - place
            scores = evaluate(LABELS, run, ["nDCG@10", "RR@10"])
            history.save(scores, LABELS, date=parse_time(f"2026-11-{day:02}"), git=GitState("ab" * 20, "main", True))
    return tmp_path


def test_a_check_reports_a_change_once(command: Command) -> None:
    for _ in range(2):
        assert command(*CHECK, "--dry-run").code == 1
    done = command(*CHECK, "-m", "RR@10")
    assert (done.code, done.err) == (1, "")
    first, last = done.out.splitlines()
    assert first.startswith("RR@10 of run on qrels, branch main: −0.")
    assert "since 2026-11-07-abababa, commit abababababab (p " in first
    assert last == "1 new change; 1 series checked, alpha 0.01 each"
    done = command(*CHECK, "-m", "RR@10")
    assert (done.code, done.out) == (0, "no new change, 1 reported before; 1 series checked, alpha 0.01 each\n")
    late = command("history", "check", "--since", "2026-11-09")
    assert (late.code, late.out) == (0, "no new change; 1 series checked, alpha 0.01 each\n")
    none = command("history", "check", "--since", "2030-01-01")
    assert (none.code, none.err[:8]) == (0, "warning:")
    assert command(*CHECK, "-m", "P@3").code == 64
    assert command(*CHECK, "--history", "other.db").code == 2


def test_a_program_gets_json_and_no_shell_reads_its_arguments(command: Command, folder: Path) -> None:
    (folder / "tell.py").write_text(
        "import sys; open('told', 'w').write(sys.argv[1] + sys.stdin.read()); print('done')"
    )
    done = command(*CHECK, "--exec", f"{sys.executable} tell.py '$HOME;`id`'", "--format", "json")
    assert (done.code, done.err) == (1, "done\n")
    told = (folder / "told").read_text()
    assert told.startswith("$HOME;`id`{")
    sent = json.loads(told.removeprefix("$HOME;`id`"))
    assert (sent["schema"], len(sent["changes"])) == ("rankgauge.alert/1", 1)
    assert sent["changes"][0]["entry"] == "2026-11-07-abababa"
    assert "query" not in told
    assert "document" not in told
    printed = json.loads(done.out)
    assert {key: printed[key] for key in sent} == sent
    (folder / "told").unlink()
    assert command(*CHECK, "--exec", f"{sys.executable} tell.py x").code == 0
    assert not (folder / "told").exists()


def test_a_program_that_fails_does_not_count(command: Command, folder: Path) -> None:
    (folder / "fail.py").write_text("import sys; sys.exit('password=hunter22')")
    done = command(*CHECK, "--exec", f"{sys.executable} fail.py")
    assert done.code == 2
    assert "ended with code 1" in done.err
    assert "hunter22" not in done.err
    missing = command(*CHECK, "--exec", "no-such-program-here")
    assert missing.code == 2
    assert "cannot run no-such-program-here: No such file" in missing.err
    for text in ("'", " "):
        assert command(*CHECK, "--exec", text).code == 64
    assert command(*CHECK).code == 1


def test_a_webhook_gets_the_report_once(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("httpx")
    requests: list[Request] = []
    replies = [Reply(b"no", 500), Reply(b"", 302, {"Location": "http://127.0.0.1:9/"}), Reply(b"ok")]

    def answer(request: Request) -> Reply:
        requests.append(request)
        return replies[len(requests) - 1]

    with serving(answer) as address:
        monkeypatch.setenv("RANKGAUGE_WEBHOOK", f"{address}/hook/{TOKEN}?key={TOKEN}")
        for status in (500, 302):
            failed = command(*CHECK)
            assert failed.code == 2
            assert f"answered with status {status}" in failed.err
            assert TOKEN not in failed.err
        assert command(*CHECK).code == 1
        assert command(*CHECK).code == 0
    assert [request.method for request in requests] == ["POST"] * 3
    body = requests[-1].body
    assert body == requests[0].body
    assert body["text"].startswith("nDCG@10 of run on qrels, branch main: ")
    assert "query" not in json.dumps(body)
    assert requests[-1].headers["content-type"] == "application/json"


def test_a_webhook_that_cannot_be_reached_is_not_shown(command: Command) -> None:
    pytest.importorskip("httpx")
    with serving(lambda request: Reply()) as address:
        pass
    failed = command(*CHECK, "--webhook", f"{address}/{TOKEN}")
    assert failed.code == 2
    assert "--webhook: cannot reach 127.0.0.1" in failed.err
    assert TOKEN not in failed.err
    wrong = command(*CHECK, "--webhook", f"file:///{TOKEN}")
    assert wrong.code == 64
    assert TOKEN not in wrong.err


def test_openmetrics_goes_to_standard_output_or_a_file(command: Command, folder: Path) -> None:
    done = command("history", "export", "--openmetrics")
    assert done.code == 0
    assert 'rankgauge_score{collection="qrels",system="run",branch="main",measure="nDCG@10"} 0.' in done.out
    assert done.out.endswith("\n# EOF\n")
    assert command("history", "export", "--openmetrics", "-o", "metrics.prom").out == ""
    assert (folder / "metrics.prom").read_text(encoding="utf-8") == done.out
    assert command("history", "export", "--openmetrics", "latest").code == 64
