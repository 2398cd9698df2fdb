"""Labels matched with results: every rule against a plain loop, and what must hold for any labels and results."""

from __future__ import annotations

import json
import math
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankgauge import Qrels, Run, evaluate, evaluate_retriever, evaluate_runs
from rankgauge.errors import InputError, RankgaugeWarning, UsageError
from rankgauge.evaluation.audit.ties import audit_ties
from rankgauge.io.formats import expected_text
from rankgauge.io.formats.expected_text import text_key_of
from rankgauge.io.matching import resolve_paths
from rankgauge.io.reading_options import Reading

Rule = Callable[[Any, Any], bool]
MEASURES = ["RR", "R@3", "R@10", "P@3", "Success@1", "Success@3", "nDCG@10", "AP"]


def first_ranks(labels: Sequence[Any], results: Sequence[Any], matches: Rule) -> list[int | None]:
    """The rank of the first result that matches each label."""
    return [next((r for r, one in enumerate(results, 1) if matches(label, one)), None) for label in labels]


def values_of(ranks: Sequence[int | None]) -> list[float]:
    """The measures of binary labels: recall counts labels, everything else the results that find a new label."""
    found = sorted({rank for rank in ranks if rank})
    shared = len([rank for rank in ranks if rank]) - len(found)
    relevant = len(ranks) - shared
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, relevant + 1))
    return [
        1 / found[0] if found else 0.0,
        sum(rank is not None and rank <= 3 for rank in ranks) / len(ranks),
        sum(rank is not None and rank <= 10 for rank in ranks) / len(ranks),
        sum(rank <= 3 for rank in found) / 3,
        float(any(rank <= 1 for rank in found)),
        float(any(rank <= 3 for rank in found)),
        sum(1 / math.log2(rank + 1) for rank in found) / ideal,
        sum(place / rank for place, rank in enumerate(found, 1)) / relevant,
    ]


def scored(labels: Any, results: Any, reading: Reading, measures: Sequence[str] = MEASURES) -> list[float]:
    return [float(value) for value in evaluate(labels, results, list(measures), reading=reading).values[0]]


def ends(label: str, name: str) -> bool:
    label, name = (re.sub(r"^(\./|/)+", "", text.replace("\\", "/")) for text in (label, name))
    return name == label or name.endswith("/" + label)


# The rule, its labels and results; a plain loop says which results match.
ID_RULES: dict[str, tuple[str, list[str], list[str], Rule]] = {
    "the same id": ("exact", ["b", "x"], ["a", "b", "c"], lambda a, b: a == b),
    "the end of a path": ("suffix", ["guide/a.md", "b.md"], ["x/a.md", "docs/guide/a.md", "b.md"], ends),
    "a path with a slash before it": ("suffix", ["/en/a", "./en/b"], ["en/c", "en/b", "en/a"], ends),
    "a path of Windows": ("suffix", ["docs/a.md"], ["z", r"C:\repo\docs\a.md"], ends),
    "not the end of a name": ("suffix", ["a.md"], ["docs/data.md", "docs/a.md"], ends),
    "part of the id": ("contains", ["refund"], ["faq", "billing/refunds.md#2", "refund"], lambda a, b: a in b),
    "the base name": ("contains", ["setup.md"], ["a", "docs/setup.md:3"], lambda a, b: a in b),
    "a host": ("contains", ["example.com"], ["https://a.org/1", "https://docs.example.com/2"], lambda a, b: a in b),
    "two labels in one id": ("contains", ["faq", "billing"], ["a", "faq/billing.md", "faq"], lambda a, b: a in b),
    "two labels in one id, one in none": ("contains", ["faq", "bill", "z"], ["a", "faq/bill.md"], lambda a, b: a in b),
    "chunks of one file": ("contains", ["a.md", "b.md"], ["a.md#2", "a.md#1", "b.md#1"], lambda a, b: a in b),
    "a label twice in the top": ("contains", ["a", "z"], ["a#1", "a#2", "a#3", "z"], lambda a, b: a in b),
}


@pytest.mark.parametrize("case", ID_RULES)
def test_ids_are_matched_as_a_plain_loop_matches_them(case: str) -> None:
    rule, labels, results, matches = ID_RULES[case]
    expected = values_of(first_ranks(labels, results, matches))
    got = scored({"q": labels}, {"q": results}, Reading(match=rule))  # type: ignore[arg-type]  # a text from the table
    assert got == pytest.approx(expected, abs=1e-12)
    assert got[0] > 0


def test_nothing_but_the_same_id_matches_by_default() -> None:
    labels, results = {"q": ["a.md"]}, {"q": ["docs/a.md"]}
    assert scored(labels, results, Reading(), ["RR"]) == [0.0]


def test_a_second_chunk_of_a_found_file_is_not_a_second_relevant_document() -> None:
    values = scored({"q": ["a.md"]}, {"q": ["a.md#1", "a.md#2", "a.md#3"]}, Reading(match="contains"))
    assert values == pytest.approx([1, 1, 1, 1 / 3, 1, 1, 1, 1])


def test_grades_of_labels_are_the_gains() -> None:
    labels = {"q": {"a.md": 3.0, "b.md": 1.0}}
    exact = scored({"q": {"docs/a.md": 3.0, "docs/b.md": 1.0}}, {"q": ["docs/b.md", "docs/a.md"]}, Reading())
    assert scored(labels, {"q": ["docs/b.md", "docs/a.md"]}, Reading(match="suffix")) == pytest.approx(exact)


