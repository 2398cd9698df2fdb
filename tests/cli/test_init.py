"""``rankgauge init``: what it finds, and that what it writes runs as it is."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
import yaml

from rankgauge.benchmark.plan import SHIPPED
from rankgauge.cli.starter_files import content_of, default_install
from rankgauge.config.config_file import load_config
from tests.warm_process import WarmProcess

Command = Callable[..., Any]
GITHUB, GITLAB = Path(".github/workflows/retrieval.yml"), Path(".gitlab-ci.yml")


@pytest.fixture(autouse=True)
def in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")


def copy(name: str, target: str | None = None) -> None:
    """A file of the bundled collection; judgments and runs with a line more, so that they are the user's."""
    path = Path(target or name)
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SHIPPED / name, path)
    if path.suffix != ".jsonl":
        first = path.read_text(encoding="utf-8").splitlines()[0]
        is_run = len(first.split()) == 6
        with path.open("a", encoding="utf-8") as file:
            file.write("q01 Q0 mine 999 -999 x\n" if is_run else "q01 0 mine 0\n")


def write_collection() -> None:
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.trec"):
        copy(name)


def write_documents() -> None:
    Path("notes").mkdir()
    for line in (SHIPPED / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[:40]:
        document = json.loads(line)
        Path("notes", f"{document['_id']}.md").write_text(f"# {document['title']}\n\n{document['text']}\n")
    Path("README.md").write_text("# A project\n")  # not a document


def write_cases() -> None:
    cases = [{"query": "how to patch an inner tube", "relevant_ids": ["kb-004.md"], "category": "how-to"}]
    Path("cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def write_cases_and_documents() -> None:
    write_documents()
    write_cases()


def write_runs() -> None:
    copy("qrels.trec", "qrels.txt")
    copy("runs/lexical.trec", "old.run")
    copy("runs/vector.trec", "runs/new")


def write_queries_and_judgments() -> None:
    copy("queries.jsonl")
    copy("qrels.trec")


def write_beir_folder() -> None:
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.trec"):
        copy(name, f"collection/{name}")


SITUATIONS: dict[str, tuple[Callable[[], None], str, str]] = {  # what is there, what is found, the next command
    "collection": (
        write_collection,
        "documents in corpus.jsonl; queries in queries.jsonl; judgments in qrels.trec",
        "b",
    ),
    "folder": (write_beir_folder, "documents in collection/corpus.jsonl; queries in collection/queries.jsonl", "b"),
    "documents": (write_documents, "found documents in notes (40 files)\n", "b"),
    "cases": (write_cases, "found test cases in cases.jsonl\n", "replace the body of search()"),
    "cases and documents": (write_cases_and_documents, "notes (40 files); test cases in cases.jsonl\n", "b"),
    "runs": (write_runs, "2 runs: old.run, runs/new", "rankgauge compare qrels.txt old.run runs/new"),
    "queries and judgments": (write_queries_and_judgments, "queries in queries.jsonl; judgments", "replace the body"),
    "nothing": (lambda: None, "found nothing to evaluate in this folder\n", "b"),
}
BENCHMARK = "rankgauge benchmark run rankgauge.yaml"


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_is_found_is_configured(situation: str, command: Command) -> None:
    prepare, found, following = SITUATIONS[situation]
    prepare()
    done = command("init")
    assert done.code == 0, done.err
    assert found in done.err
    assert f"next: {BENCHMARK if following == 'b' else following}" in done.err
    assert load_config("rankgauge.yaml").gate.require


# -- the gate of a project ---------------------------------------------------------------------------------------------

SEARCH = "def search(query, k=10):\n    return ['kb-004', 'kb-001'] if 'tube' in query else []\n"


def write_search(name: str = "search.py", text: str = SEARCH) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def golden_cases(count: int, *, forbidden: bool = False) -> list[dict[str, Any]]:
    guard = {"forbidden_ids": ["secret"]} if forbidden else {}
    return [{"id": f"q{n}", "question": f"patch tube {n}", "relevant_ids": ["kb-004"], **guard} for n in range(count)]


def write_golden(name: str = "golden.jsonl", count: int = 3, *, forbidden: bool = False) -> None:
    cases = golden_cases(count, forbidden=forbidden)
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    match path.suffix:
        case ".jsonl":
            path.write_text("".join(json.dumps(case) + "\n" for case in cases))
        case ".json":
            path.write_text(json.dumps({"version": 1, "cases": cases}))
        case ".yaml" | ".yml":
            path.write_text(yaml.safe_dump(cases))
        case _:
            rows = [",".join(value if isinstance(value, str) else value[0] for value in row.values()) for row in cases]
            path.write_text("\n".join([",".join(cases[0]), *rows]) + "\n")


def write_log(name: str = "results.jsonl", count: int = 1, retrieved: str = "kb-004") -> None:
    rows = [{"query": f"tube {n}", "retrieved": [retrieved, "kb-001"], "relevant": ["kb-004"]} for n in range(count)]
    Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_eval_folder() -> None:
    write_golden("evals/eval_set.json")
    write_search("app/retriever.py", "def retrieve(question):\n    return ['kb-004']\n")


def write_golden_and_search() -> None:
    write_golden()
    write_search()


def write_table_and_search() -> None:
    write_golden("golden.csv")
    write_search()


def write_collection_and_search() -> None:
    write_collection()
    write_search()


def write_yaml_and_package() -> None:
    write_golden("tests/golden.yaml")
    write_search("shop/finding.py", "from .words import known\n\n\ndef find_pages(q):\n    return known(q)\n")
    write_search("shop/words.py", "def known(q):\n    return ['kb-004']\n")
    write_search("shop/__init__.py", "")


def write_golden_and_run() -> None:
    write_golden()
    Path("runs").mkdir()
    Path("runs/old.trec").write_text("".join(f"q{n} Q0 kb-004 1 1 x\n" for n in range(3)))
    write_search()


def write_log_and_search() -> None:
    write_log()
    write_search()


def write_golden_and_results() -> None:
    write_golden()
    rows = [{"id": case["id"], "retrieved": ["kb-004"]} for case in golden_cases(3)]
    Path("results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_texts_and_search() -> None:
    Path("golden.yaml").write_text(yaml.safe_dump([{"question": "flat tube", "must_contain": ["a patch"]}]))
    write_search(text="def search(query):\n    return [{'id': 'kb-004', 'text': 'Glue a patch on it.'}]\n")


def write_quotes_and_search() -> None:
    Path("golden.jsonl").write_text(json.dumps({"query": "flat tube", "gold": ["Glue a patch on it."]}) + "\n")
    write_search(text="def search(query):\n    return [{'id': 'kb-004', 'text': 'Glue a patch on it.'}]\n")


PROJECTS: dict[str, tuple[Callable[[], None], list[str]]] = {  # what is there, and what the workflow gates
    "yaml and a package": (write_yaml_and_package, ["tests/golden.yaml", "shop.finding:find_pages"]),
    "a search before an old run": (write_golden_and_run, ["golden.jsonl", "./search.py:search"]),
    "a search before a log": (write_log_and_search, ["results.jsonl", "./search.py:search"]),
    "results without labels": (write_golden_and_results, ["golden.jsonl", "results.jsonl"]),
    "texts": (write_texts_and_search, ["golden.yaml", "./search.py:search", "--match", "text"]),
    "quotes": (write_quotes_and_search, ["golden.jsonl", "./search.py:search"]),
    "golden": (write_golden_and_search, ["golden.jsonl", "./search.py:search"]),
    "eval folder": (write_eval_folder, ["evals/eval_set.json", "./app/retriever.py:retrieve"]),
    "csv": (write_table_and_search, ["golden.csv", "./search.py:search"]),
    "log": (write_log, ["results.jsonl"]),
    "runs": (write_runs, ["qrels.txt", "runs/new"]),
    "collection": (write_collection_and_search, ["qrels.trec", "./search.py:search", "--queries", "queries.jsonl"]),
}


@pytest.mark.parametrize("project", PROJECTS)
def test_the_workflow_gates_the_test_set_and_the_search_of_the_project(project: str, command: Command) -> None:
    prepare, gated = PROJECTS[project]
    prepare()
    done = command("init", "--ci", "github", "--install", "rankgauge.whl")
    assert done.code == 0, done.err
    gate, *_ = commands_of_github()
    assert gate[1 : 1 + len(gated)] == gated
    config = load_config("rankgauge.yaml").gate
    if project in ("runs", "collection"):
        assert (config.require, config.require_each) == (["nDCG@10 >= 0.01"], None)
    else:  # fewer than ten queries
        each = "EvidenceAll@10 >= 1" if project == "quotes" else "Success@10 >= 1"
        assert (config.require, config.require_each) == (None, [each])
    outcome = command(*gate)
    if project == "collection":  # whose other queries this search does not answer
        assert outcome.code == 1
        return
    assert outcome.code == 0, outcome.err
    assert "pass" in Path("summary.md").read_text(encoding="utf-8")
    keep_baseline()
    again = command(*gate, "--baseline", next(Path().glob("baseline*")))
    assert again.code == 0, again.err


def commit(message: str) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", message], check=True)


WORSE = "def search(query, k=10):\n    return ['kb-001', 'kb-002'] if '1' in query else ['kb-001', 'kb-004']\n"


@pytest.mark.parametrize(
    ("name", "count", "ci"),
    [
        *((f"golden{suffix}", 3, "github") for suffix in (".jsonl", ".json", ".yaml", ".yml", ".csv")),
        ("golden.yaml", 12, "github"),
        ("evals/eval_set.csv", 12, "gitlab"),
        ("golden.yaml", 3, "gitlab"),
        ("results.jsonl", 3, "github"),
        ("results.jsonl", 12, "gitlab"),
    ],
)
def test_the_gate_is_green_until_the_search_gets_worse(name: str, count: int, ci: str, command: Command) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], check=True)
    is_log = name.startswith("results")
    if is_log:
        write_log(name, count)
    else:
        write_golden(name, count)
        write_search()
    assert command("init", "--ci", ci, "--install", "rankgauge.whl").code == 0
    commit("first")
    push, pull = gates_of_github() if ci == "github" else gates_of_gitlab()
    assert command(*push).code == 0
    keep = GITHUB if ci == "github" else GITLAB
    copied = re.search(r"\bcp (\S+) ([^\s;]+)", keep.read_text(encoding="utf-8"))
    assert copied is not None
    shutil.copy(*copied.groups())
    commit("second")
    same = command(*pull)
    assert same.code == 0, same.err
    assert "Retrieval gate: pass" in Path("summary.md").read_text(encoding="utf-8")
    if is_log:
        write_log(name, count, retrieved="kb-002")
    else:
        write_search(text=WORSE)
    worse = command(*pull)
    assert worse.code == 1, worse.out
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert "Retrieval gate: fail" in summary
    assert re.search(rf"^- +[−0-9.]+  {'tube 1' if is_log else 'q1'}\b", summary, re.MULTILINE)


@pytest.mark.parametrize("name", ["golden.jsonl", "golden.yaml", "golden.csv"])
@pytest.mark.parametrize("count", [3, 12])
def test_a_forbidden_document_makes_the_gate_red(name: str, count: int, command: Command) -> None:
    write_golden(name, count, forbidden=True)
    write_search()
    done = command("init", "--ci", "github", "--install", "rankgauge.whl")
    assert "no forbidden document may be returned" in done.err
    assert load_config("rankgauge.yaml").gate.no_leaks is True
    gate, *_ = commands_of_github("pull_request", baseline="")
    assert command(*gate).code == 0
    write_search(text="def search(query, k=10):\n    return ['kb-004', 'secret']\n")
    leaking = command(*gate)
    assert leaking.code == 1
    assert "secret at rank 2 for q0" in leaking.out


def test_no_leaks_is_added_to_a_configuration_that_does_not_require_it(command: Command) -> None:
    write_golden(forbidden=True)
    write_search()
    for text, expected in (
        ("gate: {require: ['RR >= 0.5']}\n", ["--no-leaks"]),
        ("gate: {require: ['RR >= 0.5'], no_leaks: true}\n", []),
        ("gate: {require: ['Leak@5 <= 0']}\n", []),
        ("measures: {rel: 1}\n", ["--require-each", "Success@10 >= 1", "--no-leaks"]),
    ):
        Path("rankgauge.yaml").write_text(text)
        GITHUB.unlink(missing_ok=True)
        assert command("init", "--ci", "github").code == 0
        gate, *_ = commands_of_github("pull_request", baseline="")
        assert gate[3 : gate.index("-o")] == expected


@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_a_file_of_results_is_said_to_need_a_step_that_writes_it(ci: str, command: Command) -> None:
    write_log()
    done = command("init", "--ci", ci)
    assert "results.jsonl is gated as it is: add a step before the gate that writes it" in done.err
    path = GITHUB if ci == "github" else GITLAB
    assert "# Write results.jsonl with your search here: it is gated as it is.\n" in path.read_text(encoding="utf-8")
    Path("rankgauge.yaml").unlink()
    path.unlink()
    write_search()
    assert "gated as it is" not in command("init", "--ci", ci).err
    assert "gated as it is" not in path.read_text(encoding="utf-8")


def write_bundled() -> None:
    for path in (SHIPPED / "qrels.trec", *(SHIPPED / "runs").iterdir()):
        shutil.copy(path, path.name)


def write_bundled_runs() -> None:
    write_bundled()
    write_golden()


def write_search_and_example() -> None:
    for name in ("corpus.jsonl", "queries.jsonl"):
        copy(name, f"example/{name}")
    shutil.copy(SHIPPED / "qrels.trec", "example/qrels.trec")
    write_search()


def write_search_and_titles() -> None:
    write_documents()
    write_search()


ASKED: dict[str, tuple[Callable[[], None], str, str]] = {  # what is there, and what is asked for
    "no search": (write_golden, "found golden.jsonl", "name your search: --search ./search.py:search"),
    "no test set": (write_search, "found ./search.py:search", "name a test set: --labels FILE"),
    "documents": (write_documents, "found no test set and no search", "name a test set: --labels FILE"),
    "a collection": (write_collection, "found qrels.trec", "name your search: --search"),
    "nothing": (lambda: None, "found no test set and no search", "name a test set: --labels FILE"),
    "only the starter": (lambda: None, "found no test set", "name a test set"),
    "our runs": (write_bundled, "found no test set and no search", "name a test set"),
    "our runs on my labels": (write_bundled_runs, "found golden.jsonl", "name your search"),
    "a search and our example": (write_search_and_example, "found ./search.py:search", "name a test set"),
    "a search and titles": (write_search_and_titles, "found ./search.py:search", "name a test set"),
}


@pytest.mark.parametrize("situation", ASKED)
def test_what_cannot_be_found_is_asked_for_and_nothing_is_written(situation: str, command: Command) -> None:
    prepare, found, asked = ASKED[situation]
    prepare()
    if situation == "a search and titles":  # which init made to be replaced
        assert command("init").code == 0
        refused = command("init", "--ci", "github")
        assert refused.code == 2
        assert asked in refused.err
        Path("rankgauge.yaml").unlink()
        Path("cases.jsonl").unlink()
    if situation == "only the starter":
        write_cases()
        assert command("init").code == 0
        Path("rankgauge.yaml").unlink()
        Path("cases.jsonl").unlink()
        Path("cases-with-ids.jsonl").unlink()
    done = command("init", "--ci", "github")
    assert done.code == 2
    assert f"a workflow gates your search on your test set: {found}" in done.err
    assert asked in done.err
    assert not GITHUB.exists()
    assert not Path("rankgauge.yaml").exists()


def test_what_is_named_is_gated(command: Command) -> None:
    write_golden("my-set.jsonl", 12)
    write_search("code.py", "def find_it(words):\n    return ['kb-004']\n")
    arguments = ("--search", "./code.py:find_it", "--labels", "my-set.jsonl", "--install", "rankgauge.whl")
    assert command("init", "--ci", "github", *arguments).code == 0
    gate, *_ = commands_of_github()
    assert gate[1:3] == ["my-set.jsonl", "./code.py:find_it"]
    assert load_config("rankgauge.yaml").gate.require == ["nDCG@10 >= 0.01"]
    assert command(*gate).code == 0
    assert command("init", "--search", "./code.py:find_it").code == 64


@pytest.mark.parametrize(
    ("search", "code", "message"),
    [
        ("lexical", 64, "--search 'lexical' is not a search of yours"),  # a mode of ours
        ("hybrid", 64, "--search 'hybrid' is not a search of yours"),
        ("./nowhere.py:search", 2, "--search './nowhere.py:search': file not found"),
        ("nowhere.yaml", 2, "--search 'nowhere.yaml': file not found"),
        ("package.module:search", 0, ""),  # which CI installs
        ("code.py:find_it", 0, ""),
        ("results.jsonl", 0, ""),
    ],
)
def test_a_search_that_is_named_must_be_the_users(search: str, code: int, message: str, command: Command) -> None:
    write_golden()
    write_search("code.py", "def find_it(words):\n    return ['kb-004']\n")
    write_log()
    done = command("init", "--ci", "github", "--search", search, "--install", "rankgauge.whl")
    assert done.code == code, done.err
    assert message in done.err
    assert GITHUB.exists() == (code == 0)


def test_the_project_is_installed_if_it_can_be(command: Command) -> None:
    write_golden()
    write_search()
    Path("requirements.txt").write_text("numpy\n")
    Path("pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert command("init", "--ci", "github").code == 0
    assert command("init", "--ci", "gitlab").code == 0
    for path in (GITHUB, GITLAB):
        text = path.read_text(encoding="utf-8")
        assert "pip install -r requirements.txt\n" in text
        assert "pip install .\n" in text


def keep_baseline() -> None:
    """The step of the workflow that runs after a gate that passed."""
    steps = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))["jobs"]["gate"]["steps"]
    keep = next(step["run"] for step in steps if step.get("name") == "Keep the baseline")
    subprocess.run(["sh", "-ec", keep], check=True)


