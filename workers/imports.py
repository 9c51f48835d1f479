"""From a file that an organiser sent to a corpus, where it is too large for a request
(``annotations.corpora.imports``)."""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import OperationalError

from annotations.accounts import may_act
from annotations.corpora import imports, pending_uploads
from annotations.corpora.actions import CorpusExists, ImportOutcome
from annotations.corpora.addresses import fetched_file
from annotations.corpora.pending_uploads import PendingUpload
from annotations.corpora.staging import Paused
from annotations.formats.importers.base import survey
from annotations.formats.importers.left_out import LeftOut, left_out
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import likely_format
from annotations.models import CorpusImport
from annotations.sources.remote import NotFetched
from common.jobs import tasks
from common.jobs.models import Claim
from common.roles import is_organiser
from common.storage import StorageAway
from common.temporary import temporary_folder
from workers.jobs import FailJob, LeaseLost, ReleaseJob, RetryJob, works_on

PROGRESS_SECONDS = 1.0
USED_AT_MOST = 0.85
"""Of a task's time: then what is stored is left to the next task."""
DISK_FULL = "the disk is full: make room, then save again"
_add_table: Callable[..., object] | None = None
NOT_ALLOWED = "whoever sent the file may not add corpora any more"


def use_additions(add_table: Callable[..., object]) -> None:
    """``add_table``: adds a table to a corpus, with what an outer app knows of it. It gets the
    file, the fields of the form, who sent it, ``progress`` as of ``actions.import_corpus``, and a
    function that takes the job's outcome once."""
    global _add_table
    _add_table = add_table


@works_on(CorpusImport.objects.select_related("created_by"))
def store(job: CorpusImport, claim: Claim) -> bool:
    """Do one import. Its corpora are there in the moment in which it is done, or not at all. Where
    its file is at an address, the file is downloaded, and nothing is stored yet."""
    upload = PendingUpload(job.stored, job.file_name, "", job.source)
    watch = _Watch(job, claim)
    watch.check_permission()
    if "address" in job.fields:
        _download(job, claim, watch)
        return True

    def finish(outcome: dict[str, Any]) -> None:
        watch.check_permission()
        if not CorpusImport.objects.owned(claim).finish(outcome=outcome):
            raise LeaseLost

    def stored(outcomes: list[ImportOutcome]) -> None:
        finish({"corpora": imports.stored_corpora(outcomes)})

    try:
        with pending_uploads.readable(upload) as path:
            watch.path = path
            _refuse_another_file(job, path)
            if imports.ADDS_TO in job.fields:
                assert _add_table is not None
                _add_table(path, job.fields, job.created_by, watch.passed, finish)
                pending_uploads.remove(upload)
                return True
            if not job.fields["format"]:
                job.fields["format"] = _detected_format(job, claim, path)
            try:
                imports.import_file(
                    path,
                    job.fields,
                    job.created_by,
                    job.source,
                    progress=watch.passed,
                    stored=stored,
                )
            except ImportFailed as failure:
                raise FailJob(_problems_noted(job, claim, path, failure)) from failure
    except ImportFailed as failure:  # of a table that is added
        raise FailJob(_noted(job, claim, failure)) from failure
    except CorpusExists as known:
        CorpusImport.objects.owned(claim).renew(outcome={"corpus_exists": str(known)})
        raise FailJob(f"{known} is here already") from known
    except FileNotFoundError as problem:
        raise FailJob("the file is no longer here: choose it again") from problem
    except StorageAway as problem:
        raise RetryJob(str(problem)) from problem
    except Paused as problem:
        if watch.came_further:
            raise ReleaseJob from problem
        raise RetryJob("it came no further in a task's time (DIALEVAL_TASK_SECONDS)") from problem
    except (OSError, OperationalError) as problem:
        full = (os.strerror(errno.ENOSPC), os.strerror(errno.EDQUOT), "disk is full")
        if any(text in str(problem) for text in full):
            raise FailJob(DISK_FULL) from problem
        raise
    pending_uploads.remove(upload)
    return True


