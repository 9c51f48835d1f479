"""Tables with a column of responses a system, as studies of several models keep them in
spreadsheets."""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any, Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.collected import (
    DATASET,
    Collection,
    Conversation,
    clean_name,
)
from annotations.formats.importers.column_mapping import NAMES, is_no_score, plain_name
from annotations.formats.importers.crossed import refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.problems import Problems, Where
from annotations.formats.importers.response_pairs import TIES, VOTES
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import with_prompt
from annotations.formats.importers.table_source import is_missing, number_in, read_rows
from annotations.formats.records import PreferenceRecord

_RESPONSE = "response|answer|output|reply|completion|generation"
_BEFORE = re.compile(rf"(?P<system>.{{1,100}}?)[ _.:-]+(?:{_RESPONSE})", re.IGNORECASE)
_BEHIND = re.compile(rf"(?:{_RESPONSE})[ _.:-]+(?P<system>.{{1,100}})", re.IGNORECASE)
_NO_SYSTEMS = frozenset(
    [
        *("a", "b", "c", "1", "2", "3", "0", "left", "right", "first", "second", "id", "text"),
        *("reference", "gold", "expected", "user", "model", "system", "bot", "assistant"),
        *("chosen", "rejected", "preferred", "better", "best", "correct", "generated", "final"),
        *("dispreferred", "nonpreferred", "unpreferred", "worse", "worst", "winner", "loser"),
        *("win", "lose", "winning", "losing", "accepted", "positive", "negative", "pos", "neg"),
        *("start", "end", "type", "format", "score", "rating", "quality", "label", "reason"),
    ]
)
"""Of other layouts: arms of a pair, references, the one system's column."""
_MODEL = re.compile(
    r"(?<![a-z])(?:(?:chat)?gpt|claude|llama|vicuna|mi[sx]tral|gemini|gemma|qwen|deepseek|falcon|"
    r"palm|bard|alpaca|koala|dolly|oasst|wizardlm|zephyr|tulu|starling|openchat|chatglm|glm|"
    r"baichuan|internlm|yi|phi|command-?r|bloomz?|opt|mpt|grok|nova|jamba|dbrx|olmo|pythia|"
    r"(?:flan-?)?t5|bart|dialogpt|blender(?:bot)?|meena|plato|lamda|cleverbot|mitsuku|xiaoice|"
    r"seq2seq|s2s|hred|vhred|transformer|lstm|kvmemnn|gru)(?![a-z]{3})|\d(?:\.\d)?b(?![a-z])",
    re.IGNORECASE,
)
"""Families of models, by which a heading is known as a system's name."""
_ABOUT = re.compile(
    r"(?:prompt|explanation|reason|rationale|judge?ment|verdict|label|comment|preference|feedback|"
    r"score|rating|url|link)s?\Z",
    re.IGNORECASE,
)
_OWN = frozenset(
    [
        *("ours", "ourmodel", "oursystem", "ourmethod", "proposed", "baseline", "human", "sft"),
        *("dpo", "ppo", "rlhf", "finetuned", "pretrained", "base", "humanwritten"),
    ]
)
"""Of columns that stand beside those of known models."""
_FIRST_ROWS = 100


