"""The entry point: start fast, run a command, and end with its exit code.

Nothing is imported at its top: an interrupt is handled from the first line of ``main`` on.
"""

from __future__ import annotations

EXIT_INTERRUPTED, EXIT_SYSTEM = 130, 71
COMPLETION_VARIABLE = "_RANKGAUGE_COMPLETE"  # set by a shell that asks what can come next


def main() -> None:
    """Run the console script."""
    import sys

    code = EXIT_INTERRUPTED
    try:
        from rankgauge.cli.process import end_quietly, handle_signals, open_missing_streams

        open_missing_streams()
        handle_signals()
        start_fast(sys.argv[1:])
        code = run()
        end_fast()
        end_quietly()
    except KeyboardInterrupt as interrupt:  # outside of the command: while it is imported, or as it ends
        code = getattr(interrupt, "exit_code", EXIT_INTERRUPTED)
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run a command line in this process and return its exit code."""
    import os
    import sys

    try:
        from rankgauge.cli.command_tree import checked_arguments, cli
        from rankgauge.cli.process import warnings_as_lines

        instruction = os.environ.get(COMPLETION_VARIABLE) if arguments is None else None
        if instruction:
            from click.shell_completion import shell_complete

            return shell_complete(cli, {}, "rankgauge", COMPLETION_VARIABLE, instruction)
        words = checked_arguments(sys.argv[1:] if arguments is None else arguments)
        with warnings_as_lines(), cli.make_context("rankgauge", words) as context:
            code = cli.invoke(context)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BaseException as error:
        return _report(error)


def _report(error: BaseException) -> int:
    """Print what ended a command, even if too little memory or too few descriptors are left to import the printer."""
    import os

    if isinstance(error, MemoryError):
        error.__traceback__ = error.__context__ = None  # the frames of the command, which hold what it read
    try:
        from rankgauge.cli.process import report_failure

        return report_failure(error)
    except (MemoryError, OSError, ImportError) as reason:
        text = "out of memory" if isinstance(error, MemoryError) else str(error) or type(reason).__name__
        os.write(2, f"error: {text}\n".encode("utf-8", "backslashreplace"))
        return EXIT_SYSTEM


# What makes a command line start and end fast. The library itself never changes its process.

# Linear algebra that would start idle threads when NumPy is imported, which costs a fifth of a short evaluation.
THREAD_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
# The commands that only read files. Retrievers and resampling multiply matrices, for which threads may be worth it.
SINGLE_THREADED = ("agreement", "convert", "evaluate", "fuse", "measures", "trec_eval", "runs validate")

# Objects between two searches for cycles: importing makes tens of thousands, and none of them is garbage.
COLLECTION_THRESHOLD = 100_000


def start_fast(arguments: list[str]) -> None:
    """Before NumPy is imported: search for cycles rarely, and keep commands that only read files to one thread.

    So are all if memory is limited: each thread takes 40 MB of it. The user's own choice of threads comes first.
    """
    import gc
    import os

    from rankgauge.core.public_names import has_memory_limit

    gc.set_threshold(COLLECTION_THRESHOLD)
    is_single = " ".join(arguments[:2]).startswith(SINGLE_THREADED)
    only_reads = is_single and not any(":" in word or word.endswith((".yaml", ".yml")) for word in arguments[1:])
    if only_reads or has_memory_limit():
        for name in THREAD_VARIABLES:
            os.environ.setdefault(name, "1")


def end_fast() -> None:
    """Skip the search for cycles among all objects at the end of the process."""
    import gc

    gc.freeze()
