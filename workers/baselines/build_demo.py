"""Makes the demo corpus from its hand-written half: ``python -m workers.baselines.build_demo``.

Echo, dull and verbose come out the same everywhere; retrieval as long as the encoder is the same.
What the language model says is seeded too, but another processor or another build of the model may
say something else, and the ratings follow from the texts. ``--keep-model-text`` takes the model's
answers from the file that is there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from annotations.demo.simulated_raters import (
    HIGHEST,
    LOWEST,
    PANEL,
    SimulatedRater,
    quality_of_dialogue,
    quality_of_response,
    raters_of_items,
    score_prefix,
)
from annotations.formats.importers.canonical import record_as_json
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    RaterRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    SystemKind,
    SystemRecord,
)
from workers.baselines.base import Baseline, places_of
from workers.baselines.demo_source import DEMO_FOLDER, WrittenDialogue, read_source
from workers.baselines.features import features_of_dialogue
from workers.baselines.language_model import LanguageModelSpeaker
from workers.baselines.simple import (
    Dull,
    Echo,
    Encode,
    Retrieval,
    Verbose,
    known_answers,
    packaged_encode,
)
from workers.inference.language_models.client import LanguageModel
from workers.inference.language_models.server import local_server

DEMO_FILE = DEMO_FOLDER / "demo.jsonl"
SEED = 7
TEMPERATURE = 0.3
ASPECT = "overall"
CORPUS = CorpusRecord(
    name="Demo (simulated ratings)",
    simulated=True,
    description=(
        "Eight persona dialogues written for dialeval, with gold answers, a second person's "
        "answers and six simple systems. The raters are simulated: their scores are made by a "
        "program and measure no system."
    ),
    aspects=(ASPECT,),
    main_aspect=ASPECT,
    scale=(float(LOWEST), float(HIGHEST)),
)


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """One system and what it said: dialogue id to its answers in the order of the turns."""

    system: SystemRecord
    answers: Mapping[str, tuple[str, ...]]

    @property
    def written_by_person(self) -> bool:
        return self.system.kind in ("gold", "human")


def written_answers(dialogues: Sequence[WrittenDialogue]) -> list[AnswerSet]:
    """The gold answers and the second person's."""
    return [
        AnswerSet(
            SystemRecord("gold", "gold", "The answers of the dialogue itself."),
            {dialogue.record.id: dialogue.gold for dialogue in dialogues},
        ),
        AnswerSet(
            SystemRecord(
                "second-human",
                "human",
                "Answers that a second person wrote from the same persona and context.",
            ),
            {dialogue.record.id: dialogue.second_person for dialogue in dialogues},
        ),
    ]


def answers_of(
    baseline: Baseline, dialogues: Sequence[WrittenDialogue], kind: SystemKind = "baseline"
) -> AnswerSet:
    """What a baseline says at every place of every dialogue."""
    return AnswerSet(
        SystemRecord(baseline.name, kind, baseline.description),
        {
            dialogue.record.id: tuple(
                baseline.respond(place) for place in places_of(dialogue.record)
            )
            for dialogue in dialogues
        },
    )


def fixed_baselines(seed: int) -> list[Baseline]:
    """The baselines that need no model, and so say the same on every machine."""
    return [Echo(), Dull(seed), Verbose(seed)]


def retrieval_baseline(dialogues: Sequence[WrittenDialogue], encode: Encode) -> Retrieval:
    return Retrieval(encode, known_answers([dialogue.record for dialogue in dialogues]))


@contextmanager
def language_model_baselines(seed: int) -> Iterator[list[Baseline]]:
    """The packaged language model twice, told who it is and told nothing, while its server runs."""
    with local_server() as endpoint:
        model = LanguageModel(endpoint, temperature=TEMPERATURE, seed=seed)
        name = "SmolLM2 135M instruct, as packaged,"
        yield [
            LanguageModelSpeaker(
                model,
                with_persona=True,
                name="smollm2-persona",
                description=f"{name} that knows its persona.",
            ),
            LanguageModelSpeaker(
                model,
                with_persona=False,
                name="smollm2",
                description=f"{name} that knows only the conversation.",
            ),
        ]
        model.close()


