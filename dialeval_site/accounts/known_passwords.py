"""Passwords that nobody chooses: the common ones, and the demo's, which are printed in the
project's pages."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.password_validation import CommonPasswordValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from dialeval_site.demo.site import is_demo_password


class KnownPasswordValidator(CommonPasswordValidator):
    """In production a demo's password opens nothing (``dialeval_site.backends``): its owner would
    be locked out. As a validator it is asked wherever a password is chosen: signing up, following
    an invitation, the admin, a command."""

    def validate(self, password: str, user: Any = None) -> None:
        if is_demo_password(password):
            raise ValidationError(
                _("This password is printed in the project's pages. Choose another one.")
            )
        super().validate(password, user)
