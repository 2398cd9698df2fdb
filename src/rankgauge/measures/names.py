"""One parser for every way of naming a measure, and one canonical name out.

ir_measures' notation (``nDCG@10``, ``AP(rel=2)@100``), trec_eval's names (``ndcg_cut.10``, ``P_5``, ``map``), common
names (``hit@5``, ``mrr@10``, ``precision@3``), and sets of measures, mixed in one call. A name of another tool that has
no meaning here is refused with what to write instead.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from rankgauge.core.ranking import Compat
from rankgauge.errors import MeasureError, nearest, shown
from rankgauge.measures import registry
from rankgauge.measures.column_measures import column_measure, column_of
from rankgauge.measures.measure import Definition, Measure
from rankgauge.measures.registry import CUTOFF_SETS, DEFAULT_SET_CUTOFF, NAMED_SETS, TREC_SETS

if TYPE_CHECKING:
    from rankgauge.measures import trec_names as trec

NOTATION = re.compile(r"(?P<name>[^\s@()]+)(?:\((?P<arguments>.*)\))?(?:@(?P<at>[^@()]+))?", re.DOTALL)
PARAMETER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?(=.*)?")  # a number, or a gain of a grade
MISSPELLED = 0.75  # from which a text is a misspelled measure rather than the name of something else
COMMON_NAMES = {"precision": "P", "recall": "R", "map": "AP", "mrr": "RR", "hit": "Success", "f1": "F1"}
RAGAS_NAMES: dict[str, tuple[str, dict[str, Any]]] = {  # ragas' measures of ids, with the parameters that they set here
    "idbasedcontextprecision": ("P", {"norm": "retrieved"}),
    "idbasedcontextrecall": ("R", {}),
}


def parse_measure(name: str | Measure, *, compat: Compat = "trec_eval-9") -> Measure:
    """The one measure behind a name."""
    measures = parse_measures([name], compat=compat)
    if len(measures) != 1:
        raise MeasureError(
            f"{shown(str(name))} names {len(measures)} measures, expected one",
            hint=f"write {measures[0]}, or call parse_measures for all of them" if measures else None,
        )
    return measures[0]


def parse_measures(
    names: str | Measure | Iterable[str | Measure], *, compat: Compat = "trec_eval-9"
) -> tuple[Measure, ...]:
    """The measures behind names, sets and lists of them, each once, in the order of the request.

    The name of a single measure is how it is shown; of two names of the same measure, the first.
    """
    if isinstance(names, (str, Measure)):
        names = [names]
    if not isinstance(names, Iterable):
        raise MeasureError(f"measures must be names, found {type(names).__name__}: {shown(repr(names))}")
    measures: dict[Measure, None] = {}
    for name in names:
        if isinstance(name, Measure):
            measures[name] = None
        elif isinstance(name, str):
            words = split(name)
            if not words:
                raise MeasureError(
                    "a measure has no name", hint="write nDCG@10, or leave it out for the default measures"
                )
            for word in words:
                measures.update(dict.fromkeys(_spelled(word, compat)))
        else:
            raise MeasureError(f"a measure must be a name, found {type(name).__name__}: {shown(repr(name))}")
    if not measures:
        raise MeasureError("no measure is named", hint="leave measures out for the default ones")
    return tuple(measures)


def _spelled(name: str, compat: Compat) -> Sequence[Measure]:
    """The measures behind a name, which is how a single one is shown, unless it has parameters in parentheses."""
    if name in NAMED_SETS:
        return [measure for member in NAMED_SETS[name] for measure in _spelled(member, compat)]
    measures = _read(name, compat)
    return [measures[0].spelled(name)] if len(measures) == 1 and "(" not in name else measures


def names_measure(name: str, compat: Compat = "trec_eval-9") -> bool:
    """Whether a text names one measure, with everything that it needs."""
    try:
        return len(_read(name, compat)) == 1
    except MeasureError:
        return False


def split(text: str) -> list[str]:
    """The names in a text, separated by whitespace, or by a comma before the name of a measure."""
    names = list[str]()
    for word in filter(None, _parts(text, str.isspace)):
        first, *others = _parts(word.rstrip(",") or word, ",".__eq__)
        names.append(first)
        for part in others:
            if _is_parameter(part, names[-1]):  # P@5,10 is P@5 and P@10
                names[-1] += f",{part}"
            else:
                names.append(part)
    return names


def _parts(text: str, separates: Callable[[str], bool]) -> list[str]:
    """The parts of a text between separators outside of parentheses."""
    parts, depth, start = list[str](), 0, 0
    for end, character in enumerate(text):
        depth += (character in "({") - (character in ")}")
        if depth == 0 and separates(character):
            parts.append(text[start:end])
            start = end + 1
    return [*parts, text[start:]]


def _is_parameter(part: str, name: str) -> bool:
    """Whether what follows a comma is another parameter of a name: a number, or a column of the queries."""
    if not part or PARAMETER.fullmatch(part):
        return True
    return "@" in name and "@" not in part and "(" not in part and not _is_measure(part)


def _is_measure(name: str) -> bool:
    """Whether a text names a measure or a set, perhaps without the cutoff that it needs."""
    for read in (lambda: find_definition(name, None), lambda: _read(name, "trec_eval-10")):
        try:
            read()
        except MeasureError:
            continue
        return True
    return False


def _read(name: str, compat: Compat) -> Sequence[Measure]:
    if name in NAMED_SETS:
        return [measure for member in NAMED_SETS[name] for measure in _read(member, compat)]
    if (column := column_of(name)) is not None:
        return [column_measure(column, is_ours=names_measure(column, compat))]
    base, _, at = name.partition("@")
    if base in CUTOFF_SETS:
        return [_measure(member, None, at or str(DEFAULT_SET_CUTOFF)) for member in CUTOFF_SETS[base]]
    if "@" in name or "(" in name:
        match = NOTATION.fullmatch(name)
        if not match:
            raise MeasureError(f"cannot read {shown(name)}", hint="write nDCG@10 or AP(rel=2)@100")
        points = [match["at"]] if match["at"] is None else match["at"].split(",")
        return [_measure(match["name"], match["arguments"], point) for point in points]
    from rankgauge.measures import trec_names as trec  # which most evaluations do without

    members = trec.nickname(name, compat)
    if members is not None:
        families = [trec.FAMILY_BY_NAME[member] for member in members if trec.FAMILY_BY_NAME[member].kind != "text"]
        return [measure for family in families for measure in _read_trec(family, None, compat)]
    return _read_plain(name, compat)


def _read_plain(name: str, compat: Compat) -> Sequence[Measure]:
    """A name without ``@``: one of trec_eval's, or a measure that needs no cutoff."""
    from rankgauge.measures import trec_names as trec

    if name in trec.FAMILY_BY_NAME:
        return _read_trec(trec.FAMILY_BY_NAME[name], None, compat)
    head, dot, tail = name.partition(".")
    if dot and head in trec.FAMILY_BY_NAME:
        return _read_trec(trec.FAMILY_BY_NAME[head], tail, compat)
    for family in sorted(trec.TREC_FAMILIES, key=lambda f: -len(f.name)):
        rest = name.removeprefix(family.name + "_")
        if rest != name and re.fullmatch(r"[0-9.,]+", rest):
            return _read_trec(family, rest, compat)
    return [_measure(name, None, None)]


