"""What organisers send to a campaign beside its settings: guidelines, invitations, check items,
that it goes."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.forms.fields import PlainText, utc_moment
from annotations.questions.reading import MOST_CHARACTERS

INVITATION_DAYS = 14


class GuidelinesForm(forms.Form):
    text = PlainText(
        max_length=50_000,
        label=gettext_lazy("Text, in Markdown"),
        help_text=gettext_lazy(
            "# Heading, - list, **bold**, [link](https://…). HTML and images are not shown."
        ),
        widget=forms.Textarea(attrs={"rows": 22}),
        error_messages={"required": gettext_lazy("Write something first.")},
    )


class FormTextForm(forms.Form):
    text = PlainText(
        max_length=MOST_CHARACTERS,
        label=gettext_lazy("Questions, as YAML"),
        help_text=gettext_lazy(
            "Each question has a key, a type and a text. The help page Questions lists the types."
        ),
        widget=forms.Textarea(attrs={"rows": 28, "spellcheck": "false", "class": "code"}),
        error_messages={"required": gettext_lazy("Write a question first, or choose a template.")},
    )


class InvitationForm(forms.Form):
    note = PlainText(
        required=False,
        max_length=200,
        label=gettext_lazy("For whom"),
        help_text=gettext_lazy("For you only: to whom the link goes."),
    )
    most_uses = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=2**31 - 1,
        label=gettext_lazy("Uses at most"),
        help_text=gettext_lazy("How many people may join with it. Empty: any number."),
    )
    expires_at = utc_moment(
        gettext_lazy("Valid until (UTC)"),
        gettext_lazy("14 days, where nothing else is chosen. Empty: until you revoke it."),
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        self.fields["expires_at"].initial = timezone.now() + timedelta(days=INVITATION_DAYS)

    def clean_expires_at(self) -> datetime | None:
        moment: datetime | None = self.cleaned_data["expires_at"]
        if moment is not None and moment <= timezone.now():
            raise forms.ValidationError(_("It must lie in the future, else nobody can join."))
        return moment


class CheckFileForm(forms.Form):
    file = forms.FileField(
        label=gettext_lazy("File of items"),
        help_text=gettext_lazy("JSON lines, at most 1 MB."),
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".jsonl,.json,application/jsonl"}),
        error_messages={"required": gettext_lazy("Choose a file.")},
    )


class DeleteForm(forms.Form):
    slug = forms.CharField(
        required=False,
        label=gettext_lazy("The campaign's address"),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