def test_case_is_ignored_if_that_is_asked_for() -> None:
    labels, results = {"q": ["Guide/A.md"]}, {"q": ["docs/guide/a.MD"]}
    for rule in ("suffix", "contains"):
        assert scored(labels, results, Reading(match=rule), ["RR"]) == [0.0]
        assert scored(labels, results, Reading(match=rule, ignore_case=True), ["RR"]) == [1.0]


# -- paths ----------------------------------------------------------------------------------------------------------


def test_a_path_that_is_there_as_it_is_means_nothing_else() -> None:
    assert resolve_paths(["README.md"], ["docs/README.md", "README.md"]) == {"README.md": {"README.md": None}}


def test_an_absolute_label_means_the_relative_path_that_it_ends_in() -> None:
    label = "/home/ci/repo/docs/a.md"
    assert list(resolve_paths([label], ["docs/a.md", "a.md", "other/a.md"])[label]) == ["docs/a.md"]


def test_a_suffix_in_two_places_is_named() -> None:
    results = {"q": ["docs/alpha/billing/refunds.md", "docs/beta/billing/refunds.md"]}
    with pytest.warns(RankgaugeWarning, match=r"'billing/refunds.md' is 'docs/alpha/.*', 'docs/beta/.*longer paths"):
        scored({"q": ["billing/refunds.md"]}, results, Reading(match="suffix"))


PLACES = [f"docs/{product}/billing/{page}.md" for page in ("refunds", "taxes") for product in ("alpha", "beta")]


def ambiguity(cases: list[dict[str, Any]], **columns: str) -> str | None:
    """The note on paths in several places, with results at all of them."""
    results = {case["id"]: PLACES for case in cases}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scored(cases, results, Reading(match="suffix", columns=columns or None), ["RR"])
    return next((str(one.message) for one in caught if "several paths end in" in str(one.message)), None)


def test_the_note_on_a_suffix_in_two_places_names_the_template_that_tells_them_apart() -> None:
    cases = [
        {"id": "1", "query": "?", "expected_paths": ["billing/refunds.md"], "lang": "en", "product": "beta"},
        {"id": "2", "query": "?", "expected_paths": ["billing/taxes.md"], "lang": "en", "product": "alpha"},
    ]
    template = "docs/{product}/{expected_paths}"
    note = ambiguity(cases)
    assert note is not None
    assert note.endswith(f"; --column relevant='{template}' tells them apart")
    assert ambiguity(cases, relevant=template) is None
    other = [{**case, "product": "none of them"} for case in cases]
    assert "or add a field to tell them apart: --column relevant='{FIELD}/{expected_paths}'" in str(ambiguity(other))
    fields = [{**case, "FIELD": f"docs/{case['product']}"} for case in cases]
    assert ambiguity(fields, relevant="{FIELD}/{expected_paths}") is None


FORBIDDEN: dict[str, tuple[dict[str, Any], Reading]] = {
    "suffix": ({"relevant": ["x/a.md"], "forbidden": ["./old/b.md"]}, Reading(match="suffix")),
    "contains": ({"relevant": ["x/a"], "forbidden": ["old/"]}, Reading(match="contains")),
    "ignoring case": (
        {"relevant": ["x/a"], "forbidden": ["OLD/B"]},
        Reading(match="contains", ignore_case=True),
    ),
    "text": ({"must_contain": ["fees"], "forbidden": ["draft"]}, Reading(match="text")),
    "text, by id": ({"must_contain": ["fees"], "forbidden": ["docs/old/b.md"]}, Reading(match="text")),
    "fields": (
        {"relevant": [{"path": "docs/x/a.md"}], "forbidden": [{"path": "docs/old/b.md"}]},
        Reading(match_fields=("path=id",)),
    ),
    "its own rule": ({"match": "suffix", "relevant": ["x/a.md"], "forbidden": ["old/b.md"]}, Reading()),
}


@pytest.mark.parametrize("case", FORBIDDEN)
def test_a_forbidden_entry_matches_as_a_relevant_one_does(case: str, tmp_path: Path) -> None:
    labels, reading = FORBIDDEN[case]
    results = [{"id": "docs/x/a.md", "text": "all fees"}, {"id": "docs/old/b.md", "text": "a draft of prices"}]
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"id": "q", "query": "?", "retrieved": results, **labels}), encoding="utf-8")
    evaluation = evaluate_runs(log, [], ["Leak@1", "Leak@3", "RR"], reading=reading)
    assert evaluation.scores[0].values.tolist() == [[0.0, 1.0, 1.0]]


def test_documents_of_a_file_of_forbidden_ones_match_by_the_rule(tmp_path: Path) -> None:
    (tmp_path / "forbidden.txt").write_text("q old/b.md\n", encoding="utf-8")
    reading = Reading(match="suffix", forbidden=str(tmp_path / "forbidden.txt"))
    results = {"q": ["docs/x/a.md", "docs/old/b.md"]}
    assert scored({"q": ["x/a.md"]}, results, reading, ["Leak@1", "Leak@3"]) == [0.0, 1.0]
    assert scored({"q": ["x/a.md"]}, {"q": ["docs/x/a.md"]}, reading, ["Leak@3"]) == [0.0]