def _systems(keys: Names[str], rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Heading of the responses by system; none where one column has them all."""
    if _first(keys, NAMES["response"]):
        return {}
    for form in (_BEFORE, _BEHIND):
        found = {one["system"].strip(): key for key in keys if (one := form.fullmatch(key))}
        known = {
            name: key
            for name, key in found.items()
            if len(name) > 1 and plain_name(name) not in _NO_SYSTEMS and not is_no_score(name)
        }
        if len(known) > 1:
            return known
    models = {
        key.strip(): key
        for key in keys
        if _MODEL.search(key) and not _ABOUT.search(key) and not _are_numbers(key, rows)
    }
    if len(models) > 1:
        return models | {key.strip(): key for key in keys if plain_name(key) in _OWN}
    return {}


def _are_numbers(key: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    return bool(rows) and all(number_in(str(one.get(key) or "0")) is not None for one in rows)


def _first(keys: Names[str], use: tuple[str, ...]) -> str:
    plain = {plain_name(key): key for key in reversed(list(keys))}
    return next((plain[name] for name in use if name in plain), "")


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read a table.

    Args:
        path: CSV, XLSX, Parquet or JSON rows.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records; a row is a dialogue.

    Raises:
        ImportFailed: as in ``read_rows``; where there are no two columns of responses, or the file
            is larger than memory allows.
    """
    refuse_large(data_size(path), problems)
    collection = Collection(problems)
    # Faults of the first rows are noted when they are read below
    first_rows = [row for _, row in islice(read_rows(path, Problems(path.name)), _FIRST_ROWS)]
    for number, (line, row) in enumerate(read_rows(path, problems), 1):
        systems = _systems(row, first_rows)
        if not systems:
            problems.stop(line, "", "has not two columns of responses, as in SYSTEM_response")
        by_id, context = _first(row, NAMES["conversation"]), _first(row, NAMES["context"])
        prompt, reference = _first(row, NAMES["prompt"]), _first(row, NAMES["reference"])
        one = collection.conversation(clean_name(row.get(by_id)) or str(number), line)
        before = with_prompt(row.get(context, ""), row.get(prompt, "").strip())
        one.turn(0, line, before, row.get(reference, "").strip())
        vote = _first([key for key in row if key not in systems.values()], (*VOTES, "best"))
        used = {by_id, context, prompt, reference, *systems.values()}
        if _prefer(one, {name: row[key] for name, key in systems.items()}, row.get(vote, ""), line):
            used.add(vote)
        for system, heading in systems.items():
            if not is_missing(row[heading]):
                one.response(0, system, row[heading].strip(), line)
            for key in [key for key in row if key not in used]:
                aspect = key.removeprefix(system).strip(" _.:-")
                score = number_in(row[key]) if key.startswith(system) and aspect else None
                if score is not None and not is_no_score(aspect) and not is_missing(row[heading]):
                    one.rate(0, system, DATASET, aspect, score, line)
                    used.add(key)
        one.metadata |= {key: row[key] for key in row if key not in used and row[key].strip()}
    yield from collection.records()


def _prefer(one: Conversation, answers: Mapping[str, str], written: str, line: Where) -> bool:
    """Note that one system, or none, is preferred to each other one; False where the vote names
    no system and no tie."""
    best = next((name for name in answers if plain_name(name) == plain_name(written)), "")
    if not best and plain_name(written) not in TIES:
        return False
    answered = [name for name, text in answers.items() if not is_missing(text)]
    pairs = ((a, b) for a, b in combinations(answered, 2) if not best or best in (a, b))
    for first, second in pairs:
        preferred: Literal["a", "b", "tie"] = "tie" if not best else "a" if first == best else "b"
        one.prefer(PreferenceRecord(one.id, 0, first, second, preferred, DATASET), line)
    return True


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows:
        return 0.0
    keys = sorted(sample.keys)
    is_answered = _first(keys, NAMES["prompt"]) or _first(keys, NAMES["context"])
    return 0.6 if is_answered and len(_systems(keys, sample.rows)) > 1 else 0.0


_DESCRIPTION = """\
CSV, XLSX, Parquet, a JSON array or JSON lines: one dialogue a row, with a `prompt` or `context` and
a column of responses a system (`baker_response`, `answer_cook`, …; or only `gpt-4` and `llama-2`,
names of known models). Columns of numbers that begin with a system's name (`baker_score`) are
scores of the rater `dataset`; a vote (`winner`, `best`, …) prefers the system that it names to each
other one; a `reference` and an id are known, too. Other columns are metadata of the dialogue."""
_EXAMPLE = """\
prompt,baker_response,cook_response,baker_score,cook_score
Is the oven hot?,Not yet.,Hot!,5,1
"""

IMPORTER = Importer(
    name="system-columns",
    summary="a column of responses a system (CSV, XLSX, Parquet, JSON)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
