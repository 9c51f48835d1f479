"""The case study of a corpus, of all its metrics."""

from __future__ import annotations

from dataclasses import replace

from annotations.models import CorpusVersion
from leaderboard.answers.cases import CaseStudy, LowerDialogue
from leaderboard.queries.case_study import DRAWN, case_study
from leaderboard.queries.response_scores import human_scores
from leaderboard.reproduction.evaluation_sets import rated_lower_as_a_whole
from leaderboard.results.kinds import registered

MOST_OF_A_DIALOGUE = 12
MOST_LOWER = 10
UTTERANCES = 8
"""Of a context."""


@registered("cases", version=1, of_pairs=True)
def cases(
    version: CorpusVersion, aspect: str, seed: int = 0, dialogue: int | None = None
) -> CaseStudy:
    """Some responses drawn by ``seed``, or the first ones of a dialogue, by its position; and the
    dialogues that people rate lowest beside their turns (ComperDial, Wakaki et al., 2024, A.8)."""
    study = case_study(
        version,
        aspect,
        dialogue=dialogue,
        most=DRAWN if dialogue is None else MOST_OF_A_DIALOGUE,
        seed=seed,
        utterances=UTTERANCES,
    )
    wholes = human_scores(version, aspect, "dialogue")
    if not wholes or not study.of:
        return study
    lower = rated_lower_as_a_whole(human_scores(version, aspect, "turn"), wholes)
    names = {one.dialogue for one in lower[:MOST_LOWER]}
    positions = dict(
        version.dialogues.filter(external_id__in=names).values_list("external_id", "position")
    )
    return replace(
        study,
        lower=tuple(
            LowerDialogue(
                dialogue=one.dialogue,
                position=positions[one.dialogue],
                system=one.system,
                turns=one.turns,
                whole=one.whole,
            )
            for one in lower[:MOST_LOWER]
        ),
        lower_count=len(lower),
        wholes=len(wholes),
    )
