"""What raters say to a chat system, and what organisers register as one."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.functional import lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.campaigns.actions.chat import spoken_text
from annotations.campaigns.models import ChatSystem
from annotations.campaigns.models.conversation import KEY_VARIABLE_PREFIX, LONGEST_MESSAGE
from common.text import text_fault
from workers.inference.language_models.chat_prompt import DEFAULT_INSTRUCTIONS, PERSONA_PLACEHOLDER

KEY = re.compile(r"\A[A-Za-z0-9_-]{1,64}\Z")
KEY_VARIABLE = re.compile(rf"\A{KEY_VARIABLE_PREFIX}[A-Z0-9_]+\Z")
HIGHEST_NUMBER = 1_000_000
_with_mark = lazy(lambda text: text % {"mark": PERSONA_PLACEHOLDER}, str)
_with_prefix = lazy(lambda text: text % {"prefix": KEY_VARIABLE_PREFIX}, str)


class SpokenField(forms.CharField):
    """An utterance as it will be stored."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(strip=False, **kwargs)
        self.validators = []  # NUL is told with the rest, below

    def clean(self, value: Any) -> str:
        try:
            return spoken_text(str(value or ""))
        except ValueError as fault:
            raise forms.ValidationError(
                _("The message %(fault)s."), params={"fault": fault}
            ) from None


class SayForm(forms.Form):
    """``after``: the number of the last utterance that the page shows, -1 where it shows none."""

    text = SpokenField(
        label=gettext_lazy("Your message"),
        widget=forms.Textarea(
            attrs={"rows": 2, "maxlength": LONGEST_MESSAGE, "enterkeyhint": "send", "dir": "auto"}
        ),
    )
    key = forms.RegexField(KEY, required=False, widget=forms.HiddenInput)
    after = forms.IntegerField(
        required=False, min_value=-1, max_value=HIGHEST_NUMBER, widget=forms.HiddenInput
    )

    def first_error(self) -> str:
        return next((str(error) for errors in self.errors.values() for error in errors), "")


class TrialForm(forms.Form):
    question = SpokenField(
        label=gettext_lazy("What you say to it"),
        initial=gettext_lazy("Hello. What have you been doing today?"),
        widget=forms.Textarea(attrs={"rows": 2, "maxlength": LONGEST_MESSAGE, "dir": "auto"}),
    )


class ChatSystemForm(forms.ModelForm):
    class Meta:
        model = ChatSystem
        fields = (
            "name",
            "base_url",
            "model",
            "key_variable",
            "instructions",
            "temperature",
            "max_tokens",
        )
        labels = {
            "name": gettext_lazy("Name"),
            "base_url": gettext_lazy("Address of the endpoint"),
            "model": gettext_lazy("Model"),
            "key_variable": gettext_lazy("Variable that holds the key"),
            "instructions": gettext_lazy("Instructions"),
            "temperature": gettext_lazy("Temperature"),
            "max_tokens": gettext_lazy("Longest answer, in tokens"),
        }
        help_texts = {
            "name": gettext_lazy("For organisers and statistics. Raters never see it."),
            "base_url": gettext_lazy(
                "OpenAI-compatible, such as https://api.example.org/v1. Empty: the site's own "
                "endpoint, or the model that comes with dialeval."
            ),
            "model": gettext_lazy(
                "As the endpoint calls it. Of the site's own endpoint it may be left empty."
            ),
            "key_variable": _with_prefix(
                gettext_lazy(
                    "Its name begins with %(prefix)s. Workers read it from their environment; the "
                    "key itself is never stored. Empty: the endpoint wants no key."
                )
            ),
            "instructions": _with_mark(
                gettext_lazy(
                    "What the model is told before the chat. %(mark)s is replaced by the persona "
                    "that it plays."
                )
            ),
            "temperature": gettext_lazy("From 0, always the likeliest word, to 2."),
        }
        widgets = {
            "instructions": forms.Textarea(attrs={"rows": 6, "dir": "auto"}),
            "base_url": forms.TextInput(
                attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}
            ),
            "key_variable": forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            self.fields["instructions"].initial = DEFAULT_INSTRUCTIONS
        for name in ("name", "base_url", "model", "key_variable", "instructions"):
            # Texts are judged below, NUL and length with the rest
            self.fields[name].validators = []

    def _text(self, name: str) -> str:
        text = str(self.cleaned_data.get(name, "")).replace("\r\n", "\n")
        limit = ChatSystem._meta.get_field(name).max_length
        if fault := text_fault(text, limit, may_be_empty=True):
            raise forms.ValidationError(_("The text %(fault)s."), params={"fault": fault})
        return text

    def clean_name(self) -> str:
        return self._text("name")

    def clean_model(self) -> str:
        return self._text("model")

    def clean_instructions(self) -> str:
        return self._text("instructions")

    def clean_base_url(self) -> str:
        text = self._text("base_url").rstrip("/")
        if text and (fault := _address_fault(text)):
            raise forms.ValidationError(fault)
        return text

    def clean_key_variable(self) -> str:
        text = self._text("key_variable")
        if text and not KEY_VARIABLE.match(text):
            raise forms.ValidationError(
                _(
                    "The name begins with %(prefix)s and goes on with capital letters, digits and "
                    "underscores."
                ),
                params={"prefix": KEY_VARIABLE_PREFIX},
            )
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("base_url") and not cleaned.get("model") and "model" not in self.errors:
            self.add_error("model", _("An endpoint of its own needs a model's name."))
        if (
            cleaned.get("key_variable")
            and not cleaned.get("base_url")
            and "base_url" not in self.errors
        ):
            self.add_error(
                "key_variable", _("The site's own endpoint has its own key: leave this empty.")
            )
        return cleaned


def _address_fault(text: str) -> str:
    """Why it is no address of an endpoint, or ""."""
    try:
        parts = urlsplit(text)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        return _("This is no address of an endpoint.")
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_one:
        return _("An address begins with http:// or https:// and names a host.")
    if any(character.isspace() or not character.isprintable() for character in text):
        return _("An address holds no spaces.")
    if parts.username is not None or parts.password is not None:
        return _("An address holds no password: put the key into the workers' environment.")
    if parts.query or parts.fragment:
        return _("An address ends with its path, such as /v1.")
    return ""
