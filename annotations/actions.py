"""Every write to corpora and ratings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.validators import slug_re
from django.db import transaction
from django.db.models import F, Max, Model, ProtectedError

from annotations import audit
from annotations.importers.base import Importer, ImportFailed, PartSurvey, Problem, survey
from annotations.importers.canonical import Digest
from annotations.importers.texts import text_fault
from annotations.models import Corpus, CorpusVersion, Dialogue, Rater, Rating, Response, System, Turn
from annotations.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemRecord,
)

DIALOGUES_A_BATCH = 20


class CorpusExists(Exception):
    """A corpus of this slug is there, with other content, and the import was to make a new one."""


class CorpusHasResults(Exception):
    """The corpus has metric runs, which would be deleted with it, or rating campaigns, which keep it."""


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    version: CorpusVersion
    created: bool
    survey: PartSurvey
    newest: CorpusVersion
    """Another one where the file's content is that of an older version: importing it is no way back."""


def import_corpus(
    importer: Importer,
    path: Path,
    slug: str,
    name: str = "",
    is_public: bool = True,
    by: Any = None,
    may_exist: bool = True,
) -> list[ImportOutcome]:
    """Store what a file holds: a new version where its content is new, nothing where it is known.

    The whole file is checked before the database is touched, so a file with a problem stores nothing and no other
    writer waits while a long file is read. Raises ``ImportFailed`` with up to 100 problems, and, unless the corpus
    ``may_exist``, ``CorpusExists`` where it does and the content is new.
    """
    _refuse_oversize(path)
    surveys = survey(importer, path)
    if problems := [problem for part in surveys for problem in _naming_problems(path, slug, name, part)]:
        raise ImportFailed(problems)
    with transaction.atomic():
        outcomes = [_store_part(importer, path, slug, name, is_public, part, may_exist) for part in surveys]
        for version in (outcome.version for outcome in outcomes if outcome.created):
            audit.record(by, "corpus.imported", version.corpus, version=version.label, format=version.format)
        return outcomes


def _refuse_oversize(path: Path) -> None:
    if path.is_file() and path.stat().st_size > settings.MAX_IMPORT_BYTES:
        limit = settings.MAX_IMPORT_BYTES // 1_000_000
        raise ImportFailed([Problem(path.name, "", "", f"the file is larger than {limit} MB (DIALEVAL_MAX_IMPORT_MB)")])


def _naming_problems(path: Path, slug: str, name: str, part: PartSurvey) -> list[Problem]:
    """A corpus whose slug cannot stand in an address would break every page that lists it."""
    part_slug, part_name = _slug_of(slug, part), _name_of(slug, name, part)
    most_slug, most_name = (Corpus._meta.get_field(field).max_length for field in ("slug", "name"))
    found = []
    if not slug_re.match(part_slug) or len(part_slug) > most_slug:
        rule = f"letters, figures, hyphens and underscores only, at most {most_slug}"
        found.append(f"the corpus cannot have the slug {part_slug!r}: {rule}")
    if part_slug == "new":
        found.append("the corpus cannot have the slug 'new': the page that adds corpora has this address")
    if fault := text_fault(part_name, most_name):
        found.append(f"the corpus's name {fault}")
    return [Problem(path.name, "", "", message) for message in found]


def _slug_of(slug: str, part: PartSurvey) -> str:
    return f"{slug}-{part.part}" if part.part else slug


def _name_of(slug: str, name: str, part: PartSurvey) -> str:
    if name and part.part:
        return f"{name} {part.part}"
    return name or part.corpus.name or _slug_of(slug, part)


