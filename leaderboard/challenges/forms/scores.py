"""Handing in a file of a metric's scores, and taking the metric back."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from common.text import text_fault
from leaderboard.actions import LONGEST_NAME, LONGEST_WITHDRAWAL
from leaderboard.challenges.actions.scores import LONGEST_LINK
from leaderboard.models import SubmittedMetric

HIGHER, LOWER = "higher", "lower"
LEVELS = [
    (SubmittedMetric.Level.TURN, _("single responses (turns)")),
    (SubmittedMetric.Level.DIALOGUE, _("a system's dialogues")),
    (SubmittedMetric.Level.SYSTEM, _("systems")),
]


class ScoresForm(forms.Form):
    """What a file, a name and a link may be is said by ``actions.scores.receive_scores``, the same
    for programs."""

    file = forms.FileField(
        label=_("File of scores"),
        allow_empty_file=True,
        max_length=None,
        widget=forms.FileInput(
            attrs={"accept": ".jsonl,.ndjson,.csv,.txt,application/json,text/csv,text/plain"}
        ),
    )
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=_("Name of the metric"),
        help_text=_(
            "Letters, digits, _ . and - only. The leaderboard shows it, with your user name."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    level = forms.ChoiceField(
        label=_("What it scores"), choices=LEVELS, widget=forms.RadioSelect, initial="turn"
    )
    direction = forms.ChoiceField(
        label=_("Which is better"),
        choices=[(HIGHER, _("higher scores")), (LOWER, _("lower scores"))],
        widget=forms.RadioSelect,
        initial=HIGHER,
    )
    link = forms.CharField(
        max_length=LONGEST_LINK,
        required=False,
        label=_("Where it is described"),
        help_text=_("A paper or a repository. Everybody who sees the leaderboard sees it."),
        widget=forms.URLInput(attrs={"placeholder": "https://", "autocomplete": "off"}),
    )


class WithdrawalForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST_WITHDRAWAL,
        label=_("Reason"),
        error_messages={"required": _("Say why it is withdrawn.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_reason(self) -> str:
        reason = str(self.cleaned_data["reason"])
        if fault := text_fault(reason, LONGEST_WITHDRAWAL):
            raise forms.ValidationError(_("The reason %(fault)s."), params={"fault": fault})
        return reason
