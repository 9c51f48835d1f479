"""Storing and removing many rows in short transactions.

SQLite has one writer. An import of 100,000 responses in one transaction kept raters waiting for
12 s, and so did its deletion. A version is therefore filled, and emptied, while it belongs to no
corpus: no page, command or address leads to it (``CorpusVersion.objects`` leaves it out). One
short transaction makes it a version of its corpus, or takes it out of it. A process owns such a
version by its lease. An import that was killed is continued by the next one of the same content,
for a day; what is older, or was left by a killed deletion, is removed by whoever comes next, an
import or the hourly sweep.

A campaign's ratings are published, and unpublished, the same way: their raters belong to a staged
version meanwhile (``annotations.campaigns.actions.publishing``). A campaign has a lease of its own
while its rows are made or removed (``opening``, ``setup.delete``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from secrets import token_hex
from typing import Any, TypeVar

from django.db import connection, transaction
from django.db.models import Model, Q, QuerySet
from django.utils import timezone

from annotations.formats.importers.canonical import message_as_json
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)
from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Label,
    LeftOutRecords,
    Preference,
    Rater,
    Rating,
    Response,
    Sample,
    System,
    Turn,
)
from common import temporary

AnyRecord = TypeVar("AnyRecord", bound=Record)
AnyModel = TypeVar("AnyModel", bound=Model)
LEASE = timedelta(minutes=10)
INTERRUPTED = timedelta(days=1)
"""For so long an import that was killed can be continued."""
HELD_SECONDS = 0.04
"""What one transaction should take. A waiting writer asks SQLite again after 1, 2, 5, 10, 15, 20
and three times 25 ms, then every 50 and 100 ms: one who waits no longer than this still asks
often enough to meet the pause."""
PAUSE_SECONDS = 0.03
"""At least so long the writer is free between two transactions, and as long as the last one took:
on a busy machine that is more than it should take, and who waits asks every 100 ms by then. What is
done meanwhile (reading the file) counts."""
FEWEST_ROWS, MOST_ROWS = 200, 5_000
MESSAGES_A_ROW = 10
"""Messages of a dialogue that cost about as much as a row."""


class LeaseLost(Exception):
    """Another process took this row for left behind, since this one was silent for too long."""


class Paused(Exception):
    """Raised by who reads the records, to stop for now: what is stored stays, and the next import
    of the same content goes on with it at once."""


class ShortTransactions:
    """Transactions of about ``HELD_SECONDS``, with pauses in which others may write. ``rows``
    says how many rows the next one should write; it follows what the last ones took."""

    def __init__(self) -> None:
        self.rows = 500
        self._free_since, self._held = 0.0, 0.0

    @contextmanager
    def next(self, rows: int | None = None) -> Iterator[None]:
        """``rows``: how many are written in it, where that is known before."""
        # PostgreSQL has many writers. In a caller's transaction the writer is not let go anyway.
        pause = self._free_since + max(PAUSE_SECONDS, self._held) - time.perf_counter()
        if connection.vendor == "sqlite" and not connection.in_atomic_block and pause > 0:
            time.sleep(pause)
        with transaction.atomic():
            begun, worked = time.perf_counter(), time.thread_time()
            yield
        self._free_since = time.perf_counter()
        # Of a busy machine's time only a part is ours: fewer rows would make more transactions of
        # it, not shorter ones, and the import would take for ever.
        self._held = self._free_since - begun
        cost = max(time.thread_time() - worked, self._held / 4)
        wanted = (rows or self.rows) * HELD_SECONDS / cost
        most = min(MOST_ROWS, 2 * self.rows)
        self.rows = int(max(FEWEST_ROWS, self.rows / 2, min(wanted, most)))


# --- leases ------------------------------------------------------------------------------------


def new_lease() -> dict[str, Any]:
    """The columns of a row that this process owns from now on."""
    return {"lease_token": token_hex(16), "lease_expires_at": timezone.now() + LEASE}


def release(row: Any, **values: Any) -> None:
    """Nobody owns the row from now on; ``values`` are stored with that. Raises ``LeaseLost``."""
    if not _owned(row).update(lease_token="", lease_expires_at=None, **values):
        raise LeaseLost


def renew(row: Any) -> None:
    """In the transaction of each write: whoever lost the lease can write no more. Raises
    ``LeaseLost``."""
    if not _owned(row).update(lease_expires_at=timezone.now() + LEASE):
        raise LeaseLost


def left_behind(model: type[AnyModel], expired: Q | None = None) -> Iterator[AnyModel]:
    """Rows whose owner was killed; this process owns each from now on."""
    expired = expired or Q(lease_expires_at__lt=timezone.now())
    for row in model._base_manager.filter(expired):
        if _taken(row, **new_lease()):
            yield row


def _taken(row: Any, **lease: Any) -> bool:
    """Whether this process owns the row from now on; False where its owner, or another process, was
    faster."""
    former = row.lease_token, row.lease_expires_at
    if not _owned(row).filter(lease_expires_at=former[1]).update(**lease):
        return False
    temporary.forget(former[0])
    row.lease_token = lease["lease_token"]
    return True


def _owned(row: Any) -> QuerySet[Any]:
    leased = type(row)._base_manager.exclude(lease_token="")
    return leased.filter(pk=row.pk, lease_token=row.lease_token)


# --- storing --------------------------------------------------------------------------------------


def stage(
    records: Iterable[Record],
    *,
    continued: Callable[[int], object] = lambda _dialogues: None,
    **values: Any,
) -> CorpusVersion:
    """Store the records as a version of no corpus yet, which this process owns: ``attach`` or
    ``remove`` it.

    ``values`` are the version's own. Where an import of the same ``digest`` was killed, what it had
    stored stays: ``continued`` is told of how many dialogues. Raises what reading the records
    raises, and ``LeaseLost``; nothing is left then that anybody could see.
    """
    version = _interrupted(**values)
    store = _RecordStore(version or empty_version(**values))
    try:
        if version is not None:
            continued(store.go_on())
        store.store(records)
    except Paused:
        leave(store.version)
        raise
    except BaseException:
        remove(store.version)
        raise
    return store.version


def _interrupted(digest: str = "", lease_token: str = "", **values: Any) -> CorpusVersion | None:
    """A version that a killed import of this content has begun, which this process owns now."""
    values = {"derived_from": None, "addition": None, "source": "", **values}
    now = timezone.now()
    begun = CorpusVersion.staged.filter(digest=digest, slices__isnull=True)
    for version in begun.exclude(digest=""):
        has_ended = version.lease_expires_at < now or temporary.has_ended(version.lease_token)
        lease = new_lease()
        lease["lease_token"] = lease_token or lease["lease_token"]
        if has_ended and _taken(version, **lease, **values):
            LeftOutRecords.objects.filter(version=version).delete()
            return version
    return None


def leave(version: CorpusVersion) -> None:
    """To the next import of the same content, as if this process had been killed."""
    _owned(version).update(lease_expires_at=timezone.now())


def empty_version(**values: Any) -> CorpusVersion:
    """A version of no corpus, which this process owns."""
    return CorpusVersion.staged.create(number=1, **{**new_lease(), **values})


def attach(version: CorpusVersion, corpus: Corpus, number: int) -> CorpusVersion:
    """Make it a version of the corpus, in the caller's transaction. Raises ``LeaseLost``."""
    release(version, corpus=corpus, number=number, slices=version.slices)
    return CorpusVersion.objects.select_related("corpus").get(pk=version.pk)


