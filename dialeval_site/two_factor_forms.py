"""Forms of two-factor log-in: a code, and, where something is changed, the password beside it."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy

LONGEST_CODE, LONGEST_PASSWORD = 40, 1000


def code_field(label: str, help_text: str = "") -> forms.CharField:
    """``one-time-code`` has a phone offer what it knows. Recovery codes have letters: no keyboard of figures alone."""
    marks = {
        "autocomplete": "one-time-code",
        "autocapitalize": "none",
        "spellcheck": "false",
        "inputmode": "text",
    }
    return forms.CharField(
        max_length=LONGEST_CODE, label=label, help_text=help_text, widget=forms.TextInput(attrs=marks)
    )


class CodeForm(forms.Form):
    code = code_field(gettext_lazy("Code"), gettext_lazy("The six figures of your app, or a recovery code."))
    code.widget.attrs["autofocus"] = True


class SureForm(forms.Form):
    """Who changes something must know the password and hold the phone: a browser left open is not enough."""

    password = forms.CharField(
        max_length=LONGEST_PASSWORD,
        strip=False,
        label=gettext_lazy("Your password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    code = code_field(gettext_lazy("Code"), gettext_lazy("The six figures of your app, or a recovery code."))


class SetUpForm(SureForm):
    code = code_field(gettext_lazy("Code"), gettext_lazy("The six figures that the app shows now."))
    code.widget.attrs["inputmode"] = "numeric"
