"""Which column of a table is what: guessed from headings and first rows, or read from YAML."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from annotations.formats.importers.table_source import is_missing, number_in, numbers_in
from common.text import MAX_NAME

Use = Literal[
    "conversation",
    "turn",
    "system",
    "context",
    "prompt",
    "response",
    "reference",
    "persona",
    "rater",
    "aspect",
    "score",
    "label",
    "comment",
    "metadata",
    "ignore",
]
USES: tuple[Use, ...] = get_args(Use)
ONCE = frozenset(("conversation", "turn", "system", "context", "response", "rater", "aspect"))
"""What one column at most can be."""
MAX_MAPPING = 256 * 1024

NAMES: Mapping[Use, tuple[str, ...]] = {
    "conversation": (
        *("gespräch", "gesprächid", "conversación", "对话", "对话编号", "会話"),
        *("dialogid", "dialogueid", "dialog", "dialogue", "conversationid", "conversation"),
        *(
            "convid",
            "chatid",
            "session",
            "sessionid",
            "threadid",
            "itemid",
            "item",
            "uid",
            "docid",
            "id",
        ),
    ),
    "turn": ("turn", "turnid", "turnnumber", "turnindex", "turnidx", "runde", "turno", "轮次"),
    "system": (
        *("system", "model", "systemid", "modelid", "systemname", "modelname", "agent"),
        *("generator", "chatbot", "bot", "llm", "botname"),
        *("modell", "sistema", "modelo", "système", "modèle", "系统", "模型", "システム"),
    ),
    "context": (
        *("context", "history", "dialoghistory", "dialoguehistory", "conversationhistory"),
        *("dialogcontext", "dialoguecontext", "conversationcontext", "chathistory", "transcript"),
        *("source", "kontext", "verlauf", "contexto", "contexte", "上下文", "文脈"),
    ),
    "prompt": (
        *("prompt", "instruction", "userprompt", "userinput", "usermessage", "userutterance"),
        *("userquery", "query", "inputtext", "input", "question"),
        *("frage", "anfrage", "pregunta", "问题", "質問"),
    ),
    "response": (
        *("response", "reply", "answer", "output", "hypothesis", "candidate", "modelresponse"),
        *("systemresponse", "generation", "completion", "botresponse", "assistantresponse"),
        *("modeloutput", "systemoutput", "outputtext", "generatedresponse", "generatedtext"),
        *("modelanswer", "generatedanswer", "prediction", "actualoutput", "responsetext"),
        *("antwort", "respuesta", "réponse", "回复", "回答", "応答"),
    ),
    "reference": (
        *("reference", "references", "gold", "goldresponse", "groundtruth", "target"),
        *("referenceanswer", "referenceresponse", "expectedoutput", "expectedanswer"),
    ),
    "persona": ("persona", "personab", "personas", "personality"),
    "rater": (
        *("rater", "annotator", "worker", "workerid", "raterid", "annotatorid", "judge"),
        *("evaluator", "prolificpid", "participant", "participantid", "ratername"),
        *("annotatorname", "evaluatorid", "judgeid", "coder", "reviewer", "assessor"),
        *("bewerter", "bewerterin", "evaluador", "évaluateur", "评分者", "标注者", "評価者"),
    ),
    "aspect": (
        *("aspect", "criterion", "dimension", "quality", "metric"),
        *("aspectname", "criterionname", "dimensionname", "attribute"),
        *("kriterium", "aspekt", "criterio", "critère", "维度", "観点"),
    ),
    "score": (
        *("score", "rating", "value", "ratings", "bewertung", "punktzahl", "puntuación"),
        *("分数", "评分", "得分", "評点", "humanscore", "humanrating", "judgement", "judgment"),
    ),
    "comment": (
        *("comment", "comments", "remark", "remarks", "justification", "explanation"),
        *("rationale", "kommentar"),
    ),
}
"""Names of columns without blanks, signs and capitals, in several languages; the first name of a
use wins."""
_JUDGED = tuple(f"orig{one}" for one in ("instruction", "response", "score"))
_DEEPEVAL = "actualoutput"
_PERSON = r"(?:rater|annotator|worker|judge|person|user|evaluator|coder|r|a)[ _-]?[0-9]+"
_RATER = re.compile(_PERSON, re.IGNORECASE)
_ASPECT_AND_RATER = re.compile(rf"(.+?)[ _./-]+({_PERSON})", re.IGNORECASE)
_RATER_AND_ASPECT = re.compile(rf"({_PERSON})[ _./-]+(.+)", re.IGNORECASE)
_NO_SCORE = re.compile(
    r"(^|[ _.-])(time|timestamp|seconds?|secs?|s|ms|duration|date|day|year|id|ids|index|idx|age|"
    r"length|len|count|words|tokens|version|seed|order|position|page|batch|split|fold|"
    r"number|no|nr|n)"
    r"($|[ _.-])",
    re.IGNORECASE,
)
_CATEGORIES = frozenset(
    [
        *("yes", "no", "y", "n", "maybe", "unsure", "true", "false", "ja", "nein", "oui", "non"),
        *("good", "bad", "fair", "poor", "neutral", "agree", "disagree", "ok", "pass", "fail"),
        *("positive", "negative", "strongly agree", "strongly disagree", "somewhat agree"),
        *("somewhat disagree", "neither agree nor disagree", "slightly agree", "undecided"),
        *("slightly disagree", "very good", "very bad", "very poor", "excellent", "average"),
        *("always", "often", "sometimes", "rarely", "never", "not at all", "very much"),
    ]
)
"""Answers by which a column of texts is known as labels."""


@dataclass(frozen=True, slots=True)
class Column:
    """What one column is.

    Attributes:
        use: one of ``USES``.
        aspect: of a score or label; "" for what the column ``aspect`` says, else ``overall``.
        rater: of a score or label; "" for what the column ``rater`` says.
    """

    use: Use
    aspect: str = ""
    rater: str = ""


@dataclass(frozen=True)
class TableMapping:
    """Columns by heading, in the order of the table.

    Attributes:
        columns: what each is; one that is not named is metadata.
        heading_line: line of the headings; 0 to find it.
    """

    columns: Mapping[str, Column] = field(default_factory=dict)
    heading_line: int = 0

    def named(self, use: Use) -> tuple[str, ...]:
        """Headings of the columns with this use."""
        return tuple(name for name, column in self.columns.items() if column.use == use)

    def fault(self, to_add: bool = False) -> str:
        """What keeps a table from being read with it, as a sentence; "" where nothing does.

        Args:
            to_add: the table adds to a corpus that is there, and names its conversations.
        """
        for use in USES:
            if use in ONCE and len(names := self.named(use)) > 1:
                return f"only one column can be the {use}; these are: {', '.join(names)}"
        if to_add:
            if not any(self.named(use) for use in ("response", "score", "label", "comment")):
                return "one column must be a score, label, comment or response"
            if not self.named("conversation") and not self.named("system"):
                return "one column must be the conversation"
        elif not any(self.named(use) for use in ("response", "context", "prompt")):
            return "one column must be the response, or the context of conversations without any"
        return ""


def guess_mapping(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> TableMapping:
    """Guess what each column is.

    Known names come first. Of the others, in a table without a column of scores: a column of
    numbers is an aspect, or a rater's scores where it is named like one (``rater_1``, ``overall
    r2``); one of yes and no or the like is a label. All else is metadata.

    Args:
        heading: names of the columns.
        rows: the first rows, each with as many cells.

    Returns:
        The guess, with every column; a column without a name is ignored where it counts the rows.
    """
    plain = _known_names(heading)
    columns: dict[str, Column] = {}
    for use, known in NAMES.items():
        found = [name for one in known for name in heading if plain[name] == one]
        free = [name for name in found if name and name not in columns]
        if free:
            columns[free[0]] = Column(use)
            if use == "reference" or [plain[name] for name in free] == ["instruction", "input"]:
                columns.update((name, Column(use)) for name in free[1:])
    _take_texts_as_context(columns, heading, rows)
    if "aspect" in {column.use for column in columns.values()}:
        columns = _without_a_wide_aspect(columns, heading, rows)
    is_long = any(column.use == "score" for column in columns.values())
    for place, name in enumerate(heading):
        cells = [row[place] for row in rows]
        if name not in columns:
            columns[name] = _other(name, cells, is_long)
    return TableMapping({name: columns[name] for name in heading})


def _known_names(heading: Sequence[str]) -> dict[str, str]:
    """The plain name of each column; what stands in brackets (``Rating (1-5)``) is no part of it
    where no other column has the same name without it."""
    without = {name: plain_name(re.sub(r"[(\[][^()\[\]]*[)\]]", "", name)) for name in heading}
    if judged := {name: one[4:] for name, one in without.items() if one.startswith(_JUDGED)}:
        # Prometheus: the other names are those of the judge's prompt and answer
        others = {"origfeedback": "comment", "origreferenceanswer": "reference"}
        return {name: judged.get(name, others.get(one, "")) for name, one in without.items()}
    if {"instruction", "output", "system"} <= set(without.values()):
        # LLaMA-Factory's: the system prompt
        without = {name: "" if one == "system" else one for name, one in without.items()}
    if _DEEPEVAL in without.values():
        # Its context is documents
        without = {name: "" if one == "context" else one for name, one in without.items()}
    counts = Counter(without.values())
    return {name: one if counts[one] == 1 else plain_name(name) for name, one in without.items()}


def _take_texts_as_context(
    columns: dict[str, Column], heading: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """A column ``conversation`` of long texts or lines is no column of ids."""
    named = [name for name, column in columns.items() if column.use == "conversation"]
    if named and "context" not in {column.use for column in columns.values()}:
        cells = [row[list(heading).index(named[0])].strip() for row in rows]
        if any("\n" in cell or len(cell) > MAX_NAME for cell in cells):
            columns[named[0]] = Column("context")
            plain = {plain_name(name): name for name in reversed(list(heading))}
            ids = (plain.get(known, "") for known in NAMES["conversation"])
            free = next((name for name in ids if name and name not in columns), "")
            columns.update({free: Column("conversation")} if free else {})


def _without_a_wide_aspect(
    columns: dict[str, Column], heading: Sequence[str], rows: Sequence[Sequence[str]]
) -> dict[str, Column]:
    """A column ``Quality`` of numbers is an aspect's scores, not the name of one."""
    [name] = [name for name, column in columns.items() if column.use == "aspect"]
    place = list(heading).index(name)
    if _are_numbers([row[place] for row in rows]):
        return {other: column for other, column in columns.items() if other != name}
    return columns


