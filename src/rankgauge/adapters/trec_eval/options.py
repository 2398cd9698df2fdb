"""trec_eval's command line: short, glued and long options, in any order."""

from __future__ import annotations

import getopt
from collections.abc import Sequence
from dataclasses import dataclass, field

from rankgauge.adapters.trec_eval.errors import FILE, USAGE, Stop
from rankgauge.core.ranking import COMPATS, Compat
from rankgauge.errors import UsageError, nearest, shown
from rankgauge.measures import trec_names as trec

LONG = {
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
    "Zscore=": "Z",
    "compat=": "compat",
}


@dataclass
class Options:
    """What was asked for."""

    per_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    level: int = 1
    documents: int = 0
    depth: int | None = None
    zscores: str | None = None
    compat: Compat = "trec_eval-9"
    help: bool = False
    version: bool = False
    asked: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lines: list[trec.Asked] = field(default_factory=list)


def parse(arguments: Sequence[str]) -> Options:
    """Read the command line."""
    try:
        pairs, files = getopt.gnu_getopt(list(arguments), "hvqm:cl:nD:JN:M:R:T:Z:", list(LONG))
    except getopt.GetoptError as error:
        raise Stop(USAGE, str(error), hint="rankgauge trec_eval -h") from None
    options = Options(files=files)
    for flag, value in pairs:
        letter = flag[1:] if not flag.startswith("--") else LONG.get(flag[2:], LONG.get(flag[2:] + "=", ""))
        _apply(options, letter, value)
    if options.help or options.version:
        return options
    if len(files) != 2:
        raise Stop(USAGE, f"expected two files, judgments and results, found {len(files)}")
    options.lines = asked_lines(options)
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
            options.asked.append(value)
        case "c":
            options.complete = True
        case "n":
            options.summary = False
        case "J":
            options.judged_only = True
        case "l":
            options.level = _number(options, letter, value)
            if options.level < 0:
                raise Stop(USAGE, f"-l {value}: a level below 0 would make unjudged documents relevant")
        case "N":
            options.documents = _number(options, letter, value)
        case "M":
            options.depth = _number(options, letter, value)
            if options.depth < 0:
                raise Stop(USAGE, f"-M {value}: expected at least 0")
        case "R" if value != "qrels":
            raise Stop(FILE, f"-R {value}: only qrels are supported")
        case "T" if value != "trec_results":
            raise Stop(FILE, f"-T {value}: only trec_results are supported")
        case "Z":
            options.zscores = value
        case "compat":
            wanted = next((compat for compat in COMPATS if compat == value), None)
            if wanted is None:
                raise Stop(USAGE, f"--compat {value}: expected one of {', '.join(COMPATS)}")
            options.compat = wanted
        case _:  # -D, and the one value that -R and -T take
            pass


def _number(options: Options, letter: str, value: str) -> int:
    number = trec.whole(value)
    if value.strip() != str(number):
        options.notes.append(f"-{letter} {value} is read as {number}, as trec_eval does")
    return number


def asked_lines(options: Options) -> list[trec.Asked]:
    """What is to be printed, in the order of trec_eval's own table."""
    wanted: dict[str, str | None] = {}
    for text in options.asked or ["official"]:
        name, dot, parameter = text.partition(".")
        listed = trec.nickname(text, options.compat)
        if listed is not None:
            for member in listed:
                wanted.setdefault(member, None)
            continue
        family = trec.BY_NAME.get(name)
        if family is None or not trec.known(family, options.compat):
            close = nearest(name, list(trec.BY_NAME))
            raise Stop(
                USAGE,
                f"illegal measure {shown(text)}",
                hint=f"did you mean {close}?" if close and close != name else "rankgauge trec_eval -h lists them",
            )
        if dot and parameter:
            if family.kind == "none":
                options.notes.append(
                    f"{name} takes no parameter: .{parameter} is ignored, as trec_eval does"
                    + (f"; for a cutoff use -M {parameter}" if parameter.isdigit() else "")
                )
            elif wanted.get(name):
                options.notes.append(f"-m {text} is ignored, as trec_eval does: {name}.{wanted[name]} came first")
            else:
                wanted[name] = parameter
        wanted.setdefault(name, None)
    lines: list[trec.Asked] = []
    for name in sorted(wanted, key=trec.PLACE.__getitem__):
        family = trec.BY_NAME[name]
        note_misread(options, family, wanted[name])
        try:
            lines += trec.expand(family, wanted[name], options.compat)
        except UsageError as error:
            raise Stop(FILE, error.message, hint=error.hint) from None
    return lines


def note_misread(options: Options, family: trec.Family, text: str | None) -> None:
    """Say where trec_eval reads another number than was written."""
    if not text or family.kind != "cutoffs":
        return
    for item in text.split(","):
        if str(trec.whole(item)) != item:
            options.notes.append(f"{family.name}.{item} is read as {trec.whole(item)}, as trec_eval does")