def insert(
    owner: Any,
    model: type[Model],
    fields: Sequence[str],
    rows: Iterable[tuple[object, ...]],
) -> int:
    """Store rows of plain values, some in each transaction; returns how many. Raises ``LeaseLost``.

    With a model object for each of a million rows it takes five times as long.

    Args:
        owner: The row whose lease covers them.
        rows: Is read between the transactions. It may ask the database, and must leave no
            statement open: on SQLite nobody writes while reading what was there before others did.
    """
    transactions, stream, count = ShortTransactions(), iter(rows), 0
    while batch := list(islice(stream, transactions.rows)):
        with transactions.next(len(batch)):
            renew(owner)
            _insert(model, fields, batch)
        count += len(batch)
    return count


def _insert(model: type[Model], fields: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    quote = connection.ops.quote_name
    table = quote(model._meta.db_table)
    columns = ", ".join(quote(model._meta.get_field(field).column) for field in fields)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            placeholders = ", ".join(["%s"] * len(fields))
            values = f"({columns}) VALUES ({placeholders})"
            cursor.executemany(f"INSERT INTO {table} {values}", rows)


def _reserved_keys(model: type[Model], count: int) -> Sequence[int]:
    """Primary keys that the next rows of a table may have, in a transaction that has written: with
    them rows that refer to each other are inserted without asking for the keys of each."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
                [table, count],
            )
            return [key for (key,) in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = (cursor.fetchone() or (0,))[0]
        return range(last + 1, last + 1 + count)


_encoded = json.JSONEncoder().encode


def _json(value: Any) -> str:
    """Most of a million rows have nothing here."""
    if value:
        return _encoded(value)
    return "{}" if isinstance(value, dict) else "[]"


_DIALOGUE = (
    *("id", "version", "position", "external_id", "persona", "partner_persona", "messages"),
    *("interactive", "knowledge", "metadata"),
)
_TURN = ("id", "dialogue", "number", "own_context", "after", "references")
_RESPONSE = ("id", "system", "turn", "text", "parts", "metadata")
_RATING = (
    *("rater", "aspect", "response", "system", "dialogue", "score", "comment", "created_at"),
)


@dataclass
class _RecordStore:
    """Writes a record stream some rows at a time; memory holds these, and the keys of one
    dialogue's rows."""

    version: CorpusVersion
    transactions: ShortTransactions = field(default_factory=ShortTransactions)
    waiting: list[Record] = field(default_factory=list)
    dialogues_stored: int = 0
    systems: dict[str, int] = field(default_factory=dict)
    raters: dict[str, int] = field(default_factory=dict)
    dialogues: dict[str, int] = field(default_factory=dict)
    turns: dict[tuple[str, int], int] = field(default_factory=dict)
    responses: dict[tuple[str, int, str], int] = field(default_factory=dict)
    samples: dict[tuple[str, int, str, int], int] = field(default_factory=dict)

    def go_on(self) -> int:
        """Begin after the last dialogue that is certainly whole, of a version of which a part is
        stored; returns how many dialogues there are. The same digest has the same dialogues in the
        same order, each with the same records."""
        with transaction.atomic():
            renew(self.version)
            last = self.version.dialogues.order_by("position").last()
            if last is not None:
                self.dialogues_stored = last.position
                last.delete()
            if not self.dialogues_stored:  # further systems may follow
                self.version.systems.all().delete()
                self.version.raters.all().delete()
        self.systems = dict(self.version.systems.values_list("name", "pk"))
        self.raters = dict(self.version.raters.values_list("name", "pk"))
        return self.dialogues_stored

    def store(self, records: Iterable[Record]) -> None:
        rows, dialogues, stored = 0, 0, self.dialogues_stored
        for record in records:
            dialogues += isinstance(record, DialogueRecord)
            if stored and dialogues <= stored:
                continue
            self.waiting.append(record)
            rows += 1
            if isinstance(record, DialogueRecord):
                rows += len(record.turns) + len(record.messages) // MESSAGES_A_ROW
            if rows >= self.transactions.rows:
                self._write(rows)
                rows = 0
        self._write(rows)

    def _write(self, rows: int) -> None:
        with self.transactions.next(rows):
            renew(self.version)
            self._write_systems_and_raters()
            self._write_dialogues()
            self._write_responses()
            self._write_samples()
            self._write_ratings()
            Label.objects.bulk_create(map(self._label, self._of(LabelRecord)), batch_size=5000)
            preferences = map(self._preference, self._of(PreferenceRecord))
            Preference.objects.bulk_create(preferences, batch_size=5000)
        # Of the last dialogue responses and ratings may follow; the others are finished.
        last = next(reversed(self.dialogues), None)
        self.dialogues = {name: pk for name, pk in self.dialogues.items() if name == last}
        self.turns = {key: pk for key, pk in self.turns.items() if key[0] == last}
        self.responses = {key: pk for key, pk in self.responses.items() if key[0] == last}
        self.samples = {key: pk for key, pk in self.samples.items() if key[0] == last}
        self.waiting = []

    def _of(self, kind: type[AnyRecord]) -> list[AnyRecord]:
        return [record for record in self.waiting if isinstance(record, kind)]

    def _write_systems_and_raters(self) -> None:
        systems = System.objects.bulk_create(
            System(
                version=self.version,
                position=position,
                name=record.name,
                kind=record.kind,
                description=record.description,
            )
            for position, record in enumerate(self._of(SystemRecord), len(self.systems))
        )
        raters = Rater.objects.bulk_create(
            Rater(version=self.version, position=position, name=record.name, kind=record.kind)
            for position, record in enumerate(self._of(RaterRecord), len(self.raters))
        )
        self.systems |= {system.name: system.pk for system in systems}
        self.raters |= {rater.name: rater.pk for rater in raters}

    def _write_dialogues(self) -> None:
        records = self._of(DialogueRecord)
        keys = _reserved_keys(Dialogue, len(records))
        _insert(
            Dialogue,
            _DIALOGUE,
            [
                (
                    key,
                    self.version.pk,
                    position,
                    record.id,
                    _json(record.persona),
                    _json(record.partner_persona),
                    _json([message_as_json(message) for message in record.messages]),
                    record.interactive,
                    _json(record.knowledge),
                    _json(dict(record.metadata)),
                )
                for position, (key, record) in enumerate(
                    zip(keys, records, strict=True), self.dialogues_stored
                )
            ],
        )
        self.dialogues_stored += len(records)
        self.dialogues.update(zip((record.id for record in records), keys, strict=True))
        turns = [(record.id, turn) for record in records for turn in record.turns]
        turn_keys = _reserved_keys(Turn, len(turns))
        _insert(
            Turn,
            _TURN,
            [
                (
                    key,
                    self.dialogues[dialogue],
                    turn.number,
                    _json([[utterance.speaker, utterance.text] for utterance in turn.context]),
                    turn.after,
                    _json(turn.references),
                )
                for key, (dialogue, turn) in zip(turn_keys, turns, strict=True)
            ],
        )
        for key, (dialogue, turn) in zip(turn_keys, turns, strict=True):
            self.turns[dialogue, turn.number] = key

    def _write_responses(self) -> None:
        records = [record for record in self._of(ResponseRecord) if not record.sample]
        keys = _reserved_keys(Response, len(records))
        _insert(
            Response,
            _RESPONSE,
            [
                (
                    key,
                    self.systems[record.system],
                    self.turns[record.dialogue_id, record.turn],
                    record.text,
                    _json(record.parts),
                    _json(dict(record.metadata)),
                )
                for key, record in zip(keys, records, strict=True)
            ],
        )
        for key, record in zip(keys, records, strict=True):
            self.responses[record.dialogue_id, record.turn, record.system] = key

    def _write_samples(self) -> None:
        records = [record for record in self._of(ResponseRecord) if record.sample]
        samples = Sample.objects.bulk_create(
            Sample(
                response_id=self.responses[record.dialogue_id, record.turn, record.system],
                number=record.sample,
                text=record.text,
                parts=list(record.parts),
                metadata=dict(record.metadata),
            )
            for record in records
        )
        for record, sample in zip(records, samples, strict=True):
            key = (record.dialogue_id, record.turn, record.system, record.sample)
            self.samples[key] = sample.pk

    def _write_ratings(self) -> None:
        now = Rating._meta.get_field("created_at").get_db_prep_save(timezone.now(), connection)
        _insert(
            Rating,
            _RATING,
            [
                (
                    self.raters[record.rater],
                    record.aspect,
                    *self._rated(record.dialogue_id, record.turn, record.system),
                    record.score,
                    record.comment,
                    now,
                )
                for record in self._of(RatingRecord)
            ],
        )

    def _rated(
        self, dialogue: str, turn: int | None, system: str
    ) -> tuple[int | None, int | None, int | None]:
        """Keys of the response, or of the system and the dialogue."""
        if turn is None:
            return None, self.systems[system], self.dialogues[dialogue]
        return self.responses[dialogue, turn, system], None, None

    def _item(self, dialogue: str, turn: int | None, system: str) -> dict[str, int]:
        if turn is None:
            return {"system_id": self.systems[system], "dialogue_id": self.dialogues[dialogue]}
        return {"response_id": self.responses[dialogue, turn, system]}

    def _label(self, record: LabelRecord) -> Label:
        if record.turn is None and not record.system:
            item = {"dialogue_id": self.dialogues[record.dialogue_id]}
        else:
            item = self._item(record.dialogue_id, record.turn, record.system)
        return Label(
            rater_id=self.raters[record.rater],
            question=record.question,
            value=record.value if isinstance(record.value, str) else list(record.value),
            message=record.message,
            **item,
        )

    def _preference(self, record: PreferenceRecord) -> Preference:
        dialogue, turn = record.dialogue_id, record.turn
        pair: dict[str, int | None]
        if turn is None:
            pair = {
                "dialogue_id": self.dialogues[dialogue],
                "system_a_id": self.systems[record.system_a],
                "system_b_id": self.systems[record.system_b],
            }
        else:
            arm_a, arm_b = (dialogue, turn, record.system_a), (dialogue, turn, record.system_b)
            pair = {
                "response_a_id": self.responses[arm_a],
                "response_b_id": self.responses[arm_b],
                "sample_a_id": self.samples[*arm_a, record.sample_a] if record.sample_a else None,
                "sample_b_id": self.samples[*arm_b, record.sample_b] if record.sample_b else None,
            }
        return Preference(
            rater_id=self.raters[record.rater],
            aspect=record.aspect,
            preferred=record.preferred,
            comment=record.comment,
            metadata=dict(record.metadata),
            **pair,
        )


# --- removing -------------------------------------------------------------------------------------


def detach(versions: QuerySet[CorpusVersion]) -> list[CorpusVersion]:
    """Take versions out of their corpus, in the caller's transaction; they are then to be
    removed. Without a digest no import goes on with one."""
    keys = list(versions.values_list("pk", flat=True))
    versions.update(corpus=None, digest="", **new_lease())
    return list(CorpusVersion.staged.filter(pk__in=keys))


def remove(version: CorpusVersion) -> None:
    """Take away all rows of a version that this process owns. One that it has attached, or lost,
    stays."""
    try:
        renew(version)
        for rows in (
            Preference.objects.filter(rater__version=version),
            Label.objects.filter(rater__version=version),
            Rating.objects.filter(rater__version=version),
            Sample.objects.filter(response__turn__dialogue__version=version),
            Response.objects.filter(turn__dialogue__version=version),
            Turn.objects.filter(dialogue__version=version),
            Dialogue.objects.filter(version=version),
            Rater.objects.filter(version=version),
            System.objects.filter(version=version),
        ):
            delete_in_steps(rows, lambda: renew(version))
        with transaction.atomic():
            renew(version)
            version.delete()
    except LeaseLost:
        return


def remove_left_behind() -> int:
    """Remove versions whose deletion was killed, or whose import was, a day ago. How many."""
    removed, now = 0, timezone.now()
    expired = Q(digest="", lease_expires_at__lt=now) | Q(lease_expires_at__lt=now - INTERRUPTED)
    for version in left_behind(CorpusVersion, expired):
        remove(version)
        removed += 1
    return removed


def delete_in_steps(
    rows: QuerySet[Any],
    before_each: Callable[[], object] = lambda: None,
    delete: Callable[[QuerySet[Any]], object] = lambda some: some.delete(),
) -> None:
    """Delete these rows, and what hangs on them, in short transactions. ``before_each`` is done
    first in each; ``delete`` deletes the rows that one transaction takes."""
    transactions = ShortTransactions()
    while keys := list(rows.order_by("pk").values_list("pk", flat=True)[: transactions.rows]):
        with transactions.next(len(keys)):
            before_each()
            delete(rows.model._base_manager.filter(pk__in=keys))
