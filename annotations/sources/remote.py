"""A file or folder of data from an address: ``https://…``, ``hf://datasets/OWNER/NAME`` or a
dataset's page on the Hugging Face Hub (https://huggingface.co/docs/hub/api). Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from common.download import DownloadFailed, Downloads, LimitReached, Refused

MOST_FILES = 1_000
SHOWN_FILES = 20
HUB_HOSTS = ("huggingface.co", "www.huggingface.co", "hf.co")
OWN_TABLES = frozenset({"data/corpus.parquet", "data/dialogues.parquet"})
"""Files of a dataset folder that this project exported."""
_DATA = re.compile(r"\.(jsonl?|ndjson|csv|tsv|xlsx|parquet|arrow|zip|txt)(\.gz)?\Z", re.IGNORECASE)
_NO_DATA = re.compile(r"(^|/)(\.|dataset_infos?\.json|dataset_dict\.json|state\.json)")
_REPOSITORY = re.compile(r"[\w-][\w.-]{0,95}/[\w-][\w.-]{0,95}", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}")
_VIEWS = ("tree", "blob", "resolve", "raw")


class NotFetched(Exception):
    """Nothing was stored; the message names the address and says why. ``is_over_limit``: it was too
    large, or took too long."""

    is_over_limit = False

    @classmethod
    def because(cls, name: str, problem: DownloadFailed) -> NotFetched:
        failure = cls(f"{name} {problem}")
        failure.is_over_limit = isinstance(problem, LimitReached)
        return failure


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came.

    Attributes:
        path: a file, or a folder.
        name: what a corpus of it may be called in addresses.
        source: the address; of the Hub with the commit that was read.
    """

    path: Path
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A dataset on the Hub.

    Attributes:
        repository: ``owner/name``.
        revision: branch, tag or commit.
        path: of a file or folder in it, or ``CONFIG:SPLIT``; "" for none.
    """

    repository: str
    revision: str = "main"
    path: str = ""


def is_address(text: str) -> bool:
    """Whether a text is an address rather than a path.

    Args:
        text: what somebody entered.
    """
    return re.match(r"(https?|hf)://", text, re.IGNORECASE) is not None


def hub_address(address: str, endpoint: str) -> HubAddress | None:
    """Read the address of a dataset on the Hub.

    Args:
        address: ``hf://datasets/OWNER/NAME[@REVISION][/PATH]``, or that of a page or file at the
            ``endpoint`` or at huggingface.co. ``PATH`` may be ``CONFIG:SPLIT``, or ``:SPLIT`` where
            there is one configuration.
        endpoint: of the Hub.

    Returns:
        What it names; None where it is no address of a dataset on the Hub. In ``REVISION`` a ``/``
        is written ``%2F``.

    Raises:
        NotFetched: it is one, and names no dataset.
    """
    parts = urlsplit(address)
    revision, path = "main", ""
    if parts.scheme.lower() == "hf":
        found = address[len("hf://") :].removeprefix("datasets/")
        first = found.split("/")
        repository, marked, rest = "/".join(first[:2]), "", first[2:]
        if "@" in repository:
            repository, _, marked = repository.partition("@")
        revision, path = unquote(marked) or "main", "/".join(rest)
    else:
        hosts = (urlsplit(endpoint).netloc.lower(), *HUB_HOSTS)
        pieces = [unquote(piece) for piece in parts.path.strip("/").split("/")]
        if parts.netloc.lower() not in hosts or pieces[0] != "datasets" or len(pieces) < 3:
            return None
        repository, view = "/".join(pieces[1:3]), pieces[3:]
        if view[:1] and view[0] in _VIEWS:
            # A branch for pull requests or converted files has slashes itself
            depth = 4 if view[1:2] == ["refs"] else 2
            revision, path = "/".join(view[1:depth]) or "main", "/".join(view[depth:])
    if not _REPOSITORY.fullmatch(repository):
        raise NotFetched(f"{address[:200]} names no dataset: hf://datasets/OWNER/NAME")
    return HubAddress(repository, revision, path.strip("/"))


def fetch(address: str, folder: Path, downloads: Downloads, endpoint: str) -> Fetched:
    """Download what an address names.

    Args:
        address: as in ``hub_address``, or of any file.
        folder: existing, empty folder.
        downloads: with limits, and the token of the Hub.
        endpoint: of the Hub.

    Returns:
        The file or folder in ``folder``.

    Raises:
        NotFetched: with the address, and what is wrong.
    """
    if any(ord(sign) < 33 or ord(sign) == 127 for sign in address) or len(address) > 1_000:
        raise NotFetched("the address has blanks or other signs that no address has")
    shown = address[:200]
    try:
        if "@" in urlsplit(address).netloc:
            raise NotFetched("the address holds a name or password, which would be stored")
        hub = hub_address(address, endpoint)
        if hub is not None:
            return _Hub(hub, endpoint.rstrip("/"), downloads, folder).fetch()
        name = _file_name(urlsplit(address).path)
        downloads.file(address, folder / name)
    except ValueError:
        raise NotFetched(f"{shown} is no address") from None
    except DownloadFailed as problem:
        raise NotFetched.because(shown, problem) from None
    except OSError as problem:
        raise NotFetched(f"{shown} cannot be written here: {problem.strerror}") from None
    return Fetched(
        folder / name, name.partition(".")[0], address.partition("#")[0].partition("?")[0]
    )


def _file_name(path: str) -> str:
    name = re.sub(r"[^\w. -]", "_", unquote(posixpath.basename(path.rstrip("/"))))[-100:]
    return name.lstrip(".") or "file"


class _Hub:
    """One dataset, at the commit that its revision stands for now."""

    def __init__(
        self, address: HubAddress, endpoint: str, downloads: Downloads, folder: Path
    ) -> None:
        self.address = address
        self.endpoint = endpoint
        self.downloads = downloads
        self.folder = folder
        self.repository = address.repository
        self.api = f"{endpoint}/api/datasets/{address.repository}"

    def fetch(self) -> Fetched:
        try:
            described = self.downloads.json(
                f"{self.api}/revision/{quote(self.address.revision, safe='')}"
            )
            sha, files = _commit_and_files(described)
            return self._fetched(sha, files)
        except Refused as problem:
            raise NotFetched(f"{self._name()} {self._why(problem)}") from None
        except DownloadFailed as problem:
            raise NotFetched.because(self._name(), problem) from None

    def _fetched(self, sha: str, files: Sequence[str]) -> Fetched:
        path = self.address.path
        name = self.repository.rpartition("/")[2]
        if path in files:
            return self._file(sha, path)
        if ":" in path:
            return self._split(sha, *path.split(":", 1))
        if path:
            below = [file for file in files if file.startswith(f"{path}/")]
            if not below:
                raise DownloadFailed(f"has no file {path[:200]}")
            return self._folder(sha, below, name, path)
        if set(files) >= OWN_TABLES:
            tables = [file for file in files if re.fullmatch(r"data/\w+\.parquet", file)]
            return self._folder(sha, tables, name, "")
        data = [file for file in files if _DATA.search(file) and not _NO_DATA.search(file)]
        if len(data) == 1:
            return self._file(sha, data[0])
        converted = self._converted() if self.address.revision in ("main", sha) else {}
        if len(converted) == 1:
            target = self.folder / f"{name}.parquet"
            self._join(next(iter(converted.values())), target)
            return Fetched(target, name, f"hf://datasets/{self.repository}@{sha}")
        if converted:
            named = _listed(list(converted))
            raise DownloadFailed(
                f"has several tables; name one as {self._name()}/CONFIG:SPLIT: {named}"
            )
        if not data:
            raise DownloadFailed("has no file of data that is known")
        raise DownloadFailed(
            f"has several files of data; name one as {self._name()}/FILE: {_listed(data)}"
        )

    def _file(self, sha: str, path: str) -> Fetched:
        target = self.folder / _file_name(path)
        self.downloads.file(self._resolved(sha, path), target)
        source = f"hf://datasets/{self.repository}@{sha}/{path}"
        return Fetched(target, self.repository.rpartition("/")[2], source)

    def _folder(self, sha: str, files: Sequence[str], name: str, path: str) -> Fetched:
        if len(files) > MOST_FILES:
            raise DownloadFailed(
                f"has {len(files):,} files there; at most {MOST_FILES:,} are taken"
            )
        top = self.folder / name
        for file in files:
            target = top / file.removeprefix(f"{path}/" if path else "")
            target.parent.mkdir(parents=True, exist_ok=True)
            self.downloads.file(self._resolved(sha, file), target)
        return Fetched(top, name, f"hf://datasets/{self.repository}@{sha}/{path}".rstrip("/"))

    def _resolved(self, sha: str, path: str) -> str:
        return f"{self.endpoint}/datasets/{self.repository}/resolve/{sha}/{quote(path)}"

    def _split(self, sha: str, config: str, split: str) -> Fetched:
        if self.address.revision not in ("main", sha):
            raise DownloadFailed("has tables by CONFIG:SPLIT of its newest revision alone")
        tables = self._converted()
        configs = {name.partition(":")[0] for name in tables}
        wanted = f"{config or (configs.pop() if len(configs) == 1 else '')}:{split}"
        if wanted not in tables:
            found = _listed(list(tables)) or "none"
            raise DownloadFailed(f"has no table {wanted[:200]}; it has {found}")
        name = self.repository.rpartition("/")[2]
        target = self.folder / f"{name}.parquet"
        self._join(tables[wanted], target)
        return Fetched(target, name, f"hf://datasets/{self.repository}@{sha}/{wanted}")

    def _converted(self) -> dict[str, list[str]]:
        """Addresses of the Parquet files that the Hub made of it, by ``CONFIG:SPLIT``."""
        try:
            listed = self.downloads.json(f"{self.api}/parquet")
        except Refused:
            return {}
        return {
            f"{config}:{split}": [url for url in urls if isinstance(url, str)]
            for config, splits in (listed.items() if isinstance(listed, dict) else ())
            for split, urls in (splits.items() if isinstance(splits, dict) else ())
            if isinstance(urls, list)
        }

    def _join(self, urls: Sequence[str], target: Path) -> None:
        """One table of its files."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        writer: pq.ParquetWriter | None = None
        part = self.folder / "part.parquet"
        try:
            for url in urls[:MOST_FILES]:
                self.downloads.file(url, part)
                with pq.ParquetFile(part) as table:
                    writer = writer or pq.ParquetWriter(target, table.schema_arrow)
                    for batch in table.iter_batches():
                        writer.write_batch(batch.cast(writer.schema))
        except (pa.ArrowException, OSError, ValueError) as problem:
            reason = (str(problem).splitlines() or [""])[0][:200]
            raise DownloadFailed(f"has a damaged Parquet file: {reason}") from None
        finally:
            if writer is not None:
                writer.close()
            part.unlink(missing_ok=True)

    def _name(self) -> str:
        at = "" if self.address.revision == "main" else f"@{self.address.revision[:100]}"
        return f"hf://datasets/{self.repository}{at}"

    def _why(self, refused: Refused) -> str:
        code = refused.headers.get("x-error-code", "")
        has_token = bool(self.downloads.token)
        if code == "GatedRepo" or refused.status == 403:
            needed = "" if has_token else ", and set HF_TOKEN"
            return f"is gated: accept its terms on the Hub with the token's account{needed}"
        if code == "RevisionNotFound":
            return f"has no revision {self.address.revision[:100]!r}"
        if refused.status == 401 and not has_token:
            return "is not there, or private: for a private dataset set HF_TOKEN"
        if refused.status in (401, 404) and code != "EntryNotFound":
            return "is not there, or HF_TOKEN may not read it"
        return str(refused)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_FILES} more" if len(names) > SHOWN_FILES else ""
    return ", ".join(names[:SHOWN_FILES]) + more


def _commit_and_files(described: Any) -> tuple[str, list[str]]:
    """The commit, and the files that lie in it under harmless names."""
    found = described if isinstance(described, Mapping) else {}
    sha, siblings = found.get("sha"), found.get("siblings")
    if not isinstance(sha, str) or not _SHA.fullmatch(sha) or not isinstance(siblings, list):
        raise DownloadFailed("is answered with something else than a dataset of the Hub")
    names = [one.get("rfilename") for one in siblings if isinstance(one, Mapping)]
    return sha, [
        name
        for name in names
        if isinstance(name, str)
        and name.isprintable()
        and not PurePosixPath(name).is_absolute()
        and ".." not in PurePosixPath(name).parts
        and "\\" not in name
    ]
