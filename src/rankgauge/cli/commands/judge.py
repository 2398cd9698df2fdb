"""``rankgauge judge``: key by key in the terminal, or by a program."""

from __future__ import annotations

import getpass
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from rankgauge.cli.command_tree import documented
from rankgauge.cli.options.declared_options import declared_options, flag_of, is_given, option, option_group, out_option
from rankgauge.cli.options.inputs import NO_CODE
from rankgauge.cli.printing import print_message, use_color_on
from rankgauge.cli.terminal_keys import QUIT, Keys, open_keys
from rankgauge.config.retriever_settings import RetrieverCalls
from rankgauge.core.formatting import plural
from rankgauge.core.settings import Section, declared
from rankgauge.errors import UsageError, printable
from rankgauge.io.atomic_files import check_writable
from rankgauge.io.formats.judgment_lines import read_judgments
from rankgauge.labels.judging_session import Assessor, JudgingSession, JudgmentFile
from rankgauge.labels.machine_judging import JudgingCost, JudgingLimits, MachineJudge, judge_by_machine
from rankgauge.labels.pool_files import PoolItem, read_pool
from rankgauge.render.judging_screen import Screen, judging_screen, passage, summary_line

# The file of a model has more.
JUDGE_CALL_OPTIONS = declared_options(
    RetrieverCalls,
    "concurrency",
    "retries",
    common=("concurrency",),
    flags={"concurrency": "--concurrency N", "retries": "--retries N"},
)
CLEAR = "\x1b[H\x1b[2J"


@dataclass(frozen=True)
class MachineOptions:
    """The program that judges instead of a person, and how it is called."""

    judge: str | None
    batch_size: int | None
    reuse: tuple[str, ...]
    limits: JudgingLimits
    calls: dict[str, Any]

    @classmethod
    def of(cls, judge: str | None, batch_size: int | None, reuse: tuple[str, ...], **others: Any) -> MachineOptions:
        """From the values of the options; none of them is ignored silently."""
        if judge is None:
            unused = next((name for name in ("batch_size", "reuse", *others) if is_given(name)), None)
            if unused is not None:
                raise UsageError(f"{flag_of(unused)} applies to a program that judges", hint="name it: --judge")
        limits = JudgingLimits(**{name: others.pop(name) for name in declared(JudgingLimits)})
        return cls(judge, batch_size, reuse, limits, others)


@documented(
    "judge",
    """
    # Judge in the terminal
    rankgauge judge pool.jsonl -o judgments.jsonl
    # Let a function of your own judge
    rankgauge judge pool.jsonl -o machine.jsonl --judge ./judge.py:judge
    """,
)
@click.argument("pool", type=click.Path(), metavar="POOL")
@out_option("Add judgments to FILE, which several assessors may share; the same command resumes.")
@option(
    "--assessor",
    section=Section.JUDGING,
    metavar="NAME",
    help="Judge under this name.  [default: your user name, or the program's]",
)
@option_group("grading", dict, *declared_options(Assessor))
@option_group(
    "machine",
    MachineOptions.of,
    option(
        "--judge",
        section=Section.MACHINE,
        metavar="NAME",
        help="Judge by a program instead: module:callable or ./FILE.py:name, (query, text) → grade or (grade, reason); "
        "or by a model whose address, name and prompt are in FILE.yaml.",
    ),
    *declared_options(MachineJudge, "batch_size"),
    option(
        "--reuse",
        section=Section.MACHINE,
        type=click.Path(),
        multiple=True,
        metavar="FILE",
        help="Take grades of the same program for the same content from FILE, without a call; repeatable.",
    ),
    *declared_options(JudgingLimits, "max_calls", "max_tokens"),
    *JUDGE_CALL_OPTIONS,
    *declared_options(JudgingLimits, "max_failures"),
)
@NO_CODE
def judge_command(pool: str, out: str, assessor: str | None, grading: dict[str, Any], machine: MachineOptions) -> None:
    """Judge the documents of a pool, in the terminal or by a program.

    Blind: documents come in random order, without run, rank or score. Every key is saved at once. Keys: 0 to 3 grade,
    s skip, u undo, n note, space more of a long text, q quit. A program is called once for each content; a changed
    program or text is asked again.
    """
    check_writable(out, inputs=[pool, *machine.reuse])
    items = read_pool(pool)
    file = JudgmentFile(out)
    if machine.judge is not None:
        _judge_by_machine(items, file, machine, assessor, grading["max_grade"])
        return
    session = JudgingSession(items, file, Assessor(assessor or _user_name(), **grading))
    with open_keys() as keys:
        judge_in_terminal(session, keys)
    print_message(f"{summary_line(session)}; saved in {printable(out, None)}")


def judge_in_terminal(session: JudgingSession, keys: Keys) -> None:
    """Show one document after the other until all are judged, or the assessor quits."""
    scroll, message = 0, ""
    while session.current is not None:
        item = session.current
        screen = _screen(scroll)
        if keys.interactive:
            click.echo(f"{CLEAR}{judging_screen(session, screen)}\n{message}", err=True, nl=False)
        message, key = "", keys.read()
        if key == QUIT:
            return
        if key.isdecimal() and key.isascii() and int(key) <= session.assessor.max_grade:
            session.grade(int(key))
        elif key == "s":
            session.skip()
        elif key == "u":
            message = "" if session.undo() else "nothing to undo in this session"
        elif key == "n":
            session.add_note(keys.read_line("note: "))
        elif key == " ":
            length = len(passage(item, screen.text_width))
            scroll = 0 if scroll + screen.passage_lines >= length else scroll + screen.passage_lines
            continue
        elif key.strip():
            message = f"no such key: {printable(key)}"
        if session.current is not item:
            scroll = 0


def _screen(scroll: int) -> Screen:
    size = shutil.get_terminal_size((80, 24))
    return Screen(size.columns, size.lines, use_color_on(sys.stderr), scroll)


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise UsageError("who judges is not known", hint="name the assessor: --assessor NAME") from None


def _judge_by_machine(
    items: Sequence[PoolItem], file: JudgmentFile, machine: MachineOptions, assessor: str | None, max_grade: int
) -> None:
    from rankgauge.labels.judges import CODE_NOTE, is_code, judge_calls, open_judge

    source = machine.judge or ""
    judge = open_judge(source, name=assessor, max_grade=max_grade, batch_size=machine.batch_size)
    given = {name: value for name, value in machine.calls.items() if is_given(name)}
    cost = judge_by_machine(
        items,
        file,
        judge,
        calls=RetrieverCalls(**{**machine.calls, **judge_calls(source), **given}),
        limits=machine.limits,
        reuse=[judgment for path in machine.reuse for judgment in read_judgments(path)],
    )
    print_message(cost_line(cost))
    if cost.reused and is_code(source):
        print_message(f"note: {CODE_NOTE}")


def cost_line(cost: JudgingCost) -> str:
    """What was judged and what it cost, in one line."""
    parts = [f"judged {plural(cost.judged, 'document')} with {plural(cost.calls, 'call')}"]
    if cost.tokens:
        counts = [f"{count:,} {key.replace('_', ' ')}" for key, count in cost.tokens.items()]
        parts.append(" and ".join(counts))
    elif cost.calls:
        parts.append("tokens not reported")
    if cost.reused:
        parts.append(f"{cost.reused:,} already judged")
    if cost.failures:
        parts.append(f"{plural(len(cost.failures), 'judgment')} failed")
    return "; ".join(parts)