def _read_trec(family: trec.TrecFamily, text: str | None, compat: Compat) -> Sequence[Measure]:
    """A family of trec_eval, read strictly: parameters that trec_eval would ignore or misread are errors."""
    from rankgauge.measures import trec_names as trec

    if family.make is None:
        reason = "is text, not a number" if family.kind == "text" else "is a measure of trec_eval 10 only"
        raise MeasureError(f"{family.name} {reason}", hint=f"`{family.command}` prints it")
    if text:
        if family.kind == "none":
            with_cutoff = {"recip_rank": "RR", "map": "AP", "ndcg": "nDCG"}.get(family.name)
            raise MeasureError(
                f"{family.name} takes no parameter, found {shown(text)}",
                hint=f"write {with_cutoff}@{text}" if with_cutoff and text.isdigit() else None,
            )
        if family.kind == "cutoffs":
            parts = text.split(",")
            bad = next((part for part in parts if not (part.isascii() and part.isdigit() and trec.whole(part))), None)
            if bad is not None:
                raise MeasureError(f"cutoffs of {family.name} must be whole numbers of at least 1, found {shown(bad)}")
            text = ",".join(dict.fromkeys(str(trec.whole(part)) for part in parts))
        elif family.kind in ("points", "recalls", "number", "numbers"):
            bad = next((part for part in text.split(",") if not trec.C_NUMBER.fullmatch(part)), None)
            if bad is not None:
                raise MeasureError(f"parameters of {family.name} must be numbers, found {shown(bad)}")
            if family.kind == "number" and "," in text:
                every = " ".join(f"{family.name}.{number}" for number in text.split(","))
                raise MeasureError(f"{family.name} takes one number, found {shown(text)}", hint=f"write {every}")
    return [request.measure for request in trec.expand(family, text, compat) if request.measure is not None]


