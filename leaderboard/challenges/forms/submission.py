"""Handing in a file of responses: the file, and what the system is called."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.challenges.actions.receiving import LONGEST_DESCRIPTION, LONGEST_NAME


class SubmissionForm(forms.Form):
    """What a file and a name may be is said by ``actions.receiving.receive``, the same for browsers
    and programs."""

    file = forms.FileField(
        label=gettext_lazy("File of responses"),
        allow_empty_file=True,
        error_messages={"required": gettext_lazy("Choose a file.")},
        widget=forms.FileInput(
            attrs={"accept": ".json,.jsonl,.ndjson,.csv,.txt,application/json,text/csv,text/plain"}
        ),
    )
    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name of the system"),
        error_messages={"required": gettext_lazy("Give the system a name.")},
        help_text=gettext_lazy("The leaderboard shows it beside your team's name."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        max_length=LONGEST_DESCRIPTION,
        required=False,
        label=gettext_lazy("Description"),
        help_text=gettext_lazy(
            "Model, data, what is new; up to 2,000 characters. Organisers read it, and everybody "
            "once they publish the system."
        ),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