def _store_part(
    importer: Importer, path: Path, slug: str, name: str, is_public: bool, part: PartSurvey, may_exist: bool
) -> ImportOutcome:
    part_slug, part_name = _slug_of(slug, part), _name_of(slug, name, part)
    Corpus.objects.get_or_create(slug=part_slug, defaults={"name": part_name, "is_public": is_public})
    corpus = Corpus.objects.select_for_update().get(slug=part_slug)  # one import of a corpus at a time
    known = corpus.versions.filter(digest=part.digest).first()
    if known is not None:
        return ImportOutcome(known, created=False, survey=part, newest=corpus.versions.latest("number"))
    if not may_exist and corpus.versions.exists():
        raise CorpusExists(part_slug)
    version = CorpusVersion.objects.create(
        corpus=corpus,
        number=(corpus.versions.aggregate(last=Max("number"))["last"] or 0) + 1,
        digest=part.digest,
        format=importer.name,
        description=part.corpus.description,
        simulated=part.corpus.simulated,
        aspects=list(part.corpus.aspects),
        main_aspect=part.corpus.main_aspect,
        scales={aspect: list(part.corpus.scale_of(aspect)) for aspect in part.corpus.aspects},
    )
    digest = Digest()
    _RecordStore(version).store(_digested(importer.read(path, part.part), digest))
    if digest.hexdigest() != part.digest:
        raise ImportFailed([Problem(path.name, "", "", "the file changed while it was read; try again")])
    return ImportOutcome(version, created=True, survey=part, newest=version)


def _digested(records: Iterator[Record], digest: Digest) -> Iterator[Record]:
    for record in records:
        digest.add(record)
        yield record


@dataclass
class _RecordStore:
    """Writes a record stream in batches of dialogues; memory holds one batch."""

    version: CorpusVersion
    systems: dict[str, System] = field(default_factory=dict)
    raters: dict[str, Rater] = field(default_factory=dict)
    batch: list[tuple[DialogueRecord, list[ResponseRecord], list[RatingRecord]]] = field(default_factory=list)
    dialogues_stored: int = 0

    def store(self, records: Iterator[Record]) -> None:
        for record in records:
            match record:
                case CorpusRecord():
                    continue
                case SystemRecord():
                    self._store_system(record)
                case RaterRecord():
                    self._store_rater(record)
                case DialogueRecord():
                    if len(self.batch) >= DIALOGUES_A_BATCH:
                        self._store_batch()
                    self.batch.append((record, [], []))
                case ResponseRecord():
                    self.batch[-1][1].append(record)
                case RatingRecord():
                    self.batch[-1][2].append(record)
        self._store_batch()

    def _store_system(self, record: SystemRecord) -> None:
        self.systems[record.name] = System.objects.create(
            version=self.version,
            position=len(self.systems),
            name=record.name,
            kind=record.kind,
            description=record.description,
        )

    def _store_rater(self, record: RaterRecord) -> None:
        self.raters[record.name] = Rater.objects.create(
            version=self.version, position=len(self.raters), name=record.name, kind=record.kind
        )

    def _store_batch(self) -> None:
        dialogues = Dialogue.objects.bulk_create(
            Dialogue(
                version=self.version,
                position=self.dialogues_stored + index,
                external_id=record.id,
                persona=list(record.persona),
                partner_persona=list(record.partner_persona),
            )
            for index, (record, _, _) in enumerate(self.batch)
        )
        by_id = {dialogue.external_id: dialogue for dialogue in dialogues}
        turns = {
            (turn.dialogue.external_id, turn.number): turn
            for turn in Turn.objects.bulk_create(
                Turn(
                    dialogue=by_id[record.id],
                    number=turn.number,
                    context=[[utterance.speaker, utterance.text] for utterance in turn.context],
                    references=list(turn.references),
                )
                for record, _, _ in self.batch
                for turn in record.turns
            )
        }
        responses = {
            (response.turn.dialogue.external_id, response.turn.number, response.system.name): response
            for response in Response.objects.bulk_create(
                Response(system=self.systems[given.system], turn=turns[given.dialogue_id, given.turn], text=given.text)
                for _, given_responses, _ in self.batch
                for given in given_responses
            )
        }
        Rating.objects.bulk_create(
            (self._rating(given, by_id, responses) for _, _, given_ratings in self.batch for given in given_ratings),
            batch_size=5000,
        )
        self.dialogues_stored += len(self.batch)
        self.batch = []

    def _rating(
        self,
        given: RatingRecord,
        dialogues: dict[str, Dialogue],
        responses: dict[tuple[str, int, str], Response],
    ) -> Rating:
        rating = Rating(rater=self.raters[given.rater], aspect=given.aspect, score=given.score, comment=given.comment)
        if given.turn is None:
            rating.system, rating.dialogue = self.systems[given.system], dialogues[given.dialogue_id]
        else:
            rating.response = responses[given.dialogue_id, given.turn, given.system]
        return rating


