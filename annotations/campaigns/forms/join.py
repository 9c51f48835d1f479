"""An account for a rater who follows an invitation: a name and a pass word, nothing else is
asked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import (
    password_validators_help_texts,
    validate_password,
)
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations.names import name_fault

LONGEST_NAME, LONGEST_PASSWORD = 150, 1000


class AccountForm(forms.Form):
    username = forms.CharField(
        max_length=LONGEST_NAME,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy(
            "To log in with. Letters, digits and @ . + - _ only. In results raters are called "
            "rater 1, rater 2, …"
        ),
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "spellcheck": "false"}
        ),
    )
    password = forms.CharField(
        max_length=LONGEST_PASSWORD,
        strip=False,
        label=gettext_lazy("Password"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        max_length=LONGEST_PASSWORD,
        strip=False,
        label=gettext_lazy("Password again"),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].help_text = " ".join(password_validators_help_texts())

    def clean_username(self) -> str:
        """Names that differ in case only would be taken for each other, and so would letters that
        look alike."""
        name = get_user_model().normalize_username(self.cleaned_data["username"])
        if get_user_model().objects.filter(username__iexact=name).exists():
            raise forms.ValidationError(_("This name is taken. If it is yours, log in instead."))
        if fault := name_fault(name):
            raise forms.ValidationError(fault)
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        password, again = cleaned.get("password"), cleaned.get("again")
        if password and again and password != again:
            self.add_error("again", _("The two passwords differ."))
        elif password:
            user = get_user_model()(username=cleaned.get("username", ""))
            try:
                validate_password(password, user)
            except forms.ValidationError as weak:
                self.add_error("password", weak)
        return cleaned
