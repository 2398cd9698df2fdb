"""The table of faults: how bad each is, why it matters and what to do. Messages and documentation come from here."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.errors import Severity
from rankgauge.io.formats.names import Kind

RUNS: tuple[Kind, ...] = ("run",)
QRELS: tuple[Kind, ...] = ("qrels",)
BOTH: tuple[Kind, ...] = ("run", "qrels")
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Code:
    """One kind of fault. ``needs`` names the option without which it is not looked for."""

    severity: Severity
    title: str
    why: str
    action: str
    of: tuple[Kind, ...] = RUNS
    repair: str | None = None
    needs: str | None = None

    def under(self, *, strict: bool) -> Severity:
        """How bad it is; strictness makes errors of warnings."""
        return "error" if strict and self.severity == "warning" else self.severity


_RENUMBER = "the ranks of the query are numbered anew in the order of its scores"
_DROP_LINE = "the line is left out"
_IDS = "make the ids of both files from the same source; where one of them was exported anew, export the other too"

CODES: dict[str, Code] = {
    # The file as a whole.
    "unreadable": Code(
        "error",
        "the file cannot be read",
        "It is not there, damaged, or no text: nothing else can be said of it.",
        "check the path; write the file again as UTF-8 text with newlines",
        BOTH,
    ),
    "empty": Code(
        "error",
        "the file holds nothing",
        "Every query would count 0, or the evaluation would stop.",
        "run the generation again, and check that it got its queries in the format it expects",
        BOTH,
    ),
    "swapped": Code(
        "error",
        "a run where judgments belong, or the other way round",
        "Every line would be refused for the same reason.",
        "swap the arguments",
        BOTH,
    ),
    # Lines.
    "columns": Code(
        "error",
        "a line with the wrong number of columns",
        "The line cannot be read; a tool that reads it nevertheless takes one column for another.",
        "write the line again with the columns that are expected, ids without white space",
        BOTH,
    ),
    "extra-columns": Code(
        "warning",
        "a line with more than six columns",
        "trec_eval ignores the rest; other tools stop here.",
        "write six columns",
        repair="the columns after the sixth are cut off",
    ),
    "header": Code(
        "error",
        "a header row",
        "TREC files have none: trec_eval takes it for a query of its own.",
        "remove the line",
        BOTH,
        repair=_DROP_LINE,
    ),
    "blank-line": Code(
        "warning",
        "a line with nothing on it",
        "trec_eval refuses it in judgments, other tools in runs too.",
        "remove the line",
        BOTH,
        repair=_DROP_LINE,
    ),
    "byte-order-mark": Code(
        "warning",
        "a byte order mark",
        "trec_eval makes it part of the first query's id, and that query counts 0.",
        "save the file as UTF-8 without a byte order mark",
        BOTH,
        repair="it is left out",
    ),
    "crlf": Code(
        "note",
        "lines end as on Windows",
        "Harmless here and in trec_eval; a tool that splits at single blanks makes it a part of the tag.",
        "save the file with Unix line ends",
        BOTH,
        repair="lines end with a newline",
    ),
    "record": Code(
        "error",
        "a value that is no record",
        "JSON Lines hold one object a line, with named fields.",
        "write an object on each line",
        BOTH,
    ),
    "shape": Code(
        "error",
        "documents in a shape that is not known",
        "Neither a list of documents nor a mapping from documents to numbers: nothing can be read of it.",
        "write a list of ids, of [id, number] pairs, or an object of numbers by id",
        BOTH,
    ),
    "duplicate-query": Code(
        "error",
        "a query stands twice",
        "A JSON parser that takes the last one would lose the first without a word.",
        "give each query an id of its own, or join the two",
        BOTH,
    ),
    # Ids.
    "id": Code(
        "error",
        "an id that is neither text nor a whole number",
        "Ids are compared byte by byte: what cannot be written as text cannot be compared.",
        "write ids as text",
        BOTH,
    ),
    "empty-id": Code(
        "error",
        "an id that is empty",
        "Nothing can be matched with it.",
        "fill the column, or leave the line out",
        BOTH,
    ),
    "nul": Code(
        "error",
        "an id with a NUL byte",
        "No text file can hold it, and trec_eval ends the id there.",
        "write ids as text",
        BOTH,
    ),
    "long-id": Code(
        "error",
        "an id longer than a line may be",
        "More likely a text in the wrong column than an id.",
        "check which column holds the id",
        BOTH,
    ),
    "blank-around-id": Code(
        "warning",
        "an id with blanks around it",
        "Ids are compared byte by byte: the blank is part of it.",
        "remove the blanks where the ids are made",
        BOTH,
    ),
    "invisible-character": Code(
        "warning",
        "an id with a character that cannot be seen",
        "Ids are compared byte by byte: a no-break space or a zero-width one keeps two equal-looking ids apart.",
        "remove the character where the ids are made",
        BOTH,
    ),
    "ids-case": Code(
        "error",
        "ids that match only if case is ignored",
        "Ids are compared byte by byte, so the document counts as unjudged, or the query as missing.",
        _IDS,
        BOTH,
        needs="--qrels, --queries or --runs",
    ),
    "ids-quotes": Code(
        "error",
        "ids that match only without quotation marks",
        "Ids are compared byte by byte, so the document counts as unjudged, or the query as missing.",
        "write ids without quotation marks: " + _IDS,
        BOTH,
        needs="--qrels, --queries or --runs",
    ),
    "ids-zeros": Code(
        "error",
        "ids that match only without leading zeros",
        "A spreadsheet or a data frame read the ids as numbers; 007 and 7 are two documents here.",
        "read ids as text, never as numbers: " + _IDS,
        BOTH,
        needs="--qrels, --queries or --runs",
    ),
    "ids-unicode": Code(
        "error",
        "ids that match only after Unicode normalisation",
        "An é of one character and an é of two look the same and are different bytes.",
        "normalise the ids of both files alike (NFC)",
        BOTH,
        needs="--qrels, --queries or --runs",
    ),
    # Results.
    "score": Code(
        "error",
        "a score that is no number",
        "Without a number there is no order; trec_eval takes it for 0, and the order of NaN is undefined.",
        "give the document a score, or leave the line out",
    ),
    "infinite-score": Code(
        "warning",
        "an infinite score",
        "All infinite scores are the same score: their order is that of the document ids.",
        "write finite scores",
    ),
    "duplicate-document": Code(
        "error",
        "a document stands twice in the results of a query",
        "It would be counted twice; trec_eval stops.",
        "return each document once; where passages are ranked, keep the best of each document",
        repair="the first of its lines is kept, as --on-duplicate first does",
    ),
    "rank": Code(
        "error",
        "a rank that is no whole number",
        "Tools that rank by this column cannot read it.",
        "write ranks 1, 2, 3, …",
        repair=_RENUMBER,
    ),
    "duplicate-rank": Code(
        "error",
        "a rank stands twice in the results of a query",
        "The order is ambiguous for whoever ranks by this column.",
        "verify the order, then number each query's results 1, 2, 3, …",
        repair=_RENUMBER,
    ),
    "rank-order": Code(
        "error",
        "the ranks contradict the scores",
        "Evaluation goes by the scores: it sees another order than the one that was meant.",
        "verify which of the two is right; where scores are distances, negate them",
        repair=_RENUMBER + " (where the ranks are right and the scores wrong, do not use it)",
    ),
    "order-against-scores": Code(
        "warning",
        "a list whose scores grow",
        "Results are ordered by score, not by their place in the list.",
        "verify which of the two is right; where scores are distances, negate them",
    ),
    "rank-gap": Code(
        "warning",
        "a rank is left out",
        "Results were lost, or filtered after they were ranked.",
        "check that nothing is missing, then number the results anew",
        repair=_RENUMBER,
    ),
    "rank-start": Code(
        "note",
        "the ranks of a query do not begin at 1",
        "Evaluation goes by the scores, so it is harmless here; a tool that cuts by rank keeps one more or one less.",
        "number the results from 1",
        repair=_RENUMBER,
    ),
    "tie-at-cutoff": Code(
        "warning",
        "a tie of scores straddles a cutoff",
        "Which of the tied documents stands above the cutoff is decided by their ids alone: rename one, and the number "
        "changes. Scores are compared as float32, as trec_eval does.",
        "write scores with more digits, or break ties on purpose",
    ),
    "mixed-tags": Code(
        "warning",
        "more than one run tag",
        "Two runs may have been joined into one file.",
        "check that the file holds one run, then write one tag",
    ),
    "split-query": Code(
        "note",
        "the lines of a query do not stand together",
        "Harmless here; tools that read query by query take it for two.",
        "sort the file by query",
        BOTH,
    ),
    "too-deep": Code(
        "error",
        "more results than allowed for a query",
        "A submission over the limit is refused, and measures without a cutoff profit from depth.",
        "cut the results of each query at the limit",
        repair="the results beyond the limit, by the order of scores, are left out",
        needs="--max-depth",
    ),
    "shallow-query": Code(
        "warning",
        "few results for a query",
        "Recall at a depth that was never filled says little.",
        "mark the run as incomplete and document its coverage, or retrieve more",
        needs="--min-depth",
    ),
    # Run and judgments together.
    "no-common-query": Code(
        "error",
        "no query in common",
        "There is nothing to evaluate.",
        "check that both files belong to the same collection and write query ids alike",
        BOTH,
        needs="--qrels, --queries or --runs",
    ),
    "queries-missing": Code(
        "error",
        "a query without results",
        "It counts 0 in every mean over all queries, and the mean over answered queries flatters the run.",
        "run the generation again for these queries; where nothing was found, say so",
        needs="--qrels or --queries",
    ),
    "queries-unjudged": Code(
        "warning",
        "a query that nobody judged",
        "It is left out of every mean.",
        "check that run and judgments belong to the same set of queries",
        needs="--qrels",
    ),
    "queries-unknown": Code(
        "warning",
        "a query that is not among the topics",
        "It belongs to another set of queries, or its id was changed on the way.",
        "check that run and topics belong together",
        BOTH,
        needs="--queries",
    ),
    "no-common-document": Code(
        "warning",
        "no judged document among the results",
        "Every measure is 0: more often a matter of ids than of a bad system.",
        "compare some document ids of both files",
        BOTH,
        needs="--qrels or --runs",
    ),
    # Judgments.
    "grade": Code(
        "error",
        "a grade that is no whole number within the limits",
        "trec_eval reads 1.9 as 1 and 'yes' as 0, in silence.",
        "build the judgments again with whole grades, not negative unless you mean it",
        QRELS,
    ),
    "duplicate-judgment": Code(
        "error",
        "a document judged twice for a query, with the same grade",
        "It would count twice among the relevant; trec_eval stops.",
        "keep one of the two",
        QRELS,
        repair="the first of its lines is kept",
    ),
    "conflicting-judgment": Code(
        "error",
        "a document judged twice for a query, with different grades",
        "Which of the two holds cannot be known; tools that take the last one give other numbers.",
        "decide which grade holds and build the judgments again",
        QRELS,
    ),
    "no-relevant": Code(
        "warning",
        "a query without relevant documents",
        "No system can score above 0 on it, so it only lowers the mean.",
        "judge more documents for it, or leave it out (evaluate --no-relevant skip)",
        QRELS,
    ),
    "shallow-pool": Code(
        "warning",
        "few judged documents for a query",
        "What nobody judged counts as not relevant: a new system is punished for finding it.",
        "judge more documents, or document the coverage",
        QRELS,
        needs="--min-judged",
    ),
    "zero-grade": Code(
        "note",
        "a document judged not relevant",
        "Legal, and needed by bpref and by Judged@k; it is listed because some pipelines want relevant ones only.",
        "nothing, unless your pipeline forbids it",
        QRELS,
    ),
    "negative-grade": Code(
        "note",
        "a negative grade",
        "Legal: the document is not relevant, and for bpref and Judged@k it is not judged either.",
        "nothing, if you mean it (junk, spam); else write 0",
        QRELS,
    ),
    "query-unretrieved": Code(
        "warning",
        "a judged query that is in no run",
        "It counts 0 for every one of them.",
        "check that runs and judgments belong to the same set of queries",
        QRELS,
        needs="--runs",
    ),
    "judged-unretrieved": Code(
        "note",
        "a judged document that no run retrieved",
        "The pool came from other systems, or the document is no longer in the index.",
        "check some of them against the index",
        QRELS,
        needs="--runs",
    ),
}
