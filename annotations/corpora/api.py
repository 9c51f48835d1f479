"""Corpora, their systems and their dialogues over the API: what the pages of corpora show."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from annotations.corpora import queries
from annotations.models import Corpus, CorpusVersion, Dialogue, System
from common.api.access import Token
from common.api.problems import Refused
from common.api.schemas import Page, Paging, Text, page_of

router = Router(tags=["corpora"])

Kind = Literal["agent", "human", "gold", "baseline"]


class CorpusPath(Schema):
    slug: str = Field(description="The corpus's name in addresses.")


class VersionParams(Schema):
    version: int | None = Field(
        None, ge=1, lt=2**31, description="Number of the version; default: the newest."
    )


class CorpusOut(Schema):
    """A corpus in one version."""

    model_config = {
        "json_schema_extra": {
            "examples": [
                {
                    "slug": "usr",
                    "name": "USR",
                    "version": "v1-3f2a90c1b7de",
                    "is_public": True,
                    "simulated": False,
                    "description": "",
                    "aspects": ["Overall"],
                    "main_aspect": "Overall",
                    "dialogues": 60,
                    "turns": 60,
                    "systems": 5,
                    "responses": 300,
                    "raters": 3,
                    "ratings": 5400,
                    "labels": 0,
                    "preferences": 0,
                    "imported_at": "2026-11-20T20:00:00Z",
                }
            ]
        }
    }
    slug: str = Field(description="The corpus's name in addresses.")
    name: str = Field(description="Its name on pages.")
    version: str = Field(description="Number and start of the content's digest.")
    is_public: bool = Field(description="Whether everybody sees it.")
    simulated: bool = Field(
        description="True where the raters were programs: the ratings say nothing about people."
    )
    description: str = Field(description="What the file says of itself.")
    aspects: list[str] = Field(description="Names of the human scores.")
    main_aspect: str = Field(description="The aspect that stands for the whole judgement.")
    dialogues: int = Field(description="How many it holds.")
    turns: int = Field(description="Places where speaker B must answer.")
    systems: int = Field(description="How many answered.")
    responses: int = Field(description="How many they gave.")
    raters: int = Field(description="People who rated.")
    ratings: int = Field(description="How many they gave.")
    labels: int = Field(description="Categories and texts that they gave.")
    preferences: int = Field(description="How often they compared two responses or systems.")
    imported_at: datetime = Field(description="When this version came.")


class SystemOut(Schema):
    name: str = Field(description="As the file or its team calls it.")
    position: int = Field(
        description="Its place in the file, from 0; it fixes the colour on pages."
    )
    kind: Kind = Field(description="Who answered.")
    description: str = Field(description="What it is.")


class UtteranceOut(Schema):
    speaker: str = Field(description="A or B; in other conversations a name or a role.")
    text: str = Field(description="What was said.")


class MessageOut(Schema):
    role: str = Field(description="system, user, assistant, tool, or a word of the source.")
    text: str = Field(description="What was said; may be empty beside parts.")
    name: str = Field("", description="Tells participants of one role apart.")
    parts: list[dict[str, Any]] = Field(
        [], description="What is not text, such as tool calls, each with a type."
    )
    time: str = Field("", description="When, in ISO 8601.")
    metadata: dict[str, Any] = Field({}, description="Whatever else the file says of it.")


class ResponseOut(Schema):
    system: str = Field(description="The system's name.")
    text: str = Field(description="What it answered at this turn.")
    parts: list[dict[str, Any]] = Field(description="What is not text, such as tool calls.")
    metadata: dict[str, Any] = Field(description="Whatever else the file says of it.")


class TurnOut(Schema):
    number: int = Field(description="As files number it.")
    context: list[UtteranceOut] = Field(
        description="Gold utterances before the answer, oldest first; empty where the dialogue "
        "has messages."
    )
    after: int | None = Field(
        description="How many of the dialogue's messages stand before the answer; null where the "
        "turn has a context of its own."
    )
    references: list[str] = Field(description="Gold answers.")
    responses: list[ResponseOut] = Field(description="What systems answered, in their order.")


class DialogueOut(Schema):
    position: int = Field(description="Its place in the corpus, from 0.")
    id: str = Field(description="The name that files give it.")
    turns: int = Field(description="Places where speaker B must answer.")


class WholeDialogue(Schema):
    position: int = Field(description="Its place in the corpus, from 0.")
    id: str = Field(description="The name that files give it.")
    persona: list[str] = Field(description="Sentences about speaker B, who must answer.")
    partner_persona: list[str] = Field(description="Sentences about speaker A.")
    messages: list[MessageOut] = Field(
        description="The whole conversation, once; empty where each turn has a context of its own."
    )
    interactive: bool = Field(description="Whether one system took part in the conversation.")
    knowledge: list[str] = Field(description="Facts or documents that responses may rest on.")
    metadata: dict[str, Any] = Field(description="Whatever else the file says of it.")
    turns: list[TurnOut] = Field(description="In order, each with the systems' responses.")


def version_of(request: HttpRequest, slug: str, params: VersionParams) -> CorpusVersion:
    """Raises ``Refused`` (404) for a corpus that does not exist for this caller."""
    try:
        return queries.visible_version(request.user, slug, params.version)
    except queries.NotFound:
        raise Refused(
            404, "There is no such corpus, or you may not see it.", code="corpus"
        ) from None


def aspect_of(version: CorpusVersion, params: str | None) -> str:
    try:
        return queries.resolve_aspect(version, params)
    except queries.NotFound as unknown:
        raise Refused(
            422,
            str(unknown),
            code="aspect",
            errors=[{"field": "query.aspect", "message": str(unknown)}],
        ) from None


class AspectParams(VersionParams):
    aspect: Text | None = Field(
        None, max_length=100, description="Name of a human score; default: the main one."
    )


@router.get(
    "/corpora",
    auth=Token("read", anybody=True),
    response=Page[CorpusOut],
    operation_id="list_corpora",
    summary="Corpora, each in its newest version",
)
def list_corpora(request: HttpRequest, paging: Query[Paging]) -> dict[str, Any]:
    """By their names in addresses. Who is not an organiser sees public ones."""
    return page_of(queries.visible_corpora(request.user), "slug", paging, _newest)


def _newest(corpus: Corpus) -> dict[str, Any]:
    version = corpus.versions.order_by("-number").first()
    assert version is not None
    version.corpus = corpus
    return _document(version)


@router.get(
    "/corpora/{slug:slug}",
    auth=Token("read", anybody=True),
    response=CorpusOut,
    operation_id="get_corpus",
    summary="A corpus",
)
def get_corpus(
    request: HttpRequest, place: Path[CorpusPath], params: Query[VersionParams]
) -> dict[str, Any]:
    return _document(version_of(request, place.slug, params))


_COUNTED = (
    *("dialogues", "turns", "systems", "responses", "raters", "ratings", "labels", "preferences"),
)


def _document(version: CorpusVersion) -> dict[str, Any]:
    counts = queries.counts_of(version)
    return {
        "slug": version.corpus.slug,
        "name": version.corpus.name,
        "version": version.label,
        "is_public": version.corpus.is_public,
        "simulated": version.simulated,
        "description": version.description,
        "aspects": version.aspects,
        "main_aspect": version.main_aspect,
        **{name: getattr(counts, name) for name in _COUNTED},
        "imported_at": version.created_at,
    }


@router.get(
    "/corpora/{slug:slug}/systems",
    auth=Token("read", anybody=True),
    response=Page[SystemOut],
    operation_id="list_systems",
    summary="Systems of a corpus",
)
def list_systems(
    request: HttpRequest,
    place: Path[CorpusPath],
    params: Query[VersionParams],
    paging: Query[Paging],
) -> dict[str, Any]:
    """Systems of a round are not among them before its organisers publish them."""
    version = version_of(request, place.slug, params)
    return page_of(queries.shown_systems(version), "position", paging, _system, version.number)


def _system(system: System) -> dict[str, Any]:
    return {name: getattr(system, name) for name in ("name", "position", "kind", "description")}


@router.get(
    "/corpora/{slug:slug}/dialogues",
    auth=Token("read", anybody=True),
    response=Page[DialogueOut],
    operation_id="list_dialogues",
    summary="Dialogues of a corpus",
)
def list_dialogues(
    request: HttpRequest,
    place: Path[CorpusPath],
    params: Query[VersionParams],
    paging: Query[Paging],
) -> dict[str, Any]:
    version = version_of(request, place.slug, params)
    return page_of(
        queries.dialogues_with_counts(version),
        "position",
        paging,
        lambda one: {"position": one.position, "id": one.external_id, "turns": one.turn_count},
        version.number,
    )


class DialoguePath(CorpusPath):
    position: int = Field(ge=0, lt=2**31, description="The dialogue's place in the corpus, from 0.")


@router.get(
    "/corpora/{slug:slug}/dialogues/{int:position}",
    auth=Token("read", anybody=True),
    response=WholeDialogue,
    operation_id="get_dialogue",
    summary="A dialogue with the systems' responses",
)
def get_dialogue(
    request: HttpRequest, place: Path[DialoguePath], params: Query[VersionParams]
) -> dict[str, Any]:
    version = version_of(request, place.slug, params)
    dialogue = queries.dialogue_at(version, place.position)
    if dialogue is None:
        raise Refused(404, "The corpus has no dialogue at this place.")
    return _whole(dialogue)


def _whole(dialogue: Dialogue) -> dict[str, Any]:
    responses = queries.responses_in(dialogue)
    return {
        "position": dialogue.position,
        "id": dialogue.external_id,
        "persona": dialogue.persona,
        "partner_persona": dialogue.partner_persona,
        "messages": dialogue.messages,
        "interactive": dialogue.interactive,
        "knowledge": dialogue.knowledge,
        "metadata": dialogue.metadata,
        "turns": [
            {
                "number": turn.number,
                "context": [
                    {"speaker": speaker, "text": text} for speaker, text in turn.own_context
                ],
                "after": turn.after,
                "references": turn.references,
                "responses": responses.get(turn.pk, []),
            }
            for turn in dialogue.turns.all()
        ],
    }