def test_what_matches_a_relevant_and_a_forbidden_label_is_refused() -> None:
    labels = [{"id": "q", "query": "?", "relevant": ["a.md"], "forbidden": ["x/a.md"]}]
    with pytest.raises(InputError, match=r"'docs/x/a.md' is both forbidden and relevant for query 'q'"):
        scored(labels, {"q": ["docs/x/a.md"]}, Reading(match="suffix"))


def test_evidence_is_refused_with_the_reason() -> None:
    labels = [{"id": "q", "query": "?", "evidence": [["a.md"], ["b.md"]]}]
    with pytest.raises(UsageError, match="evidence is matched by exact ids: a piece of it is a list of documents"):
        scored(labels, {"q": ["docs/x/a.md"]}, Reading(match="suffix"))


def notes(labels: Any, results: Any) -> dict[str, str]:
    return {note.code: note.message for note in evaluate(labels, results, ["RR"]).notes}


def test_half_of_the_paths_absolute_gets_a_note_with_the_count_and_the_option() -> None:
    labels = {"q1": ["docs/a.md"], "q2": ["/docs/b.md"], "q3": ["/srv/repo/docs/c.md"]}
    results = {"q1": ["docs/a.md"], "q2": ["docs/b.md"], "q3": ["x", "docs/c.md"]}
    message = notes(labels, results)["labels-suffix"]
    assert message.startswith("2 of 3 labels would match a result by the end of a path: '/docs/b.md' is 'docs/b.md'")
    assert "--match suffix" in message
    values = evaluate(labels, results, ["RR"], reading=Reading(match="suffix")).values[:, 0].tolist()
    assert values == [1.0, 1.0, 0.5]


def test_file_names_that_match_nowhere_get_the_note() -> None:
    assert "2 of 2 labels" in notes({"q": ["a.md", "b.md"]}, {"q": ["docs/a.md", "src/b.md"]})["labels-suffix"]


def test_a_file_name_beside_a_label_that_was_found_gets_no_note() -> None:
    assert "labels-suffix" not in notes({"q": ["docs/x.md", "a.md"]}, {"q": ["docs/x.md", "docs/a.md"]})


def test_ids_that_are_not_paths_get_no_note_and_results_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankgauge.io.pipeline import joining

    monkeypatch.setattr(joining, "_path_notes", lambda *_: pytest.fail("looked at"))
    assert notes({"q": ["FT911-1", "FT911-2"], "r": ["FT1.23"]}, {"q": ["FT911-1"], "r": ["FT1.23"]}) == {}


# -- what must hold -------------------------------------------------------------------------------------------------

NAMES = st.text("abc.", min_size=1, max_size=3)
PATHS = st.lists(st.text("ab", min_size=1, max_size=2), min_size=1, max_size=3).map("/".join)


