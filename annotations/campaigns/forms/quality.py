from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.actions.quality import LONGEST_REASON
from annotations.campaigns.flag_text import FlagText
from annotations.campaigns.models import Campaign
from annotations.models import System
from common.text import text_fault

LONGEST_ASPECT = 100


def storable_text(value: str) -> None:
    if value and (fault := text_fault(value, len(value))):
        raise ValidationError(_("The text %(fault)s."), params={"fault": fault})


class ExclusionForm(forms.Form):
    """Why a rater's ratings do not count. It stands in the exports, not on the rater's pages."""

    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label=_("Reason"),
        help_text=_(
            "For you and whoever reads the data later, such as: failed 4 of 5 attention items."
        ),
        widget=forms.Textarea(attrs={"rows": 2}),
        validators=[storable_text],
    )


class RemovalForm(forms.Form):
    """Why a person is taken out of a campaign, and whether what this person rated goes on
    counting."""

    ratings = forms.ChoiceField(
        choices=(
            ("exclude", _("exclude them: they no longer count")),
            ("keep", _("keep them: they count as before")),
        ),
        widget=forms.RadioSelect,
        label=_("The ratings made so far"),
    )
    reason = forms.CharField(
        max_length=LONGEST_REASON,
        label=_("Reason for the removal"),
        help_text=_("The audit log keeps it."),
        widget=forms.Textarea(attrs={"rows": 2}),
        validators=[storable_text],
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, prefix="removal")


class ConflictForm(forms.Form):
    """A system this person has a stake in, or no longer."""

    system = forms.ModelChoiceField(
        System.objects.none(), label=_("System"), empty_label=_("choose a system")
    )
    withdraw = forms.BooleanField(required=False, widget=forms.HiddenInput)

    def __init__(self, campaign: Campaign, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["system"].queryset = System.objects.filter(
            version=campaign.version_id
        ).order_by("position")


class FlaggedRatersForm(forms.Form):
    """Asked before ratings are published: whether each flagged rater's count."""

    def __init__(
        self, flagged: Sequence[tuple[int, str, Sequence[FlagText]]], data: Any = None
    ) -> None:
        super().__init__(data, prefix="flagged")
        self._figures = {
            number: "; ".join(flag.figure for flag in flags) for number, _name, flags in flagged
        }
        for number, pseudonym, flags in flagged:
            self.fields[str(number)] = forms.ChoiceField(
                choices=(
                    ("keep", _("keep these ratings")),
                    ("exclude", _("leave them out: exclude the rater, which can be undone")),
                ),
                widget=forms.RadioSelect,
                label=pseudonym,
                help_text="; ".join(f"{flag.figure} ({flag.rule})" for flag in flags),
            )

    def is_left_out(self, number: int) -> bool:
        return bool(self.cleaned_data[str(number)] == "exclude")

    def reason_of(self, number: int) -> str:
        """Of the exclusion: the figures of the flags."""
        return self._figures[number][:LONGEST_REASON]


class PublishForm(forms.Form):
    """Under which name the ratings stand among the corpus's human scores."""

    aspect = forms.CharField(
        max_length=LONGEST_ASPECT,
        label=_("Aspect"),
        help_text=_("The name on leaderboards and in files."),
        validators=[storable_text],
    )
