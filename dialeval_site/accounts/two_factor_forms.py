"""Forms of two-factor log-in: a code, and, where something is changed, the password beside it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from dialeval_site.accounts import two_factor

LONGEST_CODE, LONGEST_PASSWORD = 40, 1000
CODE_LABELS = (
    gettext_lazy("Code"),
    gettext_lazy("The six figures of your app, or a recovery code."),
)


def code_field(label: str, help_text: str = "") -> forms.CharField:
    """``one-time-code`` has a phone offer what it knows. Recovery codes have letters: no keyboard
    of figures alone."""
    marks = {
        "autocomplete": "one-time-code",
        "autocapitalize": "none",
        "spellcheck": "false",
        "inputmode": "text",
    }
    return forms.CharField(
        max_length=LONGEST_CODE,
        label=label,
        help_text=help_text,
        widget=forms.TextInput(attrs=marks),
    )


def password_field() -> forms.CharField:
    return forms.CharField(
        max_length=LONGEST_PASSWORD,
        strip=False,
        label=gettext_lazy("Your password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class CodeForm(forms.Form):
    code = code_field(*CODE_LABELS)
    code.widget.attrs["autofocus"] = True


class ReauthenticationForm(forms.Form):
    """Who changes something must know the password and hold the phone: a browser left open is not
    enough."""

    password = password_field()
    code = code_field(*CODE_LABELS)


class AsksWhoIsThere(forms.Form):
    """The same beside other fields, of anybody: a code is asked for only where two-factor log-in is
    on."""

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"] = password_field()
        if two_factor.is_on(user):
            self.fields["code"] = code_field(*CODE_LABELS)

    @property
    def who_is_there(self) -> list[forms.BoundField]:
        return [self[name] for name in ("password", "code") if name in self.fields]


class SetUpForm(ReauthenticationForm):
    code = code_field(gettext_lazy("Code"), gettext_lazy("The six figures that the app shows now."))
    code.widget.attrs["inputmode"] = "numeric"
