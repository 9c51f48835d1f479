"""Every read of corpora, dialogues and single ratings; ``rating_queries`` reads ratings as
matrices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotations.corpora.actions import keep_guessed_language, store_counts
from annotations.formats.records import UNSPOKEN_ROLES
from annotations.languages import guess_language, language_name
from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Label,
    Preference,
    Rater,
    Rating,
    Response,
    Sample,
    System,
    Turn,
    pseudonym_of,
)
from common.database import CompiledQuery, Given
from common.roles import is_organiser


class NotFound(Exception):
    """A corpus, version, aspect or system that does not exist; the message names those that do."""


# --- corpora --------------------------------------------------------------------------------------


def visible_corpora(user: Any) -> QuerySet[Corpus]:
    """Without those that nothing was imported into yet."""
    if is_organiser(user):
        open_to_user = Corpus.objects.all()
    elif user.is_authenticated:
        open_to_user = _open_to_person(user)
    else:
        open_to_user = public_corpora()
    return open_to_user.filter(Exists(CorpusVersion.objects.filter(corpus=OuterRef("pk"))))


def _open_to_person(user: Any) -> QuerySet[Corpus]:
    return public_corpora().exclude(pk__in=_rated_by(user))


def public_corpora() -> QuerySet[Corpus]:
    """Those that anybody may see: not while a round of a challenge asks for responses to them and
    hides the gold answers, whatever ``is_public`` says."""
    return Corpus.objects.filter(is_public=True).exclude(pk__in=corpora_with_hidden_references())


def corpora_with_hidden_references() -> QuerySet[Corpus]:
    """One version of a corpus tells of another: a round on any of them hides all."""
    return Corpus.objects.filter(versions__rounds__references="hidden").distinct()


def hidden_corpora_for(user: Any) -> QuerySet[Corpus]:
    """Public ones that the user is rating: their pages name the systems, and a rater must not know
    them."""
    if not user.is_authenticated or is_organiser(user):
        return Corpus.objects.none()
    return _rated_by(user)


def _rated_by(user: Any) -> QuerySet[Corpus]:
    taking_part = {"versions__campaigns__participations__user": user}
    return (
        public_corpora()
        .filter(versions__campaigns__state__in=["open", "paused"], **taking_part)
        .distinct()
    )


def visible_version(user: Any, slug: str, number: int | None = None) -> CorpusVersion:
    """Every page of a corpus begins with it."""
    if is_organiser(user):
        corpus = _OPEN_TO_ORGANISERS.first(slug=slug)
    elif user.is_authenticated:
        corpus = _OPEN_TO_PERSON.first(slug=slug, user=user.pk)
    else:
        corpus = _OPEN_TO_ALL.first(slug=slug)
    version = None if corpus is None else _version(corpus, number)
    if version is None:
        raise _not_found(slug, number)
    version.corpus = corpus
    return version


_OPEN_TO_ORGANISERS = CompiledQuery(lambda: Corpus.objects.filter(slug=Given("slug")))
_OPEN_TO_ALL = CompiledQuery(lambda: public_corpora().filter(slug=Given("slug")))
_OPEN_TO_PERSON = CompiledQuery(lambda: _open_to_person(Given("user")).filter(slug=Given("slug")))
_NEWEST_VERSION = CompiledQuery(
    lambda: CorpusVersion.objects.filter(corpus=Given("corpus")).order_by("-number")[:1]
)
_NUMBERED_VERSION = CompiledQuery(
    lambda: CorpusVersion.objects.filter(corpus=Given("corpus"), number=Given("number"))
)


def _version(corpus: Corpus, number: int | None) -> CorpusVersion | None:
    if number is None:
        return _NEWEST_VERSION.first(corpus=corpus.pk)
    return _NUMBERED_VERSION.first(corpus=corpus.pk, number=number)


def version_of(slug: str, number: int | None = None) -> CorpusVersion:
    versions = CorpusVersion.objects.select_related("corpus").filter(corpus__slug=slug)
    if number is not None:
        versions = versions.filter(number=number)
    version = versions.order_by("-number").first()
    if version is None:
        raise _not_found(slug, number)
    return version


def _not_found(slug: str, number: int | None) -> NotFound:
    known = ", ".join(Corpus.objects.values_list("slug", flat=True)[:20]) or "none yet"
    wanted = slug if number is None else f"{slug} version {number}"
    return NotFound(f"there is no corpus {wanted}. Corpora: {known}")


def newest_visible_versions(user: Any) -> list[CorpusVersion]:
    """The newest version of each visible corpus, by the corpus's name."""
    newest = [
        corpus.versions.all()[0].pk
        for corpus in visible_corpora(user).prefetch_related(
            Prefetch(
                "versions",
                CorpusVersion.objects.order_by("-number").only("pk", "corpus_id", "number"),
            )
        )
    ]
    return list(
        CorpusVersion.objects.filter(pk__in=newest)
        .select_related("corpus")
        .order_by("corpus__name", "corpus__slug")
    )


