"""What tools disagree on, decided once: how scores are compared, which queries count, what counts as relevant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.core.dataclass import dataclass
from rankgauge.core.formatting import given, plural
from rankgauge.core.qrels import Qrels
from rankgauge.core.ranking import COMPATS, TIE_RULE, Compat
from rankgauge.core.settings import Section, check_settings, setting
from rankgauge.errors import InputError, MeasureError, UsageError, shown
from rankgauge.measures.column_measures import Better, column_measure, column_of, may_be_column
from rankgauge.measures.measure import Measure
from rankgauge.measures.names import (
    MeasureNames,
    is_unknown,
    names_measure,
    parse_measure,
    parse_measures,
    split,
)
from rankgauge.measures.registry import default_measures

if TYPE_CHECKING:
    from rankgauge.evaluation.query_split import QueryPart

QuerySet = Literal["qrels", "both"]
NoRelevant = Literal["judged", "zero", "skip"]


@dataclass(frozen=True)
class Conventions:
    """How values are made wherever tools disagree. A convention of one measure is part of its name instead.

    ``rel`` is the grade from which a document is relevant, for every measure that does not name its own: 1 if it is
    None, unless grades lie between 0 and 1; then it has to be said. With ``graded=False`` the judgments become binary
    at that grade first. ``query_set`` says which queries are averaged: every judged one, or those that the run has too
    (trec_eval's default). ``split`` keeps part of the queries: ``dev`` or ``test``, by hash, or by a column (see
    ``evaluation.split``).
    """

    compat: Compat = setting(
        "trec_eval-9",
        "Compare scores as trec_eval 9 does (float32) or as 10 does (float64).",
        Section.MEASURES,
        choices=COMPATS,
        flag="measures.compat",
    )
    query_set: QuerySet = setting(
        "qrels",
        "Average over every judged query, or over those that the run has too (trec_eval's default).",
        Section.MEASURES,
        choices=("qrels", "both"),
        flag="measures.query_set",
    )
    no_relevant: NoRelevant = setting(
        "judged",
        "Score a query without relevant documents as zero if any is judged, always as zero, or skip it.",
        Section.MEASURES,
        choices=("judged", "zero", "skip"),
        flag="measures.no_relevant",
    )
    rel: float | None = setting(
        None,
        "Set the grade from which a document is relevant, unless a measure names its own.  [default: 1]",
        Section.MEASURES,
        flag="-l/--rel GRADE",
        limits=">=0",
        common=True,
    )
    graded: bool = setting(
        True, "Count grades; false makes the judgments binary at --rel.", Section.MEASURES, flag="measures.graded"
    )
    split: str | None = setting(
        None,
        "Score part of the queries: dev or test, assigned by hash of their ids; 'test(dev_share=0.3, seed=7)', or "
        "'dev(column=NAME)' for a column of the queries that says dev or test.  [default: all queries]",
        Section.MEASURES,
        flag="measures.split",
    )

    min_score: float | None = setting(
        None,
        "Count a query as answered if a result scores at least this much.  [default: if any result is returned]",
        Section.MEASURES,
        flag="measures.min_score",
    )
    forbid: tuple[str, ...] = setting(
        (),
        "Forbid results by a rule, for Leak: 'tenant != case.tenant', 'status = retired', 'id not under "
        "docs/{case.product}/'; repeatable.",
        Section.MEASURES,
        flag="--forbid RULE",
    )

    columns: tuple[tuple[str, Better | None], ...] = ()  # those that are measures, and what is better, if that is known
    given: str = ""  # how values were made, if they were given

    def __post_init__(self) -> None:
        check_settings(self)
        if self.forbid:
            from rankgauge.evaluation.forbidden_documents import parse_rule  # which most evaluations do without

            for rule in self.forbid:
                parse_rule(rule)
        object.__setattr__(self, "forbid", tuple(self.forbid))
        try:
            columns = tuple((str(name), better) for name, better in self.columns)
        except (TypeError, ValueError):
            raise UsageError(f"columns: expected names, each with what is better, found {self.columns!r}") from None
        if not isinstance(self.given, str):
            raise UsageError(f"given: expected a text, found {self.given!r}")
        object.__setattr__(self, "columns", columns)
        if self.split is not None:
            object.__setattr__(self, "split", str(self._part()))

    @property
    def grade(self) -> float:
        """The grade from which a document is relevant."""
        return 1 if self.rel is None else self.rel

    @property
    def precision(self) -> str:
        """The precision in which scores are compared."""
        return "float64" if self.compat == "trec_eval-10" else "float32"

    def judgments(self, qrels: Qrels) -> Qrels:
        """The judgments as these conventions see them: binary if grades do not count, and part of the queries."""
        seen = qrels if self.graded else qrels.binary(self.grade)
        return seen if self.split is None else self._part().select(seen)

    def _part(self) -> QueryPart:
        from rankgauge.evaluation.query_split import parse_part  # which most evaluations do without

        return parse_part(str(self.split))

    def measures(self, names: MeasureNames | None, labels: Qrels | None = None) -> tuple[Measure, ...]:
        """Parse names into measures, at this grade of relevance unless a name says its own.

        Without names they are the default measures, of these labels if they are known.
        """
        names = self._with_columns(names or default_measures(labels, has_rules=bool(self.forbid)))
        if not self.graded:
            return self._binary_measures(names)
        if self.grade == 1:
            return tuple(parse_measures(names, compat=self.compat))
        listed = [names] if isinstance(names, (str, Measure)) else list(names)
        parts = [part for name in listed for part in (split(name) if isinstance(name, str) else [name])]
        measures = [
            measure if _names_grade(part) else _at_grade(measure, self.grade)
            for part in parts
            for measure in parse_measures(part, compat=self.compat)
        ]
        return tuple(dict.fromkeys(measures))

    def check_grades(self, qrels: Qrels, measures: Iterable[Measure]) -> None:
        """Raise if grades lie between 0 and 1, and nothing says from which of them a document is relevant."""
        if self.rel is not None or qrels.judgments == "passages":  # which have no grades
            return
        between = qrels.grades[(qrels.grades > 0) & (qrels.grades < 1)]
        if not len(between):
            return
        binary = [one for one in measures if not self.graded or dict(one.parameters).get("rel") == 1]
        if binary:
            count = plural(len(between), "grade")
            raise InputError(
                f"{shown(qrels.name)}: {count} between 0 and 1, such as {given(between[0])}, and {binary[0]} needs to "
                "know from which grade on a document is relevant",
                hint="say so: --rel 0.5 (Conventions(rel=0.5)), or choose nDCG, which uses grades as they are; labels "
                "come first, then results",
            )

    def measure(self, name: str | Measure) -> Measure:
        """Parse the name of one measure, at this grade of relevance unless the name says its own."""
        for part in self._with_columns(name):
            parse_measure(part, compat=self.compat)  # raises if it names several measures
        return self.measures(name)[0]

    def _with_columns(self, names: MeasureNames) -> Sequence[str | Measure]:
        """Names, of which those of columns are measures already."""
        if isinstance(names, (str, Measure)):
            listed: list[Any] = [names]
        elif isinstance(names, Iterable):
            listed = list(names)
        else:
            raise MeasureError(f"measures must be names, found {type(names).__name__}: {shown(repr(names))}")
        better = dict(self.columns)
        parts: list[str | Measure] = []
        for name in listed:
            words = [name] if not isinstance(name, str) or name in better else split(name) or [name]
            for word in words:
                column = self._named_column(word) if isinstance(word, str) else None
                parts.append(word if column is None else self.column(column))
        return parts

    def _named_column(self, word: str) -> str | None:
        """The column that a name means: ``column(NAME)``, or a name that no measure has."""
        named = column_of(word)
        if named is not None:
            return named
        if word in dict(self.columns):
            return None if names_measure(word, self.compat) else word
        return word if may_be_column(word) and is_unknown(word) else None

    def column(self, name: str) -> Measure:
        """A column as a measure."""
        return column_measure(name, dict(self.columns).get(name), is_ours=names_measure(name, self.compat))

    def _binary_measures(self, names: MeasureNames) -> tuple[Measure, ...]:
        measures = tuple(parse_measures(names, compat=self.compat))
        for measure in measures:
            grade = dict(measure.parameters).get("rel")
            if grade not in (None, 1):
                raise UsageError(
                    f"{measure} needs grades from {grade} on, but judgments are binary (graded: false)",
                    hint="count grades (graded: true), or leave out that measure",
                )
        return measures

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        if self.given:
            return {"text": self.given}
        return {
            "text": str(self),
            "compat": self.compat,
            "ties": f"{TIE_RULE}, scores as {self.precision}",
            "query_set": self.query_set,
            "no_relevant": self.no_relevant,
            "rel": self.grade,
            "graded": self.graded,
            "measures": "unless the name says otherwise: linear gain, AP and R over all relevant, P over k",
            **({} if self.min_score is None else {"min_score": self.min_score}),
            **({} if not self.forbid else {"forbid": list(self.forbid)}),
            **({} if self.split is None else {"split": self._part().to_dict()}),
        }

    def __str__(self) -> str:
        if self.given:
            return self.given
        grades = "linear gain" if self.graded else "binary judgments"
        averaged = "every judged query" if self.query_set == "qrels" else "queries in run and judgments"
        others = {"skip": ", those without relevant documents skipped", "zero": ", those that expect nothing as 0"}
        skipped = others.get(self.no_relevant, "")
        answered = "" if self.min_score is None else f"; answered from score {given(self.min_score)}"
        forbidden = "" if not self.forbid else f"; forbidden: {' | '.join(self.forbid)}"
        part = "" if self.split is None else f"{self._part().description}; "
        return (
            f"{part}{grades}, relevant from grade {given(self.grade)}, AP and R over all relevant, P over k; "
            f"{averaged} averaged{skipped}; ties by {TIE_RULE}, scores as {self.precision}{answered}{forbidden}"
        )


def _names_grade(name: str | Measure) -> bool:
    """Whether a name says its grade of relevance itself, even the usual one, which canonical names leave out."""
    return isinstance(name, str) and "rel=" in name.replace(" ", "")


def _at_grade(measure: Measure, rel: float) -> Measure:
    """The measure at a grade of relevance, unless it has another one already or none."""
    if "rel" not in measure.definition.parameters or measure["rel"] != 1:
        return measure
    return measure.but(rel=rel).spelled(measure.spelling)
