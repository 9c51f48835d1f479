"""MT-bench as FastChat keeps it (Zheng et al. 2023, NeurIPS): questions, models' answers,
references, and judgments of LLM judges, each in files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, rest_of
from annotations.formats.importers.crossed import CrossedDialogue, VotesOfOne, refuse_large
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, rows_of_files
from annotations.formats.importers.heads import OVERALL, with_head
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message, PreferenceRecord, RatingRecord
from common.text import MAX_NAME, MAX_TEXT

_REFERENCE_FOLDER = "reference_answer"
_MULTI_TURN = "-multi-turn"
_FAILED = -1
_SCALES = {"single-v1": (1.0, 10.0), "single-math-v1": (1.0, 10.0)}
_GAMES = ("g1_winner", "g2_winner")
_WINNERS: dict[str, Literal["a", "b", "tie"]] = {"model_1": "a", "model_2": "b", "tie": "tie"}


_QUESTION = re.compile(r"\[(?:User )?Question\]\n")
_ANSWER = re.compile(r"\[The Start of (?:the )?Assistant(?: (\w))?'s Answer\]\n")
_CHAT = re.compile(r"<\|The Start of Assistant (\w)'s Conversation with User\|>\n+")
_SPEAKER = re.compile(r"(?:\A|\n\n)### (User|Assistant \w):\n")


@dataclass
class _Files:
    """The rows of all files, by what they are."""

    questions: list[JsonObject] = field(default_factory=list)
    answers: list[JsonObject] = field(default_factory=list)
    references: list[JsonObject] = field(default_factory=list)
    judgments: list[JsonObject] = field(default_factory=list)

    def add(self, row: JsonObject) -> None:
        if row.has("judge"):
            self.judgments.append(row)
        elif row.has("choices"):
            is_reference = _REFERENCE_FOLDER in str(row.where)
            (self.references if is_reference else self.answers).append(row)
        elif row.has("turns"):
            self.questions.append(row)
        else:
            row.complain("", "is no question, answer or judgment")


def _between(text: str, start: re.Pattern[str], end: str) -> Iterator[tuple[re.Match[str], str]]:
    """What stands between each start and the next end."""
    place = 0
    while found := start.search(text, place):
        place = text.find(end, found.end())
        if place < 0:
            return
        yield found, text[found.end() : place]


def _judged(prompt: str) -> dict[str, tuple[list[str], list[str]]]:
    """Questions and answers that a judge was shown, by the assistant's letter."""
    questions = [text for _, text in _between(prompt, _QUESTION, "\n\n[The Start of ")]
    found = {
        start[1] or "A": (questions[:1], [text])
        for start, text in _between(prompt, _ANSWER, "\n[The End of ")
    }
    for start, chat in _between(prompt, _CHAT, "\n<|The End of "):
        _, *pieces = _SPEAKER.split(chat.rstrip("\n"))
        spoken = list(zip(pieces[::2], pieces[1::2], strict=True))
        found[start[1]] = (
            [text for speaker, text in spoken if speaker == "User"],
            [text for speaker, text in spoken if speaker != "User"],
        )
    return found


