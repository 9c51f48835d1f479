"""Every write to prompts that organisers write: a new one, a new wording, deletion."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import Max, Sum
from django.utils.text import slugify
from django.utils.translation import gettext as _

from annotations import audit
from annotations.models import AuditEntry
from common.text import text_fault
from workers.judges import prompt_queries
from workers.judges.models import Budget, JudgePrompt, PromptVersion, Trial
from workers.judges.run_forms import plain

RESERVED_SLUGS = frozenset({"new"})
"""Addresses below /judges/ that are not prompts."""
LONGEST_TITLE, LONGEST_SLUG = 120, 60
CREATED, WRITTEN, DELETED = "judge_prompt.created", "judge_prompt.written", "judge_prompt.deleted"


class Refused(Exception):
    """What was asked cannot be done; the message says why, ``field`` which field of the form it is
    about, or ""."""

    def __init__(self, message: Any, field: str = "") -> None:
        super().__init__(message)
        self.message, self.field = message, field


class SavedVersion(NamedTuple):
    version: PromptVersion
    is_new: bool
    """False where the prompt had this wording already."""


def create(title: str, slug: str, text: str, by: Any) -> PromptVersion:
    """A prompt with its first wording. ``slug`` may be empty: it is then made from the title.
    Raises ``Refused``."""
    title = title.strip()
    if fault := text_fault(title, LONGEST_TITLE):
        raise Refused(_("The title %(fault)s.") % {"fault": fault}, "title")
    checked = _checked(text)
    try:
        with transaction.atomic():
            prompt = JudgePrompt.objects.create(
                slug=_free_slug(title, slug), title=title, created_by=by
            )
            # Numbers of a deleted prompt of this name are not given again: files of scores may name
            # them, and a worker may remember what they said. The audit log outlives the prompt.
            deleted = AuditEntry.objects.filter(action=DELETED, subject=prompt.slug).values_list(
                "details", flat=True
            )
            version = _write(
                prompt,
                1 + max((int(details.get("version", 0)) for details in deleted), default=0),
                text,
                checked.digest,
                by,
            )
            audit.record(
                by, CREATED, prompt.slug, title=title, version=version.number, digest=version.digest
            )
    except IntegrityError:  # somebody else took the name in this moment
        raise Refused(_there_is_one(slug or title), "slug") from None
    return version


def write(prompt: JudgePrompt, text: str, by: Any) -> SavedVersion:
    """A new wording, with the next number; the wording of an earlier version is that version.
    Raises ``Refused``."""
    checked = _checked(text)
    with transaction.atomic():
        locked = JudgePrompt.objects.select_for_update().filter(pk=prompt.pk).first()
        if locked is None:
            raise Refused(
                _(
                    "The prompt was deleted meanwhile. Your text is still in the form: store it "
                    "as a new one."
                )
            )
        same = locked.versions.filter(digest=checked.digest).first()
        if same is not None:
            return SavedVersion(same, False)
        highest = locked.versions.aggregate(Max("number"))["number__max"] or 0
        version = _write(locked, highest + 1, text, checked.digest, by)
        audit.record(by, WRITTEN, locked.slug, version=version.number, digest=version.digest)
    return SavedVersion(version, True)


def delete(prompt: JudgePrompt, by: Any) -> None:
    """With its versions and trials. Refused while scores or a round name it, and while it is being
    tried."""
    with transaction.atomic():
        locked = JudgePrompt.objects.select_for_update().filter(pk=prompt.pk).first()
        if locked is None:
            return
        if uses := prompt_queries.uses_of(locked.slug):
            named = ", ".join(dict.fromkeys(one.where for one in uses))
            raise Refused(
                _("Scores or rounds name this judge, in: %(named)s. So its wording stays.")
                % {"named": named}
            )
        trials = Trial.objects.filter(prompt_version__prompt=locked)
        if trials.filter(state__in=[Trial.State.PENDING, Trial.State.RUNNING]).exists():
            raise Refused(
                _("A trial of it is under way: stop it first, or wait until it has ended.")
            )
        budgets = Budget.objects.filter(trial__in=trials)
        spent = budgets.aggregate(Sum("calls"), Sum("tokens_spent"), Sum("cost_spent"))
        audit.record(
            by,
            DELETED,
            locked.slug,
            title=locked.title,
            version=locked.versions.aggregate(Max("number"))["number__max"] or 0,
            trials=trials.count(),
            calls=spent["calls__sum"] or 0,
            tokens=spent["tokens_spent__sum"] or 0,
            cost_usd=plain(spent["cost_spent__sum"] or Decimal(0)),
        )
        keys = list(budgets.values_list("pk", flat=True))
        locked.delete()
        Budget.objects.filter(pk__in=keys).delete()


def _checked(text: str) -> Any:
    checked = prompt_queries.check(text)
    if checked.prompt is None:
        raise Refused("\n".join(str(fault) for fault in checked.faults), "text")
    return checked.prompt


def _write(prompt: JudgePrompt, number: int, text: str, digest: str, by: Any) -> PromptVersion:
    return PromptVersion.objects.create(
        prompt=prompt, number=number, text=text, digest=digest, created_by=by
    )


def _free_slug(title: str, slug: str) -> str:
    wanted = slug or slugify(title)[:LONGEST_SLUG].strip("-_")
    if not wanted:
        raise Refused(
            _("The title has no letters that a name can be made of: give the judge a name."), "slug"
        )
    if len(wanted) > LONGEST_SLUG or wanted != slugify(wanted):
        message = _(
            "A name has up to %(most)s lower-case letters a to z, digits, hyphens and underscores."
        )
        raise Refused(message % {"most": LONGEST_SLUG}, "slug")
    if wanted in RESERVED_SLUGS or JudgePrompt.objects.filter(slug=wanted).exists():
        raise Refused(_there_is_one(wanted), "slug")
    return wanted


def _there_is_one(name: str) -> str:
    return _("%(name)s is taken. Choose another name, or write a new version of that judge.") % {
        "name": name
    }
