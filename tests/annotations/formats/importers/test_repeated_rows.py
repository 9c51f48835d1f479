"""Tables that repeat what is judged for each rater, and pairs whose columns say which is better."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from annotations.formats.importers.repeated_messages import (
    MessageRow,
    UnclearRepeatError,
    raters_by_order,
    rows_by_message,
)
from annotations.formats.records import (
    DialogueRecord,
    LabelRecord,
    PreferenceRecord,
    RaterRecord,
    RatingRecord,
)
from tests.annotations.formats.importers.helpers import lines_of, of_type, problems
from tests.annotations.formats.importers.test_evaluation_logs import recognised, texts
from tests.annotations.formats.importers.test_variant_layouts import messages_of, table_of

CHAT = [("0", "user", "Hot?"), ("1", "bot", "No."), ("2", "user", "Now?"), ("3", "bot", "No.")]
SAID = [("user", "Hot?"), ("assistant", "No."), ("user", "Now?"), ("assistant", "No.")]


def by_rater(*, sorted_by_rater: bool, has_turn: bool) -> list[list[Any]]:
    rows = [
        [*([turn] if has_turn else []), speaker, text, rater, score if speaker == "bot" else ""]
        for turn, speaker, text in CHAT
        for rater, score in (("ann", 4), ("bob", 2))
    ]
    return sorted(rows, key=lambda row: str(row[-2])) if sorted_by_rater else rows


@pytest.mark.parametrize("has_turn", [True, False])
@pytest.mark.parametrize("sorted_by_rater", [True, False])
def test_a_message_that_is_repeated_for_each_rater_is_one(
    tmp_path: Path, sorted_by_rater: bool, has_turn: bool
) -> None:
    heads = [*(["turn"] if has_turn else []), "speaker", "text", "annotator", "quality"]
    rows = by_rater(sorted_by_rater=sorted_by_rater, has_turn=has_turn)
    records = recognised(table_of(tmp_path, heads, *rows))
    assert messages_of(records) == SAID
    ratings = of_type(records, RatingRecord)
    assert {(one.turn, one.rater, one.aspect, one.score) for one in ratings} == {
        *((0, "ann", "quality", 4.0), (0, "bob", "quality", 2.0)),
        *((1, "ann", "quality", 4.0), (1, "bob", "quality", 2.0)),
    }
    assert len(ratings) == 4


def test_a_score_that_all_messages_of_a_rater_have_is_the_conversation_s(tmp_path: Path) -> None:
    rows = [[*CHAT[at], rater, score] for rater, score in (("a", 5), ("b", 1)) for at in range(4)]
    records = recognised(table_of(tmp_path, ["turn", "speaker", "text", "rater", "fun"], *rows))
    assert [(one.turn, one.rater, one.score) for one in of_type(records, RatingRecord)] == [
        *((None, "a", 5.0), (None, "b", 1.0)),
    ]


def test_texts_in_which_raters_differ_are_labels(tmp_path: Path) -> None:
    heads = ["dialog_id", "speaker", "text", "rater", "label"]
    rows = [
        *(["d", "user", "Hot?", "ann", "question"], ["d", "bot", "No.", "ann", "answer"]),
        *(["d", "user", "Hot?", "bob", "greeting"], ["d", "bot", "No.", "bob", "answer"]),
    ]
    labels = of_type(recognised(table_of(tmp_path, heads, *rows)), LabelRecord)
    assert [(one.turn, one.message, one.rater, one.value) for one in labels] == [
        *((None, 0, "ann", "question"), (None, 0, "bob", "greeting")),
        *((0, None, "ann", "answer"), (0, None, "bob", "answer")),
    ]


def test_raters_without_names_are_numbered_by_the_order_of_their_rows(tmp_path: Path) -> None:
    rows = [[*one, score if one[1] == "bot" else ""] for score in (3, 4) for one in CHAT]
    records = recognised(table_of(tmp_path, ["turn", "speaker", "text", "rating"], *rows))
    assert messages_of(records) == SAID
    assert of_type(records, RaterRecord) == [
        *(RaterRecord("rater 1", "anonymous"), RaterRecord("rater 2", "anonymous")),
    ]


def test_what_the_messages_of_one_rater_say_twice_stays_twice() -> None:
    rows = [MessageRow("hi", "", "ann"), MessageRow("hi", "", "ann"), MessageRow("bye", "", "ann")]
    assert rows_by_message(rows) == [[0], [1], [2]]


def test_raters_who_each_judged_other_messages_share_none() -> None:
    rows = [
        MessageRow("hi", "0", "ann"),
        MessageRow("ok", "1", "bob"),
        MessageRow("hi", "2", "ann"),
    ]
    assert rows_by_message(rows) == [[0], [1], [2]]


def test_a_rater_who_saw_less_shares_what_turns_say() -> None:
    rows = [
        *(MessageRow("ok", str(turn), "ann") for turn in range(3)),
        MessageRow("ok", "2", "bob"),
    ]
    assert rows_by_message(rows) == [[0], [1], [2, 3]]


@pytest.mark.parametrize(
    ("ann", "bob", "fault"),
    [
        ([("a", "0"), ("b", "1")], [("a", "0"), ("c", "1")], "is not what another rater has"),
        ([("a", ""), ("b", "")], [("a", ""), ("c", "")], "number the messages"),
        ([("a", "x"), ("b", "y")], [("b", "y"), ("a", "x")], "comes earlier in another rater"),
    ],
)
def test_raters_who_saw_other_messages_are_a_fault(
    ann: list[tuple[str, str]], bob: list[tuple[str, str]], fault: str
) -> None:
    rows = [MessageRow(*one, "ann") for one in ann] + [MessageRow(*one, "bob") for one in bob]
    with pytest.raises(UnclearRepeatError, match=fault) as failure:
        rows_by_message(rows)
    assert failure.value.position == 3


def test_the_fault_names_line_and_column(tmp_path: Path) -> None:
    heads = ["turn", "speaker", "text", "rater", "score"]
    rows = [["0", "user", "Hot?", "ann", ""], ["1", "bot", "No.", "ann", 4]]
    rows += [["0", "user", "Hot!", "bob", ""], ["1", "bot", "No.", "bob", 4]]
    [fault] = problems("message-rows", table_of(tmp_path, heads, *rows))
    assert fault.startswith("table.csv:4: text: is not what another rater has at this turn")


def test_a_conversation_that_says_the_same_twice_is_no_repeat_where_others_do_not() -> None:
    repeated = [MessageRow(one, "", "") for one in ("hi", "ok", "hi", "ok")]
    assert raters_by_order([repeated, [MessageRow("a", "", ""), MessageRow("b", "", "")]]) is None
    assert raters_by_order([repeated]) == [["rater 1", "rater 1", "rater 2", "rater 2"]]


def test_rows_of_a_table_that_nobody_signed_are_raters_by_order(tmp_path: Path) -> None:
    heads = ["dialog_id", "context", "response", "system", "score"]
    rows = [["d", "User: Hot?", "No.", "baker", score] for score in (4, 3)]
    rows += [["e", "User: Rye?", "Yes.", "baker", score] for score in (2, 2)]
    records = recognised(table_of(tmp_path, heads, *rows))
    assert [(one.dialogue_id, one.rater, one.score) for one in of_type(records, RatingRecord)] == [
        *(("d", "rater 1", 4.0), ("d", "rater 2", 3.0)),
        *(("e", "rater 1", 2.0), ("e", "rater 2", 2.0)),
    ]
    assert {one.kind for one in of_type(records, RaterRecord)} == {"anonymous"}


def test_rows_that_all_tell_one_score_again_are_one(tmp_path: Path) -> None:
    heads = ["context", "response", "reference", "score"]
    rows = [["User: Hot?", "No.", reference, 4] for reference in ("Not yet.", "No, not yet.")]
    [rating] = of_type(recognised(table_of(tmp_path, heads, *rows)), RatingRecord)
    assert (rating.rater, rating.score) == ("dataset", 4.0)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        *(("response_j", "response_k"), ("response_w", "response_l"), ("winner", "loser")),
        *(("better_response", "worse_response"), ("chosen_answer", "rejected_answer")),
        *(("preferred", "dispreferred"), ("output_good", "output_bad")),
    ],
)
def test_names_of_columns_may_say_which_of_two_is_better(
    tmp_path: Path, better: str, worse: str
) -> None:
    record = {worse: "Yes.", "question": "Hot?", better: "No."}
    records = recognised(lines_of(tmp_path, [record]))
    assert texts(records) == [("1", "chosen", "No."), ("1", "rejected", "Yes.")]
    [vote] = of_type(records, PreferenceRecord)
    assert (vote.system_a, vote.preferred) == ("chosen", "a")


@pytest.mark.parametrize(
    ("judged", "preferred"),
    [({"score_j": -1.0, "score_k": 1.0}, "b"), ({"label": "k"}, "b"), ({"mine": "J"}, "a")],
)
def test_scores_and_votes_say_more_than_names(
    tmp_path: Path, judged: dict[str, Any], preferred: str
) -> None:
    record = {"question": "Hot?", "response_j": "No.", "response_k": "Yes.", **judged}
    [vote] = of_type(recognised(lines_of(tmp_path, [record])), PreferenceRecord)
    assert (vote.system_a, vote.preferred) == ("response_j", preferred)


def test_columns_of_numbers_won_and_lost_are_no_pair(tmp_path: Path) -> None:
    from annotations.formats.importers.registry import likely_format

    path = lines_of(tmp_path, [{"prompt": "Hot?", "win": 3, "lose": 4}])
    assert likely_format(path)[0] is None


def test_names_of_known_models_are_columns_of_responses(tmp_path: Path) -> None:
    heads = ["prompt", "gpt-4", "llama-2-70b-chat", "ours", "gpt-4 score", "best"]
    path = table_of(tmp_path, heads, ["Hot?", "No.", "Yes.", "Warm.", 4, "ours"])
    records = recognised(path)
    assert texts(records) == [
        *(("1", "gpt-4", "No."), ("1", "llama-2-70b-chat", "Yes."), ("1", "ours", "Warm.")),
    ]
    [rating] = of_type(records, RatingRecord)
    assert (rating.system, rating.aspect, rating.score) == ("gpt-4", "score", 4.0)
    votes = of_type(records, PreferenceRecord)
    assert [(one.system_a, one.preferred, one.system_b) for one in votes] == [
        *(("gpt-4", "b", "ours"), ("llama-2-70b-chat", "b", "ours")),
    ]


def test_a_list_in_a_cell_has_a_score_a_rater(tmp_path: Path) -> None:
    heads = ["context", "response", "system", "tact", "embedding"]
    rows = [["User: Hot?", "No.", "baker", "[4, 2]", str([0.5] * 101)]]
    records = recognised(table_of(tmp_path, heads, *rows))
    assert [(one.rater, one.aspect, one.score) for one in of_type(records, RatingRecord)] == [
        *(("rater 1", "tact", 4.0), ("rater 2", "tact", 2.0)),
    ]
    assert {one.kind for one in of_type(records, RaterRecord)} == {"anonymous"}


def record_by(rater: str, **judged: Any) -> dict[str, Any]:
    chat = [{"role": "user", "content": "Hot?"}, {"role": "assistant", "content": "No."}]
    return {"conversation_id": "c", "annotator": rater, "messages": chat, "topic": "oven", **judged}


def test_a_conversation_that_is_repeated_for_each_rater_is_one(tmp_path: Path) -> None:
    path = lines_of(
        tmp_path,
        [record_by("ann", rating=4, tone="calm"), record_by("bob", rating=2, tone="rude")],
    )
    records = recognised(path)
    assert messages_of(records) == SAID[:2]
    assert of_type(records, DialogueRecord)[0].metadata == {"topic": "oven"}
    assert [(one.turn, one.rater, one.score) for one in of_type(records, RatingRecord)] == [
        *((None, "ann", 4.0), (None, "bob", 2.0)),
    ]
    assert [(one.rater, one.value) for one in of_type(records, LabelRecord)] == [
        *(("ann", "calm"), ("bob", "rude")),
    ]


def test_other_messages_under_one_id_are_a_fault(tmp_path: Path) -> None:
    other = {**record_by("bob"), "messages": [{"role": "user", "content": "Cold?"}]}
    [fault] = problems("messages", lines_of(tmp_path, [record_by("ann"), other]))
    assert fault.startswith("file.jsonl:2: messages: are other messages than at 1, under the same")


@pytest.mark.parametrize("names", [("user", "bot"), ("human", "assistant")])
def test_exchanges_of_two_are_messages(tmp_path: Path, names: tuple[str, str]) -> None:
    record = {"id": "c", "history": [dict(zip(names, ("Hot?", "No."), strict=True))]}
    assert messages_of(recognised(lines_of(tmp_path, [record]))) == SAID[:2]