def stored_model_answers(path: Path) -> list[AnswerSet]:
    """The language model's answer sets as an earlier demo file holds them (kind ``agent``)."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    agents = [line for line in lines if line["type"] == "system" and line["kind"] == "agent"]
    return [
        AnswerSet(
            SystemRecord(agent["name"], "agent", agent["description"]),
            _stored_answers(lines, agent["name"]),
        )
        for agent in agents
    ]


def _stored_answers(lines: Sequence[Mapping[str, str]], system: str) -> dict[str, tuple[str, ...]]:
    answers: dict[str, tuple[str, ...]] = {}
    for line in lines:
        # The file holds the turns in order
        if line["type"] == "response" and line["system"] == system:
            answers[line["dialogue_id"]] = (*answers.get(line["dialogue_id"], ()), line["text"])
    return answers


def demo_records(
    dialogues: Sequence[WrittenDialogue],
    answer_sets: Sequence[AnswerSet],
    encode: Encode,
    seed: int = SEED,
) -> Iterator[Record]:
    """The whole corpus in the order in which corpora travel, rated by the simulated panel."""
    yield CORPUS
    yield from (answer_set.system for answer_set in answer_sets)
    yield from (RaterRecord(rater.name) for rater in PANEL)
    pairs = len(dialogues) * len(answer_sets)
    turn_trios = iter(
        raters_of_items(sum(len(d.record.turns) for d in dialogues) * len(answer_sets), seed)
    )
    dialogue_trios = iter(raters_of_items(pairs, seed + 1))
    for dialogue in dialogues:
        yield dialogue.record
        for answer_set in answer_sets:
            answers = answer_set.answers[dialogue.record.id]
            for turn, text in enumerate(answers):
                yield ResponseRecord(dialogue.record.id, turn, answer_set.system.name, text)
            yield from _ratings(
                dialogue.record, answer_set, encode, seed, turn_trios, dialogue_trios
            )


def _ratings(
    dialogue: DialogueRecord,
    answer_set: AnswerSet,
    encode: Encode,
    seed: int,
    turn_trios: Iterator[tuple[SimulatedRater, ...]],
    dialogue_trios: Iterator[tuple[SimulatedRater, ...]],
) -> Iterator[RatingRecord]:
    """The ratings of one system in one dialogue: each response by three raters, then the whole by
    three."""
    features = features_of_dialogue(
        places_of(dialogue), answer_set.answers[dialogue.id], answer_set.written_by_person, encode
    )
    item = f"{seed} {dialogue.id} {answer_set.system.name}"
    qualities = [
        quality_of_response(response, f"{item} {turn}") for turn, response in enumerate(features)
    ]
    for turn, quality in enumerate(qualities):
        yield from _item_ratings(
            dialogue, turn, answer_set, next(turn_trios), quality, f"{item} {turn}"
        )
    whole = quality_of_dialogue(qualities, fmean(response.repeated for response in features), item)
    yield from _item_ratings(dialogue, None, answer_set, next(dialogue_trios), whole, item)


def _item_ratings(
    dialogue: DialogueRecord,
    turn: int | None,
    answer_set: AnswerSet,
    raters: Sequence[SimulatedRater],
    quality: float,
    seed: str,
) -> Iterator[RatingRecord]:
    for rater in raters:
        score = score_prefix(rater, quality, seed)
        yield RatingRecord(dialogue.id, turn, answer_set.system.name, rater.name, ASPECT, score)


def as_json_line(record: Record) -> str:
    """The record as one line of the project's own format."""
    return json.dumps(record_as_json(record), ensure_ascii=False, separators=(",", ":"))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m workers.baselines.build_demo", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--to", type=Path, default=DEMO_FILE, help="the file to write (default: the project's own)"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--keep-model-text",
        action="store_true",
        help="take the language model's answers from the project's file",
    )
    options = parser.parse_args(arguments)

    # Before torch is loaded: sums in one thread come out the same each time, and two threads beside
    # a busy core crawl.
    os.environ["OMP_NUM_THREADS"] = "1"
    dialogues = read_source()
    encode = packaged_encode()
    if options.keep_model_text:
        model_answers = stored_model_answers(DEMO_FILE)
    else:
        with language_model_baselines(options.seed) as baselines:
            model_answers = [answers_of(baseline, dialogues, "agent") for baseline in baselines]
    simple = [retrieval_baseline(dialogues, encode), *fixed_baselines(options.seed)]
    answer_sets = [
        *written_answers(dialogues),
        *model_answers,
        *(answers_of(baseline, dialogues) for baseline in simple),
    ]
    lines = [
        as_json_line(record)
        for record in demo_records(dialogues, answer_sets, encode, options.seed)
    ]
    options.to.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stderr.write(f"wrote {len(lines)} records to {options.to}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
