"""What a key of a test case means is known from its name; a flag or a kind says whether there is an answer."""

from __future__ import annotations

from rankgauge.io.formats.case_keys import answerable_flag, expected_text_keys, label_kind
from rankgauge.io.formats.expected_text import is_part_of_id

PATTERN = (
    "relevant relevant_ids relevant_docs relevant_doc_ids gold_ids expected_ids expected_sources expect_path "
    "expected_document_id expectedFiles mustInclude relevantSessionIds expected_symbol_name gold_source expected-paths "
    "golden_chunk_ids expects ground_truth_docs reference_ids required_files expected_notes expected_memories "
    "expectedCitations gold_passage_id expected_function expectedArticles expected_clause relevant_sections "
    "gold_node_ids expected_pages expect_file_paths expected_chunk_indices Expected.Docs expected "
    "expected_entry_ids expectedDatapointIds must_include_message_ids ground_truth_row_id relevantSourceUris gold_uri"
).split()
NO_PATTERN = (
    "best acceptable evidence ratings id chunk_id path files docId expected_dates expected_source_contains "
    "expectTitleContains source_documents retrieval_gt expected_answer reference_answer gold_answer answer "
    "expected_valid expectedPaid expected_answer_id gold_question_ids expected_tool_ids entry_ids expected_entries"
).split()
TEXTS = (
    "must_contain expect_any expected_substring expected_answer_contains expected_content expected_key_facts "
    "expected_patterns expected_facts must_match reference_contexts expected_keywords text_prefix should_mention "
    "relevant_doc_keywords expected_source_text"
).split()


def test_names_are_recognized_by_pattern() -> None:
    assert [name for name in PATTERN if label_kind(name) is None] == []
    assert [name for name in NO_PATTERN if label_kind(name) is not None] == []
    assert expected_text_keys([*PATTERN, *NO_PATTERN, *TEXTS]) == TEXTS
    parts = [name for name in [*PATTERN, *NO_PATTERN, *TEXTS] if is_part_of_id(name)]
    assert parts == ["expected_source_contains", "expectTitleContains"]
    assert {name: label_kind(name) for name in ("expected", "expected_doc", "expected_doc_ids")} == {
        "expected": "bare", "expected_doc": "noun", "expected_doc_ids": "id",
    }  # fmt: skip


def test_a_flag_that_says_nothing_of_answers_changes_nothing() -> None:
    assert answerable_flag({"should_refuse": False}) is None
    assert answerable_flag({"should_refuse": False, "category": "out_of_scope"}) is False
    assert answerable_flag({"answerable": True, "category": "negative"}) is True
    assert answerable_flag({"must_match": ["x"], "category": "returns", "type": "missing_shipment"}) is None
    assert answerable_flag({"answerable": True}) is True
    assert answerable_flag({"category": "billing"}) is None
