"""What is written in a room, and what a collected corpus is called."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

from annotations.campaigns.models import Campaign, CollectedCorpus
from annotations.campaigns.models.conversation import LONGEST_MESSAGE
from annotations.models import Corpus
from common.text import text_fault

KEY = RegexValidator(
    re.compile(r"^[A-Za-z0-9_-]{8,64}\Z"), _("This page is out of date. Load it again.")
)


class UtteranceField(forms.CharField):
    """Browsers send line ends as two characters; a line end is one."""

    def to_python(self, value: Any) -> str:
        return super().to_python(value).replace("\r\n", "\n").replace("\r", "\n")

    def validate(self, value: Any) -> None:
        super().validate(value)
        if fault := text_fault(value, LONGEST_MESSAGE):
            raise forms.ValidationError(_("The text %(fault)s."), params={"fault": fault})


class UtteranceForm(forms.Form):
    text = UtteranceField(error_messages={"required": _("Write something first.")})
    key = forms.CharField(validators=[KEY], error_messages={"required": KEY.message})


class CorpusForm(forms.Form):
    """Of the corpus that the conversations go to. It is asked once; what is made later are versions
    of the same corpus."""

    slug = forms.SlugField(
        max_length=Corpus._meta.get_field("slug").max_length,
        label=_("Short name of the corpus"),
        help_text=_("In addresses and commands: letters, figures, hyphens and underscores."),
    )
    name = forms.CharField(
        max_length=Corpus._meta.get_field("name").max_length, label=_("Name of the corpus")
    )
    is_public = forms.BooleanField(
        required=False,
        label=_("Everyone may see it"),
        help_text=_("With a tick, anyone can read the corpus. Without, only organisers can."),
    )

    def __init__(self, campaign: Campaign, *arguments: Any, **named: Any) -> None:
        named.setdefault("initial", {"slug": campaign.slug, "name": campaign.name})
        super().__init__(*arguments, **named)
        if CollectedCorpus.objects.filter(campaign=campaign).exists():
            self.fields.clear()

    def clean_slug(self) -> str:
        slug = str(self.cleaned_data["slug"])
        if Corpus.objects.filter(slug=slug).exists():
            raise forms.ValidationError(
                _("There is a corpus with this short name. Choose another.")
            )
        return slug
