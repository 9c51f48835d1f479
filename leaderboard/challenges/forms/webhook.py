"""The form with which a person adds a webhook; ``actions.notices`` says what it may be."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy


class WebhookForm(forms.Form):
    url = forms.CharField(
        max_length=300,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy("It begins with https:// and leads to the public internet."),
        widget=forms.TextInput(
            attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}
        ),
    )