def _other(name: str, cells: Sequence[str], is_long: bool) -> Column:
    if not name:
        is_index = all(cell.strip().isdigit() for cell in cells)
        return Column("ignore" if is_index else "metadata")
    if is_long:
        return Column("metadata")
    is_judged = _are_numbers(cells) and not is_no_score(name)
    is_label = not is_judged and _are_categories(cells)
    if not is_judged and not is_label:
        return Column("metadata")
    use: Use = "score" if is_judged else "label"
    if _RATER.fullmatch(name):
        return Column(use, "", name)
    if both := _ASPECT_AND_RATER.fullmatch(name):
        return Column(use, both[1], both[2])
    if both := _RATER_AND_ASPECT.fullmatch(name):
        return Column(use, both[2], both[1])
    return Column(use, name)


def _are_numbers(cells: Sequence[str]) -> bool:
    present = [cell for cell in cells if not is_missing(cell)]
    return bool(present) and all(
        number_in(cell) is not None or numbers_in(cell) for cell in present
    )


def _are_categories(cells: Sequence[str]) -> bool:
    present = [cell.strip().casefold() for cell in cells if not is_missing(cell)]
    return bool(present) and _CATEGORIES.issuperset(present)


def is_no_score(name: str) -> bool:
    """Whether a heading says that its numbers are times, counts or ids."""
    return _NO_SCORE.search(name) is not None


