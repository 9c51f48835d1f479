"""From a file that an organiser sent to a corpus, where it is too large for a request
(``annotations.corpora.imports``)."""

from __future__ import annotations

import errno
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.db import OperationalError

from annotations.accounts import may_act
from annotations.corpora import imports, pending_uploads
from annotations.corpora.actions import CorpusExists, ImportOutcome
from annotations.corpora.pending_uploads import PendingUpload
from annotations.corpora.staging import Paused
from annotations.formats.importers.base import survey
from annotations.formats.importers.left_out import LeftOut, left_out
from annotations.formats.importers.problems import ImportFailed
from annotations.models import CorpusImport
from common.jobs import tasks
from common.jobs.models import Claim
from common.roles import is_organiser
from common.storage import StorageAway
from workers.jobs import FailJob, LeaseLost, ReleaseJob, RetryJob, works_on

PROGRESS_SECONDS = 1.0
USED_AT_MOST = 0.85
"""Of a task's time: then what is stored is left to the next task."""
NOT_ALLOWED = "whoever sent the file may not add corpora any more"


@works_on(CorpusImport.objects.select_related("created_by"))
def store(job: CorpusImport, claim: Claim) -> bool:
    """Do one import. Its corpora are there in the moment in which it is done, or not at all."""
    upload = PendingUpload(job.stored, job.file_name, "", job.source)
    watch = _Watch(job, claim)
    watch.check_permission()

    def stored(outcomes: list[ImportOutcome]) -> None:
        corpora = imports.stored_corpora(outcomes)
        watch.check_permission()
        if not CorpusImport.objects.owned(claim).finish(outcome={"corpora": corpora}):
            raise LeaseLost

    try:
        with pending_uploads.readable(upload) as path:
            watch.path = path
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
            raise FailJob("the disk is full: make room, then save again") from problem
        raise
    pending_uploads.remove(upload)
    return True


def _problems_noted(job: CorpusImport, claim: Claim, path: Path, failure: ImportFailed) -> str:
    """Stores the problems and, where good records could be stored without them, the bad ones."""
    outcome: dict[str, Any] = {
        "problems": imports.problems_of(failure, job.file_name),
        "is_cut": failure.stopped,
        "bad_records": LeftOut().as_json(),
    }
    with suppress(ImportFailed):
        parts = survey(imports.importer_of(job.fields), path, good_only=True)
        records = tuple(one for part in parts for one in left_out(path, part).records)
        outcome["bad_records"] = LeftOut(records=records).as_json()
    CorpusImport.objects.owned(claim).renew(outcome=outcome)
    return f"the file has problems: {outcome['problems'][0]}"


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
        if time.monotonic() - self._last < PROGRESS_SECONDS:
            return
        self._last = time.monotonic()
        progress = {"step": step, "records": count, "bytes": self._bytes_read()}
        if not CorpusImport.objects.owned(self.claim).renew(progress=progress):
            raise LeaseLost
        self.check_permission()
        if tasks.used() > USED_AT_MOST:
            raise Paused

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