def baseline_of(text: str) -> str:
    """The file of the baseline that a workflow names."""
    found = re.search(r"--baseline (baseline[.\w]*)", text)
    assert found is not None
    return f"--baseline {found[1]}"


def commands_of_github(event: str = "push", *, baseline: str | None = None) -> list[list[str]]:
    """The commands of the workflow on a first push, or on a pull request."""
    text = GITHUB.read_text(encoding="utf-8")
    steps = yaml.safe_load(text)["jobs"]["gate"]["steps"]
    lines = [step["run"] for step in steps if step.get("run", "").startswith("rankgauge ")]
    compared = "" if event == "push" else baseline_of(text) if baseline is None else baseline
    return [shlex.split(line.replace("$COMPARED", compared))[1:] for line in lines]


def gates_of_github() -> tuple[list[str], list[str]]:
    """The gate of the first push, and of a pull request after it."""
    return commands_of_github("push")[0], commands_of_github("pull_request")[0]


def gates_of_gitlab() -> tuple[list[str], list[str]]:
    text = GITLAB.read_text(encoding="utf-8")
    jobs = yaml.safe_load(text)
    lines = [
        next(line for line in jobs[job]["script"] if line.startswith("rankgauge gate "))
        for job in ("retrieval baseline", "retrieval quality")
    ]
    first, later = (line.partition(" > ")[0] for line in lines)
    return (
        shlex.split(first.replace("$COMPARED", ""))[1:],
        shlex.split(later.replace("$COMPARED", baseline_of(text)))[1:],
    )


