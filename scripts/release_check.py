"""Check a release: build it, install it as users do, run it, and list the license of every dependency.

Run it as ``make release-check``. The files are in build/release afterwards.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"
EXTRAS = "all"  # spark and sentence-transformers are left out: gigabytes
SECRETS = re.compile(
    rb"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----\s|\bgh[oprsu]_\w{36}|\bAKIA[A-Z0-9]{16}\b"
    rb"|\bsk-(?=\w*\d)\w{20,}|\bpypi-\w{50,}"
)
SCANNER = re.compile(r"rankgauge/core/compiled/_scanner[\w.-]*\.(?:so|pyd)")
MAX_LICENSE_TEXT = 60  # characters; the field of some packages holds the whole license


def main() -> None:
    """Do every step, and stop at the first that fails."""
    version = released_version(ROOT)
    print(f"rankgauge {version}: _version.py, CITATION.cff and CHANGELOG.md agree")
    shutil.rmtree(RELEASE, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", RELEASE, ROOT)
    artifacts = sorted(path for path in RELEASE.iterdir() if path.suffix in (".whl", ".gz"))
    if len(artifacts) != 2:
        sys.exit(f"error: expected a wheel and a source distribution, found {[path.name for path in artifacts]}")
    _run(sys.executable, "-m", "twine", "check", "--strict", *artifacts)
    faults = wheel_faults(next(path for path in artifacts if path.suffix == ".whl"), ROOT)
    if faults:
        sys.exit("error: the wheel is not what it should be:\n" + "\n".join(faults))
    for artifact in artifacts:
        with tempfile.TemporaryDirectory() as folder:
            _try(artifact, Path(folder))
    table = _license_table(artifacts)
    (RELEASE / "licenses.md").write_text(table, encoding="utf-8")
    print(f"\n{table}\nrelease check passed: {', '.join(path.name for path in artifacts)}")


def released_version(root: Path) -> str:
    """The version, which the code, the citation and the newest release in the changelog must agree on."""
    versions = {
        path: _found(pattern, root / path)
        for path, pattern in {
            "src/rankgauge/_version.py": r'^__version__ = "(.+)"$',
            "CITATION.cff": r"^version: (.+)$",
            "CHANGELOG.md": r"^## (\S+) \(\d{4}-\d{2}-\d{2}\)$",
        }.items()
    }
    if len(set(versions.values())) != 1:
        sys.exit(f"error: versions differ: {versions}")
    return versions["CITATION.cff"]


def wheel_faults(wheel: Path, root: Path) -> list[str]:
    """What is wrong with the contents of a wheel: a file too many or too few, changed, or with a secret in it."""
    package = root / "src" / "rankgauge"
    sources = {
        path.relative_to(package.parent).as_posix(): path
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".c", ".h", ".so", ".pyd")
    }
    faults = []
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if not re.match(r"rankgauge-[^/]+\.dist-info/", name)}
        compiled = set(filter(SCANNER.fullmatch, packed))
        faults += [f"{name}: is not part of the package" for name in sorted(packed - compiled - set(sources))]
        faults += [f"{name}: is missing" for name in sorted(set(sources) - packed)]
        for name in sorted(packed):
            data = archive.read(name)
            if name in sources and data != sources[name].read_bytes():
                faults.append(f"{name}: differs from the source")
            if SECRETS.search(data):
                faults.append(f"{name}: has what looks like a secret")
            if str(root).encode() in data:
                faults.append(f"{name}: names the folder it was built in")
    hidden = [name for name in sources if any(part.startswith(".") or part.endswith("~") for part in name.split("/"))]
    return faults + [f"{name}: is a hidden or a backup file" for name in sorted(hidden)]


def _found(pattern: str, path: Path) -> str:
    match = re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        sys.exit(f"error: {path.name}: no version found, expected a line that matches {pattern}")
    return match[1]


def _try(artifact: Path, folder: Path) -> None:
    """Install into a clean environment, run the demo, verify its numbers."""
    environment, demo = folder / "venv", folder / "demo"
    venv.create(environment, with_pip=True)
    python, command = environment / "bin" / "python", environment / "bin" / "rankgauge"
    _run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{artifact}[retrieval]")
    print(f"\n{artifact.name}, installed into a clean environment:")
    _run(command, "--version", "--verbose")
    _run(command, "demo", "-o", demo, cwd=folder)
    _run(command, "benchmark", "verify", demo, cwd=folder)


def _license_table(artifacts: list[Path]) -> str:
    """One row per dependency, optional ones included; stop if one of them does not state its license."""
    wheel = next(path for path in artifacts if path.suffix == ".whl")
    resolve = ("install", "--quiet", "--disable-pip-version-check", "--dry-run", "--ignore-installed", "--report", "-")
    report = json.loads(_output(sys.executable, "-m", "pip", *resolve, f"{wheel}[{EXTRAS}]"))
    packages = sorted((item["metadata"] for item in report["install"]), key=lambda data: str(data["name"]).lower())
    rows = [f"| {data['name']} | {data['version']} | {_license_of(data)} |" for data in packages]
    return "\n".join(["| package | version | license |", "|---|---|---|", *rows]) + "\n"


def _license_of(metadata: dict[str, Any]) -> str:
    """What the metadata of a package states, in the field that it uses."""
    classifiers = [line for line in metadata.get("classifier", []) if line.startswith("License ::")]
    named = metadata.get("license_expression") or ", ".join(line.rsplit(" :: ", 1)[1] for line in classifiers)
    text = (named or metadata.get("license", "")).strip()
    if not text:
        sys.exit(f"error: {metadata['name']} {metadata['version']} does not state its license")
    return str(text.splitlines()[0][:MAX_LICENSE_TEXT])


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    result = subprocess.run([str(part) for part in command], cwd=cwd, check=False)
    if result.returncode:
        sys.exit(f"error: exit code {result.returncode}: {' '.join(str(part) for part in command)}")


def _output(*command: str | Path) -> str:
    return subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
