"""The shipped templates, against servers that accept exactly the requests of the published APIs."""

from __future__ import annotations

import copy
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from rankgauge import evaluate
from rankgauge.config.config_file import load_retriever_section
from rankgauge.config.servers import HttpSection, load_template, template_names
from rankgauge.retrieval.embedders.hashed import HashedWords
from rankgauge.retrieval.engines.callables import CallableRetriever
from rankgauge.retrieval.engines.http import HttpEngine
from rankgauge.retrieval.engines.http_client import HttpFailure
from rankgauge.retrieval.retriever import QueryBatch
from tests.needs import ROOT, require
from tests.retrieval.engines.api_shapes import BODIES, Ranked, SearchServer, search_answer
from tests.retrieval.engines.loopback import Reply, Request, serving

pytest.importorskip("httpx")

BOOKS = {"1": "bread and yeast", "2": "boiling soup", "3": "soup with bread", "4": "garden paths"}
TEMPLATES = pytest.mark.parametrize("template", template_names())
PAGE = ROOT / "docs" / "guides" / "http.md"
HAS_VECTOR = ("knn", "hybrid", "rrf")


def section(template: str, **settings: Any) -> dict[str, Any]:
    """A section with every setting that the template requires."""
    given = {"index": "books", "collection": "books", "pipeline": "half", "sparse": "words", "vector": "vec"}
    known = load_template(template).settings
    values = {name: value for name, value in given.items() if name in known} | settings
    model = {"embedder": "hashed"} if template.endswith(HAS_VECTOR) else {}
    return {"template": template, "settings": values, **model}


def rank(vectors: list[Any], texts: list[str], k: int) -> Ranked:
    """Books by the words that they share with the texts, plus their cosine with the vectors."""
    model, scores = HashedWords(), dict.fromkeys(BOOKS, 0.0)
    for name, book in BOOKS.items():
        vector = model.embed([b""], [book], "document")[0]
        for given in vectors:
            scores[name] += float(vector @ given / np.linalg.norm(vector) / np.linalg.norm(given))
        scores[name] += sum(len(set(book.split()) & set(text.split())) for text in texts)
    return sorted(((name, score) for name, score in scores.items() if score > 0), key=lambda pair: -pair[1])[:k]


@TEMPLATES
def test_a_template_sends_what_the_api_accepts_and_reads_what_it_returns(template: str) -> None:
    with serving(SearchServer(template, rank)) as address:
        engine = HttpEngine(section(template, url=f"{address}/"))
        results = engine.search("bread soup", 2)
        run = CallableRetriever(engine, name=engine.name).retrieve(QueryBatch.from_dict({"q": "bread soup"}), 4)
        assert engine.search("zebra", 2) == []
    vector = HashedWords().embed([b""], ["bread soup"], "query")[0].tolist()
    vectors, texts = [vector] if template.endswith(HAS_VECTOR) else [], [] if "knn" in template else ["bread soup"]
    assert results == rank(vectors, texts, 2)
    assert results[0][0] == "3"
    assert (run.name, evaluate({"q": {"3": 1}}, run, "RR")["RR"]) == (template, 1.0)


@TEMPLATES
def test_the_id_may_be_a_field_of_the_document(template: str) -> None:
    fields = {"payload": ["isbn"], "id": "payload.isbn"}
    if not template.startswith("qdrant"):
        fields = {"source": ["isbn"], "id": "_source.isbn"}
    with serving(SearchServer(template, rank)) as address:
        results = HttpEngine(section(template, url=address, **fields)).search("bread soup", 1)
    assert results[0][0] == "isbn-3"


def renamed_keys(value: Any) -> Iterator[Any]:
    """Every JSON value that differs by the name of one key."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield {(f"x{name}" if name == key else name): other for name, other in value.items()}
            yield from ({**value, key: changed} for changed in renamed_keys(inner))
    elif isinstance(value, list):
        for row, inner in enumerate(value):
            yield from ([*value[:row], changed, *value[row + 1 :]] for changed in renamed_keys(inner))


@TEMPLATES
def test_the_servers_of_these_tests_refuse_every_other_key(template: str) -> None:
    bodies: list[Any] = []

    def answer(request: Request) -> Reply:
        bodies.append(request.body)
        return SearchServer(template, rank)(request)

    optional = {"candidates": 50, "ef": 64, "window": 20, "rank_constant": 10}
    known = load_template(template).settings
    with serving(answer) as address:
        HttpEngine(section(template, url=address, **{n: v for n, v in optional.items() if n in known})).search(
            "bread", 1
        )
    jsonschema.validate(bodies[0], BODIES[template])
    changes = list(renamed_keys(bodies[0]))
    assert len(changes) >= 4
    for changed in changes:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(changed, BODIES[template])


@pytest.mark.parametrize("template", [name for name in template_names() if not name.startswith("qdrant")])
def test_a_partial_answer_is_a_failure(template: str) -> None:
    good = search_answer([("1", 1.0)], {"_source": False})
    for change, message in (({"timed_out": True}, "timed_out is true"), ({"_shards": {"failed": 2}}, "_shards.failed")):
        with (
            serving(lambda request, change=change: Reply(copy.deepcopy(good) | change)) as address,  # type: ignore[misc]  # a default that binds the loop's value
            pytest.raises(HttpFailure, match=message),
        ):
            HttpEngine(section(template, url=address)).search("bread", 1)


@TEMPLATES
def test_a_setting_is_text_and_never_a_placeholder(template: str) -> None:
    name = "collection" if template.startswith("qdrant") else "index"
    engine = HttpEngine(section(template, **{name: "a{k}b"}))
    assert "a{{k}}b" in (engine.section.url or "")
    assert engine._fill_url({"query": "x", "k": 7, "vector": [1.0]}, {}).count("a{k}b") == 1


@TEMPLATES
def test_every_setting_is_described_and_used(template: str) -> None:
    definition = load_template(template)
    text = str(definition.http)
    for name, setting in definition.settings.items():
        assert f"<{name}>" in text
        assert setting.meaning[-1] != "."
    names = [f"**`{name}`**" if setting.required else f"`{name}`" for name, setting in definition.settings.items()]
    assert f"\n| `{template}` | {definition.summary} | {', '.join(names)} |\n" in PAGE.read_text(encoding="utf-8")


def test_the_guide_has_every_key_and_its_examples_are_valid(tmp_path: Path) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, field in HttpSection.model_fields.items():
        assert re.search(rf"^\| `{name}` \| .+ \| {re.escape(field.description or '?')} \|$", page, re.MULTILINE), name
    examples = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(examples) == 3
    for text in examples:
        (tmp_path / "http.yaml").write_text(text)
        assert load_retriever_section(tmp_path / "http.yaml").http is not None


@pytest.mark.slow
def test_qdrants_own_models_accept_the_requests_and_its_local_mode_gives_the_ranking(tmp_path: Path) -> None:
    python = ROOT / ".venv-libraries" / "bin" / "python"
    require("libraries", python.exists(), remedy="`make test-deps` installs Qdrant's client and others")
    worker = Path(__file__).with_name("qdrant_worker.py")
    done = subprocess.run(
        [str(python), str(worker)],
        cwd=ROOT,
        env={"PYTHONPATH": f"{ROOT}/src:{ROOT}", "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3 templates, 20 queries, the same rankings\n"
