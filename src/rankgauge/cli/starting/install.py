"""Where CI can get rankgauge from: where this copy came from, if a machine elsewhere can reach it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from urllib.parse import urlsplit, urlunsplit

from rankgauge.errors import UsageError, shown

NAME = "rankgauge"
REMOTE = ("https", "http", "ssh", "git")
SOURCE_LABELS = ("source", "source code", "repository", "homepage")  # of the project's links
SAFE = re.compile(r"[^\s\"'`$\\#]+( @ [^\s\"'`$\\#]+)?")  # in double quotes of a shell, within YAML


@dataclass(frozen=True)
class Install:
    """What ``pip install`` is given, and a comment on it."""

    requirement: str
    comment: str
    is_reachable: bool = True


def given_install(requirement: str) -> Install:
    """The requirement of ``--install``."""
    if not SAFE.fullmatch(requirement):
        raise UsageError(
            f"--install takes what pip installs, found {shown(requirement)}",
            hint="a requirement, a URL, or the path of a wheel in the repository: git+https://HOST/PROJECT.git",
        )
    return Install(requirement, "From `rankgauge init --install`.")


def default_install(extras: str) -> Install:
    """Where this copy was installed from; else the project's own link; else its name, with a caveat."""
    name = NAME + extras
    try:
        installed = distribution(NAME)
    except PackageNotFoundError:
        return _unknown(name)
    origin = installed.read_text("direct_url.json")
    if origin is None:
        return Install(name, "From the package index, as the copy that wrote this file.")
    data = json.loads(origin)
    url = urlsplit(str(data.get("url", "")))
    if url.scheme in REMOTE:
        plain = urlunsplit(url._replace(netloc=url.netloc.rpartition("@")[2]))  # without a user's name and password
        version = data.get("vcs_info")
        link = f"{version['vcs']}+{plain}@{version['commit_id']}" if version else plain
        return Install(f"{name} @ {link}", "From where the copy that wrote this file was installed.")
    repository = repository_link(installed)
    if repository is not None:
        return Install(f"{name} @ git+{repository}", "From the project's own repository.")
    return _unknown(name)


def repository_link(installed: Distribution) -> str | None:
    """The link to the project's repository, if its metadata has one."""
    pairs = [entry.partition(",")[::2] for entry in installed.metadata.get_all("Project-URL") or ()]
    links = {label.strip().lower(): link.strip() for label, link in pairs}
    return next((links[label] for label in SOURCE_LABELS if label in links), None)


def _unknown(name: str) -> Install:
    comment = (
        "CHANGE THIS: rankgauge was installed from a local folder, which CI cannot reach. Name a URL, or a wheel in "
        "this repository."
    )
    return Install(name, comment, is_reachable=False)