def show_to(corpus: Corpus, everybody: bool, by: Any = None) -> bool:
    """Let everybody see a corpus, or organisers only. Returns whether that is a change."""
    with transaction.atomic():
        corpus = Corpus.objects.select_for_update().get(pk=corpus.pk)
        if corpus.is_public == everybody:
            return False
        changes = {"is_public": [corpus.is_public, everybody]}
        corpus.is_public = everybody
        corpus.save(update_fields=["is_public"])
        audit.record(by, "corpus.changed", corpus, changes=changes)
        return True


def delete_corpus(corpus: Corpus, force: bool = False, by: Any = None) -> None:
    """Delete a corpus with all its versions. Refused while it has metric runs, unless forced; and, forced or not, while
    campaigns rate it, rounds of challenges ask for it or submissions answer it: what people said, and what teams handed
    in, must keep what it is about."""
    with transaction.atomic():
        results = corpus.versions.filter(systems__metric_runs__isnull=False).exists()
        if results and not force:
            raise CorpusHasResults(
                f"{corpus.slug} has metric runs; deleting it deletes them too. Use --force to do so."
            )
        audit.record(
            by, "corpus.deleted", corpus, versions=[version.label for version in corpus.versions.all()], results=results
        )
        try:
            corpus.delete()
        except ProtectedError as kept:
            raise CorpusHasResults(_why_kept(corpus.slug, kept.protected_objects)) from None


_KEEPERS = {
    "campaign": ("is what these rating campaigns are about", "Delete the campaigns first"),
    "round": ("is what these rounds of challenges ask for", "Delete the rounds, or give them another corpus, first"),
    "submission": ("is what these submissions answer", "What was handed in is kept, and the corpus with it"),
}


def _why_kept(slug: str, keepers: Iterable[Model]) -> str:
    by_kind: dict[str, set[str]] = {}
    for keeper in keepers:
        by_kind.setdefault(keeper._meta.model_name or "", set()).add(str(keeper))
    return (
        " ".join(
            f"{slug} {_KEEPERS[kind][0]}: {', '.join(sorted(by_kind[kind])[:5])}. {_KEEPERS[kind][1]}."
            for kind in _KEEPERS
            if kind in by_kind
        )
        or f"{slug} is in use: {', '.join(sorted(by_kind))}."
    )


def data_changed(version_ids: Iterable[int]) -> None:
    """Tell stored statistics and counts of these versions that they are out of date. Call it in the transaction of the
    write."""
    CorpusVersion.objects.filter(pk__in=list(version_ids)).update(revision=F("revision") + 1, counted=None)


def scores_changed(version_ids: Iterable[int]) -> None:
    """The same where metrics' scores changed and nothing that is counted did: runs end by the thousand."""
    CorpusVersion.objects.filter(pk__in=list(version_ids)).update(revision=F("revision") + 1)


def keep_counts(version: CorpusVersion, counted: dict[str, int]) -> None:
    """Unless the data have changed since ``version`` was read: then they may be counts of before."""
    CorpusVersion.objects.filter(pk=version.pk, revision=version.revision).update(counted=counted)