def lists(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(names, min_size=1, max_size=5, unique=True)


@given(lists(NAMES), lists(NAMES))
def test_without_slashes_suffix_is_exact(labels: list[str], results: list[str]) -> None:
    both = [scored({"q": labels}, {"q": results}, Reading(match=rule)) for rule in ("exact", "suffix")]
    assert both[0] == pytest.approx(both[1], abs=1e-12)


@pytest.mark.filterwarnings("ignore::rankgauge.errors.RankgaugeWarning")
@given(lists(PATHS), lists(PATHS))
def test_suffix_never_finds_fewer_than_exact(labels: list[str], results: list[str]) -> None:
    exact, suffix, contains = (
        scored({"q": labels}, {"q": results}, Reading(match=rule), ["R@10", "Success@10", "RR"])
        for rule in ("exact", "suffix", "contains")
    )
    assert all(a <= b for a, b in zip(exact, suffix, strict=True))
    assert all(a <= b for a, b in zip(exact, contains, strict=True))


@pytest.mark.filterwarnings("ignore::rankgauge.errors.RankgaugeWarning")
@given(lists(PATHS), lists(PATHS), st.randoms())
def test_the_order_of_labels_does_not_matter(labels: list[str], results: list[str], random: Any) -> None:
    shuffled = random.sample(labels, len(labels))
    for rule in ("suffix", "contains"):
        values = [scored({"q": one}, {"q": results}, Reading(match=rule)) for one in (labels, shuffled)]
        assert values[0] == values[1]


@given(lists(NAMES), lists(NAMES))
def test_contains_is_a_plain_loop(labels: list[str], results: list[str]) -> None:
    expected = values_of(first_ranks(labels, results, lambda label, name: label in name))
    assert scored({"q": labels}, {"q": results}, Reading(match="contains")) == pytest.approx(expected, abs=1e-12)


# -- random collections: 300 for each rule -----------------------------------------------------------------------------

MANY = settings(max_examples=300)
WORDS = st.lists(st.sampled_from(["red", "green", "blue", "sea", "see"]), min_size=1, max_size=3).map(" ".join)


@pytest.mark.filterwarnings("ignore::rankgauge.errors.RankgaugeWarning")
@MANY
@given(lists(PATHS), lists(PATHS))
def test_ends_of_paths_are_a_plain_loop(labels: list[str], results: list[str]) -> None:
    """A label that is there as it is means nothing else."""

    def matches(label: str, name: str) -> bool:
        return name == label if label in results else ends(label, name)

    found = scored({"q": labels}, {"q": results}, Reading(match="suffix"))
    assert found == pytest.approx(values_of(first_ranks(labels, results, matches)), abs=1e-12)


@MANY
@given(lists(PATHS), lists(PATHS))
def test_parts_of_ids_are_a_plain_loop(labels: list[str], results: list[str]) -> None:
    expected = values_of(first_ranks(labels, results, lambda label, name: label in name))
    assert scored({"q": labels}, {"q": results}, Reading(match="contains")) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("ignore::rankgauge.errors.RankgaugeWarning")
@MANY
@given(lists(WORDS), lists(WORDS), st.booleans())
def test_expected_texts_are_a_plain_loop(labels: list[str], texts: list[str], needs_all: bool) -> None:
    case = {"query": "q", "must_contain" if needs_all else "expect_any": labels}
    found = [{"id": f"c{number}", "text": text} for number, text in enumerate(texts)]
    combine = all if needs_all else any
    ranks = first_ranks([labels], texts, lambda wanted, text: combine(one in text for one in wanted))
    assert scored([case], answers(found), Reading(match="text")) == pytest.approx(values_of(ranks), abs=1e-12)


@pytest.mark.filterwarnings("ignore::rankgauge.errors.RankgaugeWarning")
@MANY
@given(
    st.lists(st.tuples(st.sampled_from("DE"), st.integers(1, 3)), min_size=1, max_size=4, unique=True),
    st.lists(st.tuples(st.sampled_from("DE"), st.integers(1, 3)), min_size=1, max_size=5, unique=True),
)
def test_labels_with_two_fields_are_a_plain_loop(labels: list[tuple[str, int]], found: list[tuple[str, int]]) -> None:
    cases = [{"query": "q", "relevant": [{"doc_id": doc, "clause_no": number} for doc, number in labels]}]
    results = [{"doc_id": doc, "clause_no": number, "text": "any"} for doc, number in found]
    expected = values_of(first_ranks(labels, found, lambda label, one: label == one))
    reading = Reading(match_fields=("doc_id", "clause_no"))
    assert scored(cases, answers(results), reading) == pytest.approx(expected, abs=1e-12)


def test_other_results_are_not_other_labels() -> None:
    reading = Reading(match="suffix", fingerprint=True)
    hashes = {
        evaluate({"q": ["a.md"]}, results, ["RR"], reading=one).qrels_sha256
        for results in ({"q": ["docs/a.md"]}, {"q": ["x"]})
        for one in (reading, Reading(match="contains", fingerprint=True))
    }
    assert len(hashes) == 2


def test_several_runs_share_the_labels() -> None:
    runs = [Run.from_lists({"q": names}, name=str(n)) for n, names in enumerate((["x/a.md"], ["b", "a.md"]))]
    evaluation = evaluate_runs(Qrels.from_lists({"q": ["a.md"]}), runs, ["RR"], reading=Reading(match="contains"))
    assert [scores["RR"] for scores in evaluation.scores] == [1.0, 0.5]
    assert evaluation.scores[0].conventions.to_dict()["match"] == "contains"


def test_the_best_order_of_tied_matches_of_one_label_is_not_known() -> None:
    qrels, run = {"q": {"a": 1.0}}, {"q": {"a#1": 1.0, "a#2": 1.0, "b": 1.0}}
    audit = audit_ties(qrels, run, ["P@1"], reading=Reading(match="contains"))
    assert (audit["P@1"].is_known, audit["P@1"].best.over_queries) == (False, None)


# -- text -----------------------------------------------------------------------------------------------------------

TEXTS = ["Refunds take 30 days.", "Keep the receipt for 30 days; ENCRYPTION is on.", "Call 0800-1234.", "Nothing."]
TEXT_RULES: dict[str, tuple[dict[str, Any], Rule]] = {
    "any of several": ({"expect_any": ["receipt", "coupon"]}, lambda case, t: any(s in t for s in case["expect_any"])),
    "all of several": (
        {"must_contain": ["30 days", "receipt"]},
        lambda case, t: all(s in t for s in case["must_contain"]),
    ),
    "one string": ({"expected_substring": "0800"}, lambda case, t: case["expected_substring"] in t),
    "an answer": ({"expected_answer_contains": ["1234"]}, lambda _, t: "1234" in t),
    "part of a word": ({"expected_keywords": ["eceip"]}, lambda _, t: "eceip" in t),
    "a pattern": ({"must_match": r"\d{4}-?\d*"}, lambda _, t: re.search(r"\d{4}-?\d*", t) is not None),
    "one of some patterns": ({"expected_patterns": ["zz", r"\breceipt\b"]}, lambda _, t: "receipt" in t),
    "the beginning": ({"text_prefix": "Keep"}, lambda _, t: t.startswith("Keep")),
    "contexts": ({"reference_contexts": ["Call 0800-1234."]}, lambda _, t: "Call 0800-1234." in t),
    "facts": ({"expected_key_facts": ["ENCRYPT"]}, lambda _, t: "ENCRYPT" in t),
    "content": ({"expected_content": "the receipt"}, lambda _, t: "the receipt" in t),
    "must include": ({"mustInclude": ["30 days", "receipt"]}, lambda _, t: "30 days" in t and "receipt" in t),
}


def search(query: str, k: int) -> list[dict[str, str]]:
    return [{"id": f"c{number}", "text": text} for number, text in enumerate(TEXTS)]


@pytest.mark.parametrize("case", TEXT_RULES)
def test_texts_are_matched_as_a_plain_loop_matches_them(case: str) -> None:
    expected, matches = TEXT_RULES[case]
    ranks = [next((rank for rank, text in enumerate(TEXTS, 1) if matches(expected, text)), None)]
    values = scored([{"query": "q", **expected}], search, Reading(match="text"))
    assert values == pytest.approx(values_of(ranks))
    assert ranks != [None]


def test_a_hit_for_any_of_several_strings_is_not_half_a_hit() -> None:
    assert scored([{"query": "q", "expect_any": ["receipt", "never"]}], search, Reading(match="text"), ["R@5"]) == [1.0]


def test_each_key_of_expected_text_is_a_label() -> None:
    case = {"query": "q", "must_contain": ["receipt"], "expected_facts": ["never"]}
    assert scored([case], search, Reading(match="text"), ["R@5", "RR"]) == [0.5, 0.5]


def test_a_log_with_texts_needs_no_second_file(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    row = {"query": "q", "must_contain": ["receipt"], "retrieved": search("q", 5)}
    log.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert evaluate(log, measures=["RR"], reading=Reading(match="text"))["RR"] == 0.5
    assert evaluate(log, measures=["RR"], reading=Reading(match="text", ignore_case=True))["RR"] == 0.5


@pytest.mark.filterwarnings("ignore:.*but for upper and lower case")
def test_case_of_text_is_ignored_if_that_is_asked_for() -> None:
    for expected in ({"expect_any": ["encryption"]}, {"must_match": "encr.ption"}):
        cases = [{"query": "q", **expected}]
        assert scored(cases, search, Reading(match="text"), ["RR"]) == [0.0]
        assert scored(cases, search, Reading(match="text", ignore_case=True), ["RR"]) == [0.5]


def test_text_that_only_differs_in_case_is_named() -> None:
    with pytest.warns(RankgaugeWarning, match="1 of 2 labels .* lower case: 'encryption': --ignore-case"):
        scored([{"query": "q", "expect_any": ["encryption"]}, {"query": "r", "expect_any": ["nowhere"]}],
               search, Reading(match="text"), ["RR"])  # fmt: skip


def test_results_without_texts_are_refused() -> None:
    with pytest.raises(InputError, match="has no texts"):
        evaluate([{"query": "q", "must_contain": ["a"]}], answers(["a"]), ["RR"], reading=Reading(match="text"))


def test_results_without_text_are_counted() -> None:
    cases, results = [{"query": "q", "must_contain": ["a"]}], [{"id": "1", "text": "a"}, {"id": "2"}]
    with pytest.warns(RankgaugeWarning, match="1 result without text, which no label by text matches: '2'"):
        assert scored(cases, answers(results), Reading(match="text"), ["RR"]) == [1.0]


def test_judgments_of_documents_are_refused_if_text_is_expected() -> None:
    with pytest.raises(UsageError, match="needs test cases that expect text"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, ["RR"], reading=Reading(match="text"))


def test_a_case_without_a_key_of_text_is_refused_with_its_keys() -> None:
    with pytest.raises(InputError, match=r"test cases:1: expected a key of expected text.*found 'query', 'relevant'"):
        evaluate([{"query": "q", "relevant": ["a1"]}], search, ["RR"], reading=Reading(match="text"))


def test_a_pattern_that_takes_forever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected_text, "PATTERN_SECONDS", 0.5)
    texts = [{"id": "1", "text": "fine"}, {"id": "2", "text": "a" * 40 + "!"}]
    cases = [{"query": "q", "expected_patterns": ["fine", "(a+)+$"]}]
    with pytest.raises(InputError, match=r"searching for '\(a\+\)\+\$' takes longer than 0.5 seconds"):
        evaluate(cases, answers(texts), ["RR"], reading=Reading(match="text"))


@pytest.mark.parametrize(
    ("pattern", "found"), [("(", "expected a regular expression, found '\\('"), ("a" * 501, "at most 500 characters")]
)
def test_what_is_no_pattern_is_refused(pattern: str, found: str) -> None:
    with pytest.raises(InputError, match=found):
        evaluate([{"query": "q", "must_match": pattern}], search, ["RR"], reading=Reading(match="text"))


@pytest.mark.parametrize(
    ("name", "needs_all", "kind"),
    [
        ("must_contain", True, "contains"),
        ("expect_any", False, "contains"),
        ("expectAll", True, "contains"),
        ("expected_substring", False, "contains"),
        ("expected_answer_contains", False, "contains"),
        ("must_match", True, "pattern"),
        ("expected_patterns", False, "pattern"),
        ("text_prefix", False, "prefix"),
        ("reference_contexts", False, "contains"),
        ("mustInclude", True, "contains"),
        ("relevant_doc_keywords", False, "contains"),
        ("expected_source_text", False, "contains"),
    ],
)
def test_keys_of_text_say_what_they_ask_for(name: str, needs_all: bool, kind: str) -> None:
    key = text_key_of(name)
    assert key is not None
    assert (key.needs_all, key.kind) == (needs_all, kind)


@pytest.mark.parametrize(
    "name",
    ["must_not_contain", "mustNotInclude", "relevant", "expected", "query", "text", "context", "search_terms",
     "expected_source_contains", "expected_ids", "category", "expected_documents", "all", "match",
     "expected_source_substring", "expected_path_terms", "expected_title_keywords", "expected_docs_any"],
)  # fmt: skip
def test_other_keys_are_not_text(name: str) -> None:
    assert text_key_of(name) is None


# -- rules of single cases ------------------------------------------------------------------------------------------

OWN_RULES: list[dict[str, Any]] = [
    {"query": "1", "relevant": ["c2"]},
    {"query": "2", "relevant": ["2"], "match": "contains"},
    {"query": "3", "relevant": ["2"], "match": "exact"},
    {"query": "4", "must_contain": "receipt", "match": "text"},
]


def test_each_case_may_have_its_own_rule(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, OWN_RULES)), encoding="utf-8")
    expected = [1 / 3, 1 / 3, 0.0, 0.5]
    for cases in (OWN_RULES, file):
        assert evaluate(cases, search, ["RR"]).values[:, 0].tolist() == pytest.approx(expected)
        assert evaluate_retriever(search, cases, 5).scores["RR"] == pytest.approx(sum(expected) / 4)


