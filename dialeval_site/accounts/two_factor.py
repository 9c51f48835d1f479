"""The second factor of a log-in: a code of an app on a phone (TOTP, RFC 6238), or one of ten
recovery codes.

Keys and counters are rows of django-otp, which refuses a code that was used and makes who guesses
wait longer each time.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import b32encode
from binascii import unhexlify
from datetime import timedelta
from math import ceil
from typing import Any

import segno
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone
from django_otp import verify_token
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice
from django_otp.util import random_hex

from annotations import audit, rates

CODES = 10
GUESSES, GUESS_SECONDS = 10, 600
"""Wrong codes of one person within ten minutes, from whatever address. django-otp's own waiting
doubles with each."""
ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
GROUPS, GROUP = 3, 4
"""31**12 codes: 59 bits. Without letters that are taken for figures."""


class WrongCode(Exception):
    """The code is not the one of now, or was used."""


class IsOn(Exception):
    """Somebody turned it on meanwhile, in another window; another key would take its place without
    a code of it."""


class TooManyCodes(Exception):
    """No code is looked at for ``seconds``."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(seconds)


# --- what is there --------------------------------------------------------------------------------


def is_on(user: Any) -> bool:
    return TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).exists()


def codes_left(user: Any) -> int:
    device = StaticDevice.objects.filter(user_id=user.pk).first()
    return device.token_set.count() if device else 0


def new_key() -> str:
    """160 bits, in hexadecimal figures."""
    return random_hex(20)


def as_letters(key: str) -> str:
    """As it is typed into an app where there is no camera: base 32, in groups of four."""
    return " ".join(re.findall("....", b32encode(unhexlify(key)).decode("ascii")))


def as_qr_code(key: str, user: Any) -> str:
    """What an app's camera reads, as the address of an image: it holds no markup, and leaves
    nothing in a cache."""
    device = TOTPDevice(user=user, key=key)
    return segno.make(device.config_url, error="m").svg_data_uri(
        scale=5, border=4, light="#fff", dark="#000"
    )


# --- looking at a code ----------------------------------------------------------------------------


def verify(user: Any, code: str) -> None:
    """Uses the code up. Raises WrongCode, TooManyCodes."""
    if rates.counted("codes", str(user.pk), GUESS_SECONDS) > GUESSES:
        raise TooManyCodes(GUESS_SECONDS)
    device, written = _device_for(user, code)
    if device is None:
        raise WrongCode
    noted = device.throttling_failure_timestamp
    if noted is not None and noted > timezone.now() + timedelta(minutes=1):
        # before a clock was set back: it would lock the owner out till then
        device.throttle_reset()
    is_allowed, why_not = device.verify_is_allowed()
    if not is_allowed:
        raise TooManyCodes(max(1, ceil((why_not["locked_until"] - timezone.now()).total_seconds())))
    if verify_token(user, device.persistent_id, written) is None:
        raise WrongCode
    rates.forget("codes", str(user.pk), GUESS_SECONDS)
    if isinstance(device, StaticDevice):
        audit.record(
            user, "two_factor.recovery_code_used", user.get_username(), left=codes_left(user)
        )


def _device_for(user: Any, code: str) -> tuple[Any, str]:
    """The device that such a code is of, and the code as the device knows it. Spaces and dashes
    count for nothing."""
    plain = re.sub(r"[\s-]", "", code).lower()
    if re.fullmatch("[0-9]{6}", plain):
        return TOTPDevice.objects.filter(user_id=user.pk, confirmed=True).first(), plain
    return StaticDevice.objects.filter(user_id=user.pk).first(), _digest(plain)


def _digest(code: str) -> str:
    """Recovery codes are kept as passwords are: who reads the database cannot use them. 64 bits of
    SHA-256, which is what the column holds; the codes are random, so there is no dictionary to
    try."""
    return hashlib.sha256(code.encode("utf-8", "backslashreplace")).hexdigest()[:16]


# --- on and off -----------------------------------------------------------------------------------


def turn_on(user: Any, key: str, code: str) -> list[str]:
    """The recovery codes: this is the only time that they are known. Raises WrongCode, IsOn;
    nothing is stored then."""
    with transaction.atomic():
        get_user_model().objects.select_for_update().get(pk=user.pk)  # one set-up at a time
        if is_on(user):
            raise IsOn
        device = TOTPDevice.objects.create(user=user, key=key, name="app")
        if not device.verify_token(re.sub(r"\s", "", code)):
            raise WrongCode
        codes = _new_codes(user)
        audit.record(user, "two_factor.on", user.get_username())
    return codes


def renew_codes(user: Any) -> list[str]:
    """Ten new ones; the old ones open nothing any more."""
    with transaction.atomic():
        get_user_model().objects.select_for_update().get(pk=user.pk)
        codes = _new_codes(user)
        audit.record(user, "two_factor.codes_renewed", user.get_username())
    return codes


def turn_off(user: Any) -> None:
    with transaction.atomic():
        _remove_devices(user)
        audit.record(user, "two_factor.off", user.get_username())


def take_off(user: Any) -> bool:
    """What an operator does for who lost the phone and the codes. False where there was nothing to
    take off."""
    with transaction.atomic():
        was_on = _remove_devices(user)
        if was_on:
            audit.record(None, "two_factor.reset", user.get_username())
    return was_on


def _remove_devices(user: Any) -> bool:
    removed, _ = TOTPDevice.objects.filter(user_id=user.pk).delete()
    StaticDevice.objects.filter(user_id=user.pk).delete()
    return bool(removed)


def _new_codes(user: Any) -> list[str]:
    StaticDevice.objects.filter(user_id=user.pk).delete()
    device = StaticDevice.objects.create(user=user, name="recovery codes")
    codes = [_new_code() for _ in range(CODES)]
    for code in codes:
        device.token_set.create(token=_digest(code.replace("-", "")))
    return codes


def _new_code() -> str:
    return "-".join("".join(secrets.choice(ALPHABET) for _ in range(GROUP)) for _ in range(GROUPS))
