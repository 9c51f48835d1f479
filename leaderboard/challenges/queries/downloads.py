"""What teams download of a round: its dialogues, and a file to fill in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter
from typing import Any, Literal

from annotations.corpora.queries import corpora_with_hidden_references, visible_corpora
from annotations.corpora.record_stream import dialogues_in
from annotations.formats.records import DialogueRecord
from annotations.models import CorpusVersion, Turn
from common.roles import is_organiser
from leaderboard.challenges.files.dialogues import dialogues_document
from leaderboard.challenges.files.formats import Format
from leaderboard.challenges.files.layout import Layout
from leaderboard.challenges.files.template import response_template
from leaderboard.challenges.models import Round, Team
from leaderboard.challenges.phase import Phase

DIALOGUES_A_READ = 50

Obstacle = Literal["", "upcoming", "log_in", "no_team"]


def why_no_download(round: Round, phase: Phase, user: Any, team: Team | None) -> Obstacle:
    """Why a person cannot have the round's dialogues and templates now; "" where they can.

    Organisers always can, and everybody can have those of a corpus whose pages they see. Of others:
    teams, from the round's opening on.
    """
    if is_organiser(user) or visible_corpora(user).filter(pk=round.version.corpus_id).exists():
        return ""
    if phase == "upcoming":
        return "upcoming"
    if not user.is_authenticated:
        return "log_in"
    return "" if team is not None else "no_team"


def dialogues_file(round: Round) -> Iterator[str]:
    """The text of the file, in pieces: without what speaker B said where the references are
    hidden."""
    return dialogues_document(dialogue_records(round.version), hidden=hides_references(round))


def hides_references(round: Round) -> bool:
    """Also where another round on the same corpus does: what is public here would be the answers
    there."""
    if round.references == Round.References.HIDDEN:
        return True
    return corpora_with_hidden_references().filter(pk=round.version.corpus_id).exists()


def template_file(round: Round, format: Format) -> Iterator[str]:
    return response_template(layout_of(round.version), format)


def layout_of(version: CorpusVersion) -> Layout:
    places = Turn.objects.filter(dialogue__version=version).order_by("dialogue__position", "number")
    return Layout.of(
        places.values_list("dialogue__external_id", "number").iterator(chunk_size=10_000)
    )


def dialogue_records(version: CorpusVersion) -> Iterator[DialogueRecord]:
    """The version's dialogues in order, with what was said in them; some at a time, so that memory
    holds a few."""
    keys = list(version.dialogues.order_by("position").values_list("pk", flat=True))
    for start in range(0, len(keys), DIALOGUES_A_READ):
        for _, dialogue in dialogues_in(keys[start : start + DIALOGUES_A_READ]):
            turns = sorted(dialogue.turns, key=attrgetter("number"))
            yield replace(dialogue, turns=tuple(turns))