def test_a_rule_that_is_none_is_refused_and_another_column_is_left_alone() -> None:
    wrong = [
        {"query": "1", "relevant": ["c2"], "match": "prefix"},
        {"query": "2", "relevant": ["2"], "match": "suffix"},
    ]
    with pytest.raises(InputError, match="query '1': expected one of exact, suffix, contains, text as match"):
        evaluate(wrong, search, ["RR"])
    column = [{"query": "1", "relevant": ["c2"], "match": "final"}]
    assert evaluate(column, search, ["RR"])["RR"] == pytest.approx(1 / 3)


# -- labels with several fields -------------------------------------------------------------------------------------

CLAUSES = [{"doc_id": "D1", "clause_no": n, "text": f"clause {n}"} for n in (1, 2, 3)] + [
    {"doc_id": "D2", "clause_no": "3"}
]


def answers(results: Sequence[Any]) -> Callable[[str, int], Sequence[Any]]:
    return lambda query, k: results


def test_all_fields_of_a_label_must_match() -> None:
    cases = [{"query": "q", "relevant": [{"doc_id": "D1", "clause_no": 3}, {"doc_id": "D2", "clause_no": 1}]}]
    reading = Reading(match_fields=("doc_id", "clause_no"))
    ranks = first_ranks(
        cases[0]["relevant"],
        CLAUSES,
        lambda label, one: (label["doc_id"], str(label["clause_no"])) == (one["doc_id"], str(one["clause_no"])),
    )
    assert ranks == [3, None]
    assert scored(cases, answers(CLAUSES), reading) == pytest.approx(values_of(ranks))


