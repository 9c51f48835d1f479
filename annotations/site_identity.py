"""Whose files these are: a database has an identity, and so have the places where its files lie.

DIALEVAL_HOME and the storage of files each hold a small file, ``site-identity``, with the identity
of the database that they belong to. A process with another database is refused there, before it
takes anything in or removes anything: what its database does not know is not rubbish.

A place without that file (of an older dialeval, or new) is claimed where nothing lies there, or
where this database knows nearly all of what lies there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex

from django.conf import settings
from django.db import DatabaseError, connection

from annotations.models import SiteIdentity
from common import storage
from common.storage import StorageAway

log = logging.getLogger(__name__)

MARKER = "site-identity"
UNKNOWN_SHARE = 0.1
"""Of the files of a place without an identity: with more than that it is not claimed."""
CLAIM = "manage.py site_identity --claim"


class ForeignFiles(StorageAway):
    """The files belong to another database; the message is for operators, and names no host."""


@dataclass(frozen=True)
class FileKind:
    """Files that rows name.

    ``folder`` is of the storage, or of DIALEVAL_HOME (``in_home``, where its entries count).
    ``known`` gives those of the names that a row names. Files without a row are quarantined after
    ``grace_seconds``; None: never.
    """

    folder: str
    known: Callable[[Collection[str]], set[str]]
    grace_seconds: float | None = None
    in_home: bool = False

    def names(self) -> list[str]:
        if not self.in_home:
            return storage.names_in(self.folder)
        folder = Path(settings.HOME) / self.folder
        entries = folder.iterdir() if folder.is_dir() else ()
        return [entry.name for entry in entries if not entry.name.startswith(".")]


kinds: list[FileKind] = []


def register(kind: FileKind) -> None:
    kinds.append(kind)


def identity() -> str:
    """Of this database. Raises ``DatabaseError`` where it is away, or not migrated."""
    known = SiteIdentity.objects.values_list("identity", flat=True).first()
    return (
        known
        or SiteIdentity.objects.get_or_create(defaults={"identity": token_hex(16)})[0].identity
    )


def set_identity(to: str) -> None:
    """For a restore, which empties tables, and for a copy of a database."""
    SiteIdentity.objects.update_or_create(defaults={"identity": to})


def renew() -> str:
    """A copy of a database becomes a site of its own. Files that it named are foreign from now."""
    set_identity(token_hex(16))
    return identity()


def check() -> None:
    """Raises ``ForeignFiles`` where files here belong to another database, ``StorageAway``,
    ``DatabaseError``. Claims places that are nobody's."""
    own = identity()
    unclaimed = unclaimed_places(own)
    for place in unclaimed:  # all are looked at before one is claimed
        here = [kind for kind in kinds if kind.in_home == place.is_home]
        names = {kind.folder: kind.names() for kind in here}
        known = sum(len(kind.known(names[kind.folder])) for kind in here)
        total = sum(map(len, names.values()))
        if total - known > UNKNOWN_SHARE * total:
            raise _foreign(place, f"holds {total} files, of which this database knows {known}")
    for place in unclaimed:
        place.create(own)
        if place.read() != own:
            raise _foreign(place, "was just claimed by another database")
        log.info("%s belongs to this database (%s) from now on", place.name, own[:8])


def unclaimed_places(own: str) -> list[Place]:
    """Those that are nobody's. Raises ``ForeignFiles`` where one is not of the identity ``own``,
    and ``StorageAway``. Claims nothing."""
    unclaimed = []
    for place in PLACES:
        found = place.read()
        if found is None:
            unclaimed.append(place)
        elif found != own:
            raise _foreign(place, f"belongs to another database ({found[:8]}, not {own[:8]})")
    return unclaimed


def claim() -> None:
    """The files here belong to this database from now on, whosever they were."""
    for place in PLACES:
        place.replace(identity())


def why_not_start() -> str:
    """Why a process of the site must not start here, in one line; "" where it may, and where the
    database or the storage is away, for which the site waits. Leaves no connection open: who calls
    it forks."""
    try:
        check()
    except ForeignFiles as refusal:
        return str(refusal)
    except (DatabaseError, OSError) as problem:
        log.warning("whose files these are is looked at later: %s", problem)
    finally:
        connection.close()
        if getattr(connection, "pool", None):
            connection.close_pool()
    return ""


def _foreign(place: Place, why: str) -> ForeignFiles:
    return ForeignFiles(
        f"{place.name} {why}: check DATABASE_URL, DIALEVAL_HOME and DIALEVAL_STORAGE_URL; "
        f"where these files do belong to this database from now on, run {CLAIM}"
    )


class Place:
    """Where files of a site lie, with the identity that was left there."""

    name = "the storage of files"
    is_home = False

    def read(self) -> str | None:
        return _identity_in(storage.read(MARKER))

    def create(self, identity: str) -> None:
        storage.create(MARKER, _content(identity))

    def replace(self, identity: str) -> None:
        storage.remove(MARKER)
        self.create(identity)


class Home(Place):
    name = "DIALEVAL_HOME"
    is_home = True

    @property
    def _path(self) -> Path:
        return Path(settings.HOME) / MARKER

    def read(self) -> str | None:
        try:
            return _identity_in(self._path.read_bytes())
        except FileNotFoundError:
            return None

    def create(self, identity: str) -> None:
        storage.create_on_disk(self._path, _content(identity))

    def replace(self, identity: str) -> None:
        self._path.unlink(missing_ok=True)
        self.create(identity)


PLACES = (Home(), Place())


def _content(identity: str) -> bytes:
    return (
        f"{identity}\nThe dialeval database to which the files here belong. Keep this file.\n"
    ).encode()


def _identity_in(content: bytes | None) -> str | None:
    """An emptied or damaged one is nobody's, and foreign to everybody."""
    return None if content is None else content.decode(errors="replace").partition("\n")[0].strip()
