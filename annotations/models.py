"""Corpora and what people said of the responses in them.

A corpus version never changes: a changed file makes a new version. Systems, responses and ratings
belong to a version; ``revision`` counts the writes that can change a statistic (a rating, a
finished metric run), so that a stored result knows whether it is still true.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils.functional import cached_property

from common.jobs.models import Job


class Corpus(models.Model):
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True, default="", help_text="Markdown.")
    is_public = models.BooleanField(default=True, help_text="Visible without logging in.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "corpora"
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class WholeVersions(models.Manager["CorpusVersion"]):
    """Versions that belong to a corpus: all that pages, commands and the API ever see."""

    def get_queryset(self) -> models.QuerySet[CorpusVersion]:
        return super().get_queryset().filter(corpus__isnull=False)


class StagedVersions(models.Manager["CorpusVersion"]):
    """Versions whose rows are being stored or removed, step by step: ``corpora.staging``."""

    def get_queryset(self) -> models.QuerySet[CorpusVersion]:
        return super().get_queryset().filter(corpus__isnull=True)


class CorpusVersion(models.Model):
    """Belongs to no corpus while an import stores its rows or a deletion removes them, and to the
    process that holds its lease."""

    corpus = models.ForeignKey(
        Corpus,
        null=True,
        on_delete=models.CASCADE,
        related_name="versions",
        help_text="None while its rows are stored or removed.",
    )
    number = models.PositiveIntegerField()
    digest = models.CharField(
        max_length=64, help_text="SHA-256 of the corpus's records in canonical form."
    )
    format = models.CharField(max_length=40)
    description = models.TextField(blank=True)
    simulated = models.BooleanField(default=False, help_text="The raters are programs.")
    aspects = models.JSONField(
        default=list, help_text="Names of the human scores, in the file's order."
    )
    main_aspect = models.CharField(max_length=100)
    scales = models.JSONField(default=dict, help_text="Lowest and highest score per aspect.")
    language = models.CharField(
        max_length=8,
        null=True,
        blank=True,
        help_text="BCP 47 code such as en or zh; blank where it is not known, null until somebody "
        "asks.",
    )
    language_is_guess = models.BooleanField(
        default=True, help_text="Told from the texts, not by whoever imported it."
    )
    revision = models.PositiveBigIntegerField(default=0)
    counted = models.JSONField(
        null=True,
        blank=True,
        help_text="How many dialogues, ratings and so on it holds; empty until somebody looks, and "
        "after a change.",
    )
    slices = models.JSONField(
        null=True,
        blank=True,
        help_text="How many conversations have which value of their metadata; empty until somebody "
        "asks.",
    )
    derived_from = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="The version that this one was made of, by an addition.",
    )
    addition = models.JSONField(
        null=True,
        blank=True,
        help_text="What was added to it: {file, sha256, systems, responses, ratings, …}.",
    )
    source = models.CharField(
        max_length=1200,
        blank=True,
        default="",
        db_default="",
        help_text="The address that it was downloaded from; of the Hub with the commit.",
    )
    lease_token = models.CharField(max_length=32, blank=True, default="", db_default="")
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WholeVersions()
    staged = StagedVersions()

    class Meta:
        ordering = ["corpus", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["corpus", "number"], name="version_number_once"),
            models.UniqueConstraint(fields=["corpus", "digest"], name="version_content_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="version_number_from_1"),
            models.CheckConstraint(
                condition=Q(corpus__isnull=False, lease_token="", lease_expires_at__isnull=True)
                | (Q(corpus__isnull=True, lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="version_is_of_a_corpus_or_leased",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.corpus.slug} {self.label}" if self.corpus else self.label

    @property
    def label(self) -> str:
        """What signatures and files call this version: its number and the start of its digest."""
        return f"v{self.number}-{self.digest[:12]}"


class LeftOutRecords(models.Model):
    """What a version's file held and the version does not. A row of its own: pages that show a
    version do not read it."""

    version = models.OneToOneField(
        CorpusVersion, on_delete=models.CASCADE, related_name="left_out_records"
    )
    left_out = models.JSONField(help_text="Counts, and the first records with their problems.")

    def __str__(self) -> str:
        return f"left out of {self.version}"


class Dialogue(models.Model):
    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="dialogues")
    position = models.PositiveIntegerField(help_text="Place in the file, from 0.")
    external_id = models.CharField(max_length=200, help_text="The name the file gives it.")
    persona = models.JSONField(default=list, help_text="Sentences about the target speaker B.")
    partner_persona = models.JSONField(default=list, help_text="Sentences about speaker A.")
    messages = models.JSONField(
        default=list,
        help_text="The whole conversation, once: [{role, text, …}, …] as in a jsonl file; empty "
        "where each turn has a context of its own.",
    )
    interactive = models.BooleanField(
        default=False, help_text="One system took part: its messages are its responses."
    )
    knowledge = models.JSONField(
        default=list, help_text="Facts or documents that the responses may rest on."
    )
    metadata = models.JSONField(default=dict, help_text="Whatever else the file says of it.")

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "position"], name="dialogue_position_once"),
            models.UniqueConstraint(fields=["version", "external_id"], name="dialogue_id_once"),
        ]

    def __str__(self) -> str:
        return f"dialogue {self.external_id}"

    @cached_property
    def spoken(self) -> list[list[str]]:
        """[speaker, text] of each message: a name where there is one, else the role."""
        return [[one.get("name") or one["role"], one["text"]] for one in self.messages]


class Turn(models.Model):
    dialogue = models.ForeignKey(Dialogue, on_delete=models.CASCADE, related_name="turns")
    number = models.PositiveIntegerField()
    own_context = models.JSONField(
        db_column="context",
        default=list,
        help_text="Gold utterances before the answer: [[speaker, text], …], oldest first; empty "
        "where they are the dialogue's messages.",
    )
    after = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="How many of the dialogue's messages stand before the answer; none where the "
        "turn has a context of its own.",
    )
    references = models.JSONField(default=list, help_text="Gold answers; may be none.")

    class Meta:
        ordering = ["dialogue", "number"]
        constraints = [
            models.UniqueConstraint(fields=["dialogue", "number"], name="turn_number_once")
        ]

    def __str__(self) -> str:
        return f"turn {self.number}"

    @property
    def context(self) -> list[list[str]]:
        """[[speaker, text], …] before the answer, oldest first. Of a turn with ``after`` this reads
        the dialogue: select or prefetch it."""
        return self.own_context if self.after is None else self.dialogue.spoken[: self.after]

    @context.setter
    def context(self, value: list[list[str]]) -> None:
        self.own_context = value


class System(models.Model):
    class Kind(models.TextChoices):
        AGENT = "agent", "agent"
        HUMAN = "human", "human"
        GOLD = "gold", "gold"
        BASELINE = "baseline", "baseline"

    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="systems")
    position = models.PositiveIntegerField(
        help_text="Place in the file, from 0; gives the system its colour."
    )
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.AGENT)
    description = models.TextField(blank=True)
    withheld = models.BooleanField(
        default=False,
        help_text="Handed in to a round whose systems are not published: it stands on no page of "
        "the corpus.",
    )

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "name"], name="system_name_once"),
            models.UniqueConstraint(fields=["version", "position"], name="system_position_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["agent", "human", "gold", "baseline"]), name="system_kind"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Response(models.Model):
    system = models.ForeignKey(System, on_delete=models.CASCADE, related_name="responses")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="responses")
    text = models.TextField(blank=True)
    parts = models.JSONField(
        default=list, help_text="What is not text, such as tool calls: [{type, …}, …]."
    )
    metadata = models.JSONField(default=dict, help_text="Whatever else the file says of it.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["system", "turn"], name="response_once")]

    def __str__(self) -> str:
        return self.text[:80]


class Sample(models.Model):
    """A further response of the same system at the same turn (best of n). The first one is the
    ``Response``: it is what metrics score and raters judge."""

    response = models.ForeignKey(Response, on_delete=models.CASCADE, related_name="samples")
    number = models.PositiveIntegerField(help_text="From 1.")
    text = models.TextField(blank=True)
    parts = models.JSONField(default=list, help_text="As of a response.")
    metadata = models.JSONField(default=dict, help_text="Whatever else the file says of it.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["response", "number"], name="sample_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="sample_number_from_1"),
        ]

    def __str__(self) -> str:
        return f"sample {self.number}"


def pseudonym_of(position: int) -> str:
    """What a rater is called on pages and in files."""
    return f"rater {position + 1}"


class Rater(models.Model):
    class Kind(models.TextChoices):
        IDENTIFIED = "identified", "a person known by name"
        ANONYMOUS = "anonymous", "a place in a list, not always the same person"
        AGGREGATE = "aggregate", "means over people"

    version = models.ForeignKey(CorpusVersion, on_delete=models.CASCADE, related_name="raters")
    position = models.PositiveIntegerField(
        help_text="Order of first appearance, from 0; makes the pseudonym."
    )
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.IDENTIFIED)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )

    class Meta:
        ordering = ["version", "position"]
        constraints = [
            models.UniqueConstraint(fields=["version", "name"], name="rater_name_once"),
            models.UniqueConstraint(fields=["version", "position"], name="rater_position_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["identified", "anonymous", "aggregate"]), name="rater_kind"
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym

    @property
    def pseudonym(self) -> str:
        return pseudonym_of(self.position)


class Ratings(models.QuerySet["Rating"]):
    def of_corpora(self) -> Ratings:
        """Without those that are being published or taken back, whose raters belong to a staged
        version. For queries that name responses or systems, but no rater and no rater's version."""
        return self.filter(rater__version__corpus__isnull=False)