def test_labels_with_several_fields_are_refused_until_they_are_named() -> None:
    cases = [{"query": "q", "relevant": [{"doc_id": "D1", "clause_no": 3}]}]
    with pytest.raises(InputError, match=r"objects with 'doc_id', 'clause_no'; expected ids") as caught:
        evaluate(cases, answers(CLAUSES), ["RR"])
    assert "--match-field doc_id,clause_no " in str(caught.value)


def test_descriptions_beside_an_id_are_no_fields() -> None:
    cases = [{"query": "q", "relevant": [{"doc_id": "D1", "title": "Terms", "note": "see 3"}]}]
    assert evaluate(cases, answers(["D1"]), ["RR"])["RR"] == 1.0


LINES = [
    {"file": "src/a.py", "span": {"from": 1, "to": 9}},
    {"file": "src/a.py", "span": {"from": 15, "to": 33}},
    {"file": "src/b.py", "span": {"from": 15, "to": 33}},
]


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ({"path": "src/a.py", "start_line": 30, "end_line": 40}, "start_line..end_line=span.from..span.to"),
        ({"path": "src/a.py", "lines": [30, 40]}, "lines=span.from..span.to"),
        ({"path": "src/a.py", "lines": "L30-L40"}, "lines=span.from..span.to"),
        ({"path": "src/a.py", "line": 33}, "line=span.from..span.to"),
    ],
)
def test_lines_match_if_they_overlap(label: dict[str, Any], field: str) -> None:
    reading = Reading(match_fields=("path=file", field))
    assert scored([{"query": "q", "relevant": [label]}], answers(LINES), reading, ["RR"]) == [0.5]


def test_one_result_can_have_the_lines_of_two_labels() -> None:
    labels = [{"path": "a.py", "lines": [10, 20]}, {"path": "a.py", "lines": [30, 40]}]
    reading = Reading(match="suffix", match_fields=("path=file", "lines=span.from..span.to"))
    values = scored([{"query": "q", "relevant": labels}], answers(LINES), reading)
    assert values == pytest.approx(values_of([2, 2]))
    assert values[2] == 1.0


def test_a_path_and_a_heading_in_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    results = [
        {"path": "docs/a.md", "metadata": {"heading": "Setup"}, "text": "x"},
        {"path": "docs/a.md", "metadata": {"heading": "Usage"}, "text": "y"},
        {"path": "docs/a.md", "metadata": {"heading": "Usage"}, "text": "z"},
    ]
    row = {"query": "q", "relevant": [{"path": "docs/a.md", "heading": "Usage"}], "retrieved": results}
    log.write_text(json.dumps(row) + "\n", encoding="utf-8")
    reading = Reading(match_fields=("path", "heading=metadata.heading"))
    assert evaluate(log, measures=["RR", "P@2"], reading=reading).values[0].tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (("doc_id", "chapter"), "no label has 'chapter', which --match-field names: found 'doc_id', 'clause_no'"),
        (("doc_id", "clause_no=clause"), "no result has 'clause': found 'doc_id'"),
    ],
)
def test_a_field_that_is_missing_is_named(fields: tuple[str, ...], message: str) -> None:
    cases = [{"query": "q", "relevant": [{"doc_id": "D1", "clause_no": 3}]}]
    with pytest.raises(InputError, match=message):
        evaluate(cases, answers(CLAUSES), ["RR"], reading=Reading(match_fields=fields))