def _add_what_was_judged(files: _Files) -> None:
    """Questions and answers of judgments that come alone, out of the judges' prompts."""
    questions: dict[Any, JsonObject] = {}
    answers: dict[tuple[Any, str], JsonObject] = {}
    for row in files.judgments:
        prompt = row.value.get("user_prompt", row.value.get("g1_user_prompt"))
        question_id = row.value.get("question_id")
        if not isinstance(prompt, str) or not isinstance(question_id, str | int):
            continue
        models = {
            "A": row.value.get("model", row.value.get("model_1")),
            "B": row.value.get("model_2"),
        }
        for letter, (turns, texts) in _judged(prompt).items():
            model = models.get(letter)
            known = questions.get(question_id)
            if known is None or len(known.value["turns"]) < len(turns):
                value: dict[str, Any] = {"question_id": question_id, "turns": turns}
                questions[question_id] = replace(row, value=value)
            if not isinstance(model, str):
                continue
            spoken = answers.get((question_id, model))
            if spoken is None or len(spoken.value["choices"][0]["turns"]) < len(texts):
                value = {"question_id": question_id, "model_id": model}
                value["choices"] = [{"index": 0, "turns": texts}]
                answers[question_id, model] = replace(row, value=value)
    files.questions += questions.values()
    files.answers += answers.values()


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(sum(one.stat().st_size for one in files_of(path, ".jsonl")), problems)
    files = _Files()
    for row in rows_of_files(path, ".jsonl", problems):
        files.add(row)
    if not files.questions:
        _add_what_was_judged(files)
    dialogues: dict[str, CrossedDialogue] = {}
    for row in files.questions:
        _add_question(row, dialogues)
    for row in files.references:
        _add_references(row, dialogues)
    for row in files.answers:
        _add_answer(row, dialogues)
    votes = VotesOfOne()
    for row in files.judgments:
        _add_judgment(row, dialogues, votes)
    for dialogue in dialogues.values():
        yield from dialogue.records()


def _add_question(row: JsonObject, dialogues: dict[str, CrossedDialogue]) -> None:
    question_id = row.name("question_id")
    turns = row.texts("turns", MAX_TEXT, may_be_empty=True)
    has_references = row.value.get("reference") not in (None, [])
    references = row.texts("reference", MAX_TEXT, True) if has_references else ()
    if question_id is None or turns is None or references is None:
        return
    if question_id in dialogues:
        row.complain("question_id", f"the question {question_id!r} occurs twice")
        return
    dialogue = CrossedDialogue(
        question_id,
        row.where,
        tuple(Message(USER, turn) for turn in turns),
        rest_of(row, ("question_id", "turns", "reference")),
    )
    for number in range(len(turns)):
        known = references[number : number + 1]
        dialogue.add_turn(number, number + 1, tuple(filter(str.strip, known)))
    dialogues[question_id] = dialogue


def _dialogue_of(row: JsonObject, dialogues: dict[str, CrossedDialogue]) -> CrossedDialogue | None:
    question_id = row.name("question_id")
    if question_id is None:
        return None
    if question_id not in dialogues and not row.problems.found:
        row.complain("question_id", f"{question_id!r} is no question of these files")
    return dialogues.get(question_id)


def _choices(row: JsonObject, dialogue: CrossedDialogue) -> Iterator[tuple[str, ...]]:
    """The turns of each choice that answers the question."""
    for choice in row.children("choices") or ():
        turns = choice.texts("turns", MAX_TEXT, may_be_empty=True)
        if turns is not None and len(turns) > len(dialogue.messages):
            questions = len(dialogue.messages)
            choice.complain("turns", f"has {len(turns)} answers to {questions} questions")
        elif turns is not None:
            yield turns


def _add_references(row: JsonObject, dialogues: dict[str, CrossedDialogue]) -> None:
    dialogue = _dialogue_of(row, dialogues)
    if dialogue is None:
        return
    for turns in _choices(row, dialogue):
        for number, text in enumerate(turns):
            if text.strip():
                dialogue.add_turn(number, number + 1, (text,))


def _add_answer(row: JsonObject, dialogues: dict[str, CrossedDialogue]) -> None:
    dialogue = _dialogue_of(row, dialogues)
    system = row.name("model_id")
    if dialogue is None or system is None:
        return
    metadata = rest_of(row, ("question_id", "model_id", "choices"))
    for turns in _choices(row, dialogue):
        for number, text in enumerate(turns):
            dialogue.add_response(
                number, system, text, row.where, field="choices", metadata=metadata
            )


