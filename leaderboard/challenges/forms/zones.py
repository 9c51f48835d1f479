"""Dates in the time zone that an organiser thinks in. Stored and shown in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from django.utils.translation import gettext as _

UTC_KEY, ANYWHERE_KEY = "UTC", "AoE"
ANYWHERE_ON_EARTH = timezone(timedelta(hours=-12))
"""A day is over there last of all places: the zone in which calls for papers end."""
_PLACES = (
    "Africa/",
    "America/",
    "Antarctica/",
    "Asia/",
    "Atlantic/",
    "Australia/",
    "Europe/",
    "Indian/",
    "Pacific/",
)


class NoSuchTime(ValueError):
    """A time that clocks of the zone jump over."""


def zone_choices() -> list[tuple[str, object]]:
    """UTC and anywhere on earth, then places by continent; for a select."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for key in _places():
        continent, _slash, place = key.partition("/")
        groups.setdefault(continent, []).append((key, place.replace("_", " ").replace("/", ", ")))
    return [
        (UTC_KEY, "UTC"),
        (ANYWHERE_KEY, _("anywhere on earth (UTC−12)")),
        *groups.items(),
    ]


def in_utc(local: datetime, zone: str) -> datetime:
    """``local`` as the zone's clocks show it; where they show it twice, the first time. Raises
    ``NoSuchTime``."""
    moment = local.replace(tzinfo=_zone(zone)).astimezone(UTC)
    if moment.astimezone(_zone(zone)).replace(tzinfo=None) != local.replace(tzinfo=None):
        raise NoSuchTime(local)
    return moment


@cache
def _places() -> tuple[str, ...]:
    return tuple(sorted(key for key in available_timezones() if key.startswith(_PLACES)))


def _zone(key: str) -> tzinfo:
    if key == ANYWHERE_KEY:
        return ANYWHERE_ON_EARTH
    return UTC if key == UTC_KEY else ZoneInfo(key)
