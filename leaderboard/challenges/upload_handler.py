"""Uploads go to disk as they come, hashed on the way: however large the file, memory holds one
chunk of it."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, StopUpload

from leaderboard.challenges.uploads import incoming_path

log = logging.getLogger(__name__)


class FileOnDisk(UploadedFile):
    """An uploaded file that lies below the folder of incoming files, and is removed with the
    request unless kept."""

    def __init__(
        self, path: Path, name: str, content_type: str, charset: str | None, extra: Any
    ) -> None:
        super().__init__(path.open("w+b"), name, content_type, 0, charset, extra)
        self.path = path
        self.sha256 = ""
        self._kept = False

    def temporary_file_path(self) -> str:
        return str(self.path)

    def keep(self) -> tuple[Path, str]:
        """The file outlives the request; whoever keeps it moves or removes it."""
        self._kept = True
        return self.path, self.sha256

    def close(self) -> None:
        if self._kept:
            super().close()
            return
        with suppress(OSError):  # it writes what is still in memory, and the disk may be full
            super().close()
        self.path.unlink(missing_ok=True)

    def __del__(self) -> None:
        """A client that vanishes in the middle of its file leaves Django with an exception and
        nobody to close it."""
        with suppress(Exception):
            self.close()


class NoFile(FileUploadHandler):
    """For every address, unless ``body_limit`` says otherwise: a form is read, its files are
    not."""

    def new_file(self, *_arguments: Any, **_named: Any) -> None:
        raise SkipFile

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        raise NotImplementedError("no file is read")

    def file_complete(self, file_size: int) -> None:
        raise NotImplementedError("no file is read")


class ToDisk(FileUploadHandler):
    """For a view that takes a file, from who may send one there: ``body_limit`` sees to both."""

    # Django closes what has this name, where it gives up; so it is there only while a file comes
    file: FileOnDisk

    def new_file(self, *arguments: Any, **named: Any) -> None:
        super().new_file(*arguments, **named)
        name = self.file_name or "unnamed"
        self.file = FileOnDisk(
            incoming_path(), name, self.content_type or "", self.charset, self.content_type_extra
        )
        self.digest = hashlib.sha256()

    # Django's signature.
    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:  # noqa: ARG002
        try:
            self.file.write(raw_data)
            self.file.flush()
        except OSError as fault:
            log.error("an upload cannot be written: %s", fault)
            # The rest is read and forgotten, the form finds no file, and ``body_limit`` says why.
            self.request.upload_failed = True  # type: ignore[union-attr]
            raise StopUpload(connection_reset=False) from fault
        self.digest.update(raw_data)

    def file_complete(self, file_size: int) -> FileOnDisk:
        done = self.file
        del self.file
        done.seek(0)
        done.size = file_size
        done.sha256 = self.digest.hexdigest()
        return done

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()
