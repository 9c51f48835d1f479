"""Evaluation contexts that stand in training data, however they are spelled and cut."""

from __future__ import annotations

from pathlib import Path

from annotations.formats.importers.registry import importers
from annotations.formats.records import DialogueRecord, TurnRecord, Utterance
from tests.workers.training.talk import talk
from workers.training.core.conversations import TrainingDialogue, read_dialogues
from workers.training.core.overlap import KINDS, overlap

TRAM = talk(
    "tram",
    "Where's the tram stop?",
    "It isn't far, behind the church.",
    "Can't I walk?",
    "Of course you can.",
)
OTHER = talk("other", "What do cacti eat?", "Light, mostly, and a little water.", "No meat?")


def place(*context: str, references: tuple[str, ...] = ()) -> TurnRecord:
    return TurnRecord(0, tuple(Utterance("A", text) for text in context), references)


def kinds(*places: TurnRecord) -> list[tuple[str, int, int]]:
    return [(one.kind, one.dialogue, one.place) for one in overlap([OTHER, TRAM], places).found]


def test_a_context_is_found_in_another_spelling() -> None:
    assert kinds(place("where 's the tram stop ?", "it is n't far , behind the church .")) == [
        ("context", 1, 0)
    ]


def test_a_context_in_one_piece_is_found() -> None:
    assert kinds(
        place("it is n't far , behind the church . ca n't i walk ? of course you can .")
    ) == [("context", 1, 0)]


def test_a_context_that_is_cut_at_its_start_is_found() -> None:
    assert kinds(place("is n't far, behind the church.", "Can't I walk?", "of course you can")) == [
        ("context", 1, 0)
    ]


def test_a_context_that_goes_on_beyond_the_end_of_an_utterance_is_another() -> None:
    assert kinds(place("Where's the tram stop? It")) == []


def test_a_context_with_the_same_end_is_found() -> None:
    said = (
        "Good evening, madam.",
        "What do cacti eat?",
        "Light, mostly, and a little water.",
        "No meat?",
    )
    assert kinds(place(*said)) == [("end", 0, 0)]


def test_one_last_utterance_is_not_enough_unless_it_is_long() -> None:
    # "lightmostlyandalittlewater" has 26 letters.
    assert (
        kinds(
            place(
                "Tell me what they eat, these cacti of yours.", "Light, mostly, and a little water."
            )
        )
        == []
    )
    long = "On Sundays the tram to the harbour runs every half hour."
    assert len("onsundaysthetramtotheharbourrunseveryhalfhour") == 45
    report = overlap(
        [talk("x", "When?", long, "Good.")], [place(f"so ? {long} and then ? tell me")]
    )
    assert [(one.kind, one.letters) for one in report.found] == [("utterance", 45)]


def test_the_letters_in_common_are_counted() -> None:
    # wheresthetramstop 17, itisntfarbehindthechurch 24.
    (one,) = overlap(
        [TRAM], [place("Where's the tram stop?", "It isn't far, behind the church.")]
    ).found
    assert one.letters == 17 + 24


def test_a_short_context_overlaps_only_with_its_answer() -> None:
    same = place("What do cacti eat?", references=("light , mostly , and a little water .",))
    another = place("What do cacti eat?", references=("Mice.",))
    report = overlap([OTHER], [same, another])
    assert [(one.kind, one.place) for one in report.found] == [("context", 0)]
    assert report.unclear == ()


def test_a_short_context_without_reference_is_unclear_where_it_stands_in_the_training_data() -> (
    None
):
    report = overlap([OTHER, TRAM], [place("Can't I walk?"), place("Can't I row?")])
    assert (report.found, report.unclear) == ((), (0,))
    assert str(report) == (
        "none of 2 evaluation contexts occurs in the 2 training dialogues; "
        "1 short ones without a reference occur there, too, and may be what anybody says"
    )


def test_a_reference_alone_is_told_and_does_not_count_as_a_context() -> None:
    long = talk("x", "What do cacti eat?", "Light, mostly, and a little water in the summer.")
    report = overlap(
        [long],
        [place("Who are you?", references=("light , mostly , and a little water in the summer",))],
    )
    assert [one.kind for one in report.found] == ["reference"]
    assert (report.positions_with(), report.positions_with(KINDS)) == ((), (0,))
    assert str(report) == (
        "none of 1 evaluation contexts occurs in the 1 training dialogues; of others a reference "
        "does: 1"
    )


def test_the_report_says_what_was_found() -> None:
    report = overlap(
        [OTHER, TRAM],
        [place("Where's the tram stop?", "It isn't far, behind the church."), place("x" * 40)],
    )
    assert str(report) == (
        "1 of 2 evaluation contexts occur in 1 of 2 training dialogues (as a whole 1, with their "
        "last utterances 0, with a long utterance 0)"
    )


def without(left_out: tuple[int, ...], training: list[TrainingDialogue]) -> list[TrainingDialogue]:
    return [dialogue for place, dialogue in enumerate(training) if place not in left_out]


def test_without_the_dialogues_that_overlap_nothing_is_found_any_more() -> None:
    evaluation = [
        place("Where's the tram stop?", "It isn't far, behind the church."),
        place("Is it far ?"),
    ]
    training = [OTHER, TRAM]
    left = without(overlap(training, evaluation).dialogues_with(), training)
    assert left == [OTHER]
    assert overlap(left, evaluation).found == ()


def test_texts_without_letters_overlap_with_nothing() -> None:
    assert (
        overlap(
            [talk("x", "...", "?!", "…")], [place("...", "?!", references=("…",)), place()]
        ).found
        == ()
    )


def evaluated(data: Path, format_name: str, file: str, part: str = "") -> list[TurnRecord]:
    records = importers()[format_name].read(data / file, part)
    return [
        turn for record in records if isinstance(record, DialogueRecord) for turn in record.turns
    ]


def test_contexts_of_the_test_split_that_stand_in_the_validation_split(data: Path) -> None:
    """Both evaluation sets come from DailyDialog's test split, and the corpus holds some dialogues
    in two splits."""
    training = read_dialogues(data / "dailydialog/valid.json")
    dailyz = evaluated(data, "fbd", "fbd/dailyz_annotation.json")
    grade = evaluated(data, "grade", "grade/human_judgement.json", "dailydialog")
    assert overlap(training, dailyz).positions_with() == (14, 21, 59, 82, 95, 96)
    assert overlap(training, grade).positions_with() == (74, 113, 114)
    # Contexts that stand there word for word; the other two do so but for words of one utterance.
    assert overlap(training, dailyz).positions_with(("context",)) == (14, 21, 59, 82, 96)
    left = without(overlap(training, [*dailyz, *grade]).dialogues_with(), training)
    assert (len(training), len(left)) == (995, 986)
    assert overlap(left, [*dailyz, *grade]).positions_with() == ()