def corpora_with_counts(user: Any) -> list[CorpusVersion]:
    """The newest version of each visible corpus, with what it holds."""
    versions = newest_visible_versions(user)
    for version in versions:
        version.counts = counts_of(version)
    return versions


@dataclass(frozen=True, slots=True)
class Counts:
    dialogues: int
    turns: int
    systems: int
    responses: int
    raters: int
    ratings: int
    labels: int
    preferences: int
    references: int
    """Turns that have one; what metrics need is counted once, too: to find none takes all turns."""
    contexts: int
    """Turns before which something was said."""
    personas: int
    """Dialogues with a persona of B."""


def counts_of(version: CorpusVersion) -> Counts:
    """Counted once after a change: a million ratings take PostgreSQL a tenth of a second, and every
    home page shows their number."""
    if version.counted is None or "references" not in version.counted:  # or an earlier release's
        version.counted = asdict(_counts_of(version))
        store_counts(version, version.counted)
    return Counts(**version.counted)


def language_of(version: CorpusVersion) -> str:
    """The code of the corpus's language: as it was given, else guessed from its texts when somebody
    first asks; "" where it is not known."""
    if version.language is None:
        version.language = guess_language(_texts_of(version))
        keep_guessed_language(version, version.language)
    return version.language


def language_text(version: CorpusVersion) -> str:
    """For people: ``Chinese``, ``Korean (guessed from the texts)``, ``not known``."""
    code = language_of(version)
    name = language_name(code)
    return f"{name} (guessed from the texts)" if code and version.language_is_guess else name


def _texts_of(version: CorpusVersion) -> Iterator[str]:
    """References and contexts from the corpus's start: what people said, before what systems
    did."""
    turns = Turn.objects.filter(dialogue__version=version).exclude(references=[], own_context=[])
    turns = turns.order_by("dialogue__position", "number")
    for references, context in turns.values_list("references", "own_context").iterator(
        chunk_size=100
    ):
        yield from references
        yield from (text for _, text in context)
    dialogues = version.dialogues.exclude(messages=[]).order_by("position")
    for messages in dialogues.values_list("messages", flat=True).iterator(chunk_size=20):
        yield from (one["text"] for one in messages if one["role"] not in UNSPOKEN_ROLES)


def _counts_of(version: CorpusVersion) -> Counts:
    has_context = ~Q(own_context=[]) | Q(after__gt=0)
    return Counts(
        dialogues=version.dialogues.count(),
        **Turn.objects.filter(dialogue__version=version).aggregate(
            turns=Count("pk"),
            references=Count("pk", filter=~Q(references=[])),
            contexts=Count("pk", filter=has_context),
        ),
        personas=version.dialogues.exclude(persona=[]).count(),
        systems=shown_systems(version).count(),
        responses=Response.objects.filter(system__version=version, system__withheld=False).count(),
        raters=shown_raters(version).exclude(kind=Rater.Kind.AGGREGATE).count(),
        ratings=shown_ratings(version).count(),
        labels=Label.objects.filter(rater__version=version).count(),
        preferences=Preference.objects.filter(rater__version=version).count(),
    )


# --- what stands on the corpus's pages ------------------------------------------------------------


def shown_systems(version: CorpusVersion) -> QuerySet[System]:
    """All but those that were handed in to a round whose systems are not published, which stand on
    no page, table or count of the corpus, for nobody. Organisers see them through their round."""
    return version.systems.filter(withheld=False)


def shown_ratings(version: CorpusVersion) -> QuerySet[Rating]:
    """Ratings of systems that are shown: people may have judged withheld ones, too."""
    return of_shown_systems(version, Rating.objects.filter(rater__version=version))


def of_shown_systems(version: CorpusVersion, ratings: QuerySet[Rating]) -> QuerySet[Rating]:
    if not _withholds(version):
        return ratings
    return ratings.filter(Q(response__system__withheld=False) | Q(system__withheld=False))


def shown_raters(version: CorpusVersion) -> QuerySet[Rater]:
    """All but those who judged withheld systems alone."""
    if not _withholds(version):
        return version.raters.all()
    own = Rating.objects.filter(rater=OuterRef("pk"))
    shown = own.filter(Q(response__system__withheld=False) | Q(system__withheld=False))
    return version.raters.filter(Exists(shown) | ~Exists(own))


