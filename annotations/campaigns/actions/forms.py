"""Writing the form of a campaign: what raters are asked, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from annotations import audit
from annotations.campaigns.actions.opening import is_being_opened
from annotations.campaigns.actions.setup import (
    CampaignParams,
    WrongState,
    create,
    write_guidelines,
)
from annotations.campaigns.models import Campaign, FormVersion
from annotations.campaigns.plan.form_changes import is_about, meaning_changes
from annotations.questions.schema import Form, digest, to_data


class FormDoesNotFit(Exception):
    """The message says why, in the organiser's language. Nothing was written. ``keys``: the
    questions that it is about, where it is about some."""

    def __init__(self, message: str, keys: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.keys = tuple(keys)


class ChangedMeanwhile(FormDoesNotFit):
    """Somebody else wrote another form in between."""


def write_form(
    campaign: Campaign, form: Form, by: Any = None, began_with: str | None = None
) -> tuple[FormVersion, bool]:
    """Make it what the campaign asks. Returns the version and whether anything was written.

    A draft's form is replaced. Once the campaign was opened the form becomes the next version:
    ratings that are there keep the one they answer, and questions that stay keep their meaning, so
    that their answers can be read together. Raises ``FormDoesNotFit``, and ``WrongState`` while the
    campaign is being opened.

    ``began_with``: the digest of the form that was changed, "" of none: another one that was
    written meanwhile is not overwritten.
    """
    data, its_digest = to_data(form), digest(form)
    with transaction.atomic():
        stored = _locked(campaign)
        if not is_about(form, stored.kind):
            raise FormDoesNotFit(
                _("The form is about the level “%(level)s”, the campaign about %(kind)s.")
                % {"level": form.level, "kind": stored.get_kind_display()}
            )
        current = stored.form
        if current is not None and current.digest == its_digest:
            return current, False
        if began_with is not None and began_with != (current.digest if current else ""):
            raise ChangedMeanwhile(
                _(
                    "The questions were changed elsewhere since this page was loaded. Save again "
                    "to put yours in their place, or load the page again to see them."
                )
            )
        if stored.state == Campaign.State.DRAFT:
            version = current or FormVersion(campaign=stored, number=1)
            version.schema, version.digest = data, its_digest
            version.save()
        else:
            version = _next_version(stored, form, data, its_digest)
        Campaign.objects.filter(pk=stored.pk).update(form=version)
        audit.record(
            by,
            "form.written",
            stored,
            campaign=stored.slug,
            version=version.number,
            form=form.name,
            digest=its_digest,
        )
    campaign.form = version
    return version, True


def _next_version(stored: Campaign, form: Form, data: dict[str, Any], its: str) -> FormVersion:
    if stored.form is None:
        raise FormDoesNotFit(
            _("The campaign was opened with the scale from 1 to 5: it cannot get a form any more.")
        )
    if changed := meaning_changes(stored.form.parsed(), form):
        raise FormDoesNotFit(
            _(
                "Raters have begun, so the possible answers of these questions stay as they are: "
                "%(keys)s. Ask another question under another key."
            )
            % {"keys": ", ".join(changed)},
            changed,
        )
    return FormVersion.objects.create(
        campaign=stored, number=stored.form.number + 1, schema=data, digest=its
    )


def create_asking(params: CampaignParams, form: Form | None, by: Any = None) -> Campaign:
    """A draft that asks this form, with the form's guidelines; without one, the scale from 1 to 5.
    Raises what ``setup.create`` and ``write_form`` raise, with nothing stored."""
    with transaction.atomic():
        campaign = create(params, by=by)
        if form is not None:
            write_form(campaign, form, by=by)
            if form.guidelines:
                write_guidelines(campaign, form.guidelines, by=by)
    return campaign


def remove_form(campaign: Campaign, by: Any = None) -> None:
    """The draft asks the scale from 1 to 5 again. Raises ``WrongState`` once it was opened, and for
    pairs."""
    with transaction.atomic():
        stored = _locked(campaign)
        if stored.state != Campaign.State.DRAFT:
            raise WrongState(_("Raters have begun: the campaign keeps its form."))
        if stored.form is None:
            return
        if stored.compares:
            raise WrongState(_("Raters compare by a form: the campaign keeps it."))
        Campaign.objects.filter(pk=stored.pk).update(form=None)
        stored.form_versions.all().delete()
        audit.record(by, "form.removed", stored, campaign=stored.slug)
    campaign.form = None


def _locked(campaign: Campaign) -> Campaign:
    """One version at a time."""
    stored = (
        Campaign.objects.select_for_update(of=("self",)).select_related("form").get(pk=campaign.pk)
    )
    if is_being_opened(stored):
        raise WrongState(_("The campaign is being opened; nothing was changed."))
    return stored
