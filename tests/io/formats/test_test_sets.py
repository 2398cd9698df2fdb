"""Test sets as people write them are read correctly or refused with the option that helps, never scored wrongly."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import InputError, RankgaugeWarning, evaluate, read_qrels, read_queries
from rankgauge.errors import UsageError
from rankgauge.io import Reading
from rankgauge.io.results import Opening, open_inputs
from rankgauge.rag import evaluate_retriever
from rankgauge.rag.cases import read_cases

Labels = dict[str, list[str]]
A, B = "how do I reset it?", "when is it sent?"
ONE: Labels = {A: ["d1"], B: ["d2"]}
TWO: Labels = {A: ["d1", "d3"], B: ["d2"]}


def text_of(value: Any, name: str) -> str:
    """The content of a file, by the suffix of its name."""
    if isinstance(value, str):
        return value
    if name.endswith(".jsonl"):
        return "".join(json.dumps(row) + "\n" for row in value)
    return json.dumps(value, indent=2)


def cases(key: str, labels: Labels = ONE, *, one: bool = False, text: str = "question", **more: Any) -> list[Any]:
    """Cases with their documents under a key, as a list or as one string."""
    return [{text: query, key: docs[0] if one else docs, **more} for query, docs in labels.items()]


# Name, content, columns that the user names, what is to be asked and found.
READ: list[tuple[str, Any, dict[str, str], Labels]] = [
    # Containers
    ("list.json", cases("relevant"), {}, ONE),
    ("lines.jsonl", cases("relevant"), {}, ONE),
    ("one-line.json", json.dumps(cases("relevant")), {}, ONE),
    ("questions.json", {"version": 1, "questions": cases("relevant_ids")}, {}, ONE),
    ("queries.json", {"description": "x", "k": 5, "queries": cases("relevant_ids")}, {}, ONE),
    ("items.json", {"items": cases("expected_sources"), "floors": {"smoke": 0.8}}, {}, ONE),
    ("judgments.json", {"metadata": {"a": {"b": [1]}}, "judgments": cases("relevant_docs")}, {}, ONE),
    ("examples.json", {"examples": cases("gold"), "defaults": {"top_k": 5}}, {}, ONE),
    ("results.json", {"results": cases("relevant")}, {}, ONE),
    ("data.json", {"data": {"queries": cases("relevant")}, "version": "2"}, {}, ONE),
    ("documents.json", {"documents": [{"id": "d1", "text": "x"}], "queries": cases("relevant")}, {}, ONE),
    ("comment.json", [{"_comment": "labeled by hand"}, *cases("relevant")], {}, ONE),
    ("sections.json", [{"_section": "billing"}, cases("relevant")[0], {"_section": "login"}, cases("relevant")[1]], {},
     ONE),
    ("comments.jsonl", "// ours\n# by hand\n\n" + "\n// next\n".join(map(json.dumps, cases("gold"))), {}, ONE),
    ("comments.json", f"// ours\n{json.dumps({'cases': cases('relevant')}, indent=1)}\n# end\n", {}, ONE),
    ("by-id.json", {"q1": cases("relevant")[0], "q2": cases("relevant")[1]}, {}, ONE),
    ("columns.json", {"question": [A, B], "relevant_ids": [["d1"], ["d2"]]}, {}, ONE),
    ("llama.json", {"queries": {"1": A, "2": B}, "corpus": {"d1": "x"}, "relevant_docs": {"1": ["d1"], "2": ["d2"]}},
     {}, ONE),
    ("cases.json#smoke", {"smoke": cases("relevant"), "full": cases("relevant", {"x?": ["d9"]})}, {}, ONE),
    ("cases.json#suites[*].cases", {"suites": [{"name": n, "cases": [case]} for n, case in
                                               zip("ab", cases("relevant"), strict=True)]}, {}, ONE),
    ("cases.json#[*].qa", [{"doc": "x", "qa": cases("relevant")}], {}, ONE),
    ("corpus.json#queries", {"documents": [{"id": "x", "chunks": [{"id": "d1", "text": "x"}]}],
                             "queries": cases("expect", text="text")}, {}, ONE),
    ("weak.json#queries", {"documents": [{"name": "x"}], "queries": cases("expect", one=True, text="text")},
     {"relevant": "expect"}, ONE),
    ("by-query.json#a/b", {"a/b": cases("files", text="issue"), "c": []}, {"query": "issue", "relevant": "files"}, ONE),
    ("cases.yaml", f"# ours\nv: 1\ncases:\n  - q: {A}\n    expect_path: d1\n  - q: {B}\n    expect_path: d2\n", {},
     ONE),
    ("list.yml", f"- query: {A}\n  expected_files: [d1]\n- query: {B}\n  expected_files:\n    - d2\n", {}, ONE),
    ("numbers.yaml", f"- query: {A}\n  relevant_ids: [7, 007, 2024-01-01]\n", {}, {A: ["7", "007", "2024-01-01"]}),
    # Texts
    ("q.json", cases("relevant", text="q"), {}, ONE),
    ("ask.json", cases("relevant", text="ask"), {}, ONE),
    ("prompt.json", cases("relevant", text="prompt"), {}, ONE),
    ("terms.json", cases("relevant", text="search_terms"), {}, ONE),
    ("capital.json", cases("Relevant", text="Query"), {}, ONE),
    ("nested.json", [{"params": {"query": query}, "relevant": docs} for query, docs in ONE.items()], {}, ONE),
    ("named.json", cases("relevant", text="utterance"), {"query": "utterance"}, ONE),
    ("deep.json", [{"input": {"turn": query}, "relevant": docs} for query, docs in ONE.items()],
     {"query": "input.turn"}, ONE),
    # One string under a key with a noun; two levels; maps and grades
    ("string.json", cases("expected_doc", one=True), {}, ONE),
    ("number.json", [{"query": A, "expected_page": 12}], {}, {A: ["12"]}),
    ("levels.json", cases("relevant_chunk_ids", answer="42", expected_files=["a.md"]), {}, ONE),
    ("map.json", [{"query": A, "relevance": {"d1": 2, "d3": 1}}, {"query": B, "relevance": {"d2": 1}}], {}, TWO),
    ("graded.json", [{"query": A, "relevant": {"d1": 2, "d3": 1}}, {"query": B, "relevant": {"d2": 1}}], {}, TWO),
    ("ratings.json", [{"query": A, "ratings": [{"doc": "d1", "rating": 3}]},
                      {"query": B, "ratings": [{"doc": "d2", "rating": 1}, {"doc": "d7", "rating": 0}]}], {}, ONE),
    ("opensearch.json", {"name": "x", "judgmentRatings": [
        {"query": query, "ratings": [{"docId": docs[0], "rating": "2.000"}]} for query, docs in ONE.items()]}, {}, ONE),
    ("object.json", [{"query": A, "expected": {"doc_ids": ["d1"], "answer": "42"}}], {}, {A: ["d1"]}),
    ("vars.json", {"tests": [{"vars": {"question": A, "relevant_ids": ["d1"]}, "assert": []}]}, {}, {A: ["d1"]}),
    ("any-id.json", cases("expected_entry_ids"), {}, ONE),
    ("one-any-id.json", cases("expectedEntryId", one=True), {}, ONE),
    ("tenant.json", cases("expected_files", expected_row_id="t1", expected_entry_ids=["x"]), {}, ONE),
    ("uris.json", cases("relevantSourceUris"), {}, ONE),
    ("relevant-string.json", cases("relevant", one=True), {}, ONE),
    ("rel-id.json", cases("rel_id", one=True), {}, ONE),
    ("target.json", cases("target_docs"), {}, ONE),
    ("cited.json", cases("must_cite", must_include=["Merit", "H0201"]), {}, ONE),
    ("ids-included.json", cases("must_include"), {}, ONE),
    ("retrieved.json", cases("expect_retrieved"), {}, ONE),
    ("lists.yaml", yaml.safe_dump({"v": 1, "queries": [{"id": n, "text": query, "expected": {"files": docs, "k": 3}}
                                                       for n, (query, docs) in enumerate(ONE.items())]}), {}, ONE),
    ("patterns.json", {"queries": cases("relevant"), "patterns": [{"id": "p", "expected": ["x"]}]}, {}, ONE),
    ("again.csv", f"question,expected_file,level\n{A},d1,easy\n{B},d2,easy\n{A},d1,hard\n", {}, ONE),
    ("left-out.json#[?relevant_ids]", [*cases("relevant_ids"), {"question": "third?"}], {}, ONE),
    ("left-out.jsonl#[?gold]", [*cases("gold"), {"question": "third?"}], {}, ONE),
    ("either.json#[?gold|best]", [*cases("gold", {A: ["d1"]}), *cases("gold", {B: ["d2"]}, best=1), {"question": "x"}],
     {}, ONE),
    ("left-out.csv#[?best]", f"question,best\n{A},d1\n{B},d2\n", {"relevant": "best"}, ONE),
    ("in-list.yaml#cases[?expected]", yaml.safe_dump({"cases": [*cases("expected"), {"query": "x"}], "more": [1]}), {},
     ONE),
    ("weights.json", cases("relevant", weight="high"), {}, ONE),
    ("positive.yaml", yaml.safe_dump({"positive": cases("expected_nodes", text="query"), "negative": ["why?"]}), {},
     ONE),
    ("cite.json", cases("must_cite", one=True, answer_contains=["180"]), {}, ONE),
    ("ids-again.json", [{"id": "G1", "lang": lang, "question": q, "relevant": docs}
                        for lang, (q, docs) in zip("ab", ONE.items(), strict=True)], {}, ONE),
    ("strings-and-ids.json", cases("expected_object_ids", expected=["97.34"]), {}, ONE),
    ("pregunta.json", {"casos": cases("relevant", text="pregunta")}, {}, ONE),
    ("taken.json#[?citas]", [*cases("citas"), {"question": "third?"}], {}, ONE),
    ("uuids.json", cases("relevant_uuids"), {}, ONE),
    ("c-plus-plus.csv", "question,expected_doc\nwhat is C?,C\nwhat is C++?,C++\njoke?,C\n", {},
     {"what is C?": ["C"], "what is C++?": ["C++"], "joke?": ["C"]}),
    ("author.json", cases("relevant", expected_author_id="u7"), {}, ONE),
    ("products.json", cases("gold", expected_product_ids=["x"]), {}, ONE),
    ("yes-or-no.json", cases("expected_ids", expected_answer=False), {}, ONE),
    ("plus.csv", f"question,expected_chunk\n{A},d1+d3\n{B},d2\nc?,d3\nd?,d1\n", {},
     {A: ["d1", "d3"], B: ["d2"], "c?": ["d3"], "d?": ["d1"]}),
    ("gold-and-sources.json", [{"q": q, "gold": ["Ann Lee"], "sources": docs} for q, docs in ONE.items()],
     {"relevant": "sources"}, ONE),
    ("empty-key.json", cases("expected_files", expected_symbols=[]), {}, ONE),
    ("required.json", cases("expected_files", required=["two factors"]), {}, ONE),
    ("no-id.json", [{"id": None, "query": query, "relevant": docs} for query, docs in ONE.items()], {}, ONE),
    # Keys that only the user knows
    ("documents.jsonl", [{"query": query, "expected_sources": [{"document": docs[0], "pages": [2]}]}
                         for query, docs in ONE.items()], {"relevant": "expected_sources.document"}, ONE),
    ("two-lists.json", [{"query": query, "expected": {"files": docs, "symbols": ["f"]}} for query, docs in ONE.items()],
     {"relevant": "expected.files"}, ONE),
    ("messages.json", [{"query": A, "expected": {"top": "d1", "relevant_messages": ["d1"]}}],
     {"relevant": "expected.relevant_messages"}, {A: ["d1"]}),
    ("best.json", cases("best", one=True), {"relevant": "best"}, ONE),
    ("evidence.json", cases("evidence"), {"relevant": "evidence"}, ONE),
    ("doc.json", cases("docId", one=True), {"relevant": "docId"}, ONE),
    ("both.json", cases("expected_files", expected_symbols=["f"]), {"relevant": "expected_files"}, ONE),
    ("answer.json", cases("expected", one=True), {"relevant": "expected"}, ONE),
    ("template.json", [{"query": A, "product": "x", "expected_paths": ["a.md", "b.md"]}],
     {"relevant": "docs/{product}/{expected_paths}"}, {A: ["docs/x/a.md", "docs/x/b.md"]}),
    ("id.json", [{"nr": 7, "query": A, "relevant": ["d1"], "id": "x"}, {"nr": 8, "query": B, "relevant": ["d2"],
                                                                        "id": "x"}], {"id": "nr"}, ONE),
    # Tables
    ("cell.csv", f"question,relevant_ids\n{A},d1;d3\n{B},d2\n", {}, TWO),
    ("rows.csv", f"question,doc_id\n{A},d1\n{A},d3\n{B},d2\n", {}, TWO),
    ("source.csv", f"question,source\n{A},d1\n{B},d2\n", {}, ONE),
    ("id.csv", f"id,question\nd1,{A}\nd2,{B}\n", {}, ONE),
    ("quepid.csv", f"query,docid,rating\n{A},d1,3\n{A},d9,0\n{B},d2,1\n", {}, ONE),
    ("table.tsv", f"query\texpected_path\n{A}\td1\n{B}\td2\n", {}, ONE),
    ("named.csv", f"question,answer,best\n{A},42,d1\n{B},43,d2\n", {"relevant": "best"}, ONE),
]  # fmt: skip


def scores_of(labels: Any, relevant: Labels, reading: Reading) -> tuple[list[str], dict[str, float | None]]:
    """What a retriever is asked that returns the right document at rank 2, and its values."""
    asked: list[str] = []

    def search(query: str, k: int) -> list[str]:
        asked.append(query)
        return ["wrong", *relevant[query][:1]]

    scores = evaluate(labels, search, ["RR", "R@2", "Success@2"], reading=reading)
    return asked, {name: scores[name] for name in ("RR", "R@2", "Success@2")}


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize(("name", "content", "columns", "relevant"), READ, ids=[row[0] for row in READ])
def test_a_test_set_is_read_as_its_author_means_it(
    name: str, content: Any, columns: dict[str, str], relevant: Labels, tmp_path: Path
) -> None:
    file = name.partition("#")[0]
    (tmp_path / file).write_text(text_of(content, file), encoding="utf-8")
    asked, values = scores_of(tmp_path / name, relevant, Reading(columns=columns or None))
    assert sorted(asked) == sorted(relevant)
    recall = sum(1 / len(docs) for docs in relevant.values()) / len(relevant)
    assert values == {"RR": 0.5, "R@2": pytest.approx(recall), "Success@2": 1.0}


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
def test_parquet_and_python_objects_are_read_like_files(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"question": [A, B], "expected_ids": [["d1"], ["d2"]]}), tmp_path / "c.parquet")
    objects: list[Any] = [cases("expected_sources"), {"queries": cases("gold_file", one=True)}, tmp_path / "c.parquet"]
    for labels in objects:
        assert scores_of(labels, ONE, Reading())[1] == {"RR": 0.5, "R@2": 1.0, "Success@2": 1.0}
    named = cases("best", one=True)
    assert scores_of(named, ONE, Reading(columns={"relevant": "best"}))[1]["RR"] == 0.5
    assert read_cases(named, columns={"relevant": "best"}).judgments[A].relevant == ["d1"]


IDS = st.text("ab7/.-_ é:{", min_size=1, max_size=6).map(str.strip).filter(bool)
ROWS = st.lists(st.tuples(IDS, st.lists(IDS, max_size=3)), min_size=1, max_size=5, unique_by=lambda row: row[0])


@settings(max_examples=25)
@given(
    rows=ROWS, key=st.sampled_from(["relevant", "expected_files", "gold_doc_ids"]), name=st.sampled_from(["x", "tests"])
)
def test_the_same_cases_are_read_from_every_container(
    rows: list[tuple[str, list[str]]], key: str, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    records = [{"id": f"q{number}", "query": text, key: docs} for number, (text, docs) in enumerate(rows)]
    folder = tmp_path_factory.mktemp("containers")
    files = {
        "list.json": json.dumps(records),
        "pretty.json": json.dumps({"version": 1, name: records, "notes": "x"}, indent=2),
        "lines.jsonl": text_of(records, "lines.jsonl"),
        "cases.yaml": yaml.safe_dump({"version": 1, name: records}, allow_unicode=True),
    }
    expected = {f"q{number}": list(dict.fromkeys(docs)) for number, (_, docs) in enumerate(rows)}
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")
        found = read_cases(folder / file)
        assert {query: list(judged.relevant) for query, judged in found.judgments.items()} == expected, file
        assert [case.query for case in found.cases] == [text for text, _ in rows]


# Content, and what the refusal says: the kind of file, what is missing, and the one option that helps.
REFUSED: list[tuple[str, Any, str, str]] = [
    ("suites.json", {"suites": [{"cases": cases("relevant")}]}, "nested lists.*suites.*cases.*2 cases",
     r"'suites.json#suites\[\*\].cases'"),
    ("languages.json", {"en": cases("relevant"), "de": cases("relevant")}, "2 lists.*'en'.*'de'",
     "'languages.json#en'"),
    ("qa.json", [{"title": "x", "qa": cases("relevant")}], r"nested lists.*\[\*\].qa", r"'qa.json#\[\*\].qa'"),
    ("two.json", cases("expected_files", expected_symbols=["f"]), "found 2: 'expected_files', 'expected_symbols'",
     "--column relevant=expected_files"),
    ("two-ids.json", cases("gold_ids", expected_chunk_ids=["f"]), "found 2: 'gold_ids', 'expected_chunk_ids'",
     "--column relevant=gold_ids"),
    ("expected.json", [{"question": A, "expected": "In the settings."}], "'expected' looks like an answer",
     "--column relevant=expected"),
    ("mixed.json", [{"question": A, "expected": ["d1"]}, {"question": B, "expected": "open it"}],
     "'open it', which looks like an answer", ""),
    ("truth.json", [{"question": A, "ground_truth": "42"}], "'ground_truth' looks like an answer",
     "--column relevant=ground_truth"),
    ("answer.csv", f"question,gold\n{A},open the settings\n", "'gold' looks like an answer", "--column relevant=gold"),
    ("answers.csv", f"question,expected_answer\n{A},open it\n", "test cases without a key.*'expected_answer'",
     "^list the documents that match"),
    ("answer-and-more.json", cases("expected_answer", one=True, topic_no=7, level="easy"), "test cases without a key",
     "^name it: --column relevant=KEY$"),
    ("known-item.json", [{"id": "7", "title": "a title", "question": A, "why": "x y"}], "test cases without a key",
     "^name it: --column relevant=KEY; if 'id' is the id of a document: --column relevant=id$"),
    ("paper.json", [{"question": A, "ground_truth": "In the settings.", "source_paper": "How to Set It All Up.pdf"}],
     "looks like an answer", "--column relevant=source_paper$"),
    ("times.json", [{"question": A, "relevant": [{"video": "v", "start_time": 9.5, "end_time": 12.0, "within": 1.5}]}],
     "'relevant' has objects", "--match-field start_time..end_time,video "),
    ("ranges.json", [{"query": A, "events": [[74, 80], [90, 99]]}, {"query": B, "events": [[1, 2]]}],
     "'events' has pairs of numbers", "^list the documents that match"),
    ("limits.jsonl", [{"query": A, "expect": {"genres_any": ["x"], "year_min": 1990}}], "'year_min' is a limit",
     "^list the documents that match"),
    ("tags.json", {"about": "x", "queries": [{"id": "a", "text": A, "expected_tags": ["x"], "avoid_tags": ["y"]}]},
     "without a key for the relevant documents.*'expected_tags'", "--match-field expected_tags=tags "),
    ("payload.json", [{"query": A, "expect_payload": {"rule": "r1", "part": "p"}}], "'expect_payload' has objects",
     "--match-field rule=payload.rule,part=payload.part "),
    ("two-fields.json", cases("expected_cause", one=True, expected_services=["a"]), "without a key for the relevant",
     "--match-field expected_cause=cause,expected_services=services "),
    ("cited.yaml", yaml.safe_dump({"samples": [{"question": A, "expected": {"points": ["x"], "citations": {
        "document": "a.pdf", "must_include_pages": [5], "forbidden_pages": [7]}}}]}, sort_keys=False),
     "'expected.citations' has objects", "--match-field document,must_include_pages=page "),
    ("all-at-once.json", {"queries": [{"id": "q", "freeText": A, "groundTruth": {"relevantFirms": ["x"], "least": 5}}],
                          "signals": [{"no": 1}]}, "no key is known for the query and the relevant documents",
     "'all-at-once.json#queries', with --column query=freeText --column relevant=groundTruth.relevantFirms$"),
    ("unknown.json", cases("best", one=True), "without a key for the relevant documents.*'best'",
     "--column relevant=best"),
    ("text.json", cases("must_contain"), r"expect text \('must_contain'\)", "--match text"),
    ("any.json", cases("expect_any"), r"expect text \('expect_any'\)", "--match text"),
    ("substring.json", cases("expected_substring", one=True), "expect text", "--match text"),
    ("keywords.json", cases("relevant_doc_keywords"), "expect text", "--match text"),
    ("part.json", cases("expected_source_contains", one=True), "a part of an id",
     "parts of the ids: --match contains$"),
    ("any-ids.json", cases("expected_entry_ids", expected_guide_id="g"), "found 2: 'expected_entry_ids', ",
     "--column relevant=expected_entry_ids"),
    ("topic.json", cases("expected_topic", one=True, category="x"), "without a key.*'expected_topic'",
     "name it: --column relevant=expected_topic; if results have it as a field: --match-field expected_topic=topic "),
    ("place.json", cases("gold_section", one=True, gold_file="a.md"), "found 2: 'gold_section', 'gold_file'",
     "--match-field gold_section=section,gold_file=file "),
    ("policy.json", cases("relevant_policy", one=True, source_page=3), "without a key for the relevant documents",
     "--match-field relevant_policy=policy,source_page .*; to compare one alone: --column relevant=relevant_policy$"),
    ("rule.json", cases("relevant_rule", one=True, level="easy"), "without a key for the relevant documents",
     "--column relevant=relevant_rule; if results have it as a field: --match-field relevant_rule=rule "),
    ("doc-and-pages.json", [{"question": A, "doc_id": "a", "pages": [3]}], "without a key for the relevant documents",
     "--match-field doc_id,pages=page .*; to compare one alone: --column relevant=doc_id$"),
    ("citation.json", cases("citation", one=True, level="easy"), "without a key for the relevant documents",
     "name it: --column relevant=citation$"),
    ("citations.json", cases("citation", one=True, source_ref="x", level="easy"), "without a key for the relevant",
     "choose one: --column relevant=citation, --column relevant=source_ref$"),
    ("text-and-source.json", cases("must_contain", source="a.md"), r"expect text \('must_contain'\)",
     "--match text; if 'source' has the documents: --column relevant=source"),
    ("answer-and-source.json", [{"question": A, "ground_truth": "In the settings.", "source": "a.md"}],
     "looks like an answer", "--column relevant=source$"),
    ("no-text.yaml", yaml.safe_dump([{"id": 1, "topic": "two words", "expected_terms": ["a b"], "notes": "a b c d e"}]),
     r"expect text \('expected_terms'\)", "--match text --column query=topic$"),
    ("pages-and-text.json", [{"question": A, "contains": ["a b"], "pages": [3]}], r"expect text \('contains'\)",
     "--match text; if results have such a field: --match-field pages=page "),
    ("needles.json", [{"question": A, "gold_bits": ["a b"]}], "without a key for the relevant documents",
     "--column relevant=gold_bits; if results have it as a field: .*; if their texts contain it: --match text$"),
    ("least.json", [{"question": A, "expect": {"min_docs": 1, "any_doc_contains": "a b"}}], "'expect' has objects",
     "--match text --column relevant=expect.any_doc_contains"),
    ("included.json", [{"question": A, "expectedAnswerContains": [], "relevant": {"titleIncludes": "x"}}],
     "'relevant' has objects with 'titleIncludes'", "--match-field titleIncludes=title "),
    ("other-ids.json", cases("dataset_ids", kind="x", dialect="y"), "without a key for the relevant documents",
     "^name it: --column relevant=dataset_ids$"),
    ("some.json", [*cases("source", one=True), {"question": "third?", "level": "x"}], "without a key for the relevant",
     r"^take the cases that have 'source': 'some.json#\[\?source\]'$"),
    ("languages.json#[?lang]", cases("source", one=True, lang="en"), "without a key for the relevant documents",
     "--column relevant=source$"),
    ("kept-groups.json", [{"question": A, "answer_groups": [["d1", "d2"], ["d3"]]}], "'answer_groups' has groups",
     "--column evidence=answer_groups$"),
    ("contexts.json", [{"question": A, "ground_truth": "In the settings.", "sources": ["d1"]}], "looks like an answer",
     "--column relevant=sources$"),
    ("paths.json", cases("reference_contexts", {A: ["visa.txt"]}), r"expect text \('reference_contexts'\)",
     "--match text; if these are ids: --column relevant=reference_contexts$"),
    ("flag.json", cases("expected_file", expected_section="a", should_match=True), "found 2: 'expected_file', 'expe",
     "--match-field expected_file=file,expected_section=section "),
    ("groups.json", [{"question": A, "relevant": [["d1", "d2"], ["d3"]]}], "a group of 2: 'd1', 'd2'", "are evidence"),
    ("missing.json", [*cases("relevant_ids"), {"question": "third?"}], "'relevant_ids', as other cases have.*'third",
     r"write \[\] if a case expects nothing; to leave such cases out: 'missing.json#\[\?relevant_ids\]'"),
    ("types.json", [*cases("expected_memory_ids"), {"question": "third?", "expected_memory_types": ["note"]}],
     "'expected_memory_ids', as other", "--match-field expected_memory_ids=id,expected_memory_types=memory_type "),
    ("corpus.json", {"documents": [{"id": "x", "chunks": []}], "queries": cases("expect", one=True, text="text")},
     r"test cases in 2 lists: 'documents' \(1 object\), 'queries' \(2 objects\).*known for the relevant documents",
     "'corpus.json#queries', with --column relevant=expect"),
    ("corpus.yaml", f"documents:\n - title: x\nqueries:\n - text: {A}\n   expect: d1\n",
     "test cases in 2 lists: 'documents'.*'queries'", "'corpus.yaml#queries', with --column relevant=expect"),
    ("repositories.json", {"a/b": cases("files", text="issue"), "c": cases("files", text="issue")},
     "test cases in 2 lists: 'a/b'.*'issue', 'files', and no key is known for the query and the relevant documents",
     "'repositories.json#a/b', 'repositories.json#c', with --column query=issue --column relevant=KEY"),
    ("nested.json", [{"question": A, "expected": {"top": "d1", "excluded": ["d2"], "relevant_messages": ["d1"]}},
                     {"question": B, "expected": {"context": {"message_ids": ["d1"]}}}],
     "'expected' has objects with 'top', 'excluded', 'relevant_messages', 'context'; expected the ids",
     "--column relevant=expected.relevant_messages$"),
    ("fields.json", [{"question": A, "expect": {"kind": "recipe", "path_contains": "codex"}}],
     "'expect' has objects with 'kind', 'path_contains'; expected ids, or the fields that a result must have",
     r"--match-field kind,path_contains=path \(FIELD=PATH says where\)$"),
    ("field.json", [{"question": A, "expect": {"path_contains": "x", "max_rank": 3}}], "objects with 'path_contains'",
     "--match-field path_contains=path "),
    ("differ.json", [{"question": A, "expect": {"kind": "x", "path": "y"}}, {"question": B, "expect": {"part": "z"}}],
     "'kind', 'path', 'part'; expected ids",
     "--match-field kind,path,part .*'path' alone: --column relevant=expect.path$"),
    ("inner.json", [{"question": A, "expected": [{"title": "x", "place": {"page": 2}}]}],
     "'expected' has objects with 'title', 'place'; expected ids",
     r"--match-field title,place\.page \(FIELD=PATH says where\)$"),
    ("pages.json", [{"question": A, "expected_sources": [{"document": "a.pdf", "pages": [2, 3], "note": "x"}]}],
     "pages.json:1: test cases whose 'expected_sources' has objects with 'document', 'pages', 'note'",
     "--match-field document,pages=page .*--column relevant=expected_sources.document$"),
    ("quotes.json", [{"question": A, "must_include": [{"fact": "x", "source_quote": "y z", "source_file": "a.md"}]}],
     "objects with 'fact', 'source_quote', 'source_file'", "'source_quote' in the texts of results: --match text; if "),
    ("words.json", [{"question": A, "must_include": ["H0201", "Merit"]}], r"expect text \('must_include'\)",
     "--match text; if these are ids: --column relevant=must_include$"),
    ("metrics.json", {"metrics": {"recall@5": 0.8, "mrr": 0.5}}, "looks like a file of metrics", ""),
    ("flat.json", {"recall@5": 0.8, "ndcg_at_10": 0.5}, "looks like a file of metrics", ""),
    ("odd.json", {"questions": [{"id": 4, "x": 1}], "metadata": {}}, "looks like a file of test cases", ""),
    ("response.json", {"metric_score": 0.5, "details": {"q1": {"hits": [{"hit": {"_id": "d1"}, "rating": 1}]}}},
     "a response of rank_eval", "name the request as labels"),
    ("broken.json", '{\n "queries": [\n  {"query": "a", "relevant": ["d"]},\n }\n',
     "broken.json:3: not JSON: a comma before }", ""),
    ("broken.yaml", "cases:\n - query: a\n   relevant: [d\n", "broken.yaml:.*not valid YAML", ""),
    ("tag.yaml", "- query: !!python/object:os.system x\n  relevant: [d]\n", "tag.yaml", ""),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize(("name", "content", "message", "hint"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_file_that_is_not_clear_is_refused_with_the_option_that_helps(
    name: str, content: Any, message: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = name.partition("#")[0]
    Path(file).write_text(text_of(content, file), encoding="utf-8")
    for read in (read_qrels, lambda labels: evaluate(labels, lambda query: ["d1"])):
        with pytest.raises(InputError, match=f"(?s){message}") as error:
            read(name)
        assert "column for the doc" not in str(error.value)
        assert re.search(hint, error.value.hint or "")


def test_a_chosen_list_is_never_read_as_judgments(tmp_path: Path) -> None:
    path = tmp_path / "corpus.json"
    queries = [{"id": "q1", "text": A, "expect": "d1"}, {"id": "q2", "text": B, "expect": "d2"}]
    path.write_text(json.dumps({"documents": [{"id": "x"}], "queries": queries}, indent=1))
    with pytest.raises(InputError, match="'expect' looks like an answer"):
        read_qrels(f"{path}#queries")
    found = read_qrels(f"{path}#queries", columns={"relevant": "expect"})
    assert found.to_dict() == {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}


def test_a_template_names_the_keys_that_it_needs(tmp_path: Path) -> None:
    rows = cases("paths")
    with pytest.raises(InputError, match=r"(?s)found 'prodct'.*the keys are 'question', 'paths'"):
        read_cases(rows, columns={"relevant": "docs/{prodct}/{paths}"})
    with pytest.raises(InputError, match="expected a key 'nope' for relevant, found 'question', 'paths'"):
        read_cases(rows, columns={"relevant": "nope"})


# -- cases that expect nothing ------------------------------------------------------------------------------------

NOTHING: list[dict[str, Any]] = [
    {"relevant": []}, {"relevant": None}, {"relevant": {}}, {"answerable": False}, {"shouldAbstain": True},
    {"expectAbstain": True}, {"negative": True}, {"in_kb": False}, {"expected_behavior": "refuse"},
    {"expect": "not_in_corpus"}, {"kind": "nonsense"}, {"category": "unanswerable"}, {"category": "refusal"},
    {"expected_fallback": True}, {"should_match": False}, {"expect_empty": True}, {"should_find_answer": False},
    {"must_refuse": True}, {"expected_sufficient": False}, {"question_type": "out_of_scope"}, {"type": "negative"},
    {"tags": ["hard", "unanswerable"]}, {"expectedBehavior": "no_answer"}, {"category": "not-in-kb"}, {"is_ood": True},
]  # fmt: skip


@pytest.mark.parametrize("row", NOTHING, ids=map(str, NOTHING))
def test_a_case_that_expects_nothing_is_counted_apart_from_the_means(row: dict[str, Any]) -> None:
    rows = [*cases("relevant"), {"question": "nothing?", **row}]
    run = {"nothing?": [], **{query: ["wrong", *docs] for query, docs in ONE.items()}}
    scores = evaluate(rows, run, ["RR", "R@2"])
    assert (scores["RR"], scores["R@2"], int(scores.averaged.sum()), len(scores)) == (0.5, 1.0, 2, 3)
    notes = {note.code: note.message for note in scores.notes}
    assert notes["expects-nothing"] == "1 case expects nothing, not averaged: 1 returned nothing"
    assert "no-relevant" not in notes


def test_a_list_of_its_own_has_the_cases_that_expect_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"v": 1, "answerable": cases("relevant"), "unanswerable": [{"question": "nothing?"}]}))
    scores = evaluate(path, lambda query, k: ["wrong", *ONE.get(query, [])], ["RR"])
    assert (scores["RR"], int(scores.averaged.sum()), len(scores)) == (0.5, 2, 3)
    assert notes_of(path)["beside-cases"].endswith("those under 'answerable', 'unanswerable'; not used: 'v'")


def test_duplicating_a_case_without_an_answer_changes_no_mean() -> None:
    rows = [*cases("relevant"), *({"question": "nothing?", "relevant": []} for _ in range(5))]
    rows = [{"id": f"q{number}", **row} for number, row in enumerate(rows)]
    run = {row["id"]: ["wrong", "d1"] for row in rows}
    for count in (2, 3, 7):
        scores = evaluate(rows[:count], run, ["RR"])
        assert scores["RR"] == 0.25
    assert "5 cases expect nothing, not averaged: 0 returned nothing" in [note.message for note in scores.notes]


def test_an_empty_list_cannot_be_answerable() -> None:
    rows = [*cases("relevant"), {"question": "later?", "relevant": [], "answerable": True}]
    with pytest.raises(InputError, match=r"expected relevant documents for query 'later\?', which has an answer"):
        evaluate(rows, {query: ["d1"] for query in (A, B, "later?")}, ["RR"])


def test_a_failed_case_that_expects_nothing_is_not_scored_as_zero(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [{"query": A, "retrieved": ["d1"], "relevant": ["d1"]}, {"query": B, "relevant": [], "error": "timeout"},
            {"query": "c", "relevant": ["d1"], "error": "timeout"}]  # fmt: skip
    log.write_text(text_of(rows, "log.jsonl"))
    assert evaluate(log, measures=["RR"]).failed_as_zero == {"RR": 0.5}


# -- what is said -------------------------------------------------------------------------------------------------

UNUSED: dict[str, Any] = {
    "reject": ["d9"], "mustNotInclude": ["d9"], "must_not_retrieve": ["d9"], "after_ids": ["d9"],
    "lines": [1, 9], "heading": "Setup", "min_recall": 0.8, "threshold": 0.8, "max_rank": 3, "known_miss": True,
    "knownMiss": True, "known_failure": "#12", "must_contain": ["x"],
}  # fmt: skip


@pytest.mark.parametrize("key", UNUSED)
def test_a_key_that_changes_the_meaning_but_is_not_used_has_a_note(key: str) -> None:
    with pytest.warns(RankgaugeWarning, match=f"{key} is not used"):
        read_cases(cases("relevant_ids", **{key: UNUSED[key]}))


def notes_of(labels: Any, columns: dict[str, str] | None = None) -> dict[str, str]:
    opened = open_inputs(labels, [{A: ["d1"]}], Reading(columns=columns), None, Opening(10))
    return {note.code: note.message for note in opened.notes}


def test_what_is_around_the_cases_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"version": 1, "k": 5, "queries": [{"_comment": "x"}, *cases("relevant", k=3)]}))
    notes = notes_of(path)
    assert "under 'queries'; not used: 'version', 'k'" in notes["beside-cases"]
    assert "'_comment'" in notes["comment"]
    assert "-m R@k" in notes["k-unused"]
    assert set(notes_of(cases("relevant_ids", answer="42"))) == set()


def test_lines_with_comments_are_left_out_and_lines_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f'// ours\n{{"q": "{A}", "gold": ["d1"]}}\n# more\n{{"q": "{B}", "gold": [{{"x": 1}}]}}\n')
    with pytest.raises(InputError, match=r"cases\.jsonl:4: "):
        read_qrels(path)
    path.write_text(f'// ours\n{{"q": "{A}", "gold": ["d1"]}}\n# more\n{{"q": "{B}", "gold": ["d2"]}}\n')
    assert notes_of(str(path))["comment"] == f"{path}: 2 comment lines left out"


def test_what_is_counted_once_left_out_or_not_compared_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([*cases("relevant", weight="high"), *cases("relevant"), {"question": "third?"}]))
    notes = notes_of(f"{path}#[?relevant]")
    assert "1 of 5 cases left out: no 'relevant'" in notes["left-out"]
    assert "2 cases with the query and labels of another, counted once" in notes["case-repeated"]
    assert "weight is not used: every query counts the same; to show groups: --by weight" in notes["weight-unused"]
    with pytest.raises(InputError, match="each query once"):
        read_qrels_of([*cases("relevant"), *cases("relevant", {A: ["d2"]})])
    with pytest.raises(InputError, match="a key 'nope', found 'question', 'relevant', 'weight'"):
        notes_of(f"{path}#[?nope]")


def read_qrels_of(rows: list[Any]) -> Any:
    return open_inputs(rows, [{A: ["d1"]}], Reading(), None, Opening(10))


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
def test_cases_without_a_text_are_refused_before_any_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    asked: list[str] = []

    def search(query: str, k: int) -> list[str]:
        asked.append(query)
        return ["d1"]

    path.write_text(json.dumps([{"id": "1", "query": A, "relevant": ["d1"]}, {"id": "2", "relevant": ["d2"]}]))
    with pytest.raises(InputError, match=r"1 of 2 cases have no text to ask: '2'(?s:.*)cases.json#\[\?query\]'"):
        evaluate(path, search)
    assert asked == []
    assert evaluate(f"{path}#[?query]", search, ["RR"])["RR"] == 1
    assert evaluate(path, {"1": ["d1"], "2": ["d2"]}, ["RR"])["RR"] == 1


# -- labels with several fields, in one option --------------------------------------------------------------------

PAGES = [("b.pdf", 1), ("a.pdf", 1), ("a.pdf", 3), ("c.pdf", 9)]
CHUNKS = [{"id": f"c{n}", "path": f"docs/{doc}", "document": doc, "page": page, "title": f"Part {page} of {doc}",
           "labels": [f"p{page}", "all"], "lines": [10 * page, 10 * page + 5]}
          for n, (doc, page) in enumerate(PAGES)]  # fmt: skip
FIELDS: list[tuple[str, list[Any], str, Any]] = [
    # cases, the option, and whether a result is right, in plain Python
    ("objects", [{"query": A, "gold": [{"document": "a.pdf", "page": 3}]}], "document,page",
     lambda r: (r["document"], r["page"]) == ("a.pdf", 3)),
    ("list", [{"query": A, "expected_sources": [{"document": "a.pdf", "pages": [3, 4]}]}], "document,pages=page",
     lambda r: r["document"] == "a.pdf" and r["page"] in (3, 4)),
    ("one-object", [{"query": A, "expect": {"title_contains": "3 of a", "max_rank": 3}}], "title_contains",
     lambda r: "3 of a" in r["title"]),
    ("part", [{"query": A, "expect": {"document": "a.pdf", "path_contains": "/a"}}], "document,path_contains=path",
     lambda r: r["document"] == "a.pdf" and "/a" in r["path"]),
    ("prefix", [{"query": A, "expect": [{"path_prefix": "docs/c"}]}], "path_prefix",
     lambda r: r["path"].startswith("docs/c")),
    ("optional", [{"query": A, "expect": [{"document": "c.pdf"}]}, {"query": B, "expect": [{"page": 3}]}],
     "document,page", {A: lambda r: r["document"] == "c.pdf", B: lambda r: r["page"] == 3}),
    ("any-name", [{"query": A, "answers": [{"document": "a.pdf", "page": 3}], "expected": "42"}], "document,page",
     lambda r: (r["document"], r["page"]) == ("a.pdf", 3)),
    ("beside", [{"query": A, "expected_file": "a.pdf", "gold_page": 3}], "expected_file=document,gold_page=page",
     lambda r: (r["document"], r["page"]) == ("a.pdf", 3)),
    ("topic", [{"query": A, "expected_label": "p9"}], "expected_label=labels", lambda r: "p9" in r["labels"]),
    ("either", [{"query": A, "expected_ids": ["c3"]}, {"query": B, "expected_labels": ["p3"]}],
     "expected_ids=id,expected_labels=labels", {A: lambda r: r["id"] == "c3", B: lambda r: "p3" in r["labels"]}),
    ("lines", [{"query": A, "gold": [{"path": "docs/a.pdf", "lines": [33, 40]}]}], "path,lines",
     lambda r: r["path"] == "docs/a.pdf" and r["lines"][0] <= 40 and r["lines"][1] >= 33),
    ("dotted", [{"query": A, "expect": {"at": {"page": 9}}}], "at.page=page", lambda r: r["page"] == 9),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::rankgauge.RankgaugeWarning")
@pytest.mark.parametrize(("rows", "option", "is_right"), [row[1:] for row in FIELDS], ids=[row[0] for row in FIELDS])
def test_one_option_names_the_fields_of_labels(rows: list[Any], option: str, is_right: Any) -> None:
    results = [{"id": "other", "text": "without fields"}, *CHUNKS]
    values = []
    for row in rows:
        matches = is_right[row["query"]] if isinstance(is_right, dict) else is_right
        values.append(next(1 / rank for rank, one in enumerate(results, 1) if rank > 1 and matches(one)))
    found = evaluate(rows, lambda query, k: results, ["RR"], reading=Reading(match_fields=(option,)))
    assert found["RR"] == pytest.approx(sum(values) / len(values))


@pytest.mark.filterwarnings("ignore:.*'must_include_phrases', which is not compared")
def test_the_fields_that_a_refusal_suggests_work_as_they_are() -> None:
    for label in ({"document": "a.pdf", "pages": [3], "note": "x"}, {"title_contains": "3 of a", "max_rank": 2},
                  {"document": "a.pdf", "page": 3, "must_include_phrases": ["x"]}):  # fmt: skip
        rows = [{"query": A, "expected_sources": [label]}]
        with pytest.raises(InputError) as refused:
            evaluate(rows, lambda query, k: CHUNKS)
        option = re.search(r"--match-field (\S+)", refused.value.hint or "")
        assert option is not None
        reading = Reading(match_fields=(option[1],))
        assert evaluate(rows, lambda query, k: CHUNKS, ["RR"], reading=reading)["RR"] == pytest.approx(1 / 3)


def test_a_field_that_no_label_or_no_result_has_is_an_error() -> None:
    rows = [{"query": A, "gold": [{"document": "a.pdf", "page": 3, "clause": "x"}]}]
    with pytest.raises(InputError, match=r"no label has 'pge', which --match-field names(?s:.*)did you mean page"):
        evaluate(rows, lambda query, k: CHUNKS, reading=Reading(match_fields=("document,pge",)))
    with pytest.raises(InputError, match=r"no result has 'sheet': found 'document'(?s:.*)--match-field document,page "):
        evaluate(rows, lambda query, k: CHUNKS, reading=Reading(match_fields=("document,page=sheet",)))
    notes = open_inputs(
        rows, [lambda query, k: CHUNKS], Reading(match_fields=("document,page",)), None, Opening(10)
    ).notes
    assert (
        "labels also have 'clause', which is not compared"
        in {note.code: note.message for note in notes}["field-unused"]
    )


def test_fields_of_an_object_in_a_label_are_compared_or_named() -> None:
    rows = [{"query": "how?", "expected": [{"title": "a", "place": {"page": 2}}]}]
    found = [{"id": str(page), "title": "a", "place": {"page": page}} for page in (1, 2)]

    def scored(option: str) -> float | None:
        return evaluate(rows, lambda query, k: found, ["RR"], reading=Reading(match_fields=(option,)))["RR"]

    assert scored("title,place.page") == 0.5
    with pytest.warns(RankgaugeWarning, match=r"labels also have 'place\.page', which is not compared"):
        assert scored("title") == 1.0
    with pytest.raises(InputError, match="'place'"):  # an object is not a value
        scored("title,place")


def test_a_label_that_says_none_expects_nothing(tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(f"question,expected_chunk\n{A},1\n{B},none\nwhy?,N/A\n")
    with pytest.warns(RankgaugeWarning, match=r"2 cases say 'N/A' under 'expected_chunk': nothing is expected"):
        found = evaluate(path, lambda query, k: ["2", "1"] if query == A else [], ["RR"])
    assert found["RR"] == 0.5
    assert "2 cases expect nothing" in {note.code: note.message for note in found.notes}["expects-nothing"]


@pytest.mark.parametrize("name", ["cases.csv", "cases.json"])
def test_a_flag_says_that_nothing_is_expected_though_documents_are_listed(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    table = f"question,expected_docs,is_answerable\n{A},d1,True\n{B},d9,False\n"
    rows = [{"question": A, "expected_docs": ["d1"], "is_answerable": True},
            {"question": B, "expected_docs": ["d9"], "is_answerable": False}]  # fmt: skip
    path.write_text(table if name == "cases.csv" else json.dumps(rows))
    with pytest.warns(
        RankgaugeWarning, match="1 case says that it has no answer: what is under 'expected_docs' is not"
    ):
        found = evaluate(path, lambda query, k: ["x", "d1"] if query == A else [], ["RR"])
    assert found["RR"] == 0.5


@pytest.mark.parametrize(
    "case",
    [
        {"expected_text": "nowhere", "answerable": False},
        {"expected_text": "n/a"},
    ],
)
def test_text_that_is_not_expected_is_not_looked_for(case: dict[str, Any]) -> None:
    rows = [{"query": A, "expected_text": "settings"}, {"query": B, **case}]
    results = {A: {"id": "c", "text": "open the settings"}, B: {"id": "d", "text": "x"}}
    assert evaluate(rows, returning(results), ["RR"], reading=Reading(match="text"))["RR"] == 0.5


@pytest.mark.parametrize("labels", [{"relevance": {"d2": 1}}, {"evidence": [["d2"]]}])
def test_grades_and_evidence_of_a_case_without_an_answer_are_not_expected(labels: dict[str, Any]) -> None:
    key = next(iter(labels))
    first = {"relevance": {"d1": 1}} if key == "relevance" else {"evidence": [["d1"]]}
    rows = [{"query": A, **first}, {"query": B, **labels, "answerable": False}]
    with pytest.warns(RankgaugeWarning, match="1 case says that it has no answer"):
        found = evaluate(rows, lambda query, k: ["x", "d1"] if query == A else [], ["RR"])
    assert found["RR"] == 0.5


def test_ranks_and_scores_are_not_suggested_as_what_labels_mean() -> None:
    rows = [
        {"query": A, "expected": [{"doc": "a.pdf", "page": 1}]},
        {"query": B, "expected": [{"doc": "a.pdf", "page": 2}]},
    ]
    results = [{"doc": "a.pdf", "page": 6 + rank, "rank": rank, "id": f"c{rank}"} for rank in (1, 2)]
    found = evaluate(rows, lambda query, k: results, ["RR"], reading=Reading(match_fields=("doc,page",)))
    assert found["RR"] == 0
    numbers = [{"id": f"c-{rank}", "rank": rank, "doc_no": str(3 - rank)} for rank in (1, 2)]
    notes = evaluate([{"query": A, "expected": ["1"]}], lambda query, k: numbers, ["RR"]).notes
    assert "--set retriever.id=doc_no " in {note.code: note.message for note in notes}["nothing-judged"]
    lines = [{"query": A, "expected": [{"path": "a.py", "line": 30}]}]
    chunk = {"id": "1", "path": "a.py", "start_byte": 0, "end_byte": 50, "start_line": 1, "end_line": 9}
    with pytest.raises(InputError, match=r"line=start_line\.\.end_line"):
        evaluate(lines, lambda query, k: [chunk], ["RR"], reading=Reading(match_fields=("path,line",)))


@pytest.mark.parametrize("key", ["found", "hit", "refused", "matched", "passed", "verified"])
def test_what_happened_in_a_test_is_not_what_is_expected(key: str) -> None:
    rows = [{"question": A, "relevant": ["d1"], key: False}, {"question": B, "relevant": ["d2"], key: True}]
    assert scores_of(rows, ONE, Reading())[1]["RR"] == 0.5


@pytest.mark.filterwarnings("ignore:.*cases left out")
def test_the_key_of_the_text_is_not_that_of_the_documents_if_cases_must_have_it(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([{"question": A, "expect_any": ["settings"]}, {"id": "x", "expect_any": ["y"]}]))
    with pytest.raises(InputError, match="--match text"):
        evaluate(f"{path}#[?question]", returning({A: {"id": "c", "text": "settings"}}), ["RR"])
    results = returning({A: {"id": "c", "text": "settings"}})
    assert evaluate(f"{path}#[?question]", results, ["RR"], reading=Reading(match="text"))["RR"] == 0.5
    named = f"{path}#[?expect_any]"
    with pytest.raises(InputError, match="no text to ask"):
        evaluate(named, results, ["RR"], reading=Reading(match="text"))


def test_a_list_of_rows_to_refuse_has_cases_that_expect_nothing() -> None:
    document = {"answer_rows": cases("relevant"), "refusal_rows": [{"question": "who won?"}]}
    found = evaluate(document, lambda query, k: ["x", *ONE.get(query, [])] if query in ONE else [], ["RR"])
    assert found["RR"] == 0.5
    assert "1 case expects nothing" in {note.code: note.message for note in found.notes}["expects-nothing"]


@pytest.mark.filterwarnings("ignore:.*says that it has no answer")
def test_fields_are_compared_without_blanks_around_them_and_flags_come_first() -> None:
    rows = [{"query": A, "expected": [{"law": "L1", "part": "s.3\t"}]},
            {"query": B, "expected": [{"law": "L1", "part": "s.9"}], "expected_refusal": True}]  # fmt: skip
    results = [{"id": "1", "law": "L1", "part": "s.4"}, {"id": "2", "law": "L1", "part": " s.3"}]
    reading = Reading(match_fields=("law,part",))
    found = evaluate(rows, lambda query, k: results if query == A else [], ["RR"], reading=reading)
    assert found["RR"] == 0.5


def test_fields_that_differ_in_case_or_are_parts_are_named() -> None:
    rows = [{"query": A, "expected": [{"page": 2, "section": "WARNINGS"}]}]
    results = [{"id": "1", "page": 2, "section": "Use"}, {"id": "2", "page": 2, "section": "3 Warnings and care"}]
    with pytest.warns(RankgaugeWarning, match=r"1 of 1 label would match .*: --match contains --ignore-case"):
        found = evaluate(rows, lambda query, k: results, ["RR"], reading=Reading(match_fields=("page,section",)))
    assert found["RR"] == 0
    reading = Reading(match_fields=("page,section",), match="contains", ignore_case=True)
    assert evaluate(rows, lambda query, k: results, ["RR"], reading=reading)["RR"] == 0.5


def test_quotes_that_cannot_be_read_have_a_hint_to_the_key_of_the_documents() -> None:
    rows = [{"question": A, "gold": [["a b", "c"]], "sources": ["d1"]},
            {"question": B, "gold": ["Ann Lee"], "sources": ["d2"]}]  # fmt: skip
    with pytest.raises(
        InputError, match=r"(?s)expected a quote.*if 'sources' has the documents: --column relevant=sources"
    ):
        evaluate(rows, lambda query, k: ["d1"], ["RR"])


def test_a_path_at_which_no_result_has_a_value_of_a_label_is_corrected() -> None:
    rows = [{"query": A, "expected_file": "a.pdf", "expected_page": 3}]
    with pytest.raises(InputError, match="no result has at 'id' what a label has as 'expected_file'") as refused:
        evaluate(rows, lambda query, k: CHUNKS, reading=Reading(match_fields=("expected_file=id,expected_page=page",)))
    option = "expected_file=document,expected_page=page"
    assert f"results have it elsewhere: --match-field {option} (1 of 1 label" in (refused.value.hint or "")
    found = evaluate(rows, lambda query, k: CHUNKS, ["RR"], reading=Reading(match_fields=(option,)))
    assert found["RR"] == pytest.approx(1 / 3)


def test_cases_that_have_no_answer_have_no_labels_of_their_own_fields() -> None:
    rows = [{"query": A, "company": "x", "pages": [3]}, {"query": B, "company": "x", "answerable": False},
            {"query": "third?", "company": "none", "pages": []}]  # fmt: skip
    chunks = [{"id": "1", "company": "x", "page": 9}, {"id": "2", "company": "x", "page": 3}]
    reading = Reading(match_fields=("company,pages=page",))
    with pytest.warns(RankgaugeWarning, match="1 case says that it has no answer"):
        found = evaluate(rows, lambda query, k: chunks if query == A else [], ["RR"], reading=reading)
    assert found["RR"] == 0.5
    assert "2 cases expect nothing" in {note.code: note.message for note in found.notes}["expects-nothing"]


def test_times_overlap_if_they_share_more_than_an_end() -> None:
    rows = [{"query": A, "expected": [{"video": "v", "start_time": 5.0, "end_time": 10.0}]}]
    results = [{"id": str(n), "video": "v", "start_time": n, "end_time": n + 4.5} for n in (10.0, 0.5, 9.5)]
    whole = [{"query": A, "expected": [{"video": "v", "start_time": 5, "end_time": 10}]}]
    ends = [{"id": str(n), "video": "v", "start_time": n, "end_time": n + 5} for n in (0, 10, 5)]
    reading = Reading(match_fields=("video,start_time..end_time",))
    assert evaluate(whole, lambda query, k: ends, ["RR"], reading=reading)["RR"] == pytest.approx(1 / 3)
    found = evaluate(
        rows, lambda query, k: results, ["RR"], reading=Reading(match_fields=("video,start_time..end_time",))
    )
    assert found["RR"] == pytest.approx(1 / 3)
    with pytest.warns(RankgaugeWarning, match="labels also have 'start_time..end_time', which is not compared"):
        evaluate(rows, lambda query, k: results, ["RR"], reading=Reading(match_fields=("video",)))


@pytest.mark.parametrize("key", ["expect", "gold_bits", "evidence_any", "keyword"])
def test_match_text_takes_the_only_key_that_has_what_is_expected(key: str) -> None:
    rows = [{"query": A, key: "the settings", "level": "easy"}]
    found = evaluate(
        rows, returning({A: {"id": "c", "text": "open the settings"}}), ["RR"], reading=Reading(match="text")
    )
    assert found["RR"] == 0.5


def test_results_that_have_some_of_the_strings_but_not_all_are_named() -> None:
    rows = [{"query": A, "must_contain": ["settings", "nowhere"]}]
    results = returning({A: {"id": "c", "text": "the settings"}})
    with pytest.warns(RankgaugeWarning, match="some of the strings, but no result contains all: 'settings & nowhere'"):
        assert evaluate(rows, results, ["RR"], reading=Reading(match="text"))["RR"] == 0


def test_whole_documents_among_labels_of_parts_are_named() -> None:
    labels = {A: {"guide.md#a": 1}, B: {"tips.md": 1}}
    results = {A: ["x#y", "guide.md#a"], B: ["guide.md#a", "tips.md#top"]}
    found = evaluate(labels, results, ["RR"])
    assert found["RR"] == 0.25
    assert (
        "1 of 2 labels is part of a result's id: 'tips.md' in 'tips.md#top'"
        in {note.code: note.message for note in found.notes}["labels-contained"]
    )
    assert evaluate(labels, results, ["RR"], reading=Reading(match="contains"))["RR"] == 0.5


@pytest.mark.parametrize(
    ("label", "result", "option"),
    [
        ({"path": "a.py", "line": 12}, {"path": "a.py", "start_line": 10, "end_line": 20},
         "path,line=start_line..end_line"),
        ({"path": "a.md", "section": "x"}, {"file": "docs/a.md", "section": "x"}, "path=file,section --match suffix"),
    ],
)  # fmt: skip
def test_where_results_have_a_field_is_found_by_ranges_and_ends_of_paths(
    label: dict[str, Any], result: dict[str, Any], option: str
) -> None:
    rows = [{"query": A, "expected": [label]}]
    wrong = {name: value + 20 if isinstance(value, int) else f"{value}x" for name, value in result.items()}

    def search(query: str, k: int) -> list[dict[str, Any]]:
        return [{"id": "1", **wrong}, {"id": "2", **result}]

    with pytest.raises(InputError) as refused:
        evaluate(rows, search, ["RR"], reading=Reading(match_fields=(",".join(label),)))
    assert f"--match-field {option} (" in (refused.value.hint or "")
    fields, _, rule = option.partition(" --match ")
    reading = Reading(match_fields=(fields,), match="suffix" if rule else "exact")
    assert evaluate(rows, search, ["RR"], reading=reading)["RR"] == 0.5


def test_a_quote_in_a_label_that_is_not_compared_is_named() -> None:
    rows = [{"query": A, "gold": [{"document": "a.pdf", "page": 3, "quote": "part 3"}]}]
    with pytest.warns(RankgaugeWarning, match="labels also have 'quote', which is not compared"):
        evaluate(rows, lambda query, k: CHUNKS, reading=Reading(match_fields=("document,page",)))


def test_the_number_of_a_place_beside_a_document_is_named_if_it_is_not_compared() -> None:
    rows = [{"query": A, "gold_file": "a.pdf", "gold_chunk_index": 3}, {"query": B, "gold_file": "b", "gold_price": 7}]
    assert "not 'gold_chunk_index'; if a result" in notes_of(rows)["label-unused"]


def test_what_an_answer_must_contain_is_not_looked_for_in_results() -> None:
    rows = [{"query": A, "expect_any": ["settings"], "expected_answer_contains": ["nowhere"]}]
    results = {A: {"id": "c", "text": "open the settings"}}
    assert evaluate(rows, returning(results), ["R@5"], reading=Reading(match="text"))["R@5"] == 1
    only_answers = [{"query": A, "expected_answer_contains": ["settings"]}]
    assert evaluate(only_answers, returning(results), ["R@5"], reading=Reading(match="text"))["R@5"] == 1


@pytest.mark.parametrize(("holder", "field"), [("page", "slug"), ("meta", "file"), ("metadata", "file")])
def test_where_live_results_have_judged_ids_is_named(holder: str, field: str) -> None:
    def search(query: str, k: int) -> list[dict[str, Any]]:
        names = ["b.md", "b.md", "a.md"]  # two chunks of one document
        return [{"id": f"chunk-{n}", "text": "x", holder: {field: name}} for n, name in enumerate(names)]

    rows = [{"query": A, "relevant": ["a.md"]}]
    notes = {note.code: note.message for note in evaluate(rows, search, ["RR"]).notes}
    path = f"{holder}.{field}"
    assert notes["nothing-judged"].endswith(
        f"score results by it with --set retriever.id={path} --set retriever.unit=document "
        f"(id='{path}', unit='document')"
    )
    assert evaluate_retriever(search, rows, measures=["RR"], id=path, unit="document")["RR"] == 0.5


def test_quotes_in_objects_are_labels_by_text() -> None:
    rows = [{"query": A, "must_include": [{"fact": "x", "source_quote": "page 3", "source_file": "a"},
                                          {"fact": "y", "source_quote": "nowhere", "source_file": "a"}]}]  # fmt: skip
    results = [{"id": str(n), "text": f"this is page {n}"} for n in range(1, 5)]
    found = evaluate(rows, lambda query, k: results, ["RR", "R@5"], reading=Reading(match="text"))
    assert found["RR"] == pytest.approx(1 / 3)
    assert found["R@5"] == 0.5


def test_the_key_that_says_id_wins_and_the_other_is_named() -> None:
    assert (
        "under 'gold_chunk_ids', not 'gold_files'" in notes_of(cases("gold_chunk_ids", gold_files=["x"]))["two-labels"]
    )


def test_labels_that_are_texts_and_match_no_id_are_refused() -> None:
    rows = [{"query": A, "expected": ["open the settings", "choose security"]}]
    with pytest.raises(InputError, match=r"(?s)found texts, of which none is the id of a result: 'open the"):
        evaluate(rows, {A: ["d1"]})
    assert evaluate(rows, {A: ["choose security"]}, ["RR"])["RR"] == 1


# -- labels of which none is an id: the option that would make them match ------------------------------------------

PASSAGES = {A: "open the settings, then choose reset", B: "invoices are sent on Monday"}
# Cases, what each query returns after a wrong result, the code of the note or the words of the refusal, its option.
HINTED: dict[str, tuple[list[Any], dict[str, dict[str, str]], str, Reading]] = {
    "names of files without extension": (
        cases("expected_docs", {A: ["reset"], B: ["invoices", "Monday"]}),
        {A: {"id": "docs/reset.md"}, B: {"id": "docs/invoices.md"}},
        "labels-contained: 2 of 3 labels are part of a result's id: 'reset' in 'docs/reset.md': --match contains",
        Reading(match="contains"),
    ),
    "names of files with spaces": (
        cases("relevant", {A: ["reset a device"], B: ["sending of invoices"]}),
        {A: {"id": "n/reset a device.md"}, B: {"id": "n/sending of invoices.md"}},
        "labels-contained: 2 of 2 labels are part of a result's id: 'reset a device' in 'n/reset a device.md': --match",
        Reading(match="contains"),
    ),
    "a path before a symbol": (
        cases("expected_file", {A: ["src/a.py"], B: ["src/b.py"]}, one=True),
        {A: {"id": "src/a.py:reset"}, B: {"id": "src/b.py:send"}},
        "labels-contained: 2 of 2 labels are part of a result's id: 'src/a.py' in 'src/a.py:reset': --match contains",
        Reading(match="contains"),
    ),
    "words of the returned texts": (
        cases("relevant", {A: ["settings"], B: ["Monday"]}),
        {query: {"id": f"c{n}", "text": text} for n, (query, text) in enumerate(PASSAGES.items())},
        "labels-in-texts: 2 of 2 labels are in the text of a result: 'settings' in that of 'c0': --match text",
        Reading(match="text"),
    ),
    **{
        f"text under {key}": (
            cases(key, {A: ["settings", "nowhere"], B: ["Monday"]}),
            {query: {"id": f"c{n}", "text": text} for n, (query, text) in enumerate(PASSAGES.items())},
            f"without a key for the relevant documents; '{key}' may be expected text .*: --match text$",
            Reading(match="text"),
        )
        for key in ("keywords", "key_facts", "any", "any_of", "candidateHints", "contexts", "topic_terms", "mentions")
    },
    "quotes in objects": (
        [{"query": query, "contexts": [{"file": "x.md", "text": text}]} for query, text in PASSAGES.items()],
        {query: {"id": f"c{n}", "text": f"({text})"} for n, (query, text) in enumerate(PASSAGES.items())},
        "without a key for the relevant documents; 'contexts' may be expected text .*: --match text$",
        Reading(match="text"),
    ),
    "sentences under relevant": (
        cases("relevant", {query: [text] for query, text in PASSAGES.items()}),
        {query: {"id": f"c{n}", "text": f"({text})"} for n, (query, text) in enumerate(PASSAGES.items())},
        "found texts, of which none is the id of a result: .*: --match text",
        Reading(match="text"),
    ),
}


def returning(results: dict[str, dict[str, str]]) -> Any:
    """A retriever that returns a wrong result first."""
    return lambda query, k: [{"id": "other", "text": "unrelated"}, results[query]]


@pytest.mark.parametrize("name", HINTED)
def test_labels_that_are_no_ids_have_a_hint_with_the_option_that_matches_them(name: str) -> None:
    rows, results, words, reading = HINTED[name]
    code, _, message = words.partition(": ")
    if code.startswith("labels-"):
        found = evaluate(rows, returning(results), ["RR"])
        assert found["RR"] == 0
        assert message in {note.code: note.message for note in found.notes}[code]
    else:
        with pytest.raises(InputError) as refused:
            evaluate(rows, returning(results), ["RR"])
        assert re.search(words.replace(" .*", ".*"), f"{refused.value}", re.DOTALL), refused.value
    assert evaluate(rows, returning(results), ["RR", "R@5"], reading=reading)["RR"] == 0.5


# Cases, results after a wrong one, the option that the refusal prints, RR as a plain loop finds it.
FIELDS_OF_RESULTS: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any], str]] = {
    "objects within a field": (
        [{"query": A, "expect_payload": {"rule": "r1", "part": "p"}}],
        {"id": "1", "payload": {"rule": "r1", "part": "other"}},
        {"id": "2", "payload": {"rule": "r1", "part": "p"}},
        "rule=payload.rule,part=payload.part",
    ),
    "fields of nested objects": (
        [{"query": A, "expected": {"points": ["x"], "citations": {"document": "a.pdf", "must_include_pages": [5, 6]}}}],
        {"id": "1", "document": "a.pdf", "page": 9},
        {"id": "2", "document": "a.pdf", "page": 6},
        "document,must_include_pages=page",
    ),
    "tags": (
        [{"id": "a", "text": A, "expected_tags": ["calm", "warm"]}],
        {"id": "1", "tags": ["loud"]},
        {"id": "2", "tags": ["warm", "slow"]},
        "expected_tags=tags",
    ),
    "keys of cases": (
        [{"query": A, "expected_cause": "disk", "expected_services": ["api"]}],
        {"id": "1", "cause": "net", "services": ["api"]},
        {"id": "2", "cause": "disk", "services": ["api", "web"]},
        "expected_cause=cause,expected_services=services",
    ),
}


@pytest.mark.parametrize("name", FIELDS_OF_RESULTS)
def test_labels_that_are_fields_of_results_match_with_the_option_that_the_refusal_prints(name: str) -> None:
    rows, wrong, right, option = FIELDS_OF_RESULTS[name]
    with pytest.raises(InputError) as refused:
        evaluate({"queries": rows}, lambda query, k: [wrong, right], ["RR"])
    assert f"--match-field {option} " in (refused.value.hint or "")
    reading = Reading(match_fields=(option,))
    assert evaluate({"queries": rows}, lambda query, k: [wrong, right], ["RR"], reading=reading)["RR"] == 0.5


def test_a_path_that_no_result_has_is_corrected_by_what_results_have() -> None:
    rows = [{"query": A, "expected_cause": "disk", "expected_services": ["disk"]},
            {"query": B, "expected_cause": "net", "expected_services": ["api", "net"]}]  # fmt: skip
    found = {A: {"id": "1", "cause": "disk", "meta": {"affected_services": ["disk"]}},
             B: {"id": "2", "cause": "net", "meta": {"affected_services": ["api"]}}}  # fmt: skip
    reading = Reading(match_fields=("expected_cause=cause,expected_services=services",))
    with pytest.raises(InputError) as refused:
        evaluate(rows, lambda query, k: [found[query]], ["RR"], reading=reading)
    option = "expected_cause=cause,expected_services=meta.affected_services"
    assert f"--match-field {option} (2 of 2 labels have a value at" in (refused.value.hint or "")
    scores = evaluate(rows, lambda query, k: [found[query]], ["RR"], reading=Reading(match_fields=(option,)))
    assert scores["RR"] == 1


def test_limits_are_never_compared_as_values() -> None:
    rows = [{"query": A, "expect": {"genre": "x", "year_min": 1990}}]
    for option in ("genre,year_min=year", "max_price=price", "made_before=date"):
        with pytest.raises(UsageError, match="is a limit, which other values satisfy"):
            evaluate(rows, lambda query, k: [{"id": "1"}], ["RR"], reading=Reading(match_fields=(option,)))


def test_a_second_expected_value_that_is_not_compared_is_named() -> None:
    rows = [{"query": A, "expect_path": "25", "expect_standard": "s-6", "expected_answer": "x", "expected_type": "t"}]
    assert (
        "not 'expect_standard'; if a result must have them all: --match-field expect_path=path,expect_standard"
        in (notes_of(rows)["label-unused"])
    )
    assert "label-unused" not in notes_of(cases("expected_file", one=True, expected_answer="x", expected_type="t"))


def test_labels_with_an_empty_field_are_counted_and_empty_labels_expect_nothing() -> None:
    rows = [{"query": query, "expected": [{"document": document, "pages": pages}]}
            for query, document, pages in ((A, "a.pdf", []), (B, "a.pdf", [3]), ("third?", None, []))]  # fmt: skip
    reading = Reading(match_fields=("document,pages=page",))
    with pytest.warns(
        RankgaugeWarning, match="1 of 3 labels have nothing under 'pages': only their other fields count"
    ):
        found = evaluate(rows, lambda query, k: CHUNKS, ["RR"], reading=reading)
    notes = {note.code: note.message for note in found.notes}
    first = next(rank for rank, chunk in enumerate(CHUNKS, 1) if chunk["document"] == "a.pdf")
    page = next(rank for rank, chunk in enumerate(CHUNKS, 1) if (chunk["document"], chunk["page"]) == ("a.pdf", 3))
    assert found["RR"] == pytest.approx((1 / first + 1 / page) / 2)
    assert "1 case expects nothing" in notes["expects-nothing"]


def test_titles_under_a_key_of_documents_are_labels_of_their_own_by_text() -> None:
    rows = [{"query": A, "relevant": ["Shutter", "The Prestige"]}]
    results = {A: {"id": "7", "text": "Shutter: a film"}}
    found = evaluate(rows, returning(results), ["RR", "R@5"], reading=Reading(match="text"))
    assert (found["RR"], found["R@5"]) == (0.5, 0.5)


def notes_on(labels: Any, results: Any) -> list[Any]:
    """The notes of an evaluation."""
    return list(evaluate(labels, results, ["RR"]).notes)


def test_parts_of_ids_are_not_suggested_if_they_would_match_other_ids() -> None:
    results = {"q": ["doc-10/a.md", "doc-1/a.md"]}
    codes = {note.code for note in notes_on({"q": {"doc-1": 1}}, results)}
    assert "nothing-judged" in codes
    assert "labels-contained" not in codes
    assert "labels-contained" in {note.code for note in notes_on({"q": {"doc-2": 1}}, {"q": ["doc-2/a.md"]})}


def test_the_end_of_a_path_is_suggested_before_a_part_of_an_id() -> None:
    codes = {note.code for note in notes_on({"q": {"a.md": 1}}, {"q": ["docs/a.md"]})}
    assert {"labels-suffix"} == codes & {"labels-suffix", "labels-contained"}
    mixed = {"q": {"a.md": 1, "bee": 1, "cow": 1}}
    codes = {note.code for note in notes_on(mixed, {"q": ["docs/a.md", "docs/bee.md", "docs/cow.md"]})}
    assert {"labels-contained"} == codes & {"labels-suffix", "labels-contained"}


def test_two_keys_of_expected_text_that_do_not_say_so_are_refused() -> None:
    rows = cases("keywords", {A: ["settings"]}, key_facts=["reset"])
    for reading, hint in ((Reading(), "--match text --column relevant=keywords"), (Reading(match="text"), "choose")):
        with pytest.raises(InputError, match=hint):
            evaluate(rows, returning({A: {"id": "c", "text": "settings"}}), ["RR"], reading=reading)
    named = Reading(match="text", columns={"relevant": "keywords"})
    assert evaluate(rows, returning({A: {"id": "c", "text": "settings"}}), ["RR"], reading=named)["RR"] == 0.5


def test_cases_without_the_key_of_expected_text_are_named_with_the_way_to_leave_them_out() -> None:
    rows = [*cases("keywords", {A: ["settings"]}), {"question": B}]
    with pytest.raises(InputError, match=r"(?s)to leave such cases out: 'test cases#\[\?keywords\]'"):
        evaluate(rows, returning({A: {"id": "c", "text": "settings"}}), ["RR"], reading=Reading(match="text"))


def test_two_cases_may_have_the_same_text_if_they_have_ids() -> None:
    rows = [
        {"id": tenant, "question": A, "relevant": [doc], "tenant": tenant} for tenant, doc in (("x", "d1"), ("y", "d2"))
    ]
    found = read_cases(rows)
    assert [(case.id, case.query) for case in found.cases] == [("x", A), ("y", A)]
    assert found.columns["tenant"] == {"x": "x", "y": "y"}


def test_errors_name_the_line_of_a_case_in_every_container(tmp_path: Path) -> None:
    rows = [*cases("relevant_ids", {A: ["d1"]}), {"question": B, "relevant_ids": [[1]]}]
    files = {
        "lines.jsonl": text_of(rows, "lines.jsonl"),
        "list.json": "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]",
        "object.json": '{"queries": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]}",
        "list.yaml": "".join(f"- {json.dumps(row)}\n" for row in rows),
    }
    for name, line in zip(files, (2, 3, 3, 2), strict=True):
        (tmp_path / name).write_text(files[name])
        with pytest.raises(InputError, match=f"{name}:{line}: "):
            read_cases(tmp_path / name)


def test_yaml_cannot_expand_without_end(tmp_path: Path) -> None:
    levels = ["a: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"k{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    (tmp_path / "bomb.yaml").write_text("\n".join([*levels, "cases:", " - query: a", "   relevant: [d]"]))
    with pytest.raises(InputError, match="each alias counted as often as it is used"):
        read_cases(tmp_path / "bomb.yaml")


# -- text files of questions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("301 international organized crime\n302 polio\n", {"301": "international organized crime", "302": "polio"}),
        ("reset a lost 2FA device\nchange plan\n", dict.fromkeys(["reset a lost 2FA device", "change plan"])),
        ("2FA reset\nchange plan\n", dict.fromkeys(["2FA reset", "change plan"])),
        ("2FA reset\n2FA lost\n", dict.fromkeys(["2FA reset", "2FA lost"])),
        ("Hello, how are you?\nwhere?\n", dict.fromkeys(["Hello, how are you?", "where?"])),
        ("q1\tfirst one\nq2\tsecond\n", {"q1": "first one", "q2": "second"}),
    ],
)
def test_the_first_word_of_a_line_is_an_id_only_if_all_of_them_look_like_ids(
    text: str, queries: dict[str, str | None], tmp_path: Path
) -> None:
    (tmp_path / "queries.txt").write_text(text)
    found = read_queries(tmp_path / "queries.txt")
    assert found.known_texts() == {query: value or query for query, value in queries.items()}
    assert bool(found.notes) == (None in queries.values())


def test_labels_that_use_the_first_words_of_questions_as_ids_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "queries.txt").write_text("reset a lost device\nchange the plan\n")
    opening = Opening(10)
    with pytest.raises(InputError, match=r"(?s)read as a question, but 'reset', the first word.*with a tab"):
        open_inputs({"reset": {"d": 1}}, [lambda query: ["d"]], Reading(), tmp_path / "queries.txt", opening)
