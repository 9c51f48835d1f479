"""Two responses and a vote a row: comparisons as studies and judges write them down."""

from __future__ import annotations

import re
from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from annotations.formats.importers.base import Importer, Placed
from annotations.formats.importers.chat_messages import parsed_json
from annotations.formats.importers.collected import (
    DATASET,
    OVERALL,
    Collection,
    clean_name,
    score_of,
)
from annotations.formats.importers.column_mapping import NAMES, plain_name
from annotations.formats.importers.crossed import VotesOfOne, refuse_large
from annotations.formats.importers.data_files import data_size
from annotations.formats.importers.problems import ImportFailed, Problems, Where
from annotations.formats.importers.sample import FileSample
from annotations.formats.importers.speakers import with_prompt
from annotations.formats.importers.table_source import is_missing, number_in, read_rows
from annotations.formats.records import PreferenceRecord

Preferred = Literal["a", "b", "tie", "both_bad"]

_ARMS = (
    *(("a", "b"), ("1", "2"), ("0", "1"), ("left", "right"), ("first", "second")),
    *(("x", "y"), ("j", "k")),
)
_RESPONSES = (
    *("response", "answer", "output", "completion", "reply", "text", "summary", "generation"),
    *("candidate", "humanref", "modelresponse", "systemresponse"),
)
_BODY = "body"
"""Behind the arm: ``answer1_body`` (JudgeLM)."""
_SYSTEMS = ("model", "system", "generator", "modelname", "systemname", "bot", "answermodelid")
_BOTH_SYSTEMS = "cmpkey"
"""Names both, with ``_`` between them (PandaLM)."""
_BOTH_SCORES = "score"
_JUDGES_OWN = ("instruction", "input", "output")
_SCORES = ("score", "rating")
VOTES = (
    *("winner", "preference", "preferred", "vote", "choice", "chosen", "better", "verdict"),
    *("betterresponse", "betterresponseid", "overallpreference", "preferredresponse"),
    *("preferredmodel", "judgment", "judgement", "labels", "label", "preferencestrength"),
)
_VOTE_OF_RATER = re.compile(r"(?:annotator|rater|label|worker|judge|vote)[ _-]?[0-9]+", re.I)
_JUDGMENT = "text"
_SCORES_AHEAD = re.compile(
    r"\s{0,9}(\d{1,3}(?:\.\d{1,9})?)[ ,]{1,9}(\d{1,3}(?:\.\d{1,9})?)\s{0,9}\n"
)
_FIRST_ROWS = 1_000
TIES = frozenset(
    [
        *("tie", "ties", "tied", "equal", "same", "draw", "both", "neutral", "neither"),
        *("aboutthesame", "thesame", "aboutequal", "equallygood", "nopreference", "bothgood"),
    ]
)
_BAD = frozenset(["tiebothbad", "bothbad", "botharebad", "neithergood"])
_MORE = re.compile(
    r"(?:response|model|answer|option|output|assistant)?\s{0,9}(?P<arm>\w{1,64}) (?:is |was )?"
    r"(?:(?:much|slightly|significantly|clearly|somewhat|far|a bit|a little|marginally) )?better"
    r"(?: than .*)?",
    re.IGNORECASE,
)
_GREATER = re.compile(r"(?P<left>\w{1,64})\s{0,9}(?P<sign>[<>=≫≪]{1,9})\s{0,9}(?P<right>\w{1,64})")
_BRACKETED_TIE = "[[C]]"
"""Of judges that were asked as MT-bench asks."""
_WHOLE_NUMBER_SAYS_A_WON = "humanref"
"""SHP: 1 means that A was preferred, 0 that B was."""