def _measure(name: str, arguments: str | None, at: str | None) -> Measure:
    definition, fixed = find_definition(name, at)
    parameters: dict[str, Any] = {**fixed, **_arguments(name, arguments)}
    if at is not None:
        if definition.at is None:
            raise MeasureError(f"{definition.name} has no cutoff, found {shown(name + '@' + at)}")
        if definition.at in parameters:
            raise MeasureError(f"{definition.at} of {definition.name} is given twice")
        parameters[definition.at] = _literal(at)
    if parameters.get("dcg") in ("log2", "exp-log2") and definition.name == "nDCG":
        parameters["gain"] = "linear" if parameters.pop("dcg") == "log2" else "exp"
    return definition(**parameters)


def find_definition(name: str, at: str | None) -> tuple[Definition, Any]:
    """The definition behind a name without parameters, and the parameters that the name itself sets."""
    if name in registry.MEASURE_NAMES:
        return registry.MEASURE_NAMES[name]
    folded = name.casefold()
    common = COMMON_NAMES.get(folded)
    if common:
        return registry.MEASURE_NAMES[common]
    if folded in RAGAS_NAMES:
        base, fixed = RAGAS_NAMES[folded]
        return registry.MEASURE_NAMES[base][0], fixed
    matches = {
        id(entry[0]): entry for spelling, entry in registry.MEASURE_NAMES.items() if spelling.casefold() == folded
    }
    if len(matches) == 1:
        return next(iter(matches.values()))
    from rankgauge.measures import trec_names as trec

    family = trec.FAMILY_BY_NAME.get(name)
    if family is not None and family.make is not None:
        if family.kind == "none" and at is not None and "cutoff" in family.make.parameters:
            return registry.MEASURE_NAMES[family.make.name]
        if family.kind == "cutoffs":
            return registry.MEASURE_NAMES[family.make.name][0], family.extra
    raise _unknown_measure(name, at)


def _unknown_measure(name: str, at: str | None) -> MeasureError:
    """The error for a name that is not one here. A name of another tool has its own answer, all others a suggestion."""
    from rankgauge.measures import trec_names as trec

    all_measures = "`rankgauge measures` lists them all"
    reason = reason_not_implemented(name)
    if reason is not None:
        claims = f"R@{at or DEFAULT_CUTOFF} is the share of the relevant documents that was found; "
        hint = (claims if reason == CLAIMS else "") + all_measures
        return MeasureError(f"unsupported measure {shown(name)}: not implemented; {reason}", hint=hint)
    equivalent = equivalent_name(name, at)
    if equivalent is not None:
        return MeasureError(f"unknown measure {shown(name)}", hint=f"here, it is {equivalent}")
    if name in trec.FAMILY_BY_NAME:
        command = trec.FAMILY_BY_NAME[name].command
        return MeasureError(f"{name} has no cutoff of this kind", hint=f"`{command}` prints it")
    close = _nearest_name(name)
    suggestion = f"did you mean {close}{'@' + at if at else ''}? " if close else ""
    return MeasureError(f"unknown measure {shown(name)}", hint=suggestion + all_measures)


