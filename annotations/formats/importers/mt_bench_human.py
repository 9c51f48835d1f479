"""MT-bench's human judgments (Zheng et al. 2023, NeurIPS): votes of experts on a turn of two
models' conversations."""

from __future__ import annotations

from annotations.formats.importers.base import Importer
from annotations.formats.importers.chatbot_arena import battles
from annotations.formats.importers.heads import with_head
from annotations.formats.importers.sample import FileSample


def _detect(sample: FileSample) -> float:
    is_battle = sample.keys >= {"conversation_a", "conversation_b", "winner", "turn"}
    return 0.9 if is_battle and not sample.keys & {"anony", "tstamp", "language"} else 0.0


_DESCRIPTION = """\
As `chatbot-arena`, but `turn` is the turn, counted from 1 in the file, that the vote is about; both
conversations hold all turns. Each system's conversation is stored once, however many votes there
are."""
_EXAMPLE = (
    '{"question_id": 81, "model_a": "baker", "model_b": "cook", "winner": "model_a", "judge": '
    '"expert_0", "conversation_a": [{"role": "user", "content": "Is it hot?"}, {"role": '
    '"assistant", "content": "Not yet."}], "conversation_b": [{"role": "user", "content": "Is it '
    'hot?"}, {"role": "assistant", "content": "Hot!"}], "turn": 1}\n'
)

IMPORTER = Importer(
    name="mt-bench-human",
    summary="MT-bench's human judgments: votes on turns of two conversations",
    stream=with_head(battles("turn")),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
