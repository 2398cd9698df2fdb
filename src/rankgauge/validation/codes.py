"""The table of faults: how severe each is, why it matters and what to do. Messages and documentation come from here."""

from __future__ import annotations

from dataclasses import dataclass

from rankgauge.errors import Severity
from rankgauge.io.formats.named_columns import Kind

RUNS: tuple[Kind, ...] = ("run",)
QRELS: tuple[Kind, ...] = ("qrels",)
RUNS_AND_QRELS: tuple[Kind, ...] = ("run", "qrels")
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


@dataclass(frozen=True)
class Code:
    """One kind of fault. ``needs`` names the option without which it is not checked."""

    severity: Severity
    title: str
    why: str
    action: str
    kinds: tuple[Kind, ...] = RUNS
    repair: str | None = None
    needs: str | None = None

    def effective_severity(self, *, strict: bool) -> Severity:
        """The severity; in strict mode, warnings are errors."""
        return "error" if strict and self.severity == "warning" else self.severity


def tie_message(cutoff: str = "a cutoff", *, judged: bool = False) -> str:
    """The wording of ``tie-at-cutoff``, wherever it is reported; ``cutoff`` may be ``rank 10``."""
    return f"tied scores{' with a judged document' if judged else ''} straddle {cutoff}"


_RENUMBER = "the ranks of the query are renumbered in the order of its scores"
_DROP_LINE = "the line is removed"
_SAME_IDS = "take the ids of both files from the same source; if you exported one of them again, export the other too"
_BYTE_BY_BYTE = "Ids are compared byte by byte, so the document counts as unjudged, or the query as missing."
_ANY_OTHER_FILE = "--labels or --queries"