def _add_judgment(
    row: JsonObject, dialogues: dict[str, CrossedDialogue], votes: VotesOfOne
) -> None:
    dialogue = _dialogue_of(row, dialogues)
    judge = row.texts("judge", MAX_NAME)
    turn = row.parse_integer("turn")
    if dialogue is None or judge is None or turn is None:
        return
    if len(judge) != 2 or turn == 0:
        row.complain("judge" if turn else "turn", "must be [judge, prompt], and turn 1 or more")
        return
    if row.has("score"):
        _add_score(row, dialogue, judge, turn - 1)
    else:
        _add_votes(row, dialogue, judge, turn - 1, votes)


def _add_score(
    row: JsonObject, dialogue: CrossedDialogue, judge: tuple[str, ...], turn: int
) -> None:
    system, score = row.name("model"), row.number("score")
    if system is None or score is None:
        return
    if score == _FAILED:
        row.problems.skip(row.where, "score", "is -1: the judge gave no score")
        return
    aspect = judge[1].removesuffix(_MULTI_TURN)
    argued = {key: row.value[key] for key in ("user_prompt", "judgment") if row.has(key)}
    if argued:
        judgment = {"model": system, "judge": list(judge), "turn": turn, **argued}
        dialogue.metadata.setdefault("judgments", []).append(judgment)
    rating = RatingRecord(dialogue.id, turn, system, judge[0], aspect, score)
    dialogue.judgements.append((rating, row.where, "score"))


def _add_votes(
    row: JsonObject,
    dialogue: CrossedDialogue,
    judge: tuple[str, ...],
    turn: int,
    votes: VotesOfOne,
) -> None:
    systems = row.name("model_1"), row.name("model_2")
    if systems[0] is None or systems[1] is None:
        return
    metadata = rest_of(row, ("question_id", "model_1", "model_2", "judge", "turn", *_GAMES))
    for game, key in enumerate(_GAMES, 1):
        winner = row.text(key, MAX_NAME)
        if winner is None:
            continue
        if winner not in _WINNERS:
            row.problems.skip(row.where, key, f"is {winner!r}: the judge gave no verdict")
            continue
        vote = PreferenceRecord(
            dialogue.id,
            turn,
            systems[0],
            systems[1],
            _WINNERS[winner],
            judge[0],
            votes.name(OVERALL, (dialogue.id, turn, systems, judge[0])),
            metadata={**metadata, "judge_prompt": judge[1], "game": game},
        )
        dialogue.judgements.append((vote, row.where, key))


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        names = " ".join(sample.members)
        is_bench = "question.jsonl" in names and "model_answer/" in names
        return 0.95 if is_bench else 0.0
    is_judged = sample.keys >= {"question_id", "judge", "turn"}
    if is_judged and sample.keys & {"user_prompt", "g1_user_prompt"}:
        return 0.9
    return 0.7 if sample.keys >= {"question_id", "turns", "category"} else 0.0


_DESCRIPTION = """\
A folder as FastChat's `data/mt_bench`: `question.jsonl`, `model_answer/`, `reference_answer/`,
`model_judgment/` (a file with all their lines will do, and so do judgments alone, whose
`user_prompt` holds what was judged). A question is a dialogue, its turns are the
user's messages and the places to answer at; a model's answers are the responses of the system
`model_id`, `reference` and the answers in `reference_answer/` are references. `score` is a score by
the judge on the aspect that its prompt names (`single-v1`); `g1_winner` and `g2_winner` are two
preferences by the judge, one for each order in which it saw the answers (metadata `game`; the
second one has the aspect `overall (vote 2)`). A score
of −1 and a winner `error` are left out and reported."""
_EXAMPLE = (
    '{"question_id": 81, "category": "baking", "turns": ["Is the oven hot?"]}\n'
    '{"question_id": 81, "model_id": "baker", "choices": [{"index": 0, "turns": ["Not yet."]}]}\n'
    '{"question_id": 81, "model": "baker", "judge": ["judge-1", "single-v1"], "score": 8, "turn": '
    "1}\n"
)

IMPORTER = Importer(
    name="mt-bench",
    summary="MT-bench as FastChat keeps it: answers and judgments of LLM judges (a folder)",
    stream=with_head(_body, scales=_SCALES),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
