"""The name of a team."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

from leaderboard.challenges.actions.teams import LONGEST_NAME


class TeamForm(forms.Form):
    """What the name may be is said by ``actions.teams.found``, which alone knows of the others."""

    name = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name of the team"),
        help_text=gettext_lazy(
            "Leaderboards show it. Up to 80 characters; unlike every other team's."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
