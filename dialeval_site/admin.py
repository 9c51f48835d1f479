"""Linked identities may be looked at and removed. What the admin does not show: keys of second
factors. ``manage.py two_factor_off`` takes one off, and is logged."""

from typing import Any

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from dialeval_site.models import LinkedIdentity


@admin.register(LinkedIdentity)
class LinkedIdentityAdmin(admin.ModelAdmin):
    list_display = ("user", "issuer", "subject", "created_at")

    def has_add_permission(self, *_: Any) -> bool:
        return False

    def has_change_permission(self, *_: Any) -> bool:
        return False


admin.site.unregister([TOTPDevice, StaticDevice])