CODES: dict[str, Code] = {
    # The file as a whole.
    "unreadable": Code(
        "error",
        "the file cannot be read",
        "It is missing, damaged or not a text file, so nothing else can be checked.",
        "check the path; save the file as UTF-8 text with newlines",
        RUNS_AND_QRELS,
    ),
    "empty": Code(
        "error",
        "the file is empty",
        "Every query would score 0, or the evaluation would stop.",
        "generate the file again, and check that the generator received its queries in the format it expects",
        RUNS_AND_QRELS,
    ),
    "incomplete-line": Code(
        "warning",
        "the last line of a file of judgments is incomplete, and is left out",
        "The process that wrote it was interrupted; every judgment before it is complete.",
        "delete the line, and judge that document again",
        QRELS,
    ),
    "assessors-differ": Code(
        "note",
        "assessors gave the same document different grades",
        "The median of their grades counts; of two middle ones, the lower.",
        "compare the assessors with `rankgauge labels agree`",
        QRELS,
    ),
    "swapped": Code(
        "error",
        "a run in place of judgments, or judgments in place of a run",
        "Every line would be rejected for the same reason.",
        "swap the arguments",
        RUNS_AND_QRELS,
    ),
    # Lines.
    "columns": Code(
        "error",
        "a line with the wrong number of columns",
        "The line cannot be read; a tool that reads it anyway takes one column for another.",
        "write the line with the expected columns and with ids that contain no white space",
        RUNS_AND_QRELS,
    ),
    "extra-columns": Code(
        "warning",
        "a line with more than six columns",
        "trec_eval ignores the extra columns; other tools stop here.",
        "write six columns",
        repair="the columns after the sixth are removed",
    ),
    "header": Code(
        "error",
        "a header row",
        "TREC files have no header: trec_eval reads it as one more query.",
        "remove the line",
        RUNS_AND_QRELS,
        repair=_DROP_LINE,
    ),
    "blank-line": Code(
        "warning",
        "a blank line",
        "trec_eval rejects blank lines in judgments; other tools reject them in runs too.",
        "remove the line",
        RUNS_AND_QRELS,
        repair=_DROP_LINE,
    ),
    "byte-order-mark": Code(
        "warning",
        "a byte order mark",
        "trec_eval makes it part of the first query id, and that query scores 0.",
        "save the file as UTF-8 without a byte order mark",
        RUNS_AND_QRELS,
        repair="the byte order mark is removed",
    ),
    "crlf": Code(
        "note",
        "line endings as on Windows",
        "Harmless here and in trec_eval; a tool that splits at spaces makes the carriage return part of the tag.",
        "save the file with Unix line endings",
        RUNS_AND_QRELS,
        repair="each line ends with a newline only",
    ),
    "record": Code(
        "error",
        "a JSON value that is not an object",
        "A JSON Lines file has one object per line, with named fields.",
        "write one object per line",
        RUNS_AND_QRELS,
    ),
    "shape": Code(
        "error",
        "documents in an unknown structure",
        "It is neither a list of documents nor a mapping from documents to numbers, so it cannot be read.",
        "write a list of ids, a list of [id, number] pairs, or an object that maps ids to numbers",
        RUNS_AND_QRELS,
    ),
    "duplicate-query": Code(
        "error",
        "a query that appears twice",
        "A JSON parser that keeps the last one would silently lose the first.",
        "give each query its own id, or merge the two",
        RUNS_AND_QRELS,
    ),
    # Ids.
    "id": Code(
        "error",
        "an id that is neither a string nor a whole number",
        "Ids are compared byte by byte: a value without a unique text form cannot be compared.",
        "write ids as strings",
        RUNS_AND_QRELS,
    ),
    "empty-id": Code(
        "error",
        "an empty id",
        "Nothing can match it.",
        "fill in the column, or remove the line",
        RUNS_AND_QRELS,
    ),
    "nul": Code(
        "error",
        "an id with a NUL byte",
        "A text file cannot contain it, and trec_eval cuts the id there.",
        "write ids as text",
        RUNS_AND_QRELS,
    ),
    "long-id": Code(
        "error",
        "an id longer than the maximum line length",
        "It is more likely a text in the wrong column than an id.",
        "check which column contains the id",
        RUNS_AND_QRELS,
    ),
    "blank-around-id": Code(
        "warning",
        "an id with leading or trailing spaces",
        "Ids are compared byte by byte: the space is part of the id.",
        "strip the spaces where the ids are created",
        RUNS_AND_QRELS,
    ),
    "guarded-id": Code(
        "warning",
        "an id with a mark against formulas",
        "A ' before =, +, - or @ keeps a spreadsheet from running the id as a formula. It is not part of the id.",
        "no action needed if it was added for a spreadsheet; if it is part of the id, write JSON Lines or Parquet",
        RUNS_AND_QRELS,
    ),
    "invisible-character": Code(
        "warning",
        "an id with an invisible character",
        "Ids are compared byte by byte: a no-break or zero-width space makes two ids differ that look the same.",
        "remove the character where the ids are created",
        RUNS_AND_QRELS,
    ),
    "ids-case": Code(
        "error",
        "ids that match only if case is ignored",
        _BYTE_BY_BYTE,
        _SAME_IDS,
        RUNS_AND_QRELS,
        needs=_ANY_OTHER_FILE,
    ),
    "ids-quotes": Code(
        "error",
        "ids that match only without quotation marks",
        _BYTE_BY_BYTE,
        f"write ids without quotation marks: {_SAME_IDS}",
        RUNS_AND_QRELS,
        needs=_ANY_OTHER_FILE,
    ),
    "ids-zeros": Code(
        "error",
        "ids that match only without leading zeros",
        "A spreadsheet or a data frame read the ids as numbers; 007 and 7 are two different documents here.",
        f"read ids as text, never as numbers: {_SAME_IDS}",
        RUNS_AND_QRELS,
        needs=_ANY_OTHER_FILE,
    ),
    "ids-unicode": Code(
        "error",
        "ids that match only after Unicode normalization",
        "An é of one code point and an é of two look the same and are different bytes.",
        "normalize the ids of both files in the same way (NFC)",
        RUNS_AND_QRELS,
        needs=_ANY_OTHER_FILE,
    ),
    # Results.
    "score": Code(
        "error",
        "a score that is not a number",
        "Without a number the ranking is undefined; trec_eval reads the score as 0.",
        "give the document a score, or remove the line",
    ),
    "infinite-score": Code(
        "warning",
        "an infinite score",
        "All infinite scores are tied: their order is that of the document ids.",
        "write finite scores",
    ),
    "duplicate-document": Code(
        "error",
        "a document that appears twice in the ranking of a query",
        "It would be counted twice; trec_eval stops.",
        "return each document once; if passages are ranked, keep the best passage of each document",
        repair="the first of its lines is kept, as with reading.on_duplicate=first",
    ),
    "rank": Code(
        "error",
        "a rank that is not a whole number",
        "Tools that rank by this column cannot read it.",
        "write ranks 1, 2, 3, …",
        repair=_RENUMBER,
    ),
    "duplicate-rank": Code(
        "error",
        "a rank that appears twice in the ranking of a query",
        "The order is ambiguous for tools that rank by this column.",
        "check the order, then number the results of each query 1, 2, 3, …",
        repair=_RENUMBER,
    ),
    "rank-order": Code(
        "error",
        "ranks that contradict the scores",
        "Evaluation uses the scores, so it sees a different order from the one the ranks state.",
        "check which of the two is right; if the scores are distances, negate them",
        repair=f"{_RENUMBER} (do not use it if the ranks are right and the scores are wrong)",
    ),
    "flag": Code(
        "error",
        "a flag that is neither true nor false, or an answer without relevant documents",
        "A flag decides whether a query has an answer, and whether it was refused: it is never guessed.",
        "write true or false; list the relevant documents, or leave the key out",
    ),
    "order-against-scores": Code(
        "warning",
        "a list whose scores increase",
        "The order of a list is its ranking, whatever its scores are; a threshold on such scores is refused.",
        "check which of the two is right; if the scores are distances, negate them",
    ),
    "latency": Code(
        "error",
        "a latency that is not a time",
        "Latencies are averaged and compared, in milliseconds.",
        "write milliseconds as a number of at least 0, or leave out latency_ms",
    ),
    "labels-differ": Code(
        "error",
        "other relevant documents for the same query",
        "The systems of a log are scored on the same labels.",
        "write the same relevant documents in each line of a query",
    ),
    "rank-gap": Code(
        "warning",
        "a missing rank",
        "Results were lost, or filtered after they were ranked.",
        "check that nothing is missing, then renumber the results",
        repair=_RENUMBER,
    ),
    "rank-start": Code(
        "note",
        "ranks that do not start at 1",
        "Evaluation uses the scores, so it is harmless here; a tool that cuts by rank keeps one result more or less.",
        "number the results from 1",
        repair=_RENUMBER,
    ),
    "tie-at-cutoff": Code(
        "warning",
        tie_message(),
        "Only the document ids decide which of the tied documents are above the cutoff: rename one, and the value "
        "changes. Scores are compared as float32, as in trec_eval.",
        "write scores with more digits, or break ties deliberately",
    ),
    "mixed-tags": Code(
        "warning",
        "more than one run tag",
        "Two runs may have been merged into one file.",
        "check that the file contains one run, then write one tag",
    ),
    "split-query": Code(
        "note",
        "the lines of a query are not contiguous",
        "Harmless here; tools that read one query at a time see two queries.",
        "sort the file by query",
        RUNS_AND_QRELS,
    ),
    "too-deep": Code(
        "error",
        "more results for a query than allowed",
        "A submission over the limit is rejected, and measures without a cutoff benefit from depth.",
        "cut the results of each query at the limit",
        repair="the results beyond the limit, in the order of scores, are removed",
        needs="--max-depth",
    ),
    "shallow-query": Code(
        "warning",
        "few results for a query",
        "Recall at a depth that was never filled means little.",
        "mark the run as incomplete and document its coverage, or retrieve more",
        needs="--min-depth",
    ),
    # Run and judgments together.
    "no-common-query": Code(
        "error",
        "no query in common",
        "There is nothing to evaluate.",
        "check that both files belong to the same collection and write query ids in the same way",
        RUNS_AND_QRELS,
        needs=_ANY_OTHER_FILE,
    ),
    "queries-missing": Code(
        "error",
        "a query without results",
        "It scores 0 in every mean over all queries, and a mean over the answered queries flatters the run.",
        "generate the run again for these queries; if nothing was retrieved for a query, document it",
        needs="--labels or --queries",
    ),
    "queries-unjudged": Code(
        "warning",
        "a query without judgments",
        "It is excluded from every mean.",
        "check that the run and the judgments belong to the same set of queries",
        needs="--labels",
    ),
    "queries-unknown": Code(
        "warning",
        "a query that is not among the given queries",
        "It belongs to another set of queries, or its id was changed on the way.",
        "check that the file and the queries belong together",
        RUNS_AND_QRELS,
        needs="--queries",
    ),
    "no-common-document": Code(
        "warning",
        "no judged document among the results",
        "Every measure is 0: the cause is more often a mismatch of ids than a bad system.",
        "compare some document ids of both files",
        RUNS_AND_QRELS,
        needs="--labels with runs",
    ),
    # Judgments.
    "grade": Code(
        "error",
        "a grade that is not a whole number within the limits",
        "trec_eval silently reads 1.9 as 1 and 'yes' as 0.",
        "create the judgments again with whole grades, negative ones only if you mean them",
        QRELS,
    ),
    "duplicate-judgment": Code(
        "error",
        "a document judged twice for a query, with the same grade",
        "It would count twice among the relevant documents; trec_eval stops.",
        "keep one of the two",
        QRELS,
        repair="the first of its lines is kept",
    ),
    "conflicting-judgment": Code(
        "error",
        "a document judged twice for a query, with different grades",
        "Which grade is right is unknown, and tools that keep the last one report different numbers.",
        "decide which grade is right and create the judgments again",
        QRELS,
    ),
    "subtopic-judgments": Code(
        "error",
        "several judgments of a document, one for each subtopic",
        "Unless the format says so, the second column is not read as a subtopic, and a document needs one grade.",
        "validate with --by-subtopic if the second column is a subtopic, and evaluate with --set "
        "reading.qrels_format=ndeval; `rankgauge convert --from ndeval` writes the largest grade of each document",
        QRELS,
    ),
    "no-relevant": Code(
        "warning",
        "a query without relevant documents",
        "No system can score above 0 on it, so it only lowers the mean.",
        "judge more documents for it, or exclude it (--set measures.no_relevant=skip)",
        QRELS,
    ),
    "shallow-pool": Code(
        "warning",
        "few judged documents for a query",
        "Unjudged documents count as not relevant, so a new system is penalized for retrieving them.",
        "judge more documents, or document the coverage",
        QRELS,
        needs="--min-judged",
    ),
    "zero-grade": Code(
        "note",
        "a document judged not relevant",
        "Valid, and needed by bpref and Judged@k; reported because some pipelines expect relevant documents only.",
        "no action needed unless your pipeline forbids it",
        QRELS,
    ),
    "negative-grade": Code(
        "note",
        "a negative grade",
        "Valid: the document is not relevant, and bpref and Judged@k treat it as unjudged.",
        "no action needed if you mean it (junk, spam); otherwise write 0",
        QRELS,
    ),
    "query-unretrieved": Code(
        "warning",
        "a judged query that is in none of the runs",
        "It scores 0 for all of them.",
        "check that the runs and the judgments belong to the same set of queries",
        QRELS,
        needs="runs",
    ),
    "judged-unretrieved": Code(
        "note",
        "a judged document that none of the runs retrieved",
        "The pool came from other systems, or the document is no longer in the index.",
        "look up some of them in the index",
        QRELS,
        needs="runs",
    ),
}
