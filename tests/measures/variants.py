"""Every measure with several choices of its parameters. A measure without an entry here fails a test."""

from __future__ import annotations

from rankgauge.measures.measure import Measure
from rankgauge.measures.names import parse_measure

NAMES: dict[str, list[str]] = {
    "P": ["P@1", "P@5", "P(rel=2)@3", "P(norm='retrieved')@5", "P(judged_only=True)@5"],
    "R": ["R@1", "R@5", "R(rel=2)@3", "R(norm='min')@2", "R(judged_only=True)@5"],
    "RecallAll": ["RecallAll@1", "RecallAll@5", "RecallAll(rel=2)@3", "RecallAll(judged_only=True)@5"],
    "ContextPrecision": ["ContextPrecision", "ContextPrecision@3", "ContextPrecision(rel=2)@5"],
    "AP": ["AP", "AP@3", "AP(rel=2)", "AP(norm='min')@2", "AP(judged_only=True)@5"],
    "GMAP": ["GMAP", "GMAP(rel=2)"],
    "GMBpref": ["GMBpref"],
    "nDCG": ["nDCG", "nDCG@3", "nDCG(gain='exp')@5", "nDCG(gains={1:3,2:9.5})@4", "nDCG(judged_only=True)@5"],
    "nDCGRel": ["nDCGRel", "nDCGRel(gains={1:3,2:9.5})"],
    "RnDCG": ["RnDCG", "RnDCG(rel=2)", "RnDCG(gains={1:3,2:9.5})"],
    "G": ["G", "G(gains={1:3,2:9.5})"],
    "BinG": ["BinG", "BinG(rel=2)"],
    "RR": ["RR", "RR@3", "RR(rel=2)@10", "RR(judged_only=True)"],
    "FirstRel": ["FirstRel", "FirstRel@3"],
    "Success": ["Success@1", "Success@5", "Success(rel=3)@5"],
    "Rprec": ["Rprec", "Rprec(mult=0.5)", "Rprec(mult=2)", "Rprec(rel=2)"],
    "F": ["F1@1", "F1@5", "F(beta=2)@5", "F(rel=2,beta=0.5)@3"],
    "SetP": ["SetP", "SetRelP", "SetP(rel=2)"],
    "SetR": ["SetR", "SetR(rel=2)"],
    "SetAP": ["SetAP"],
    "SetF": ["SetF", "SetF(beta=2)", "SetF(weight=2)"],
    "Bpref": ["Bpref", "Bpref(rel=2)"],
    "infAP": ["infAP", "infAP(rel=2)"],
    "IPrec": ["IPrec@0", "IPrec@0.1", "IPrec@0.5", "IPrec@1", "IPrec(round='nearest')@0.3"],
    "IPrecAvg": ["IPrecAvg", "IPrecAvg(recalls=[0.25,0.75])", "IPrecAvg(round='nearest')"],
    "Utility": ["Utility", "Utility(relevant=2,missed=-0.5,rest=0.1,collection=100)"],
    "YAAP": ["YAAP", "YAAP(rel=2)"],
    "ERR": ["ERR(max_rel=3)", "ERR(max_rel=4)@3"],
    "RBP": ["RBP(max_rel=3)", "RBP(p=0.5,rel=1)", "RBP(p=0.9,rel=2)@3", "RBP(max_rel=3)@4"],
    "RBPResidual": ["RBPResidual", "RBPResidual(p=0.5)"],
    "Q": ["Q", "Q@3", "Q(beta=10)", "Q(rel=2)"],
    "Judged": ["Judged", "Judged@3"],
    "Unjudged": ["Unjudged@3", "Unjudged@10"],
    "NumQ": ["NumQ"],
    "NumRet": ["NumRet", "NumRelRet", "NumRelRet@3", "NumRet@3"],
    "NumRel": ["NumRel", "NumRel(rel=2)"],
    "NumNonrelJudgedRet": ["NumNonrelJudgedRet", "NumNonrelJudgedRet(rel=2)"],
    "Accuracy": ["Accuracy", "Accuracy@4", "Accuracy(rel=2)"],
}
ALL: list[Measure] = [parse_measure(name) for names in NAMES.values() for name in names]