def _withholds(version: CorpusVersion) -> bool:
    return version.systems.filter(withheld=True).exists()


def dialogues_with_counts(version: CorpusVersion) -> QuerySet[Dialogue]:
    """Each with ``turn_count``, ``first_context``, the own context of its first turn (None where it
    has no turn), and ``first_message`` and ``second_message``: whole conversations are not read."""
    turns = Turn.objects.filter(dialogue=OuterRef("pk"))
    # Counted for the rows that are shown: to group all turns of 10,000 dialogues takes 0.2 s
    count = turns.order_by().values("dialogue").annotate(count=Count("pk")).values("count")
    counted = version.dialogues.annotate(
        turn_count=Coalesce(Subquery(count), 0),
        first_context=Subquery(turns.order_by("number").values("own_context")[:1]),
        first_message=F("messages__0"),
        second_message=F("messages__1"),
    )
    return counted.defer("messages", "knowledge", "metadata").order_by("position")


def resolve_aspect(version: CorpusVersion, aspect: str | None) -> str:
    """The aspect as the corpus spells it; the main one where none is asked for. Case does not
    matter."""
    if not aspect:
        return version.main_aspect
    for known in version.aspects:
        if known == aspect:
            return known
    for known in version.aspects:
        if known.casefold() == aspect.casefold():
            return known
    raise NotFound(
        f"{version.corpus.slug} has no aspect {aspect!r}. Aspects: {', '.join(version.aspects)}"
    )


def resolve_aspects(version: CorpusVersion, aspects: str | None) -> str:
    """``resolve_aspect``; or of several, joined by "+", the mean of what each rater gives by all of
    them: ``appropriateness+coherence``."""
    parts = aspects_in(version, aspects) if aspects else []
    if len(parts) < 2 or not all(one.strip() for one in parts):
        return resolve_aspect(version, aspects)
    return JOINED.join(dict.fromkeys(resolve_aspect(version, one.strip()) for one in parts))


def aspects_in(version: CorpusVersion, aspects: str) -> list[str]:
    """The names that stand in it. An aspect may itself hold the sign that joins."""
    known = {one.casefold() for one in version.aspects}
    return [aspects] if aspects.casefold() in known else aspects.split(JOINED)


JOINED = "+"
_ALL_SYSTEMS = CompiledQuery(
    lambda: System.objects.filter(version=Given("version")).order_by("position")
)
_SHOWN_SYSTEMS = CompiledQuery(
    lambda: System.objects.filter(version=Given("version"), withheld=False).order_by("position")
)


def select_systems(
    version: CorpusVersion,
    only: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    kinds: Collection[str] | None = None,
    *,
    include_withheld: bool = False,
) -> list[System]:
    """The version's systems in order, or those named, or all but those named, or those of some
    kinds. Withheld ones do not exist unless they are asked for."""
    systems = (_ALL_SYSTEMS if include_withheld else _SHOWN_SYSTEMS).rows(version=version.pk)
    for system in systems:
        system.version = version
    known = {system.name for system in systems}
    for name in [*(only or ()), *(exclude or ())]:
        if name not in known:
            raise NotFound(
                f"{version.corpus.slug} has no system {name!r}. Systems: "
                f"{', '.join(s.name for s in systems)}"
            )
    if only:
        systems = [system for system in systems if system.name in only]
    if exclude:
        systems = [system for system in systems if system.name not in exclude]
    if kinds:
        systems = [system for system in systems if system.kind in kinds]
    return systems


def turns_in(dialogues: QuerySet[Dialogue]) -> Iterator[Turn]:
    """The turns of these dialogues in order; those of one dialogue share it. (To prefetch the
    dialogues names each one in a statement, and SQLite refuses a thousand.)"""
    by_pk = dialogues.in_bulk()
    turns = Turn.objects.filter(dialogue__in=dialogues.values("pk"))
    for turn in turns.order_by("dialogue__position", "number"):
        turn.dialogue = by_pk[turn.dialogue_id]
        yield turn


# --- one dialogue ---------------------------------------------------------------------------------


def dialogue_at(version: CorpusVersion, position: int) -> Dialogue | None:
    return version.dialogues.filter(position=position).prefetch_related("turns").first()


def responses_at(turn: Turn) -> QuerySet[Response]:
    """The responses at one turn in the order of systems."""
    return (
        Response.objects.filter(turn=turn, system__withheld=False)
        .select_related("system")
        .order_by("system__position")
    )


class RatingInput(NamedTuple):
    score: float
    pseudonym: str
    rater_kind: str


