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


class UnknownZone(ValueError):
    """A text that names no time zone, or several."""


@cache
def zone_keys() -> tuple[str, ...]:
    """UTC and anywhere on earth, then places by continent; what a form suggests."""
    places = sorted(key for key in available_timezones() if key.startswith(_PLACES))
    return (UTC_KEY, ANYWHERE_KEY, *places)


def zone_key(text: str) -> str:
    """The key of a zone that is written as such (``Europe/Berlin``) or as its city (``berlin``,
    ``New York``), in whatever case. Raises ``UnknownZone``."""
    wanted = text.strip().replace(" ", "_").casefold()
    found = [
        key
        for key in zone_keys()
        if wanted and wanted in (key.casefold(), key.rpartition("/")[2].casefold())
    ]
    if not found:
        raise UnknownZone(
            _("There is no time zone “%(text)s”. Write a city such as Berlin, UTC, or AoE.")
            % {"text": text}
        )
    if len(found) > 1 and text not in found:
        raise UnknownZone(
            _("Several time zones are called “%(text)s”: write %(zones)s.")
            % {"text": text, "zones": " / ".join(found)}
        )
    return found[0] if len(found) == 1 else text


def in_utc(local: datetime, zone: str) -> datetime:
    """``local`` as the zone's clocks show it; where they show it twice, the first time. Raises
    ``NoSuchTime``."""
    moment = local.replace(tzinfo=_zone(zone)).astimezone(UTC)
    if moment.astimezone(_zone(zone)).replace(tzinfo=None) != local.replace(tzinfo=None):
        raise NoSuchTime(local)
    return moment


def _zone(key: str) -> tzinfo:
    if key == ANYWHERE_KEY:
        return ANYWHERE_ON_EARTH
    return UTC if key == UTC_KEY else ZoneInfo(key)