def _nearest_name(name: str, least: float = 0.5) -> str | None:
    """The name of a measure or a set that a text nearly is."""
    from rankgauge.measures import trec_names as trec

    trec_families = [family for family, entry in trec.FAMILY_BY_NAME.items() if entry.make is not None]
    names = [*registry.MEASURE_NAMES, *trec_families, *NAMED_SETS, *CUTOFF_SETS, *COMMON_NAMES, *TREC_SETS]
    return nearest(name, names, least)


def is_unknown(name: str) -> bool:
    """Whether a text is no measure, set or family, with or without what it needs, nor nearly one."""
    from rankgauge.measures import trec_names as trec

    is_ours = _is_measure(name) or name in trec.FAMILY_BY_NAME
    return not is_ours and equivalent_name(name, None) is None and _nearest_name(name, MISSPELLED) is None


def _arguments(name: str, arguments: str | None) -> dict[str, Any]:
    if not arguments:
        return {}
    unreadable = MeasureError(
        f"cannot read the parameters of {shown(name)}: {shown(arguments)}", hint="write AP(rel=2)@100"
    )
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise unreadable
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise unreadable from None


def _literal(text: str) -> Any:
    """The text after the ``@``: a number, or the name of a query column."""
    if re.fullmatch(r"[0-9]+", text, re.ASCII):
        return int(text[:20])
    if re.fullmatch(r"[0-9]*\.[0-9]+", text, re.ASCII):
        return float(text)
    return text


# Names of measures in other tools: what to write here instead, or that there is no such measure.
#
# A name that is known elsewhere is not a misspelling of a name here: the nearest name would be a different measure.
# Names are compared without case, hyphens, underscores and a final ``Metric``.

SUBTOPICS = "of the measures over subtopics, only ndeval's are here"
BROWSING = "of the C/W/L measures, only RBP and ERR are here"
TEXTS = "it reads texts with a model; measures here compare document ids"
CLAIMS = "it counts the claims of a reference answer that the retrieved texts support, which a model decides"
VERDICTS = f"{TEXTS}; ContextPrecision@10 is the same formula with relevant ids in place of a model's verdicts"
IDEAL_RANKINGS = "it compares a run with an ideal ranking by rank-biased overlap, which no measure here does"
CATALOG = "it needs features or frequencies of items, not judgments"
PREDICTIONS = "it evaluates scores or a whole classification, not the top of a ranking"
UNNORMALIZED = "only the normalized form is here, nDCG"

