"""Run a fuzzer with the extension compiled again, with AddressSanitizer and UndefinedBehaviorSanitizer."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from scripts.compile_scanner import compile_scanner

ROOT = Path(__file__).parents[1]
MEMORY_FLAGS = ["-include", str(ROOT / "scripts" / "fuzz_extension" / "failing_memory.h")]
FLAGS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-O1", "-g", *MEMORY_FLAGS]


def run_sanitized(modules: dict[str, list[str]]) -> int:
    """Run modules that take ``--extension``, with their arguments; the first exit code that is not 0."""
    with tempfile.TemporaryDirectory(prefix="rankgauge-") as folder:
        path = compile_scanner(ROOT, FLAGS, Path(folder, "_scanner.abi3.so"))
        compiler = os.environ.get("CC") or (sysconfig.get_config_var("CC") or "cc").split()[0]
        libraries = [
            subprocess.run([compiler, f"-print-file-name=lib{name}.so"], capture_output=True, text=True, check=True)
            for name in ("asan", "ubsan")
        ]
        environment = {
            **os.environ,
            "LD_PRELOAD": " ".join(library.stdout.strip() for library in libraries),
            # The interpreter keeps what it has to the end; memory that is not there is an exception.
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONMALLOC": "malloc",
        }
        for module, arguments in modules.items():
            command = [sys.executable, "-m", module, *arguments, "--extension", str(path)]
            code = subprocess.run(command, env=environment, cwd=ROOT, check=False).returncode
            if code:
                return code
        return 0
