"""Run one command and write down what it alone cost.

A program of its own because Linux counts the memory that a process had before ``exec`` towards its peak: a child of the
harness would start with the harness's size. Started with ``-I -S`` this process is small, and a fork of it (not a
``posix_spawn``, which shares all of its pages) starts a child with about 5 MB, which is the least that can be measured.

    python -I -S launch.py FIGURES COMMAND ARGUMENT …

Standard output and error are the command's. FIGURES gets three numbers: exit code, CPU seconds (user and system), and
the peak memory as the system counts it (KiB, on macOS bytes).
"""

import os
import sys


def main() -> None:
    figures, command = sys.argv[1], sys.argv[2:]
    child = os.fork()
    if child == 0:
        try:
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    out = os.open(figures, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    code = os.waitstatus_to_exitcode(status)
    os.write(out, f"{code} {usage.ru_utime + usage.ru_stime:.6f} {usage.ru_maxrss}\n".encode())
    os.close(out)


if __name__ == "__main__":
    main()