def _download(job: CorpusImport, claim: Claim, watch: _Watch) -> None:
    """Raises ``JobEnded``."""
    try:
        with temporary_folder() as folder:
            path, name, source = fetched_file(
                job.fields["address"],
                folder,
                most_bytes=settings.MAX_CORPUS_UPLOAD_BYTES,
                seconds=settings.IMPORT_SECONDS,
                moved=watch.moved,
            )
            upload = pending_uploads.store(path, name, job.created_by, source)
    except NotFetched as problem:
        raise FailJob(str(problem)) from problem
    except StorageAway as problem:
        raise RetryJob(str(problem)) from problem
    except OSError as problem:
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            raise FailJob(DISK_FULL) from problem
        raise
    downloaded = {"stored": upload.stored, "name": upload.name, "source": upload.source}
    if not CorpusImport.objects.owned(claim).finish(outcome={"downloaded": downloaded}):
        pending_uploads.remove(upload)
        raise LeaseLost


def _refuse_another_file(job: CorpusImport, path: Path) -> None:
    """Raises ``FailJob`` where the parts that came are not the file that was announced."""
    with path.open("rb") as file:
        if job.sha256 and hashlib.file_digest(file, "sha256").hexdigest() != job.sha256:
            raise FailJob("what arrived does not have the file's SHA-256: send it again")


def _detected_format(job: CorpusImport, claim: Claim, path: Path) -> str:
    """Raises ``FailJob``."""
    name, reason = likely_format(path)
    if name is None:
        raise FailJob(f"the format was not detected: {reason}; name it")
    CorpusImport.objects.owned(claim).renew(fields={**job.fields, "format": name})
    return name


def _problems_noted(job: CorpusImport, claim: Claim, path: Path, failure: ImportFailed) -> str:
    """Stores the problems and, where good records could be stored without them, the bad ones."""
    bad_records = LeftOut()
    with suppress(ImportFailed):
        parts = survey(imports.importer_of(job.fields), path, good_only=True)
        records = tuple(one for part in parts for one in left_out(path, part).records)
        bad_records = LeftOut(records=records)
    return _noted(job, claim, failure, bad_records=bad_records.as_json())


def _noted(job: CorpusImport, claim: Claim, failure: ImportFailed, **more: Any) -> str:
    problems = imports.problems_of(failure, job.file_name)
    outcome = {"problems": problems, "is_cut": failure.stopped, **more}
    CorpusImport.objects.owned(claim).renew(outcome=outcome)
    return f"the file has problems: {problems[0]}"


class _Watch:
    """Writes to the row how far the import is, at most once a second, and notices when it has to
    end."""

    def __init__(self, job: CorpusImport, claim: Claim) -> None:
        self.job, self.claim = job, claim
        self.path: Path | None = None
        self.came_further = False
        before = job.progress
        self._stored_before = before.get("records", 0) if before.get("step") == "stored" else 0
        self._last = 0.0

    def passed(self, step: str, count: int) -> None:
        if step == "continued":  # dialogues, not records
            return
        self.came_further = step == "stored" and count > self._stored_before
        if self._is_due():
            self._note({"step": step, "records": count, "bytes": self._bytes_read()})
            if tasks.used() > USED_AT_MOST:
                raise Paused

    def moved(self, there: int, size: int | None) -> None:
        if self._is_due():
            self._note({"step": "downloaded", "bytes": there, "total": size})
            if tasks.used() > USED_AT_MOST:
                raise FailJob("the download takes longer than a task may (DIALEVAL_TASK_SECONDS)")

    def _is_due(self) -> bool:
        is_due = time.monotonic() - self._last >= PROGRESS_SECONDS
        if is_due:
            self._last = time.monotonic()
        return is_due

    def _note(self, progress: dict[str, Any]) -> None:
        if not CorpusImport.objects.owned(self.claim).renew(progress=progress):
            raise LeaseLost
        self.check_permission()

    def check_permission(self) -> None:
        """Raises ``FailJob``."""
        user = self.job.created_by
        if user is not None:
            # Without the roles that it has remembered
            user = type(user).objects.filter(pk=user.pk).first()
        if user is None or not may_act(user) or not is_organiser(user):
            raise FailJob(NOT_ALLOWED)

    def _bytes_read(self) -> int | None:
        """The position in the file, as Linux has it. None elsewhere, and of a packed file, of which
        a copy is read."""
        if self.path is None:
            return None
        file = os.path.realpath(self.path)
        with suppress(OSError, ValueError):
            for descriptor in Path("/proc/self/fd").iterdir():
                with suppress(FileNotFoundError):
                    if os.readlink(descriptor) == file:
                        position = Path("/proc/self/fdinfo", descriptor.name).read_text()
                        return int(position.split()[1])
        return None