class Rating(models.Model):
    """One rater's score of one aspect: of a response (turn level), or of a system in a dialogue
    (dialogue level)."""

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="ratings")
    aspect = models.CharField(max_length=100)
    response = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="ratings"
    )
    system = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    dialogue = models.ForeignKey(
        Dialogue, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    score = models.FloatField()
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = Ratings.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(response__isnull=False, system__isnull=True, dialogue__isnull=True)
                | Q(response__isnull=True, system__isnull=False, dialogue__isnull=False),
                name="rating_is_of_a_response_or_of_a_system_in_a_dialogue",
            ),
            models.UniqueConstraint(
                fields=["response", "rater", "aspect"],
                condition=Q(response__isnull=False),
                name="turn_rating_once",
            ),
            models.UniqueConstraint(
                fields=["system", "dialogue", "rater", "aspect"],
                condition=Q(response__isnull=True),
                name="dialogue_rating_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.aspect} {self.score:g}"


class Label(models.Model):
    """What a rater said that is no number: of a response, or, in a dialogue, of a system's part, of
    one message, or of all of it."""

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="labels")
    question = models.CharField(max_length=100)
    value = models.JSONField(help_text="A text, or a list of the categories that were chosen.")
    response = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="labels"
    )
    dialogue = models.ForeignKey(
        Dialogue, null=True, blank=True, on_delete=models.CASCADE, related_name="labels"
    )
    system = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    message = models.PositiveIntegerField(
        null=True, blank=True, help_text="Place among the dialogue's messages, from 0."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    response__isnull=False,
                    dialogue__isnull=True,
                    system__isnull=True,
                    message__isnull=True,
                )
                | (
                    Q(response__isnull=True, dialogue__isnull=False)
                    & (Q(system__isnull=True) | Q(message__isnull=True))
                ),
                name="label_is_of_one_thing",
            ),
            models.UniqueConstraint(
                fields=["response", "rater", "question"],
                condition=Q(response__isnull=False),
                name="response_label_once",
            ),
            models.UniqueConstraint(
                "dialogue",
                Coalesce("system", 0),
                Coalesce("message", -1),
                "rater",
                "question",
                name="dialogue_label_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.question}: {self.value}"


class Preference(models.Model):
    """A rater compared two responses to one turn (or two samples of one system's), or two systems'
    parts of a dialogue."""

    class Preferred(models.TextChoices):
        A = "a", "A"
        B = "b", "B"
        TIE = "tie", "a tie"
        BOTH_BAD = "both_bad", "both bad"

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="preferences")
    aspect = models.CharField(max_length=100)
    preferred = models.CharField(max_length=8, choices=Preferred)
    comment = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, help_text="Whatever else the file says of it.")
    response_a = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    response_b = models.ForeignKey(
        Response, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    sample_a = models.ForeignKey(
        Sample, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    sample_b = models.ForeignKey(
        Sample, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    dialogue = models.ForeignKey(
        Dialogue, null=True, blank=True, on_delete=models.CASCADE, related_name="preferences"
    )
    system_a = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    system_b = models.ForeignKey(
        System, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    response_a__isnull=False,
                    response_b__isnull=False,
                    dialogue__isnull=True,
                    system_a__isnull=True,
                    system_b__isnull=True,
                )
                | (
                    Q(
                        response_a__isnull=True,
                        response_b__isnull=True,
                        sample_a__isnull=True,
                        sample_b__isnull=True,
                        dialogue__isnull=False,
                        system_a__isnull=False,
                        system_b__isnull=False,
                    )
                    & ~Q(system_a=F("system_b"))
                ),
                name="preference_is_of_two_responses_or_two_systems",
            ),
            models.CheckConstraint(
                condition=Q(preferred__in=["a", "b", "tie", "both_bad"]), name="preferred_arm"
            ),
            models.UniqueConstraint(
                "response_a",
                "response_b",
                Coalesce("sample_a", 0),
                Coalesce("sample_b", 0),
                "rater",
                "aspect",
                name="response_preference_once",
            ),
            models.UniqueConstraint(
                fields=["dialogue", "system_a", "system_b", "rater", "aspect"],
                condition=Q(dialogue__isnull=False),
                name="dialogue_preference_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.aspect}: {self.preferred}"


class DemoAccount(models.Model):
    """Marks an account that the demo made. Its password is public, so in production it may not act
    (``annotations.accounts.may_act``). Only the demo makes the mark; changing the password or the
    name does not take it off."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.CASCADE,
        related_name="demo_account",
    )

    def __str__(self) -> str:
        return f"demo account {self.pk}"


class AuditEntry(models.Model):
    """Who did what to what. Rows are added and never changed or deleted; the database refuses it,
    whoever asks.

    Actor and subject are noted, not referred to: the entry outlives both.
    """

    at = models.DateTimeField(auto_now_add=True)
    actor_id = models.BigIntegerField(
        null=True, blank=True, help_text="The user's key; none where a worker acted."
    )
    actor = models.CharField(max_length=150, blank=True, help_text="The user's name at that time.")
    action = models.CharField(
        max_length=60, help_text="Such as `round.changed`: what it was done to, and what."
    )
    subject = models.CharField(max_length=200, help_text="What it was done to, as pages name it.")
    challenge = models.CharField(
        max_length=80, blank=True, help_text="Slug of the challenge it belongs to."
    )
    campaign = models.CharField(
        max_length=80, blank=True, help_text="Slug of the campaign it belongs to."
    )
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "audit entries"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=~Q(action=""), name="audit_entry_says_what")
        ]
        indexes = [
            models.Index(fields=["challenge", "-id"], name="audit_of_a_challenge"),
            models.Index(fields=["campaign", "-id"], name="audit_of_a_campaign"),
        ]

    def __str__(self) -> str:
        return f"{self.actor or 'a worker'}: {self.action} {self.subject}"


class SiteIdentity(models.Model):
    """Tells this database from any other: DIALEVAL_HOME and the storage of files carry it, so that
    a process with another database leaves them alone. One row, made by a migration."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1, editable=False)
    identity = models.CharField(max_length=32, help_text="Random.")

    class Meta:
        verbose_name_plural = "site identities"
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="one_site_identity"),
            models.CheckConstraint(condition=~Q(identity=""), name="site_identity_is_set"),
        ]

    def __str__(self) -> str:
        return self.identity


class CorpusImport(Job):
    """A file that an organiser sent to be a corpus, and that is too large to be stored while the
    browser waits."""

    NAME = "import"
    TASK = "workers.tasks.import_corpus"
    LOST = "the worker stopped without a word {attempts} times; it may need more memory or disk"

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    stored = models.CharField(max_length=80, help_text="The file's name in the storage.")
    file_name = models.CharField(max_length=255, help_text="What its sender called it.")
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    sha256 = models.CharField(
        max_length=64, blank=True, help_text="As its sender says; checked before it is read."
    )
    source = models.CharField(
        max_length=1200, blank=True, help_text="The address that it was downloaded from."
    )
    fields = models.JSONField(help_text="What else the form said, by the names of its fields.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    state = models.CharField(max_length=10, choices=State, default=State.PENDING)
    error = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    progress = models.JSONField(
        default=dict, help_text="step (checked, stored), records, and bytes where they are known."
    )
    outcome = models.JSONField(
        default=dict,
        help_text="What was stored, a corpus each; or the problems of the file and its bad "
        "records.",
    )

    class Meta:
        verbose_name = "import"
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["pending", "running", "done", "failed", "cancelled"]),
                name="import_state",
            ),
            models.CheckConstraint(
                condition=~Q(state="running")
                | (Q(lease_expires_at__isnull=False) & ~Q(lease_token="")),
                name="running_import_is_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state="failed") | ~Q(error=""), name="failed_import_says_why"
            ),
            models.UniqueConstraint(
                fields=["stored"],
                condition=Q(state__in=["pending", "running", "done"]),
                name="one_import_of_a_file",
            ),
        ]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.file_name}"


