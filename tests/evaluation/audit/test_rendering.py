from __future__ import annotations

import json

from rankgauge import evaluate
from rankgauge.evaluation.audit.ties import audit_ties
from rankgauge.evaluation.audit.unjudged import audit_unjudged
from rankgauge.render.documents.audits import Audits, audit_parts, with_audits
from rankgauge.render.documents.scores import as_dict
from tests.render.formats.texts import text_of

QRELS = {"1": {"a": 1, "b": 0}, "\x1b[31m": {"a": 2, "c": 1}}
RUN = {"1": {"a": 1.0, "b": 1.0, "x": 1.0}, "\x1b[31m": {"a": 2.0, "b": 1.0, "c": 1.0}}


def test_the_table_of_ties_names_what_is_not_known() -> None:
    lines = text_of(*audit_parts(Audits(ties=[audit_ties(QRELS, RUN, "P@1 Q Accuracy SetP")]))).splitlines()
    assert lines[0] == "ties: run"
    assert lines[1].split() == "reported worst best changed".split()
    assert lines[2].split() == "P@1 0.5000 0.5000 1.0000 1".split()
    assert lines[4].split()[2:] == ["–", "–", "–"]
    assert lines[5].split()[-1] == "0"
    assert "the best and the worst order are not known for Accuracy" in lines[6]
    assert lines[-1] == "tied scores with a judged document straddle rank 1 in 1 query: 1"


def test_the_queries_of_a_straddling_tie_are_escaped_and_not_too_many() -> None:
    text = text_of(*audit_parts(Audits(ties=[audit_ties(QRELS, RUN, "P@2 P(judged_only=True)@1")])))
    assert "\x1b" not in text
    assert "straddle rank 2 in 2 queries: 1, \\x1b[31m" in text or "straddle rank 2 in 2 queries: \\x1b[31m, 1" in text
    assert "straddle rank 1 of the judged documents in 1 query" in text
    many = {f"{number:02d}": {"a": 1} for number in range(30)}
    run = {query: {"a": 1.0, "b": 1.0} for query in many}
    last = text_of(*audit_parts(Audits(ties=[audit_ties(many, run, "P@1")]))).splitlines()[-1]
    assert last.endswith("18, 19, …")
    assert "in 30 queries" in last


def test_the_table_of_unjudged_documents_says_what_is_no_bound() -> None:
    lines = text_of(*audit_parts(Audits(unjudged=[audit_unjudged(QRELS, RUN, "P@3 AP NumRelRet")]))).splitlines()[1:]
    assert lines[1].split() == "P@3 0.5000 0.8333 0.5000 0.6667 bounds".split()
    assert lines[2].endswith("no bounds")
    assert lines[3].split()[1:4] == ["3", "5", "3"]
    assert lines[4].startswith("2 of 6 retrieved documents are unjudged")
    assert "with grade 2" in lines[4]
    assert "; no bounds: these measures depend on" in lines[4]
    assert len(text_of(*audit_parts(Audits(unjudged=[audit_unjudged(QRELS, RUN, "P@3")]))).splitlines()) == 4


def test_json_gets_both_audits_and_keeps_what_was_there() -> None:
    scores = evaluate(QRELS, RUN, "P@1 FirstRel")
    data = as_dict([scores], per_query=True)
    ties, unjudged = audit_ties(QRELS, RUN, "P@1 FirstRel"), audit_unjudged(QRELS, RUN, "P@1 FirstRel")
    full = with_audits(data, Audits([ties], [unjudged]), per_query=True)
    run = json.loads(json.dumps(full, allow_nan=False))["runs"][0]
    assert {key: run[key] for key in data["runs"][0]} == data["runs"][0]
    assert "ties" not in data["runs"][0]
    assert set(run["ties"]) == {"tied_queries", "measures", "per_query"}
    assert run["ties"]["measures"]["P@1"] == {
        "reported": 0.5, "worst": 0.5, "best": 1.0, "changed_queries": 1, "straddling": ["1"],
    }  # fmt: skip
    assert run["ties"]["per_query"]["1"]["P@1"]["worst"] == 0.0
    assert set(run["unjudged"]) == {"documents", "grade", "measures", "per_query"}
    assert run["unjudged"]["measures"]["P@1"] == {
        "irrelevant": 0.5, "relevant": 1.0, "condensed": 0.5, "judged": 0.5, "bounds": True,
    }  # fmt: skip
    assert run["unjudged"]["per_query"]["1"]["FirstRel"]["irrelevant"] == 3.0
    assert with_audits(data, Audits()) == data
    assert "per_query" not in with_audits(data, Audits([ties]))["runs"][0]["ties"]
