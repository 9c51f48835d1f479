"""The tables and sentences of a judge's hygiene, from stored answers. No statistics are computed
here."""

from __future__ import annotations

from dataclasses import dataclass

from common.estimates import Estimate
from common.tables import Cell, Column, Row, Table, estimate_cell
from common.tables.numerals import written, written_interval
from leaderboard.answers.judges import (
    Injections,
    JudgeBias,
    OwnFamily,
    ScoresByLength,
    ScoresByTurn,
)
from leaderboard.statistics.judges.verbosity import RankWithCovariate

Systems = tuple[tuple[str, str], ...]
"""With their families."""
RANKS = (
    ("judge", "judge’s score", "Spearman’s ρ of the judge’s score with it."),
    ("human", "people’s score", "Spearman’s ρ of people’s mean score with it, on the same items."),
    (
        "judge_given_human",
        "judge’s, people’s held fixed",
        "Spearman’s partial ρ: what is left beyond people’s score.",
    ),
)


@dataclass(frozen=True, slots=True)
class BiasFinding:
    """What a check found, and what it cannot say."""

    found: str
    cannot: str
    is_warning: bool = False


# --- tables ---------------------------------------------------------------------------------------


def bias_tables(document: JudgeBias, metric: str, corpus: str) -> list[Table]:
    signature = document.signature
    tables = [_ranks_table(document, metric, corpus, signature)]
    if document.position.turns:
        tables.append(_turns_table(document.position, metric, corpus, signature))
    tables.append(_family_table(document.self_preference, metric, corpus, signature))
    tables.append(_injections_table(document.injections, metric, corpus, signature))
    return tables


def _ranks_table(document: JudgeBias, metric: str, corpus: str, signature: str) -> Table:
    columns = (
        Column("property", "Score with"),
        *(Column(key, label, "estimate", help=help) for key, label, help in RANKS),
        Column(
            "n",
            "n",
            "number",
            decimals=0,
            help="Items with both scores, or scored ones where nobody rated any.",
        ),
    )
    of_dialogues = document.level == "dialogue"
    lines: tuple[tuple[str, str, RankWithCovariate], ...] = (
        (
            "length",
            "mean length of its responses, words" if of_dialogues else "length, words",
            document.verbosity,
        ),
        ("turn", "turn number", document.position),
    )
    rows = tuple(
        Row(
            key,
            {
                "property": Cell(label),
                **{name: estimate_cell(getattr(found, name)) for name, _, _ in RANKS},
                "n": Cell(found.n),
            },
        )
        for key, label, found in lines
    )
    return Table(
        "judge-length",
        f"Spearman’s ρ of {metric} with length and turn number, {corpus}",
        columns,
        rows,
        notes=(
            f"Intervals: 95 %, from {document.resamples} draws of dialogues (seed "
            f"{document.seed}).",
        ),
        signature=signature,
    )


def _turns_table(position: ScoresByTurn, metric: str, corpus: str, signature: str) -> Table:
    columns = (
        Column("turn", "Turn", decimals=0),
        Column("judge", "Judge’s mean", "number", decimals=2),
        Column("human", "People’s mean", "number", decimals=2),
        Column(
            "gap",
            "Judge above people, sd",
            "estimate",
            decimals=2,
            help="Mean of z(judge) − z(people), 95 % interval over dialogues. 0: the judge moves "
            "as people do.",
        ),
        Column("n", "n", "number", decimals=0, help="Responses with both scores."),
    )
    rows = tuple(
        Row(
            f"turn-{one.number}",
            {
                "turn": Cell(one.number),
                "judge": Cell(one.judge),
                "human": Cell(one.human),
                "gap": estimate_cell(one.gap),
                "n": Cell(one.n),
            },
        )
        for one in position.turns
    )
    return Table(
        "judge-turns",
        f"{metric} and people by turn number, {corpus}",
        columns,
        rows,
        signature=signature,
    )


