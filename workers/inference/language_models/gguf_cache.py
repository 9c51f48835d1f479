"""A GGUF model's weights and tokenizer as a folder that loads in a second, made once for all
processes of a site.

Reading GGUF computes every weight anew, which takes twenty seconds of a processor. A copy is
written to a folder of its own and renamed into place whole, so that two processes may do so at
once. It says what it was made from and by, and the digest of its weights: another one, a damaged
one and half of one are made anew. Without room or leave to write there is no copy, and everything
goes on from the GGUF file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any

from common.temporary import put_in_place, temporary_folder
from workers.inference import resources
from workers.inference.model_files import ModelFiles

log = logging.getLogger(__name__)
_RECORD = "made.json"
_CAPACITY_LEFT = 2_000_000_000
"""Bytes that stay free on the disk: a site's database is there, too."""


def cache_folder(files: ModelFiles, dtype_name: str) -> Path | None:
    """Where a copy belongs, whether it is there or not; None where this process keeps nothing on
    disk."""
    features = resources.at_hand().feature_folder
    return (
        None if features is None else features.parent / "models" / f"{files.revision}-{dtype_name}"
    )


def is_good(folder: Path, files: ModelFiles) -> bool:
    """Whether a whole copy of these weights is there, made by the loader that is installed."""
    try:
        record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        if record == _record(files, _digest(folder)):
            return True
    except FileNotFoundError:
        return False
    except (OSError, ValueError) as error:
        log.info("the copy of %s in %s cannot be read: %s", files.name, folder, error)
        return False
    log.warning(
        "the copy of %s in %s is damaged or of another make; it is recomputed", files.name, folder
    )
    return False


def keep(folder: Path, files: ModelFiles, tokenizer: Any, model: Any) -> None:
    """Writes a copy in place of what may be there. What fails is logged, and leaves nothing
    behind."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        weights = sum(one.numel() * one.element_size() for one in model.parameters())
        if shutil.disk_usage(folder.parent).free < weights + _CAPACITY_LEFT:
            log.info(
                "no copy of %s is kept: the disk of %s has too little room",
                files.name,
                folder.parent,
            )
            return
        with temporary_folder(beside=folder) as temporary:
            part = temporary / folder.name
            part.mkdir()
            # A bar of progress
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
                model.save_pretrained(part, max_shard_size="100GB")
                tokenizer.save_pretrained(part)
            record = _record(files, _digest(part))
            (part / _RECORD).write_text(json.dumps(record), encoding="utf-8")
            if not is_good(folder, files):  # else another process was faster
                put_in_place(part, folder)
    # the disk's kinds and those of whatever writes the files; the model itself is loaded
    except Exception as error:
        log.warning("no copy of %s is kept in %s: %s", files.name, folder, error)


def _record(files: ModelFiles, digest: str) -> dict[str, str]:
    from importlib.metadata import version

    return {"made_from": files.revision, "transformers": version("transformers"), "sha256": digest}


def _digest(folder: Path) -> str:
    """Of all files but the record: a changed tokenizer gives other scores as changed weights do."""
    whole = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.name != _RECORD:
            with file.open("rb") as stream:
                whole.update(
                    f"{file.name}\0{hashlib.file_digest(stream, 'sha256').hexdigest()}\n".encode()
                )
    return whole.hexdigest()
