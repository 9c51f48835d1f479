"""Arena-Hard (Li et al. 2024): questions, models' answers, and judgments of a model against a
baseline, in both orders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import USER, rest_of
from annotations.formats.importers.collected import clean_name
from annotations.formats.importers.crossed import CrossedDialogue, refuse_large
from annotations.formats.importers.evaluations import present, text_of
from annotations.formats.importers.fields import JsonObject
from annotations.formats.importers.folders import files_of, rows_of_files
from annotations.formats.importers.heads import OVERALL, with_head
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.sample import FileSample
from annotations.formats.records import Message, PreferenceRecord

_IDS = ("question_id", "uid")
_MODELS = ("model_id", "model")
_BASELINE = "baseline"
_GAMES = "games"
_VERDICT = re.compile(r"([AB])(?:(>{1,2}|=|<{1,2})([AB]))")
_ANSWER = "<|The Start of Assistant {}'s Answer|>\n"


def _body(path: Path, problems: Problems) -> Iterator[Placed]:
    refuse_large(sum(one.stat().st_size for one in files_of(path, ".jsonl")), problems)
    rows = list(rows_of_files(path, ".jsonl", problems))
    dialogues: dict[str, CrossedDialogue] = {}
    texts: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=_order):
        name = clean_name(next((row.value[key] for key in _IDS if row.has(key)), ""))
        if not name:
            row.complain(_IDS[0], "is missing")
            continue
        dialogue = dialogues.setdefault(name, CrossedDialogue(name, row.where, ()))
        if _is_judgment(row.value):
            _judge(row, dialogue, texts.setdefault(name, {}))
        elif _is_answer(row.value):
            _answer(row, dialogue, texts.setdefault(name, {}))
        else:
            dialogue.messages = tuple(Message(USER, one) for one in _turns(row.value))
            dialogue.metadata |= present(rest_of(row, (*_IDS, "turns", "prompt")))
    for dialogue in dialogues.values():
        yield from dialogue.records()


def _order(row: JsonObject) -> int:
    """Questions first, then answers, then judgments."""
    return 2 if _is_judgment(row.value) else int(_is_answer(row.value))


def _is_judgment(value: dict[str, Any]) -> bool:
    return isinstance(value.get(_GAMES), list)


def _is_answer(value: dict[str, Any]) -> bool:
    return "choices" in value or ("messages" in value and "model" in value)


def _turns(value: dict[str, Any]) -> list[str]:
    turns = value.get("turns")
    if not isinstance(turns, list):
        turns = [value.get("prompt")]
    return [_text(one) for one in turns]


def _text(value: Any) -> str:
    """Of a turn: a text, ``{"content": text}``, ``{"answer": text}``, or a list that begins with
    it."""
    while not isinstance(value, str):
        if isinstance(value, dict):
            value = value.get("content", value.get("answer", value.get("text", "")))
        elif isinstance(value, list):
            value = value[0] if value else ""
        else:
            return text_of(value)
    return value


def _model(value: dict[str, Any]) -> str:
    return clean_name(next((value[key] for key in _MODELS if value.get(key)), ""))


def _answer(row: JsonObject, dialogue: CrossedDialogue, texts: dict[str, str]) -> None:
    system = _model(row.value)
    choices, messages = row.value.get("choices"), row.value.get("messages")
    if isinstance(choices, list):
        first = choices[0] if choices and isinstance(choices[0], dict) else {}
        turns = first.get("turns")
        spoken = [_text(one) for one in turns] if isinstance(turns, list) else []
    else:
        listed = messages if isinstance(messages, list) else []
        spoken_messages = [one for one in listed if isinstance(one, dict)]
        spoken = [_text(one) for one in spoken_messages if one.get("role") == "assistant"]
        if not dialogue.messages:
            question = [one for one in spoken_messages if one.get("role") == USER]
            dialogue.messages = tuple(Message(USER, _text(one)) for one in question)
    if not system or not spoken:
        row.complain("choices", "holds no answer of a model")
        return
    metadata = present(rest_of(row, (*_IDS, *_MODELS, "choices", "messages")))
    for turn, text in enumerate(spoken):
        dialogue.add_turn(turn, min(turn + 1, len(dialogue.messages)))
        dialogue.add_response(turn, system, text, row.where, metadata=metadata)
    texts[system] = spoken[0]


def _judge(row: JsonObject, dialogue: CrossedDialogue, texts: dict[str, str]) -> None:
    judge, system = clean_name(row.value.get("judge")), _model(row.value)
    if not judge or not system:
        row.complain("judge" if system else "model", "is missing")
        return
    for game, played in enumerate(row.children(_GAMES) or ()):
        prompt = _prompt(played.value)
        shown = {
            letter: text
            for letter in "AB"
            if (text := _between(prompt, _ANSWER.format(letter), "\n<|The End of")) is not None
        }
        question = _between(prompt, "<|User Prompt|>\n", "\n\n<|The Start of")
        if not dialogue.messages and question is not None:
            dialogue.messages = (Message(USER, question),)
        is_first = game % 2 == 0  # the baseline is shown as A first, then the two are exchanged
        other = _baseline(row, texts, shown.get("A" if is_first else "B", ""), system)
        arms = (other, system) if is_first else (system, other)
        for letter, arm in zip("AB", arms, strict=True):
            if arm not in texts and letter in shown:
                texts[arm] = shown[letter]
                dialogue.add_response(0, arm, shown[letter], played.where, field=played.path)
        verdict = _VERDICT.fullmatch(_text(played.value.get("score")).strip())
        if verdict is None:
            row.problems.skip(row.where, played.field("score"), "is no verdict of the judge")
            continue
        if any(arm not in texts for arm in arms):
            row.complain(_GAMES, "compares an answer that is in none of these files")
            return
        left, sign, _ = verdict.groups()
        is_left = (left == "A") == (sign[0] == ">")
        vote = PreferenceRecord(
            *(dialogue.id, 0, *arms, "tie" if sign == "=" else "a" if is_left else "b", judge),
            OVERALL,
            comment=_text(played.value.get("judgment")),
            metadata={"game": game + 1, "verdict": verdict[0]},
        )
        dialogue.judgements.append((vote, row.where, played.path))


def _between(text: str, start: str, end: str) -> str | None:
    _, found, rest = text.partition(start)
    inside, closed, _ = rest.partition(end)
    return inside if found and closed else None


def _prompt(game: dict[str, Any]) -> str:
    """What the judge was shown: a text, or messages."""
    value = game.get("user_prompt", game.get("prompt"))
    if isinstance(value, list):
        return "\n".join(_text(one) for one in value)
    return _text(value)


def _baseline(row: JsonObject, texts: dict[str, str], shown: str, system: str) -> str:
    """The row's baseline; in earlier versions the model whose answer the judge was shown."""
    named = clean_name(row.value.get(_BASELINE))
    same = (one for one, text in texts.items() if text == shown and one != system)
    return named or next(same, _BASELINE)