def _family_table(found: OwnFamily, metric: str, corpus: str, signature: str) -> Table:
    columns = (
        Column("group", "Systems"),
        Column(
            "gap",
            "Judge above people, sd",
            "estimate",
            decimals=2,
            help="Mean of z(judge) − z(people) over their responses, 95 % interval over dialogues.",
        ),
        Column("systems", "n", "number", decimals=0, help="Systems."),
        Column("names", "Which", detail=True),
    )
    lines: tuple[tuple[str, str, Estimate, Systems | None], ...] = (
        ("own", "of the judge’s family", found.own, found.own_systems),
        ("others", "of other families", found.others, found.other_systems),
        ("difference", "own minus others", found.difference, None),
    )
    rows = tuple(
        Row(
            key,
            {
                "group": Cell(label),
                "gap": estimate_cell(estimate),
                "systems": Cell(reason="a difference") if systems is None else Cell(len(systems)),
                "names": Cell(_names(systems) or None, reason="none is known")
                if systems is not None
                else Cell(reason="a difference"),
            },
        )
        for key, label, estimate, systems in lines
    )
    return Table(
        "judge-family",
        f"{metric} on systems of its own model family, {corpus}",
        columns,
        rows,
        signature=signature,
    )


def _names(systems: Systems) -> str:
    return ", ".join(f"{name} ({family})" for name, family in systems)


def _injections_table(found: Injections, metric: str, corpus: str, signature: str) -> Table:
    """Every flagged response as a file: the page shows them as cards."""
    columns = (
        Column("system", "System"),
        Column("dialogue", "Dialogue", "number", decimals=0, help="Place in the corpus, from 0."),
        Column("turn", "Turn", "number", decimals=0),
        Column("texts", "What speaks to the judge"),
        Column("kept", "Score as it is", "number", decimals=2),
        Column("removed", "Score without it", "number", decimals=2),
        Column("change", "Difference", "number", decimals=2),
    )
    rows = tuple(
        Row(
            f"injection-{number}",
            {
                "system": Cell(one.name),
                "dialogue": Cell(one.dialogue),
                "turn": Cell(one.turn) if one.turn >= 0 else Cell(reason="of the whole dialogue"),
                "texts": Cell(" | ".join(one.texts)),
                "kept": Cell(one.kept, reason="no score"),
                "removed": Cell(one.removed, reason="no score"),
                "change": Cell(one.change, reason="one of the two has no score"),
            },
            swatch=one.system,
        )
        for number, one in enumerate(found.rows)
    )
    return Table(
        "judge-injections",
        f"Responses that speak to the judge {metric}, {corpus}",
        columns,
        rows,
        signature=signature,
    )


# --- sentences ------------------------------------------------------------------------------------


def bias_sentences(document: JudgeBias) -> dict[str, BiasFinding]:
    return {
        "verbosity": _about_length(document.verbosity),
        "position": _about_turns(document.position),
        "self_preference": _about_family(document.self_preference),
        "injections": _about_injections(document.injections),
    }


def _figure(estimate: Estimate, decimals: int = 2) -> str:
    """ "0.31 (0.22 to 0.40)" """
    assert estimate.value is not None
    text = written(estimate.value, decimals)
    return f"{text} ({written_interval(estimate.ci, decimals)})" if estimate.ci else text


def _side(estimate: Estimate) -> int:
    """1 or −1 where the whole interval lies above or below 0; 0 where it holds 0 or there is
    none."""
    low, high = estimate.ci or (0.0, 0.0)
    return 1 if low > 0 else -1 if high < 0 else 0


