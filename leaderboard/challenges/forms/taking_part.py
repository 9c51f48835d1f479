"""What people who take part send: a file of responses, a team's name, a webhook's address."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.challenges.actions import receiving, teams


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
        max_length=receiving.LONGEST_NAME,
        label=gettext_lazy("Name of the system"),
        error_messages={"required": gettext_lazy("Give the system a name.")},
        help_text=gettext_lazy("The leaderboard shows it beside your team's name."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    description = forms.CharField(
        max_length=receiving.LONGEST_DESCRIPTION,
        required=False,
        label=gettext_lazy("Description"),
        help_text=gettext_lazy(
            "Model, data, what is new; up to 2,000 characters. Organisers read it, and everybody "
            "once they publish the system."
        ),
        widget=forms.Textarea(attrs={"rows": 3}),
    )


class TeamForm(forms.Form):
    """What the name may be is said by ``actions.teams.found``, which alone knows of the others."""

    name = forms.CharField(
        max_length=teams.LONGEST_NAME,
        label=gettext_lazy("Name of the team"),
        help_text=gettext_lazy(
            "Leaderboards show it. Up to 80 characters; unlike every other team's."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class WebhookForm(forms.Form):
    """What the address may be is said by ``actions.notices``."""

    url = forms.CharField(
        max_length=300,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy("It begins with https:// and leads to the public internet."),
        widget=forms.TextInput(
            attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