def _detect(sample: FileSample) -> float:
    if sample.kind == "folder":
        judged = next((one for one in sample.members if "model_judgment/" in one), "")
        question = next((one for one in sample.members if "question.jsonl" in one), "")
        is_judged = bool(judged) and _is_judgment(dict(sample.member(judged).record))
        return 0.97 if is_judged or (question and _is_question(sample.member(question))) else 0.0
    return 0.9 if sample.keys >= {"judge", _GAMES} or _is_question(sample) else 0.0


def _is_question(sample: FileSample) -> bool:
    turns = sample.record.get("turns")
    first = turns[0] if isinstance(turns, list) and turns else None
    is_of_contents = isinstance(first, dict) and first.keys() == {"content"}
    is_first = is_of_contents and sample.keys >= {"question_id", "category"}
    return is_first or sample.keys >= {"uid", "category", "prompt"}


_DESCRIPTION = """\
A folder as Arena-Hard's `data/BENCHMARK`: `question.jsonl`, `model_answer/`, `model_judgment/`, of
version 0.1 or 2; or judgments alone, whose prompts hold what was judged. A question is a dialogue,
a model's answers are responses. Each of a judgment's `games` is a preference by the judge, between
the model and the baseline, in the order in which they were shown; `A>>B` and `A>B` are the same
preference, with the verdict as metadata. A game without a verdict is left out and reported."""
_EXAMPLE = (
    '{"uid": "q1", "category": "baking", "prompt": "Is the oven hot?"}\n'
    '{"uid": "q1", "model": "baker", "messages": [{"role": "user", "content": "Is the oven hot?"}, '
    '{"role": "assistant", "content": {"answer": "Not yet."}}]}\n'
    '{"uid": "q1", "model": "cook", "messages": [{"role": "user", "content": "Is the oven hot?"}, '
    '{"role": "assistant", "content": {"answer": "Hot!"}}]}\n'
    '{"uid": "q1", "model": "baker", "baseline": "cook", "judge": "judge-1", "games": [{"score": '
    '"B>A"}, {"score": "A>>B"}]}\n'
)

IMPORTER = Importer(
    name="arena-hard",
    summary="Arena-Hard: answers and judgments against a baseline (a folder)",
    stream=with_head(_body),
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
)