def ratings_of(responses: Iterable[Response], aspect: str) -> dict[int, list[RatingInput]]:
    """What people gave each of these responses (by pk), in the order of raters. Without models:
    twenty-five responses have five hundred ratings."""
    rows = Rating.objects.of_corpora().filter(aspect=aspect, response__in=responses)
    rows = rows.order_by("rater__position")
    found: dict[int, list[RatingInput]] = {}
    for response, score, position, kind in rows.values_list(
        "response_id", "score", "rater__position", "rater__kind"
    ):
        found.setdefault(response, []).append(RatingInput(score, pseudonym_of(position), kind))
    return found


def samples_of(responses: Iterable[Response]) -> dict[int, list[Sample]]:
    """Further samples of each of these responses (by pk), in their order."""
    found: dict[int, list[Sample]] = {}
    for sample in Sample.objects.filter(response__in=responses).order_by("number"):
        found.setdefault(sample.response_id, []).append(sample)
    return found


class LabelInput(NamedTuple):
    question: str
    value: str | list[str]


Labels = dict[tuple[int | None, int | None], list[LabelInput]]
"""By (response, message): both are None where a label is of the whole dialogue."""


def labels_in(dialogue: Dialogue, turn: Turn | None) -> Labels:
    """Labels of the responses at one turn, of messages, and of the dialogue or a system's part of
    it, in the order in which they came."""
    chosen = Label.objects.filter(dialogue=dialogue).values("pk")
    if turn:  # a union, each part by its index: with OR the database reads all labels of the site
        chosen = chosen.union(Label.objects.filter(response__turn=turn).values("pk"))
    labels = Label.objects.filter(pk__in=chosen).exclude(
        Q(response__system__withheld=True) | Q(system__withheld=True)
    )
    found: Labels = {}
    for response, message, system, question, value in labels.order_by("pk").values_list(
        "response_id", "message", "system__name", "question", "value"
    ):
        named = f"{system}, {question}" if system else question
        found.setdefault((response, message), []).append(LabelInput(named, value))
    return found


class PreferenceCount(NamedTuple):
    """How often people preferred which of two systems."""

    system_a: str
    system_b: str
    aspect: str
    of_whole: bool
    """Of whole dialogues; else of the responses at one turn."""
    a: int
    b: int
    tie: int
    both_bad: int


def preferences_in(dialogue: Dialogue, turn: Turn | None) -> list[PreferenceCount]:
    """Comparisons of the responses at one turn, and of whole dialogues, by pair and aspect."""
    chosen = Preference.objects.filter(
        dialogue=dialogue, system_a__withheld=False, system_b__withheld=False
    ).values("pk")
    if turn:  # see ``labels_in``
        of_turn = Preference.objects.filter(
            response_a__turn=turn,
            response_a__system__withheld=False,
            response_b__system__withheld=False,
        )
        chosen = chosen.union(of_turn.values("pk"))
    rows = Preference.objects.filter(pk__in=chosen)
    counts: dict[tuple[str, str, str, bool], Counter[str]] = {}
    for *of_responses, name_a, name_b, sample_a, sample_b, aspect, preferred in rows.order_by(
        "pk"
    ).values_list(
        "response_a__system__name",
        "response_b__system__name",
        "system_a__name",
        "system_b__name",
        "sample_a__number",
        "sample_b__number",
        "aspect",
        "preferred",
    ):
        of_whole = name_a is not None
        names = (name_a, name_b) if of_whole else of_responses
        first, second = (
            f"{name}, sample {sample}" if sample else name
            for name, sample in zip(names, (sample_a, sample_b), strict=True)
        )
        counts.setdefault((first, second, aspect, of_whole), Counter())[preferred] += 1
    return [
        PreferenceCount(*key, *(count[kind] for kind in ("a", "b", "tie", "both_bad")))
        for key, count in counts.items()
    ]


def dialogue_ratings_in(dialogue: Dialogue) -> QuerySet[Rating]:
    return (
        Rating.objects.of_corpora()
        .filter(dialogue=dialogue, response__isnull=True, system__withheld=False)
        .select_related("rater", "system")
        .order_by("system__position", "rater__position")
    )


def responses_in(dialogue: Dialogue) -> dict[int, list[dict[str, Any]]]:
    """For each turn (pk) of the dialogue: the system, and what it answered (``text``, ``parts``,
    ``metadata``), in the order of systems."""
    rows = (
        Response.objects.filter(turn__dialogue=dialogue, system__withheld=False)
        .order_by("turn__number", "system__position")
        .values("turn_id", "text", "parts", "metadata", system_name=F("system__name"))
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(row.pop("turn_id"), []).append({"system": row.pop("system_name"), **row})
    return found