NOT_IMPLEMENTED: dict[str, str] = {
    # ir_measures and ndeval
    "nDCG_IA": SUBTOPICS,
    "D#_nDCG": SUBTOPICS,
    "BPM": BROWSING,
    "INST": BROWSING,
    "INSQ": BROWSING,
    "SDCG": BROWSING,
    "NERR8": BROWSING,
    "NERR9": BROWSING,
    "NERR10": BROWSING,
    "NERR11": BROWSING,
    "TBG": "it needs the lengths of documents and a model of reading time",
    "U_measure": "it needs the lengths of documents and a model of reading time",
    "Compat": IDEAL_RANKINGS,
    "compatibility": IDEAL_RANKINGS,
    # ranx, scikit-learn
    "dcg_burges": UNNORMALIZED,
    "dcg_score": UNNORMALIZED,
    "AUC": PREDICTIONS,
    "AUROC": PREDICTIONS,
    "ROC_AUC": PREDICTIONS,
    "roc_auc_score": PREDICTIONS,
    "GAUC": PREDICTIONS,
    "LogLoss": PREDICTIONS,
    "MAE": PREDICTIONS,
    "RMSE": PREDICTIONS,
    "fallout": PREDICTIONS,
    "RetrievalFallOut": PREDICTIONS,
    "RetrievalAUROC": PREDICTIONS,
    # ragas, deepeval, and other tools that ask a language model
    "faithfulness": TEXTS,
    "groundedness": TEXTS,
    "hallucination": TEXTS,
    "answer_relevancy": TEXTS,
    "answer_relevance": TEXTS,
    "response_relevancy": TEXTS,
    "answer_correctness": TEXTS,
    "answer_similarity": TEXTS,
    "semantic_similarity": TEXTS,
    "factual_correctness": TEXTS,
    "noise_sensitivity": TEXTS,
    "aspect_critic": TEXTS,
    "context_recall": CLAIMS,
    "LLMContextRecall": CLAIMS,
    "contextual_recall": CLAIMS,
    "context_entity_recall": TEXTS,
    "context_relevancy": f"{TEXTS}; P@10 is the nearest for ids",
    "context_relevance": f"{TEXTS}; P@10 is the nearest for ids",
    "contextual_relevancy": f"{TEXTS}; P@10 is the nearest for ids",
    "context_precision": VERDICTS,
    "contextual_precision": VERDICTS,
    "LLMContextPrecisionWithReference": VERDICTS,
    "LLMContextPrecisionWithoutReference": VERDICTS,
    "context_utilization": VERDICTS,
    "BLEU": TEXTS,
    "ROUGE": TEXTS,
    "BERTScore": TEXTS,
    # recommender systems
    "ILD": CATALOG,
    "intra_list_diversity": CATALOG,
    "intra_list_similarity": CATALOG,
    "diversity": CATALOG,
    "coverage": CATALOG,
    "item_coverage": CATALOG,
    "catalog_coverage": CATALOG,
    "novelty": CATALOG,
    "serendipity": CATALOG,
    "unexpectedness": CATALOG,
    "popularity": CATALOG,
    "average_popularity": CATALOG,
    "personalization": CATALOG,
    "gini": CATALOG,
    "gini_index": CATALOG,
    "shannon_entropy": CATALOG,
    "EPC": CATALOG,
    "EPD": CATALOG,
}

EQUIVALENTS: dict[str, str] = {
    # ranx and BEIR; {at} is the cutoff of the request
    "r_precision": "Rprec",
    "ndcg_burges": "nDCG(gain='exp'){at}",
    "R_cap": "R(norm='min'){at}",
    "recall_cap": "R(norm='min'){at}",
    "hole": "Unjudged{at}",
    "top_k_accuracy": "Success{at}",
    # ndeval and NTCIR
    "alpha-DCG": "alpha_DCG{at}",
    "ERR-IA": "ERR_IA{at}",
    "nERR-IA": "nERR_IA{at}",
    "MAP-IA": "AP_IA",
    "P-IA": "P_IA{at}",
    "S_recall": "StRecall{at}",
    "subtopic_recall": "StRecall{at}",
    "I_rec": "StRecall{at}",
    # ragas
    "NonLLMContextRecall": "SetR",
    # recommender systems
    "HR": "Success{at}",
    "hit_ratio": "Success{at}",
    # scikit-learn and torchmetrics
    "ndcg_score": "nDCG{at}",
    "average_precision_score": "AP{at}",
    "RetrievalMAP": "AP{at}",
    "RetrievalMRR": "RR{at}",
    "RetrievalNormalizedDCG": "nDCG{at}",
    "RetrievalPrecision": "P{at}",
    "RetrievalRecall": "R{at}",
    "RetrievalHitRate": "Success{at}",
    "RetrievalRPrecision": "Rprec",
}
DEFAULT_CUTOFF = "10"  # in an example, if the request has none


def reason_not_implemented(name: str) -> str | None:
    """Why a measure of another tool is not here; None if the name is not known."""
    return _REASONS.get(_normalize(name))


def equivalent_name(name: str, at: str | None) -> str | None:
    """What a measure of another tool is called here, with the cutoff of the request; None if the name is not known."""
    template = _EQUIVALENTS.get(_normalize(name))
    return None if template is None else template.replace("{at}", f"@{at or DEFAULT_CUTOFF}")


def _normalize(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").removesuffix("metric")


_REASONS = {_normalize(name): reason for name, reason in NOT_IMPLEMENTED.items()}
_EQUIVALENTS = {_normalize(name): template for name, template in EQUIVALENTS.items()}

MeasureNames = str | Measure | Iterable[str | Measure]
