"""What the admin does not show: keys of second factors. ``manage.py two_factor_off`` takes one off,
and is logged."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

admin.site.unregister([TOTPDevice, StaticDevice])
