"""trec_eval's command line: its flags, the measures asked for, its formats of judgments, its exit codes."""

from __future__ import annotations

import getopt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rankgauge.adapters.trec_eval.families import (
    FAMILY_BY_NAME,
    JUDGMENT_FORMATS,
    POSITION,
    JudgmentFormat,
    accepts,
    nickname,
)
from rankgauge.core.ranking import COMPATS, Compat
from rankgauge.errors import RankgaugeError, UsageError, nearest, shown
from rankgauge.measures import trec_names as trec

LONG_OPTIONS = {
    "help": "h",
    "version": "v",
    "query_eval_wanted": "q",
    "measure=": "m",
    "complete_rel_info_wanted": "c",
    "level_for_rel=": "l",
    "nosummary": "n",
    "Debug_level=": "D",
    "Judged_docs_only": "J",
    "Number_docs_in_coll=": "N",
    "Max_retrieved_per_topic=": "M",
    "Rel_info_format=": "R",
    "Results_format=": "T",
    "Output_old_results_format=": "o",
    "Zscore=": "Z",
    "compat=": "compat",
}


@dataclass
class Options:
    """The command line, parsed."""

    per_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    level: int = 1
    collection_size: int = 0
    max_retrieved: int | None = None
    zscores: str | None = None
    compat: Compat = "trec_eval-9"
    judgments: JudgmentFormat = "qrels"
    help: bool = False
    version: bool = False
    measures: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    refusal: TrecEvalError | None = None  # of a parameter; trec_eval reads the files first


def parse(arguments: Sequence[str]) -> Options:
    """Parse the command line."""
    try:
        pairs, files = getopt.gnu_getopt(list(arguments), "hvqm:cl:nD:JN:M:R:T:oZ:", list(LONG_OPTIONS))
    except getopt.GetoptError as error:
        raise TrecEvalError(TREC_USAGE_ERROR, str(error), hint="rankgauge trec_eval -h") from None
    options = Options(files=files)
    for flag, value in pairs:
        letter = (
            flag[1:] if not flag.startswith("--") else LONG_OPTIONS.get(flag[2:], LONG_OPTIONS.get(flag[2:] + "=", ""))
        )
        _apply(options, letter, value)
        if options.version:
            break
    parameters = requested_parameters(options)
    if options.help or options.version:
        options.requests = [Request(FAMILY_BY_NAME[name], ()) for name in _in_order(parameters)]
        return options
    if len(files) != 2:
        raise TrecEvalError(TREC_USAGE_ERROR, f"expected two files, judgments and results, found {len(files)}")
    try:
        options.requests = read_requests(options, parameters)
    except TrecEvalError as error:
        options.refusal = error
    return options


def _apply(options: Options, letter: str, value: str) -> None:
    match letter:
        case "h":
            options.help = True
        case "v":
            options.version = True
        case "q":
            options.per_query = True
        case "m":
            options.measures.append(value)
        case "c":
            options.complete = True
        case "n":
            options.summary = False
        case "J":
            options.judged_only = True
        case "l":
            options.level = _whole_number(options, letter, value)
            if options.level < 0:
                raise TrecEvalError(
                    TREC_USAGE_ERROR, f"-l {value}: a level below 0 would make unjudged documents relevant"
                )
        case "N":
            options.collection_size = _whole_number(options, letter, value)
        case "M":
            options.max_retrieved = _whole_number(options, letter, value)
            if options.max_retrieved < 0:
                raise TrecEvalError(TREC_USAGE_ERROR, f"-M {value}: expected at least 0")
        case "R":
            judgments = next((name for name in JUDGMENT_FORMATS if name == value), None)
            if judgments is None:
                raise TrecEvalError(TREC_FILE_ERROR, f"-R {value}: expected one of {', '.join(JUDGMENT_FORMATS)}")
            options.judgments = judgments
        case "T" if value != "trec_results":
            raise TrecEvalError(TREC_FILE_ERROR, f"-T {value}: only trec_results are supported")
        case "Z":
            options.zscores = value
        case "compat":
            version = next((compat for compat in COMPATS if compat == value), None)
            if version is None:
                raise TrecEvalError(TREC_USAGE_ERROR, f"--compat {value}: expected one of {', '.join(COMPATS)}")
            options.compat = version
        case _:  # -D, the obsolete -o, and the only value that -T accepts
            pass


def _whole_number(options: Options, letter: str, value: str) -> int:
    number = trec.whole(value)
    if value.strip() != str(number):
        options.notes.append(f"-{letter} {value} is read as {number}, as in trec_eval")
    return number


def requested_parameters(options: Options) -> dict[str, str | None]:
    """The families that were asked for, each with the text of its parameters."""
    parameters: dict[str, str | None] = {}
    is_default = not options.measures and not options.help
    for text in ["official"] if is_default else options.measures:
        name, dot, parameter = text.partition(".")
        if dot and not parameter:
            raise TrecEvalError(TREC_USAGE_ERROR, f"illegal measure {shown(text)}: no parameter after the dot")
        members = nickname(name, options.compat)
        if members is not None:
            for member in members:
                parameters.setdefault(member, None)
            continue
        family = FAMILY_BY_NAME.get(name)
        if family is None or not trec.is_available(family, options.compat):
            close = nearest(name, list(FAMILY_BY_NAME))
            raise TrecEvalError(
                TREC_USAGE_ERROR,
                f"illegal measure {shown(text)}",
                hint=f"did you mean {close}?" if close and close != name else "rankgauge trec_eval -h lists them",
            )
        if dot:
            if family.kind == "none" or name == "runid":
                options.notes.append(
                    f"{name} takes no parameter: .{parameter} is ignored, as in trec_eval"
                    + (f"; for a cutoff use -M {parameter}" if parameter.isdigit() else "")
                )
            elif parameters.get(name):
                options.notes.append(f"-m {text} is ignored, as in trec_eval: {name}.{parameters[name]} came first")
            else:
                parameters[name] = parameter
        parameters.setdefault(name, None)
    return parameters