def test_ids_have_no_fields() -> None:
    with pytest.raises(InputError, match="the label 'a' is an id without fields"):
        evaluate({"q": ["a"]}, {"q": ["a"]}, ["RR"], reading=Reading(match_fields=("path", "line")))
    cases = [{"query": "q", "relevant": [{"path": "a", "line": 1}]}]
    with pytest.raises(InputError, match="the result 'a' is an id without fields"):
        evaluate(cases, {"q": ["a"]}, ["RR"], reading=Reading(match_fields=("path", "line")))


def test_a_key_of_text_with_another_name_is_named(tmp_path: Path) -> None:
    cases, results = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    cases.write_text('{"query_id": "q", "best": ["receipt"]}\n', encoding="utf-8")
    results.write_text(json.dumps({"query_id": "q", "retrieved": search("q", 5)}) + "\n", encoding="utf-8")
    reading = Reading(match="text", columns={"relevant": "best"})
    assert evaluate(cases, results, ["RR"], reading=reading)["RR"] == 0.5


def test_groups_of_ids_are_refused_as_evidence(tmp_path: Path) -> None:
    file = tmp_path / "judgments.json"
    file.write_text(json.dumps({"q": [["a", "b"], ["c"]]}), encoding="utf-8")
    for labels in ([{"query": "q", "relevant": [["a", "b"], ["c"]]}], file):
        with pytest.raises(InputError, match=r"found a group of 2: 'a', 'b'(?s:.*) are evidence"):
            evaluate(labels, {"q": ["a"]}, ["RR"])
    pairs = [{"query": "q", "relevant": [["a", 2], ["b", 1]]}]
    assert evaluate(pairs, {"q": ["a"]}, ["RR"])["RR"] == 1.0