@dataclass(frozen=True, slots=True)
class _Columns:
    """Headings; "" for those not there."""

    arms: tuple[str, str]
    stem: str
    responses: tuple[str, str]
    systems: tuple[str, str]
    both_systems: str
    scores: tuple[str, str]
    both_scores: str
    votes: tuple[str, ...]
    conversation: str
    context: str
    prompts: tuple[str, ...]
    rater: str
    aspect: str
    comment: str

    @classmethod
    def of(cls, keys: Names[str], rows: Sequence[Mapping[str, Any]] = ()) -> _Columns | None:
        """The columns of a table, by their names and, for a vote under another name, by the cells
        of its first rows; None where two responses or what compares them are not there."""
        plain = {plain_name(key): key for key in reversed(list(keys))}
        if judged := {name[4:]: key for name, key in plain.items() if name.startswith("orig")}:
            # Prometheus: the plain names are those of the judge's prompt
            plain = {name: key for name, key in plain.items() if name not in _JUDGES_OWN} | judged

        def pair(stems: tuple[str, ...], arms: tuple[str, str]) -> tuple[str, tuple[str, str]]:
            for stem in stems:
                for names in (
                    [f"{stem}{one}" for one in arms],
                    [f"{one}{stem}" for one in arms],
                    [f"{stem}{one}{_BODY}" for one in arms],
                    [f"{stem[:6]}{one}{stem[6:]}" for one in arms],
                ):
                    if all(name in plain for name in names):
                        return stem, (plain[names[0]], plain[names[1]])
            return "", ("", "")

        def one(known: tuple[str, ...]) -> str:
            return next((plain[name] for name in known if name in plain), "")

        for arms in _ARMS:
            stem, responses = pair(_RESPONSES, arms)
            if not stem:
                continue
            of_systems = (pair(_SYSTEMS, one)[1] for one in (arms, *_ARMS))
            systems = next((one for one in of_systems if one[0]), ("", ""))
            _, scores = pair(_SCORES, arms)
            votes = tuple(filter(None, [one(VOTES)])) or tuple(
                sorted(key for key in keys if _VOTE_OF_RATER.fullmatch(key))
            )
            both_scores = "" if scores[0] or votes else one((_BOTH_SCORES,))
            is_judged = bool(votes or scores[0] or both_scores)
            prompts: tuple[str, ...] = (one((*NAMES["prompt"], "questionbody")),)
            if prompts == (plain.get("instruction"),) and "input" in plain:
                prompts += (plain["input"],)
            columns = cls(
                *(arms, stem, responses, systems, one((_BOTH_SYSTEMS,)), scores, both_scores),
                *(votes, one(NAMES["conversation"])),
                *(one(NAMES["context"]), prompts),
                *(one(NAMES["rater"]), one(NAMES["aspect"]), one(NAMES["comment"])),
            )
            if not is_judged:
                named = [key for key in keys if columns.is_vote(key, rows)]
                columns, is_judged = replace(columns, votes=tuple(named)), len(named) == 1
            if is_judged:
                return columns
        return None

    def is_vote(self, key: str, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether all cells of a column name one of the two or a tie, in words: 0 and 1 may count
        anything."""
        written = {str(row.get(key, "")).strip() for row in rows} - {""}
        votes = {
            None if number_in(one) is not None else self.preferred(one, ("", " "), False)
            for one in written
        }
        return key not in self.used() and None not in votes and bool(votes & {"a", "b"})

    def used(self) -> set[str]:
        pairs = (*self.responses, *self.systems, *self.scores, *self.votes, *self.prompts)
        named = (self.conversation, self.context, self.rater, self.aspect, self.comment)
        return {*pairs, *named, self.both_systems, self.both_scores}

    def preferred(
        self, written: str, systems: tuple[str, str], is_signed: bool
    ) -> Preferred | None:
        """What a vote says; None where it names neither."""
        if is_signed and (number := number_in(written)) is not None:
            return "tie" if number == 0 else "a" if number < 0 else "b"
        if written == _BRACKETED_TIE:
            return "tie"
        if more := _MORE.fullmatch(written):
            written = more["arm"]
        elif greater := _GREATER.fullmatch(written):
            is_tie = set(greater["sign"]) == {"="}
            is_left = greater["sign"][0] in ">≫"
            written = "tie" if is_tie else greater["left" if is_left else "right"]
        word = plain_name(written)
        number = number_in(written)
        if number is not None and self.arms == ("1", "2") and 1 < number < 2:
            # AlpacaEval: the nearer to 2, the surer that the second is better
            return "tie" if number == 1.5 else "a" if number < 1.5 else "b"
        if number is not None and number == int(number):
            word = str(int(number))
        if self.stem == _WHOLE_NUMBER_SAYS_A_WON and word in ("0", "1"):
            return "a" if word == "1" else "b"
        if word in TIES or (word == "0" and self.arms == ("1", "2")):
            return "tie"
        if word in _BAD:
            return "both_bad"
        for place, preferred in enumerate(("a", "b")):
            arm = self.arms[place]
            names = {arm, f"{self.stem}{arm}", f"{arm}{self.stem}", f"model{arm}", f"system{arm}"}
            names |= {plain_name(systems[place]), plain_name(self.responses[place]), f"option{arm}"}
            names.add(plain_name(self.systems[place]) or arm)
            if word in names and systems[0] != systems[1]:
                return preferred  # type: ignore[return-value]
        return None


def stream(path: Path, _part: str, problems: Problems) -> Iterator[Placed]:
    """Read comparisons.

    Args:
        path: table or JSON rows with two responses and a vote.
        _part: ignored, the file holds one corpus.
        problems: collects faults.

    Returns:
        Iterator over records. Rows with one id, or without ids one context, are a dialogue; where
        the systems have no names they are called as the columns of the responses, and rows of
        one dialogue have the same two responses.

    Raises:
        ImportFailed: as in ``open_table``; where the columns are not there, or the file is larger
            than memory allows (``refuse_large``).
    """
    refuse_large(data_size(path), problems)
    collection, votes = Collection(problems), VotesOfOne()
    ids: dict[tuple[str, ...], str] = {}
    columns: _Columns | None = None
    is_signed = False
    for line, row in read_rows(path, problems):
        if columns is None:
            first_rows = _first_rows(path)
            columns = _Columns.of(row, first_rows)
            if columns is None:
                problems.stop(line, "", "has not the columns of two responses and of a vote")
            is_signed = len(columns.votes) == 1 and any(
                (number_in(one[columns.votes[0]]) or 0) < 0 for one in first_rows
            )
        _take(row, columns, line, collection, ids, votes, is_signed)
    yield from collection.records()


def _first_rows(path: Path) -> list[dict[str, str]]:
    """By which a vote is known, and a scale below and above 0 (HelpSteer: −3 is for the first
    one)."""
    try:
        return [row for _, row in islice(read_rows(path, Problems(path.name)), _FIRST_ROWS)]
    except ImportFailed:  # the reading meets the same fault, and tells it
        return []


def _take(
    row: Mapping[str, str],
    columns: _Columns,
    line: Where,
    collection: Collection,
    ids: dict[tuple[str, ...], str],
    votes: VotesOfOne,
    is_signed: bool,
) -> None:
    problems = collection.problems
    texts = (row[columns.responses[0]].strip(), row[columns.responses[1]].strip())
    named = tuple(clean_name(row.get(name)) for name in columns.systems)
    if not any(named) and row.get(columns.both_systems, "").count("_") == 1:
        named = tuple(map(clean_name, row[columns.both_systems].split("_")))
    systems = (named[0] or columns.responses[0], named[1] or columns.responses[1])
    context = row.get(columns.context, "")
    prompt = "\n".join(filter(None, (_prompt_text(row.get(one, "")) for one in columns.prompts)))
    name = clean_name(row.get(columns.conversation))
    if not name:
        key = (context, prompt) if all(named) else (context, prompt, *texts)
        name = ids.setdefault(key, str(len(ids) + 1))
    one = collection.conversation(name, line)
    one.turn(0, line, with_prompt(context, prompt))
    sample = int(systems[0] == systems[1])
    one.response(0, systems[0], texts[0], line)
    one.response(0, systems[1], texts[1], line, sample)
    used = columns.used()
    metadata = {key: text for key, text in row.items() if key not in used and not is_missing(text)}
    rater = clean_name(row.get(columns.rater)) or DATASET
    scores = _scores(row, columns)
    for system, score in zip(systems, scores, strict=True):
        if score is not None and not sample:
            one.rate(0, system, rater, "score", score, line)
    aspect = clean_name(row.get(columns.aspect)) or OVERALL
    for heading, voter, preferred in _preferred(row, columns, systems, scores, is_signed, rater):
        written = row.get(heading, "").strip()
        if preferred == "":
            problems.skip(line, heading, "is empty: no vote")
        elif preferred is None:
            arms = " nor ".join(columns.arms)
            message = f"names neither {arms}, nor a tie: {written[:50]!r}; write one of these"
            problems.add(line, heading, message)
        else:
            record = PreferenceRecord(
                *(name, 0, *systems, preferred, voter),
                votes.name(aspect, (name, *systems, voter)),
                sample_b=sample,
                comment=row.get(columns.comment, "").strip(),
                metadata=metadata,
            )
            one.prefer(record, line)


def _prompt_text(written: str) -> str:
    """The text of a prompt, which WebGPT has within an object."""
    value = parsed_json(written)
    text = value.get("full_text", value.get("text")) if isinstance(value, dict) else None
    return text.strip() if isinstance(text, str) else written.strip()


def _scores(row: Mapping[str, str], columns: _Columns) -> tuple[float | None, float | None]:
    """Of the two responses, from two columns or one with a list of both."""
    if columns.both_scores:
        both = parsed_json(row[columns.both_scores])
        if isinstance(both, list) and len(both) == 2:
            first, second = score_of(both[0]), score_of(both[1])
            if first is not None and second is not None:
                return first, second
        if written := _SCORES_AHEAD.match(row.get(_JUDGMENT, "")):  # JudgeLM
            return float(written[1]), float(written[2])
        return None, None
    first, second = (number_in(row.get(one, "")) if one else None for one in columns.scores)
    return first, second


def _preferred(
    row: Mapping[str, str],
    columns: _Columns,
    systems: tuple[str, str],
    scores: tuple[float | None, float | None],
    is_signed: bool,
    rater: str,
) -> Iterator[tuple[str, str, Preferred | Literal[""] | None]]:
    """Each vote of a row: its column, its rater, and whom it prefers; "" for none, None where it
    cannot be read. Without columns of votes the higher of two scores is preferred."""
    for heading in columns.votes:
        voter = rater if len(columns.votes) == 1 else heading
        written = row[heading].strip()
        yield (
            heading,
            voter,
            "" if is_missing(written) else columns.preferred(written, systems, is_signed),
        )
    first, second = scores
    if not columns.votes and first is not None and second is not None:
        yield "", rater, "tie" if first == second else "a" if first > second else "b"


def _detect(sample: FileSample) -> float:
    if not sample.is_of_rows:
        return 0.0
    return 0.7 if _Columns.of(sorted(sample.keys), sample.rows) else 0.0


_DESCRIPTION = """\
CSV, XLSX, Parquet, a JSON array or JSON lines: one comparison a row, two responses (`response_a`
and `response_b`, `answer_1` and `answer_2`, `output_left` and `output_right`, …) to a `prompt` or
`context`, and a vote (`winner`, `preference`, `choice`, …, or the only column of such words): `A`,
`B`, `model_a`, a system's name, `tie`, `both bad`. `model_a` and `model_b` name the systems, else
the columns of the responses do; `annotator`, `aspect`, `comment`, an id and two scores (`score_a`,
`score_b`) are known, too. All other columns are metadata of the preference."""
_EXAMPLE = """\
prompt,response_a,response_b,model_a,model_b,winner,annotator
Is the oven hot?,Not yet.,Hot!,baker,cook,A,ann
"""

IMPORTER = Importer(
    name="response-pairs",
    summary="two responses and a vote a row (CSV, XLSX, Parquet, JSON)",
    stream=stream,
    detect=_detect,
    description=_DESCRIPTION,
    example=_EXAMPLE,
    takes_pieces=True,
)
