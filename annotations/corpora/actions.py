"""Every write to corpora and ratings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.validators import slug_re
from django.db import transaction
from django.db.models import CASCADE, PROTECT, F, Max, Model, QuerySet

from annotations import audit
from annotations.corpora import staging
from annotations.formats.importers.base import (
    FileState,
    Importer,
    ImportFailed,
    PartSurvey,
    Problem,
    file_state,
    survey,
)
from annotations.formats.importers.canonical import Digest
from annotations.formats.importers.left_out import left_out
from annotations.formats.records import Record
from annotations.formats.slice_counts import SliceCounter, Slices
from annotations.models import Corpus, CorpusVersion, LeftOutRecords, System
from common.temporary import lease_token
from common.text import text_fault


class CorpusExists(Exception):
    """A corpus of this slug is there, with other content, and the import was to make a new one."""


class CorpusHasResults(Exception):
    """The corpus has metric runs, which would be deleted with it, or rating campaigns, which keep
    it."""


@dataclass(frozen=True, slots=True)
class ImportOutcome:
    version: CorpusVersion
    created: bool
    survey: PartSurvey
    newest: CorpusVersion
    """Another one where the file's content is that of an older version: importing it is no way
    back."""


def import_corpus(
    importer: Importer,
    path: Path,
    slug: str,
    name: str = "",
    is_public: bool = True,
    by: Any = None,
    may_exist: bool = True,
    language: str = "",
    good_only: bool = False,
    source: str = "",
    progress: Callable[[str, int], object] = lambda _what, _records: None,
    stored: Callable[[list[ImportOutcome]], object] = lambda _outcomes: None,
) -> list[ImportOutcome]:
    """Store what a file holds: a new version where its content is new, nothing where it is known.

    The whole file is checked before the database is touched, so a file with a problem stores
    nothing. Its rows are stored in short transactions, between which others write, as versions that
    nobody sees; the last transaction makes them versions of their corpora, all or none. Raises
    ``ImportFailed`` with up to 100 problems, and, unless the corpus ``may_exist``, ``CorpusExists``
    where it does and the content is new. ``language``: of all corpora in the file, whatever it says
    itself; the same content in another language is another version. ``good_only``: bad records are
    left out, and the version says which. ``source``: the address that the file came from.
    ``progress`` is told what is being done ("checked", "stored"), and to how many records; and of
    an import that was killed, which this one continues, how many dialogues are stored
    ("continued"). It may raise: then nothing is stored, unless it raises ``staging.Paused``, after
    which the next import of the file goes on. ``stored`` is called in the last transaction.
    """
    refuse_large(path)
    if language:
        importer = importer.in_language(language)
    source = source[: CorpusVersion._meta.get_field("source").max_length]
    # What is left out is found by checking again.
    state = None if good_only else file_state(path)
    checking = importer.watched(partial(progress, "checked"))
    surveys = survey(checking, path, good_only=good_only)
    if problems := [
        problem for part in surveys for problem in _naming_problems(path, slug, name, part)
    ]:
        raise ImportFailed(problems)
    staging.remove_left_behind()
    staged: dict[str, CorpusVersion] = {}
    try:
        with lease_token() as token:
            for part in surveys:
                if _known_version(_slug_of(slug, part), part, may_exist) is None:
                    storing = importer.watched(partial(progress, "stored"))
                    version = stage_part(
                        *(storing, path, part, state, good_only),
                        continued=partial(progress, "continued"),
                        source=source,
                        lease_token=token,
                    )
                    staged[part.part] = version
                    if not_there := left_out(path, part):
                        LeftOutRecords.objects.create(version=version, left_out=not_there.as_json())
            with transaction.atomic():
                outcomes = [
                    _attached(staged, slug, name, is_public, part, may_exist) for part in surveys
                ]
                for version in (outcome.version for outcome in outcomes if outcome.created):
                    audit.record(
                        by,
                        "corpus.imported",
                        version.corpus,
                        version=version.label,
                        format=version.format,
                    )
                stored(outcomes)
    except staging.Paused:
        for version in staged.values():
            staging.leave(version)
        staged = {}
        raise
    except staging.LeaseLost:
        raise ImportFailed([Problem(path.name, "", "", STOOD_STILL)]) from None
    finally:
        for version in staged.values():
            staging.remove(version)
    return outcomes


STOOD_STILL = "the import stood still for too long and was given up; try again"


def refuse_large(path: Path) -> None:
    if path.is_file() and path.stat().st_size > settings.MAX_IMPORT_BYTES:
        limit = settings.MAX_IMPORT_BYTES // 1_000_000
        too_large = f"the file is larger than {limit} MB (DIALEVAL_MAX_IMPORT_MB)"
        raise ImportFailed([Problem(path.name, "", "", too_large)])


def _naming_problems(path: Path, slug: str, name: str, part: PartSurvey) -> list[Problem]:
    """A corpus whose slug cannot stand in an address would break every page that lists it."""
    part_slug, part_name = _slug_of(slug, part), _name_of(slug, name, part)
    most_slug, most_name = (Corpus._meta.get_field(field).max_length for field in ("slug", "name"))
    found = []
    if not slug_re.match(part_slug) or len(part_slug) > most_slug:
        rule = f"letters, figures, hyphens and underscores only, at most {most_slug}"
        found.append(f"the corpus cannot have the slug {part_slug!r}: {rule}")
    if part_slug == "new":
        found.append(
            "the corpus cannot have the slug 'new': the page that adds corpora has this address"
        )
    if fault := text_fault(part_name, most_name):
        found.append(f"the corpus's name {fault}")
    return [Problem(path.name, "", "", message) for message in found]


def _slug_of(slug: str, part: PartSurvey) -> str:
    return f"{slug}-{part.part}" if part.part else slug


def _name_of(slug: str, name: str, part: PartSurvey) -> str:
    if name and part.part:
        return f"{name} {part.part}"
    return name or part.corpus.name or _slug_of(slug, part)


def _known_version(slug: str, part: PartSurvey, may_exist: bool) -> CorpusVersion | None:
    """The version that holds this content. Raises ``CorpusExists``."""
    versions = CorpusVersion.objects.select_related("corpus").filter(corpus__slug=slug)
    known = versions.filter(digest=part.digest).first()
    if known is None and not may_exist and versions.exists():
        raise CorpusExists(slug)
    return known


def stage_part(
    importer: Importer,
    path: Path,
    part: PartSurvey,
    state: FileState | None,
    good_only: bool = False,
    continued: Callable[[int], object] = lambda _dialogues: None,
    **origin: Any,
) -> CorpusVersion:
    """A version that nobody sees yet, with all that the file holds. ``state``: of the file, before
    it was surveyed; a file that has the same one afterwards is not checked again. ``continued``: as
    of ``staging.stage``. ``origin``: further columns."""
    digest, counter = Digest(), SliceCounter()
    records = (
        importer.read(path, part.part, good_only=good_only)
        if state is None
        else importer.read_again(path, part.part)
    )
    version = staging.stage(
        _counted(records, counter, digest if state is None else None),
        continued=continued,
        digest=part.digest,
        format=importer.name,
        description=part.corpus.description,
        simulated=part.corpus.simulated,
        aspects=list(part.corpus.aspects),
        main_aspect=part.corpus.main_aspect,
        scales={aspect: list(part.corpus.scale_of(aspect)) for aspect in part.corpus.aspects},
        language=part.corpus.language or None,
        language_is_guess=not part.corpus.language,
        **origin,
    )
    if file_state(path) != state if state else digest.hexdigest() != part.digest:
        staging.remove(version)
        raise ImportFailed(
            [Problem(path.name, "", "", "the file changed while it was read; try again")]
        )
    version.slices = counter.slices()
    return version


def _attached(
    staged: dict[str, CorpusVersion],
    slug: str,
    name: str,
    is_public: bool,
    part: PartSurvey,
    may_exist: bool,
) -> ImportOutcome:
    part_slug, part_name = _slug_of(slug, part), _name_of(slug, name, part)
    Corpus.objects.get_or_create(
        slug=part_slug, defaults={"name": part_name, "is_public": is_public}
    )
    # One import of a corpus at a time
    corpus = Corpus.objects.select_for_update().get(slug=part_slug)
    known = _known_version(part_slug, part, may_exist)
    if known is not None:
        return ImportOutcome(
            known, created=False, survey=part, newest=corpus.versions.latest("number")
        )
    if part.part not in staged:
        raise ImportFailed(
            [Problem("", "", "", f"{part_slug} was deleted while the file was read; try again")]
        )
    last = corpus.versions.aggregate(last=Max("number"))["last"] or 0
    version = staging.attach(staged[part.part], corpus, last + 1)
    return ImportOutcome(version, created=True, survey=part, newest=version)


def _counted(
    records: Iterator[Record], counter: SliceCounter, digest: Digest | None
) -> Iterator[Record]:
    for record in records:
        if digest is not None:
            digest.add(record)
        counter.add(record)
        yield record


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


def describe(corpus: Corpus, name: str, description: str, by: Any = None) -> bool:
    """Change what a corpus is called on pages and says of itself; its slug stays. Returns whether
    that is a change."""
    with transaction.atomic():
        corpus = Corpus.objects.select_for_update().get(pk=corpus.pk)
        values = {"name": name, "description": description}
        changes = {
            field: [getattr(corpus, field), value]
            for field, value in values.items()
            if getattr(corpus, field) != value
        }
        if not changes:
            return False
        for field, value in values.items():
            setattr(corpus, field, value)
        corpus.save(update_fields=list(values))
        audit.record(by, "corpus.changed", corpus, changes=changes)
        return True


def why_not_deleted(corpus: Corpus) -> str:
    """What keeps the corpus: campaigns, rounds, submissions. "" where nothing does."""
    versions = list(corpus.versions.order_by("pk"))
    keepers = [row for rows in _referring(versions, PROTECT) for row in rows]
    return _deletion_refusal(corpus.slug, keepers) if keepers else ""


def delete_corpus(corpus: Corpus, force: bool = False, by: Any = None) -> None:
    """Delete a corpus with all its versions. Refused while it has metric runs, unless forced; and,
    forced or not, while campaigns rate it, rounds of challenges ask for it or submissions answer
    it: what people said, and what teams handed in, must keep what it is about.

    All in short transactions. First what was computed goes, then the corpus with all its versions
    in one moment, then their rows, which nobody sees any more. Stopped before that moment, it is a
    corpus without (some) results."""
    had_runs = False
    while True:
        with transaction.atomic():
            # The lock keeps out whoever is about to store a row that refers to one of them.
            versions = list(corpus.versions.select_for_update(of=("self",)).order_by("pk"))
            if keepers := [row for rows in _referring(versions, PROTECT) for row in rows]:
                raise CorpusHasResults(_deletion_refusal(corpus.slug, keepers))
            has_runs = corpus.versions.filter(systems__metric_runs__isnull=False).exists()
            if has_runs and not force:
                raise CorpusHasResults(
                    f"{corpus.slug} has metric runs; deleting it deletes them too. Use --force to "
                    "do so."
                )
            had_runs = had_runs or has_runs
            computed = [rows for rows in _referring(versions, CASCADE) if rows.exists()]
            if not computed:
                labels = [version.label for version in versions]
                audit.record(by, "corpus.deleted", corpus, versions=labels, results=had_runs)
                detached = staging.detach(corpus.versions.all())
                corpus.delete()
                break
        for rows in computed:
            staging.delete_in_steps(rows)
    for version in detached:
        staging.remove(version)


def _referring(versions: list[CorpusVersion], on_delete: Any) -> list[QuerySet[Any]]:
    """Rows of other apps that refer to these versions or their systems, and would go or forbid the
    deletion."""
    systems = System.objects.filter(version__in=versions)
    return [
        key.related_model._base_manager.filter(**{f"{key.field.name}__in": targets})
        for model, targets in ((CorpusVersion, versions), (System, systems))
        for key in model._meta.related_objects
        if getattr(key, "on_delete", None) is on_delete
        and key.related_model._meta.app_label != "annotations"
    ]


_KEEPERS = {
    "arena": ("is used by these arenas", "Delete the arenas first"),
    "campaign": ("is used by these rating campaigns", "Delete the campaigns first"),
    "round": (
        "is used by these rounds of challenges",
        "Delete the rounds, or give them another corpus, first",
    ),
    "submission": (
        "is answered by these submissions",
        "What was submitted is kept, and the corpus with it",
    ),
}


def _deletion_refusal(slug: str, keepers: Iterable[Model]) -> str:
    by_kind: dict[str, set[str]] = {}
    for keeper in keepers:
        by_kind.setdefault(keeper._meta.model_name or "", set()).add(str(keeper))
    return (
        "\n".join(
            f"{slug} {_KEEPERS[kind][0]}: {', '.join(sorted(by_kind[kind])[:5])}. "
            f"{_KEEPERS[kind][1]}."
            for kind in _KEEPERS
            if kind in by_kind
        )
        or f"{slug} is in use: {', '.join(sorted(by_kind))}."
    )


def data_changed(version_ids: Iterable[int]) -> None:
    """Tell stored statistics and counts of these versions that they are out of date. Call it in the
    transaction of the write."""
    CorpusVersion.objects.filter(pk__in=list(version_ids)).update(
        revision=F("revision") + 1, counted=None
    )


def scores_changed(version_ids: Iterable[int]) -> None:
    """The same where metrics' scores changed and nothing that is counted did: runs end by the
    thousand."""
    CorpusVersion.objects.filter(pk__in=list(version_ids)).update(revision=F("revision") + 1)


def store_counts(version: CorpusVersion, counted: dict[str, int]) -> None:
    """Unless the data have changed since ``version`` was read: then they may be counts of
    before."""
    CorpusVersion.objects.filter(pk=version.pk, revision=version.revision).update(counted=counted)


def store_slices(version: CorpusVersion, slices: Slices) -> None:
    CorpusVersion.objects.filter(pk=version.pk, slices__isnull=True).update(slices=slices)


def keep_guessed_language(version: CorpusVersion, language: str) -> None:
    CorpusVersion.objects.filter(pk=version.pk, language=None).update(language=language)