def test_cases_in_a_table_may_have_rules(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    file.write_text("query,relevant_ids,match\na,2,contains\nb,c2,\nc,2,exact\n", encoding="utf-8")
    assert evaluate(file, search, ["RR"]).values[:, 0].tolist() == pytest.approx([1 / 3, 1 / 3, 0.0])


def test_quotes_are_text_or_passages_and_not_ids() -> None:
    cases = [{"query": "q", "gold": ["Keep the receipt"]}]
    with pytest.raises(UsageError, match="--match suffix does not apply to labels that are quotes"):
        evaluate(cases, search, ["RR"], reading=Reading(match="suffix"))
    assert evaluate(cases, search, ["RR"], reading=Reading(match="text"))["RR"] == 0.5


def test_two_logs_are_matched_with_the_labels_of_the_last(tmp_path: Path) -> None:
    logs = []
    for name, ids in {"monday": ["x", "docs/a.md"], "today": ["docs/a.md", "x"]}.items():
        log = tmp_path / f"{name}.jsonl"
        log.write_text(json.dumps({"query": "q", "relevant": ["a.md"], "retrieved": ids}) + "\n", encoding="utf-8")
        logs.append(log)
    evaluation = evaluate_runs(logs[0], [logs[1]], ["RR"], reading=Reading(match="suffix"))
    assert [scores["RR"] for scores in evaluation.scores] == [0.5, 1.0]


@pytest.mark.parametrize("key", ["expected_source_contains", "expectedFileSubstring"])
def test_parts_of_ids_are_found_by_the_name_of_their_key(key: str) -> None:
    cases: list[dict[str, Any]] = [{"query": "1", key: "billing/"}, {"query": "2", key: ["login", "2fa"]}]

    def search(query: str, k: int) -> list[str]:
        return ["docs/intro.md", "docs/billing/refunds.md", "docs/login.md"]

    by_setting = evaluate(cases, search, ["RR", "R@5"], reading=Reading(match="contains"))
    assert by_setting.values.tolist() == [[1 / 2, 1.0], [1 / 3, 1 / 2]]
    own = evaluate_retriever(search, [{**case, "match": "contains"} for case in cases], k=5)
    assert [(row.mrr, row.recall_at_k) for row in own.per_query_metrics] == [(1 / 2, 1.0), (1 / 3, 1 / 2)]


def test_an_object_of_conditions_is_a_label_with_several_fields() -> None:
    cases = [{"query": "1", "expect": {"kind": "recipe", "path_contains": "codex"}}]
    found = [("page", "codex"), ("recipe", "intro"), ("recipe", "codex-waku")]
    results = [{"id": n, "kind": kind, "path": f"docs/{path}.md"} for n, (kind, path) in enumerate(found)]
    fields = ("kind=kind", "path_contains=path")
    reading = Reading(match="contains", match_fields=fields, columns={"relevant": "expect"})
    assert evaluate(cases, lambda query, k: results[:k], ["RR"], reading=reading)["RR"] == pytest.approx(1 / 3)


# A search that returns the path of a file as the id of each of its chunks: results differ in their texts.

CHUNKS = {
    "login?": [("b.md", "at most 5 MB"), ("c.md", "reset the password")],
    "refund?": [("docs/a.md", "shipping takes a week"), ("docs/a.md", "refunds take 30 days"), ("b.md", "nothing")],
    "upload?": [("b.md", "at most 5 MB"), ("docs/a.md", "refunds take 30 days"), ("docs/a.md", "files of 20 MB")],
}
EXPECTED = {"login?": ["password"], "refund?": ["30 days"], "upload?": ["20 MB"]}
TEXT_CASES = [{"id": query, "query": query, "expect_any": strings} for query, strings in EXPECTED.items()]


def search_chunks(query: str, k: int) -> list[dict[str, str]]:
    return [{"id": path, "text": text} for path, text in CHUNKS[query]][:k]


def expected_rrs() -> list[float]:
    """By a plain loop over the chunks of each query."""
    return [
        max(1 / rank for rank, (_, text) in enumerate(CHUNKS[query], 1) if strings[0] in text)
        for query, strings in EXPECTED.items()
    ]


def names_in(evaluation: Any) -> dict[str, list[str]]:
    run = evaluation.joined[0].run
    docs, bounds = run.docs.to_text(), run.offsets.tolist()
    return {query: docs[bounds[row] : bounds[row + 1]] for row, query in enumerate(run.queries.to_text())}


def test_each_text_of_an_id_is_a_result_of_its_own() -> None:
    assert expected_rrs() == [1 / 2, 1 / 2, 1 / 3]
    reading = Reading(match="text", keep_rankings=True)
    evaluation = evaluate_runs(TEXT_CASES, [search_chunks], ["RR"], reading=reading)
    assert evaluation.scores[0].values[:, 0].tolist() == expected_rrs()
    assert names_in(evaluation) == {
        "login?": ["b.md", "c.md"],
        "refund?": ["docs/a.md", "docs/a.md (2)", "b.md (2)"],
        "upload?": ["b.md", "docs/a.md (2)", "docs/a.md (3)"],
    }


@pytest.mark.parametrize("has_objects", [True, False])
def test_each_text_of_an_id_in_a_log_is_a_result_of_its_own(tmp_path: Path, has_objects: bool) -> None:
    rows: list[dict[str, Any]] = []
    for case in TEXT_CASES:
        chunks = CHUNKS[str(case["query"])]
        if has_objects:
            retrieved = [{"id": path, "text": text, "score": -n} for n, (path, text) in enumerate(chunks)]
            rows.append({**case, "retrieved": retrieved})
        else:
            texts = {"retrieved_ids": [path for path, _ in chunks], "contexts": [text for _, text in chunks]}
            rows.append({**case, **texts})
    log, cases = tmp_path / "log.jsonl", tmp_path / "cases.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    cases.write_text("".join(json.dumps({**case, "match": "text"}) + "\n" for case in TEXT_CASES))
    by_option = evaluate_runs(str(log), [], ["RR"], reading=Reading(match="text"))
    by_case = evaluate_runs(str(cases), [str(log)], ["RR"])
    for evaluation in (by_option, by_case):
        assert evaluation.scores[0].values[:, 0].tolist() == expected_rrs()


def test_two_searches_name_the_same_text_alike() -> None:
    def reverse(query: str, k: int) -> list[dict[str, str]]:
        return search_chunks(query, k)[::-1]

    reading = Reading(match="text", keep_rankings=True)
    evaluation = evaluate_runs(TEXT_CASES, [search_chunks, reverse], ["RR"], reading=reading)
    assert [scores.values[:, 0].tolist() for scores in evaluation.scores] == [expected_rrs(), [1.0, 1 / 2, 1.0]]
    first, second = ({} if one.extras is None else dict(one.extras.texts) for one in evaluation.joined)
    assert first == second
    assert set(first.values()) == {text for chunks in CHUNKS.values() for _, text in chunks}


def test_only_cases_by_text_tell_the_chunks_of_a_file_apart() -> None:
    cases: list[dict[str, Any]] = [
        {"query": "refund?", "match": "text", "must_contain": "30 days"},
        {"query": "upload?", "relevant_ids": ["docs/a.md"]},
    ]
    with pytest.warns(RankgaugeWarning, match="repeat an id"):
        result = evaluate_retriever(search_chunks, cases, k=3)
    assert [row.retrieved for row in result.per_query_metrics] == [
        ("docs/a.md (2)", "docs/a.md (3)", "b.md (2)"),
        ("b.md", "docs/a.md"),
    ]
    assert [row.mrr for row in result.per_query_metrics] == [1 / 2, 1 / 2]


@given(st.lists(st.tuples(st.sampled_from(["a", "a (2)", "b"]), st.none() | st.sampled_from("xyz"))))
def test_names_of_results_with_texts_are_readable_and_different(results: list[tuple[str, str | None]]) -> None:
    ids = [expected_text.text_id(name, text) for name, text in results]
    names = expected_text.shown_text_ids(ids)
    assert len({names.get(one, one) for one in ids}) == len(set(ids)) == len(set(results))
    for (name, text), one in zip(results, ids, strict=True):
        assert (one in names) == (text is not None)
        assert names.get(one, one) == name or re.fullmatch(re.escape(name) + r" \(\d+\)", names[one])