class PartialUpload(models.Model):
    """A file that an organiser sends in parts, until it is complete and imported, or forgotten
    (``annotations.corpora.partial_uploads``)."""

    public_id = models.CharField(max_length=32, unique=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    file_name = models.CharField(max_length=255, help_text="What its sender calls it.")
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    sha256 = models.CharField(max_length=64, help_text="Of the whole file, as its sender says.")
    received = models.PositiveBigIntegerField(default=0, help_text="Bytes that are here.")
    storage_id = models.CharField(
        max_length=1024, blank=True, help_text="What S3 calls the upload."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(help_text="Each part moves it.")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(size__gt=0), name="an_upload_holds_something"),
            models.CheckConstraint(
                condition=Q(received__lte=F("size")), name="an_upload_is_no_longer_than_its_size"
            ),
            models.UniqueConstraint(
                fields=["owner", "size", "sha256"], name="one_upload_of_a_file"
            ),
        ]

    def __str__(self) -> str:
        return f"upload {self.public_id} of {self.file_name}"

    @property
    def is_complete(self) -> bool:
        return self.received == self.size


class OrphanCount(models.Model):
    """What became of files without a row, by kind, ever since: for monitoring."""

    kind = models.CharField(max_length=40, primary_key=True)
    quarantined = models.PositiveBigIntegerField(default=0)
    returned = models.PositiveBigIntegerField(
        default=0, help_text="Put back, for a row named them."
    )
    removed = models.PositiveBigIntegerField(default=0)
    removed_bytes = models.PositiveBigIntegerField(default=0)
    refused = models.PositiveBigIntegerField(
        default=0, help_text="Files that the last look left where they are, for they were too many."
    )
    updated_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.kind


class AttemptCount(models.Model):
    """How often something was tried within a stretch of time, such as a password for one name:
    see ``annotations.rates``."""

    key = models.CharField(max_length=100, primary_key=True, help_text="What, whose, and when.")
    count = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key}: {self.count}"