def _about_length(found: ScoresByLength) -> BiasFinding:
    cannot = (
        "It cannot say why: a longer response may be better in ways that the few ratings of it do "
        "not show, and what people hold of it is known with error, so that holding their score "
        "fixed takes off too little."
    )
    judge, given = found.judge, found.judge_given_human
    if judge.value is None:
        return BiasFinding(f"No figure: {judge.reason}.", cannot)
    if given.value is None:
        return BiasFinding(
            f"Its score goes with length at ρ = {_figure(judge)}. With human ratings: "
            f"{given.reason}.",
            cannot,
        )
    people = found.human
    beside = (
        f"people’s at {_figure(people)}"
        if people.value is not None
        else f"people’s not: {people.reason}"
    )
    left = f"{_figure(given)} is left with people’s held fixed"
    text = f"Its score goes with length at ρ = {_figure(judge)}, {beside}; {left}."
    verdict = {
        1: " It scores longer responses higher than people’s scores account for.",
        -1: " It scores longer responses lower than people’s scores account for.",
        0: " With these data that cannot be told from nothing.",
    }[_side(given)]
    return BiasFinding(
        text + (verdict if given.ci else _no_interval(given)),
        cannot,
        is_warning=_side(given) > 0,
    )


def _no_interval(estimate: Estimate) -> str:
    return f" There is no interval: {estimate.reason}." if estimate.reason else ""


def _about_turns(found: ScoresByTurn) -> BiasFinding:
    cannot = (
        "An order of alternatives, of which judges of two responses prefer the first, does not "
        "arise here: this judge sees one response at a time. Whether a longer prompt moves it, or "
        "what later turns are like, is not told."
    )
    if not found.turns:
        return BiasFinding(f"No figure: {found.reason}.", cannot)
    off = [one for one in found.turns if _side(one.gap)]
    if len(found.turns) == 1:
        return BiasFinding(
            f"All responses are at turn {found.turns[0].number}: there is no other place "
            "to compare.",
            cannot,
        )
    if not off:
        return BiasFinding(
            "At no turn number does the judge score clearly above or below the raters, on its "
            "own scale.",
            cannot,
        )
    places = ", ".join(f"{one.number} ({_signed(one.gap.value or 0.0)} sd)" for one in off)
    where = "turn" if len(off) == 1 else "turns"
    return BiasFinding(
        f"At {where} {places} it scores clearly above or below the raters. Of "
        f"{len(found.turns)} intervals of 95 %, one in twenty misses 0 by chance.",
        cannot,
        is_warning=len(off) > 1,
    )


def _about_family(found: OwnFamily) -> BiasFinding:
    cannot = (
        "Families are read from names: what was trained on another model’s answers, or is named "
        "after nothing, is not seen. A family whose style people rate too low for its worth looks "
        "preferred."
    )
    difference = found.difference
    if difference.value is None:
        return BiasFinding(f"No figure: {difference.reason}.", cannot)
    side = _side(difference)
    verdict = {
        1: " It favours its own family beyond what people make of it.",
        -1: " It scores its own family lower than people do.",
        0: " With these data that cannot be told from nothing.",
    }[side]
    return BiasFinding(
        f"It scores systems of its family, {found.family}, {_figure(difference)} standard "
        "deviations above others, relative to human ratings."
        f"{verdict if difference.ci else _no_interval(difference)}",
        cannot,
        is_warning=side > 0,
    )


def _about_injections(found: Injections) -> BiasFinding:
    cannot = (
        "Only known patterns are found: a response may speak to the judge in words that none of "
        "them holds, and a harmless one may be flagged."
    )
    if not found.flagged:
        return BiasFinding("No response speaks to the judge in a way that is known here.", cannot)
    flagged = "1 speaks" if found.flagged == 1 else f"{found.flagged:,} speak"
    if found.mean_change is None:
        return BiasFinding(
            f"{flagged} to the judge; of none there is a score both with and without it.",
            cannot,
            True,
        )
    change = _signed(found.mean_change)
    return BiasFinding(
        f"{flagged} to the judge. Over {found.compared:,} with both scores, these words move "
        f"the score by {change} on average, and up in {found.raised:,}.",
        cannot,
        is_warning=found.mean_change > 0,
    )


def _signed(number: float) -> str:
    return f"{'+' if number > 0 else ''}{written(number, 2)}"