def read_requests(options: Options, parameters: dict[str, str | None]) -> list[Request]:
    """The measures to print, in the order of trec_eval's own table."""
    requests = []
    for name in _in_order(parameters):
        family = FAMILY_BY_NAME[name]
        note_misread_cutoffs(options, family, parameters[name])
        try:
            requests.append(read_request(family, parameters[name], options.compat))
        except UsageError as error:
            raise TrecEvalError(TREC_FILE_ERROR, error.message, hint=error.hint) from None
    return share_gains(requests) if options.compat == "trec_eval-10" else requests


def _in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=POSITION.__getitem__)


def note_misread_cutoffs(options: Options, family: trec.TrecFamily, text: str | None) -> None:
    """Note the cutoffs that trec_eval reads as another number than was written."""
    if not text or family.kind != "cutoffs":
        return
    for item in text.split(","):
        if str(trec.whole(item)) != item:
            options.notes.append(f"{family.name}.{item} is read as {trec.whole(item)}, as in trec_eval")


def check_measures(options: Options) -> None:
    """Raise if a measure cannot be computed from judgments in the format of the options."""
    for request in options.requests:
        if not accepts(request.family, options.judgments):
            formats = [name for name in JUDGMENT_FORMATS if accepts(request.family, name)]
            raise TrecEvalError(
                TREC_COMPUTE_ERROR,
                f"{request.name} cannot be computed from -R {options.judgments}",
                hint=f"it needs -R {' or '.join(formats)}",
            )


# The measures that were asked for, with their parameters as trec_eval reads them, however odd.

WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
SHARED_GAINS = ("dcg", "ideal_dcg", "ndcg")  # in the order in which trec_eval 10 reads their gains
POINT_LABEL_ROOM = 9  # characters after the name of a family with recall points; the rest is cut


@dataclass(frozen=True)
class Request:
    """A family of measures and its parameters; ``labels`` are the names of its lines."""

    family: trec.TrecFamily
    labels: tuple[bytes, ...]
    numbers: tuple[float, ...] = ()  # cutoffs, points, or the numbers of one measure
    pairs: trec.Pairs = ()  # gains by grade, and p

    @property
    def name(self) -> str:
        """The name of the family."""
        return self.family.name


def read_request(family: trec.TrecFamily, text: str | None, compat: Compat) -> Request:
    """The family with its parameters; a parameter that trec_eval refuses is an error."""
    name, kind = family.name, family.kind
    if kind == "cutoffs":
        depths = trec.cutoffs(family, text or family.default)
        return Request(family, tuple(f"{name}_{depth}".encode() for depth in depths), tuple(depths))
    if kind == "points":
        points = trec.points(family, text or family.default)
        suffixes = (f"_{point:3.2f}"[:POINT_LABEL_ROOM] for point in points)
        return Request(family, tuple((name + suffix).encode() for suffix in suffixes), tuple(points))
    if name == "runid" or kind == "none":
        return Request(family, (name.encode(),))
    label = f"{name}_{text}" if text else name
    labels = (label.encode("utf-8", "surrogateescape"),)
    if kind in ("gains", "p"):
        pairs = trec.pairs(family, text) if text else ()
        if compat == "trec_eval-10":
            pairs = tuple((key, value) for key, value in pairs if key == "p" or WHOLE_NUMBER.fullmatch(key))
        return Request(family, labels, pairs=pairs)
    text = text or family.default
    return Request(family, labels, tuple(trec.real(item) for item in text.split(",")) if text else ())


def share_gains(requests: Sequence[Request]) -> list[Request]:
    """The requests with the gains that dcg, ideal_dcg and ndcg of trec_eval 10 share: those read last.

    A label has the gains that had been read when its measure was.
    """
    suffix, pairs = b"", next((r.pairs for r in reversed(requests) if r.name in SHARED_GAINS and r.pairs), ())
    shared = []
    for request in requests:
        if request.name in SHARED_GAINS:
            suffix = request.labels[0].removeprefix(request.name.encode()) or suffix
            request = replace(request, labels=(request.name.encode() + suffix,), pairs=pairs)
        shared.append(request)
    return shared


# How it stops.


class TrecEvalError(RankgaugeError):
    """An error with trec_eval's exit code for it."""

    def __init__(self, code: int, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.exit_code = code


TREC_USAGE_ERROR = 1  # a bad option or an unknown measure
TREC_FILE_ERROR = 2  # a file or a parameter that cannot be read
TREC_COMPUTE_ERROR = 4  # a query that cannot be evaluated
TREC_NO_QUERIES = 7  # no query in both files
TREC_ZSCORE_ERROR = 255  # a file of -Z that cannot be read