def test_the_code_of_a_pull_request_gets_no_token_and_no_secret(command: Command) -> None:
    write_golden()
    write_search()
    command("init", "--ci", "github")
    command("init", "--ci", "gitlab")
    text = GITHUB.read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert set(workflow[True]) == {"pull_request", "push"}  # YAML reads "on" as true
    steps = workflow["jobs"]["gate"]["steps"]
    assert steps[0]["with"] == {"persist-credentials": False}
    secret = [step for step in steps if "secrets." in str(step) or "github.token" in str(step)]
    assert [step["name"] for step in secret] == ["Post"]
    assert not any("rankgauge gate" in step["run"] or "pip" in step["run"] for step in secret)
    script = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))["retrieval quality"]["script"]
    assert script[0] == "unset GITLAB_TOKEN"


def test_a_gate_of_files_runs_no_code(command: Command) -> None:
    write_log()
    assert command("init", "--ci", "github").code == 0
    gate, *_ = commands_of_github()
    assert "--no-code" in gate
    write_search()
    assert command("init", "--ci", "github", "--force").code == 0
    gate, *_ = commands_of_github()
    assert "--no-code" not in gate


@pytest.mark.slow
def test_the_scripts_of_gitlab_run(command: Command, warm_rankgauge: WarmProcess) -> None:
    write_runs()
    assert command("init", "--ci", "gitlab", "--install", "rankgauge.whl").code == 0
    jobs = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))
    for name in ("retrieval quality", "retrieval baseline", "retrieval quality"):
        lines = [line for line in jobs[name]["script"] if not line.startswith("git ")]
        variables = {**warm_rankgauge.on_path(), "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}
        done = subprocess.run(
            ["bash", "-ec", "\n".join(lines)], env=variables, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("situation", ["cases", "documents"])
@pytest.mark.slow
def test_the_next_command_runs(situation: str, command: Command) -> None:
    SITUATIONS[situation][0]()
    assert command("init").code == 0
    done = command(*BENCHMARK.split()[1:], "--latency", 0)
    assert done.code == 0, done.err


def test_queries_without_judgments_lead_to_a_pool(command: Command) -> None:
    copy("corpus.jsonl")
    copy("queries.jsonl")
    done = command("init")
    assert done.code == 0
    steps = [line.partition(": ")[2] for line in done.err.splitlines() if line.startswith(("next: ", "then: "))]
    assert [step.split()[1] for step in steps] == ["runs", "runs", "pool", "judge", "evaluate"]
    for step in steps[:3]:
        assert command(*step.split()[1:]).code == 0


def test_files_that_exist_are_kept(command: Command) -> None:
    write_cases()
    Path("search.py").write_text("def search(query):\n    return ['kb-004.md']\n")
    assert command("init").code == 0
    assert "kb-004.md" in Path("search.py").read_text()
    before = Path("rankgauge.yaml").read_bytes()
    refused = command("init")
    assert (refused.code, refused.err.splitlines()[0]) == (2, "error: rankgauge.yaml already exists")
    assert Path("rankgauge.yaml").read_bytes() == before
    assert command("init", "--force").code == 0


def test_a_workflow_is_added_to_an_existing_configuration(command: Command) -> None:
    write_golden()
    ours = "collection: {qrels: golden.jsonl}\nretrievers: {bm25: {mode: lexical}}\n"
    Path("rankgauge.yaml").write_text(ours)
    refused = command("init", "--ci", "github")
    assert refused.code == 2
    assert "name your search" in refused.err
    Path("rankgauge.yaml").write_text(ours.replace("lexical", "'./mine.py:find'"))
    before = Path("rankgauge.yaml").read_bytes()
    assert command("init", "--ci", "github").code == 0
    assert Path("rankgauge.yaml").read_bytes() == before
    (gate,) = commands_of_github()
    assert gate[:5] == ["gate", "golden.jsonl", "./mine.py:find", "--require-each", "Success@10 >= 1"]


def test_test_cases_with_ids_are_used_as_they_are(command: Command) -> None:
    Path("cases.jsonl").write_text(json.dumps({"id": "q1", "query": "a tube", "relevant_ids": ["kb-004"]}) + "\n")
    assert command("init").code == 0
    collection = load_config("rankgauge.yaml").collection
    assert (collection.queries, collection.qrels) == ("cases.jsonl", "cases.jsonl")
    write_cases()
    assert command("init", "--force").code == 0
    assert load_config("rankgauge.yaml").collection.qrels == "cases-with-ids.jsonl"
    (case,) = map(json.loads, Path("cases-with-ids.jsonl").read_text(encoding="utf-8").splitlines())
    assert (case["id"], case["category"]) == ("c1", "how-to")


def test_names_with_blanks_are_quoted(command: Command) -> None:
    copy("qrels.trec")
    copy("runs/lexical.trec", "my run.trec")
    assert command("init", "--ci", "github").code == 0
    assert "rankgauge gate qrels.trec 'my run.trec' --no-code --config" in GITHUB.read_text(encoding="utf-8")
    assert load_config("rankgauge.yaml").gate.require


def test_documents_beside_the_configuration_are_mentioned(command: Command) -> None:
    Path("README.md").write_text("# A project\n", encoding="utf-8")
    assert "note:" not in command("init").err
    Path("guide.md").write_text("# A guide\n", encoding="utf-8")
    for name in ("corpus.jsonl", "queries.jsonl", "qrels.trec"):
        (Path("example") / name).unlink()
    assert "note: guide.md is not used: move documents into a folder of their own" in command("init", "--force").err


def test_judgments_are_not_taken_for_a_run() -> None:
    copy("qrels.trec", "judgments.trec")
    copy("runs/lexical.trec", "lexical.trec")
    assert content_of(Path()).runs == ("lexical.trec",)


ORIGINS = {
    None: "rankgauge[http]",
    '{"url": "https://host/p.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}': (
        "rankgauge[http] @ git+https://host/p.git@abc"
    ),
    '{"url": "https://me:secret@host/rankgauge.whl", "archive_info": {}}': "rankgauge[http] @ https://host/rankgauge.whl",
    '{"url": "file:///home/me/rankgauge", "dir_info": {}}': "rankgauge[http]",
}


@pytest.mark.parametrize("origin", ORIGINS)
def test_rankgauge_is_installed_from_where_it_came(origin: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = type(distribution("rankgauge"))
    monkeypatch.setattr(kind, "read_text", lambda self, name: origin if name == "direct_url.json" else None)
    install = default_install("[http]")
    assert install.requirement == ORIGINS[origin]
    is_local = origin is not None and "file:" in origin
    assert install.is_reachable != is_local
    assert install.comment.startswith("CHANGE THIS") == is_local


def test_the_workflow_installs_what_is_given(command: Command) -> None:
    write_runs()
    wheel = "wheels/rankgauge-1.0-py3-none-any.whl"
    assert command("init", "--ci", "github", "--install", wheel).code == 0
    assert re.search(f'^ +- run: pip install "{wheel}"$', GITHUB.read_text(encoding="utf-8"), re.MULTILINE)
    assert command("init", "--ci", "github", "--force", "--install", 'a"; rm -r b').code == 64
    assert command("init", "--install", wheel).code == 64


def test_only_what_passed_on_main_becomes_the_baseline(command: Command) -> None:
    write_runs()
    command("init", "--ci", "github")
    command("init", "--ci", "gitlab")
    steps = yaml.safe_load(GITHUB.read_text(encoding="utf-8"))["jobs"]["gate"]["steps"]
    restore, save = (step for step in steps if step.get("uses", "").startswith("actions/cache/"))
    assert [step["uses"].partition("@")[0] for step in (restore, save)] == [
        "actions/cache/restore",
        "actions/cache/save",
    ]
    assert restore["with"]["path"] == save["with"]["path"]
    assert restore["with"]["key"] == save["with"]["key"]
    assert restore["with"]["key"].startswith(restore["with"]["restore-keys"])
    names = [step.get("name") for step in steps]
    keep = steps[names.index("Keep the baseline")]
    assert names.index("Gate") < names.index("Keep the baseline") < names.index("Save the baseline")
    assert keep["if"] == save["if"] == "github.event_name == 'push'"  # without always() or cancelled(): after a pass
    assert keep["run"].endswith(f" {restore['with']['path']}; fi")
    Path("summary.md").write_text("### Retrieval gate: undecided\n")
    keep_baseline()
    assert not Path(restore["with"]["path"]).exists()
    Path("summary.md").write_text("### Retrieval gate: pass\n")
    keep_baseline()
    assert Path(restore["with"]["path"]).exists()
    (gate,) = (step for step in steps if step.get("name") == "Gate")
    assert "continue-on-error" not in gate
    jobs = yaml.safe_load(GITLAB.read_text(encoding="utf-8"))
    assert jobs["retrieval quality"]["cache"] == {"policy": "pull"}
    own = jobs["retrieval baseline"]
    assert own["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    assert own["script"][-1] == keep["run"]
    assert not any("||" in line for line in own["script"])