def plain_name(name: str) -> str:
    """A heading without blanks, signs and capitals, as ``NAMES`` has it."""
    return re.sub(r"[\W_]+", "", name.casefold())


# --- as a file ------------------------------------------------------------------------------------


def mapping_as_yaml(mapping: TableMapping) -> str:
    """Write a mapping as YAML.

    Args:
        mapping: any mapping.

    Returns:
        ``columns``: heading to use; a score or label with an aspect or rater of its own is a
        mapping of ``use``, ``aspect`` and ``rater``. ``heading_line`` where it is set.
    """
    import yaml

    written: dict[str, Any] = {}
    if mapping.heading_line:
        written["heading_line"] = mapping.heading_line
    written["columns"] = {
        name: column.use
        if not (column.aspect or column.rater)
        else {
            key: value
            for key, value in (
                ("use", column.use),
                ("aspect", column.aspect),
                ("rater", column.rater),
            )
            if value
        }
        for name, column in mapping.columns.items()
    }
    return str(yaml.safe_dump(written, allow_unicode=True, sort_keys=False))


def mapping_from_yaml(text: str, to_add: bool = False) -> TableMapping:
    """Read a mapping from YAML.

    Args:
        text: as ``mapping_as_yaml`` writes it.
        to_add: as in ``TableMapping.fault``.

    Returns:
        The mapping.

    Raises:
        ValueError: with what is wrong, for a person to read.
    """
    import yaml

    if len(text) > MAX_MAPPING:
        raise ValueError(f"the mapping has more than {MAX_MAPPING:,} characters")
    if re.search(r"(^|[\s\[{,:])[&*]\w", text):
        raise ValueError("the mapping has anchors or aliases (& or *); write them out")
    try:
        written = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ValueError(f"the mapping is not YAML: {str(error)[:300]}") from None
    if not isinstance(written, dict) or not isinstance(written.get("columns"), dict):
        raise ValueError("the mapping must have `columns`, with what each column is")
    if unknown := written.keys() - {"columns", "heading_line"}:
        raise ValueError(f"the mapping has an unknown key: {sorted(map(str, unknown))[0][:100]}")
    heading_line = written.get("heading_line", 0)
    if not isinstance(heading_line, int) or isinstance(heading_line, bool) or heading_line < 0:
        raise ValueError("heading_line must be a whole number from 1")
    columns = {str(name): _column(str(name), value) for name, value in written["columns"].items()}
    mapping = TableMapping(columns, heading_line)
    if fault := mapping.fault(to_add):
        raise ValueError(fault)
    return mapping


def _column(name: str, value: Any) -> Column:
    fields = {"use": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or fields.keys() - {"use", "aspect", "rater"}:
        raise ValueError(f"column {name!r}: give one of {', '.join(USES)}")
    use, aspect, rater = (fields.get(key, "") for key in ("use", "aspect", "rater"))
    if use not in USES:
        raise ValueError(f"column {name!r}: {str(use)[:50]!r} is none of {', '.join(USES)}")
    if not isinstance(aspect, str) or not isinstance(rater, str):
        raise ValueError(f"column {name!r}: aspect and rater must be texts")
    if (aspect or rater) and use not in ("score", "label"):
        raise ValueError(f"column {name!r}: only a score or label has an aspect or rater")
    return Column(use, aspect, rater)
