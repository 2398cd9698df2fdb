"""Names of other tools: each has its own answer, and never a suggestion of a different measure."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankgauge import MeasureError, compare, evaluate, gate, measure, parse_measure
from rankgauge.core.hits import Hits, PerQuery
from rankgauge.measures import registry
from rankgauge.measures import trec_names as trec
from rankgauge.measures.descriptions import find
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import EQUIVALENTS, NOT_IMPLEMENTED, parse_measures, split
from rankgauge.measures.names import equivalent_name as equivalent
from rankgauge.measures.registry import DEFAULT_MEASURES, TREC_SETS
from rankgauge.measures.trec_names import FAMILY_BY_NAME
from tests.measures.variants import ALL
from tests.needs import working_library


@pytest.mark.parametrize("variant", ALL, ids=str)
def test_a_canonical_name_parses_to_itself(variant: Measure) -> None:
    assert str(parse_measure(str(variant))) == str(variant)
    assert parse_measure(str(variant)) == variant
    assert hash(parse_measure(str(variant))) == hash(variant)


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain='exp')@10"),
        ("nDCG(gain='linear')@10", "nDCG@10"),
        ("ndcg.1=3,2=9", "nDCG(gains={1:3,2:9})"),
        ("G.1=3,2=9", "G(gains={1:3,2:9})"),
        ("map", "AP"),
        ("MAP", "AP"),
        ("map@10", "AP@10"),
        ("map_cut_100", "AP@100"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("AP(rel=2.0)@100", "AP(rel=2)@100"),
        ("gm_map", "GMAP"),
        ("mrr", "RR"),
        ("MRR@10", "RR@10"),
        ("recip_rank", "RR"),
        ("recip_rank@10", "RR@10"),
        ("hit@5", "Success@5"),
        ("HitRate@10", "Success@10"),
        ("hit_rate@3", "Success@3"),
        ("success_5", "Success@5"),
        ("hits@5", "NumRelRet@5"),
        ("precision@3", "P@3"),
        ("Precision@3", "P@3"),
        ("P_5", "P@5"),
        ("P(judged_only=True)@5", "P(judged_only=True)@5"),
        ("recall@100", "R@100"),
        ("recall_100", "R@100"),
        ("relative_P_5", "R(norm='min')@5"),
        ("F1@5", "F1@5"),
        ("f1@5", "F1@5"),
        ("F@5", "F1@5"),
        ("F(beta=2)@5", "F(beta=2)@5"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("IPrec@0.5", "IPrec@0.5"),
        ("11pt_avg", "IPrecAvg"),
        ("set_F.2", "SetF(weight=2)"),
        ("set_relative_P", "SetRelP"),
        ("SetP(relative=True)", "SetRelP"),
        ("num_rel_ret", "NumRelRet"),
        ("NumRet(rel=1)", "NumRelRet"),
        ("Rprec_mult_0.20", "Rprec(mult=0.2)"),
        ("RPrec", "Rprec"),
        ("BPref", "Bpref"),
        ("bpref", "Bpref"),
        ("yaap", "YAAP"),
        ("utility.2,-1,0,0", "Utility(relevant=2)"),
        ("R@k", "R@k"),
        ("RBP(p=0.8)", "RBP"),
        ("Q-measure", "Q"),
        ("Q-measure@10", "Q@10"),
        ("q-measure(beta=2)@10", "Q(beta=2)@10"),
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("alpha-ndcg(alpha=0.3)@5", "alpha_nDCG(alpha=0.3)@5"),
    ],
)
def test_every_way_of_naming_gives_one_name(name: str, canonical: str) -> None:
    assert str(parse_measure(name)) == canonical


def test_lists_sets_and_mixtures() -> None:
    assert [str(m) for m in parse_measures("nDCG@5,10 map P.5,10 nDCG@10")] == [
        "nDCG@5", "nDCG@10", "AP", "P@5", "P@10",
    ]  # fmt: skip
    assert [str(m) for m in parse_measures(["kpi"])] == ["nDCG@10", "AP@100", "RR@10", "R@50", "R@100", "Success@10"]
    assert [str(m) for m in parse_measures("rag@3")] == ["P@3", "R@3", "F1@3", "RR@3", "AP@3", "nDCG@3", "Success@3"]
    assert parse_measures("P_5,10 ndcg_cut_20,4") == parse_measures("P.5,10 ndcg_cut.20,4")
    assert parse_measures("iprec_at_recall_0.10,0.20") == parse_measures("IPrec@0.1 IPrec@0.2")
    assert len(parse_measures("beir")) == 24
    assert len(parse_measures("P")) == 9
    assert len(parse_measures("official")) == 29
    assert len(parse_measures("set")) == 10
    assert len(parse_measures("all_trec", compat="trec_eval-10")) == len(parse_measures("all_trec")) + 5
    assert split("nDCG(gains={1: 3, 2: 9})@10  AP(rel=2, norm='min')@5") == [
        "nDCG(gains={1: 3, 2: 9})@10", "AP(rel=2, norm='min')@5",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("recip_rank.10", "RR@10"),
        ("map.5", "AP@5"),
        ("infAP.5", "takes no parameter"),
        ("ndgc@10", "did you mean nDCG@10"),
        ("precison@5", "did you mean Precision@5"),
        ("xyzzy", "unknown measure 'xyzzy'"),
        ("P", "names 9 measures"),
        ("Success", "write Success@10"),
        ("IPrec", "write IPrec@0.5"),
        ("P@0", "found 0"),
        ("P@-1", "found '-1'"),
        ("P@2.5", "found 2.5"),
        ("P@1e3", "found '1e3'"),
        ("P@99999999999999999999", "1000000000"),
        ("P.0", "at least 1"),
        ("P.abc", "found 'abc'"),
        ("P.2.5", "found '2.5'"),
        ("iprec_at_recall.x", "must be numbers"),
        ("set_F.1.0,0.5", "write set_F.1.0 set_F.0.5"),
        ("P_5,,10", "at least 1, found ''"),
        ("AP(rell=2)", "did you mean rel"),
        ("AP(rel='a')", "found 'a'"),
        ("AP(2)", "cannot read the parameters"),
        ("AP(rel=)", "cannot read the parameters"),
        ("AP(rel=__import__('os'))", "cannot read the parameters"),
        ("AP(rel=2", "cannot read"),
        ("P(norm='x')@5", "must be one of 'k', 'retrieved'"),
        ("RBP(p=1)", "between 0 and 1"),
        ("RBP(p=True)", "between 0 and 1"),
        ("F(beta=0)@5", "above 0"),
        ("IPrec@2", "from 0 to 1"),
        ("nDCG(gains={})", "gains for grades"),
        ("nDCG(gains={-1: 2})", "gains for grades"),
        ("Bpref@10", "has no cutoff"),
        ("P(cutoff=3)@5", "given twice"),
        ("runid", "rankgauge trec_eval -m runid"),
        ("utility.1,2", "four numbers"),
    ],
)
def test_an_error_says_what_to_write_instead(name: str, message: str) -> None:
    with pytest.raises(MeasureError) as error:
        parse_measure(name)
    assert message in str(error.value)


@given(st.text(max_size=30))
def test_any_text_is_a_measure_or_one_clear_error(text: str) -> None:
    with contextlib.suppress(MeasureError):
        parse_measures(text)


def test_a_value_that_is_not_a_name_is_an_error() -> None:
    with pytest.raises(MeasureError, match="must be a name, found int"):
        parse_measures([3])  # type: ignore[list-item]  # refused at run time


def test_a_custom_measure_takes_a_few_lines() -> None:
    @measure("Top1", aliases=("first_is_relevant",))
    def top1(hits: Hits, *, rel: float = 1) -> PerQuery:
        """Whether the first document is relevant.

        Later documents do not count.

        Formula: 1 if rank 1 is relevant,
            else 0
        Reference: nobody
        """
        return hits.top(1).relevant(rel).count.astype(float)

    try:
        scores = evaluate({"q": {"a": 1}, "p": {"b": 1}}, {"q": ["a"], "p": ["x", "b"]}, ["Top1", "first_is_relevant"])
        assert scores["Top1"] == 0.5
        assert len(scores.measures) == 1
        assert top1.summary == "Whether the first document is relevant."
        assert top1.explanation == "Whether the first document is relevant.\n\nLater documents do not count."
        assert (top1.formula, top1.reference) == ("1 if rank 1 is relevant, else 0", "nobody")
        with pytest.raises(MeasureError, match="is already used by Top1"):
            measure("Top1")(top1.kernel)
    finally:
        registry.unregister("Top1")
    with pytest.raises(MeasureError):
        parse_measure("Top1")


def test_a_parameter_from_the_collection_becomes_part_of_the_name() -> None:
    judged = {"q": {"a": 1, "b": 0}, "p": {"c": 3}}
    scores = evaluate(judged, {"q": ["a"], "p": ["c"]}, "ERR@5 RBP RBP(rel=1)")
    assert [str(m) for m in scores.measures] == ["ERR(max_rel=3)@5", "RBP(max_rel=3)", "RBP(rel=1)"]
    assert scores["ERR@5"] == scores["ERR(max_rel=3)@5"] == pytest.approx((1 / 8 + 7 / 8) / 2)
    with pytest.raises(MeasureError, match="judgment of 3"):
        evaluate(judged, {"q": ["a"]}, "ERR(max_rel=2)@5")
    with pytest.raises(KeyError, match="was not evaluated"):
        scores["AP"]


def test_a_cutoff_may_be_a_column_of_the_queries() -> None:
    from rankgauge import Qrels

    qrels = Qrels.from_dict({"a": {"x": 1}, "b": {"x": 1}}, columns={"k": [1, 2], "word": ["u", "v"]})
    scores = evaluate(qrels, {"a": ["y", "x"], "b": ["y", "x"]}, "R@k")
    assert list(scores.per_query("R@k").values()) == [0.0, 1.0]
    with pytest.raises(MeasureError, match="neither a number nor a column"):
        evaluate(qrels, {"a": ["x"]}, "R@depth")
    with pytest.raises(MeasureError, match="whole number of at least 1"):
        evaluate(qrels, {"a": ["x"]}, "R@word")


def test_each_of_trec_evals_families_is_known_by_its_name() -> None:
    for family in trec.TREC_FAMILIES:
        if family.make is not None:
            assert parse_measures(family.name, compat="trec_eval-10"), family.name
        else:
            with pytest.raises(MeasureError, match=r"text|trec_eval 10 only"):
                parse_measures(family.name, compat="trec_eval-10")


def test_the_sets_of_trec_eval_are_exactly_its_nicknames() -> None:
    names = {*TREC_SETS, *registry.MEASURE_NAMES, *trec.FAMILY_BY_NAME}
    assert {name for name in names if trec.nickname(name, "trec_eval-10") is not None} == set(TREC_SETS)


def test_every_front_door_uses_the_one_list_of_default_measures() -> None:
    assert DEFAULT_MEASURES == ("nDCG@10", "RR@10", "R@10")
    qrels, run = {"q": {"a": 1}, "p": {"b": 1}}, {"q": ["a"], "p": ["x", "b"]}
    assert tuple(map(str, evaluate(qrels, run).measures)) == DEFAULT_MEASURES
    rows = compare(qrels, {"one": run, "two": run}).differences
    assert tuple(row.measure for row in rows) == DEFAULT_MEASURES
    assert tuple(row.measure for row in gate(qrels, run, baseline=run).compared) == DEFAULT_MEASURES


@pytest.mark.parametrize(
    ("name", "found"), [("ndcg_cut_10", "nDCG"), ("P_5", "P"), ("success_10", "Success"), ("AP", "AP")]
)
def test_a_measure_is_explained_by_every_name_that_can_be_evaluated(name: str, found: str) -> None:
    assert find(name).name == found


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("nDCG@10,RR", ["nDCG@10", "RR"]),
        ("nDCG@10, RR@10,", ["nDCG@10", "RR@10"]),
        ("map,P_5,10,recip_rank", ["AP", "P@5", "P@10", "RR"]),
        ("nDCG@5,10,AP(rel=2)@100,P_5", ["nDCG@5", "nDCG@10", "AP(rel=2)@100", "P@5"]),
        ("RR,11pt_avg,ndcg.1=3,2=9", ["RR", "IPrecAvg", "nDCG(gains={1:3,2:9})"]),
        ("P@5,needed", ["P@5", "P@needed"]),
    ],
)
def test_a_comma_separates_measures_and_parameters(text: str, names: list[str]) -> None:
    assert [str(measure) for measure in parse_measures(text)] == names


@pytest.mark.parametrize(("text", "message"), [("nDCG@10,RBP(p=2)", "RBP"), ("RR,foo", "unknown measure 'foo'")])
def test_each_measure_between_commas_is_read_on_its_own(text: str, message: str) -> None:
    with pytest.raises(MeasureError, match=message):
        parse_measures(text)


def refusal(name: str) -> str:
    with pytest.raises(MeasureError) as error:
        parse_measure(name)
    return str(error.value)


def answer(name: str) -> str:
    """The canonical name, or the error."""
    try:
        return str(parse_measure(name))
    except MeasureError as error:
        return str(error)


@pytest.mark.parametrize("name", NOT_IMPLEMENTED)
@pytest.mark.parametrize("suffix", ["", "@20"])
def test_a_measure_that_only_other_tools_have_is_not_implemented(name: str, suffix: str) -> None:
    message = refusal(name + suffix)
    assert message.startswith(f"unsupported measure '{name}': not implemented; {NOT_IMPLEMENTED[name]}\n")
    assert "did you mean" not in message


@pytest.mark.parametrize("name", EQUIVALENTS)
@pytest.mark.parametrize("at", [None, "7"])
def test_a_measure_with_another_name_elsewhere_has_an_equivalent_here(name: str, at: str | None) -> None:
    answer = equivalent(name, at)
    assert answer is not None
    assert str(parse_measure(answer)) == answer
    assert refusal(name if at is None else f"{name}@{at}") == f"unknown measure '{name}'\nhint: here, it is {answer}"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nDCG_IA@20", "unsupported measure 'nDCG_IA': not implemented; of the measures over subtopics"),
        ("nDCG-IA@20", "unsupported measure 'nDCG-IA': not implemented; of the measures over subtopics"),
        ("Alpha-DCG@20", "here, it is alpha_DCG@20"),
        ("BPM(T=1)@20", "unsupported measure 'BPM': not implemented"),
        ("ILD", "unsupported measure 'ILD': not implemented; it needs features"),
        ("ContextualRecallMetric", "it counts the claims of a reference answer"),
        ("hr@5", "here, it is Success@5"),
        ("HitRatio@5", "here, it is Success@5"),
    ],
)
def test_the_spelling_does_not_matter(name: str, message: str) -> None:
    assert message in refusal(name)


@pytest.mark.parametrize("name", ["ILDX", "rundi", "relstrin"])
def test_a_text_is_never_suggested_as_a_measure(name: str) -> None:
    hint = refusal(name)
    assert not any(family.name in hint for family in FAMILY_BY_NAME.values() if family.kind == "text")


def test_no_name_of_this_package_is_called_foreign() -> None:
    names = {name.casefold() for name in (*registry.MEASURE_NAMES, *FAMILY_BY_NAME)}
    assert not names & {name.casefold() for name in (*NOT_IMPLEMENTED, *EQUIVALENTS)}


def test_every_measure_of_ir_measures_is_here_or_has_an_answer() -> None:
    ir_measures = working_library("ir_measures", lambda library: library.measures.registry)
    for name in map(str, ir_measures.measures.registry):
        assert "unknown measure" not in answer(name), name


@pytest.mark.parametrize(("name", "command"), [("dcg", "--compat trec_eval-10 -m dcg"), ("runid", "-m runid")])
def test_the_command_of_a_hint_prints_what_only_trec_eval_has(name: str, command: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse_measure(name)
    assert caught.value.hint == f"`rankgauge trec_eval {command}` prints it"


def test_a_suggested_name_can_be_evaluated() -> None:
    with pytest.raises(MeasureError) as caught:
        parse_measure("DCG@4")
    assert str(caught.value.hint).startswith("did you mean nDCG@4?")
