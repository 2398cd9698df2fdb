"""The entry point: prepare the process, run a command, and end with its exit code.

Nothing is imported at its top: an interrupt is handled from the first line of ``main`` on.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing
if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_INTERRUPTED, EXIT_SYSTEM = 130, 71


def main() -> None:
    """Run the console script."""
    import sys

    code = EXIT_INTERRUPTED
    try:
        from rankgauge.cli import startup
        from rankgauge.cli.process import end_quietly, handle_signals, open_missing_streams

        open_missing_streams()
        handle_signals()
        startup.prepare(sys.argv[1:])
        code = run()
        startup.finish()
        end_quietly()
    except KeyboardInterrupt as interrupt:  # outside of the command: while it is imported, or as it ends
        code = getattr(interrupt, "exit_code", EXIT_INTERRUPTED)
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command line in this process and return its exit code."""
    import sys

    try:
        from rankgauge.cli.group import checked_arguments, cli
        from rankgauge.cli.process import warnings_as_lines

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
        from rankgauge.cli.failures import report_failure

        return report_failure(error)
    except (MemoryError, OSError, ImportError) as reason:
        text = "out of memory" if isinstance(error, MemoryError) else str(error) or type(reason).__name__
        os.write(2, f"error: {text}\n".encode("utf-8", "backslashreplace"))
        return EXIT_SYSTEM
