"""Conversations, labels and preferences in the database: what is stored is what was read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from annotations.corpora import actions, record_stream
from annotations.corpora.queries import counts_of, dialogues_with_counts, language_of
from annotations.corpora.record_stream import records_of
from annotations.corpora.tables import dialogues_table
from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.base import survey
from annotations.formats.importers.canonical import Digest, canonical_line
from annotations.formats.importers.problems import ImportFailed
from annotations.formats.importers.registry import importers
from annotations.formats.records import (
    CorpusRecord,
    DialogueRecord,
    LabelRecord,
    Message,
    PreferenceRecord,
    Record,
    ResponseRecord,
    SystemRecord,
    TurnRecord,
    Utterance,
)
from annotations.models import (
    Corpus,
    CorpusVersion,
    Dialogue,
    Label,
    Preference,
    Rater,
    Response,
    Sample,
    Turn,
)
from tests.annotations.formats.test_conversations import RECORDS, digest_of
from tests.annotations.stored import stored
from workers.metrics.common.configuration import parse
from workers.runs.queries import turns_of, why_not_offered

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored([replace(RECORDS[0], name="small"), *RECORDS[1:]], tmp_path)  # type: ignore[type-var]


def test_what_is_stored_is_what_was_read(version: CorpusVersion) -> None:
    again = list(records_of(version))
    assert again[1:] == RECORDS[1:]
    assert digest_of(again) == version.digest == digest_of(RECORDS)


def test_dialogues_are_read_some_at_a_time_in_their_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    """A dialogue has 3 rows and a read 12, so 2, 4, 4 and 1 are read, with 3 queries each; 6 more
    find systems, raters, withheld ones, whether there are samples, and the keys."""
    for name, value in (("FIRST_READ", 2), ("LARGEST_READ", 9), ("ROWS_A_READ", 12)):
        monkeypatch.setattr(record_stream, name, value)
    records: list[Record] = [CorpusRecord(name="many"), SystemRecord("cook")]
    for number in range(11):
        turns = (TurnRecord(0, (Utterance("A", f"say {number}"),)),)
        records += [DialogueRecord(f"d{number}", (), (), turns)]
        records += [ResponseRecord(f"d{number}", 0, "cook", f"{number}")]
    version = stored(records, tmp_path)
    with django_assert_num_queries(6 + 3 * 4):
        again = list(records_of(version))
    assert again[1:] == records[1:]


def test_messages_are_stored_once(version: CorpusVersion) -> None:
    assert list(Turn.objects.values_list("own_context", flat=True)) == [[], []]
    assert [len(one.messages) for one in Dialogue.objects.all()] == [5]


def test_a_turn_s_context_is_read_from_its_dialogue(
    version: CorpusVersion, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        contexts = [turn.context for turn in Turn.objects.select_related("dialogue").order_by("pk")]
    assert contexts[0] == [["system", "Be brief."], ["ann", "What is in the pot?"]]
    assert contexts[1] == [*contexts[0], ["assistant", ""], ["tool", "Leeks."]]


def test_without_named_raters_comments_and_metadata_are_left_out(tmp_path: Path) -> None:
    preference = replace(RECORDS[-1], comment="as Ann said", metadata={"email": "a@example.org"})  # type: ignore[type-var]
    version = stored([*RECORDS[:-1], preference], tmp_path)
    text = " ".join(map(str, records_of(version, raters_named=False)))
    assert "rater 1" in text
    assert not any(word in text for word in ("r1", "Ann", "example.org"))


def test_what_was_said_of_a_withheld_system_is_not_shown(version: CorpusVersion) -> None:
    version.systems.filter(name="guest").update(withheld=True)
    shown = list(records_of(version))
    assert [one for one in shown if isinstance(one, PreferenceRecord)] == [RECORDS[-2]]
    assert [one for one in shown if isinstance(one, LabelRecord)] == RECORDS[9:11]


def test_labels_and_preferences_are_counted(version: CorpusVersion) -> None:
    counts = counts_of(version)
    assert (counts.labels, counts.preferences, counts.responses, counts.ratings) == (2, 3, 2, 1)


def test_a_list_of_dialogues_begins_with_what_was_said_and_reads_no_conversation(
    version: CorpusVersion,
) -> None:
    (dialogue,) = dialogues_with_counts(version)
    assert "messages" in dialogue.get_deferred_fields()
    (row,) = dialogues_table(version, [dialogue]).rows
    assert row.cells["opening"].value == "What is in the pot?"


def test_a_language_is_guessed_from_messages(tmp_path: Path) -> None:
    messages = (
        Message("system", "Answer as a cook would."),
        Message("user", "鍋の中に何がありますか"),
    )
    record = DialogueRecord("d", (), (), (TurnRecord(0, after=2),), messages)
    assert language_of(stored([CorpusRecord(), record], tmp_path)) == "ja"


def test_metrics_read_messages_as_context(version: CorpusVersion) -> None:
    first, second = turns_of(version.pk)
    assert [one.speaker for one in second.context] == ["system", "ann", "assistant", "tool"]
    assert second.context[:2] == first.context
    assert why_not_offered(parse("context_similarity"), version) != ("the corpus has no contexts")


def test_a_deleted_corpus_leaves_nothing(version: CorpusVersion) -> None:
    actions.delete_corpus(version.corpus)
    left = [model.objects.count() for model in (Dialogue, Response, Sample, Label, Preference)]
    assert left == [0] * 5


def test_nothing_is_stored_of_a_file_that_fails(tmp_path: Path) -> None:
    bad = replace(RECORDS[-1], preferred="c")  # type: ignore[type-var]
    with pytest.raises(ImportFailed, match="preferred: must be one of a, b, tie, both_bad"):
        stored([*RECORDS[:-1], bad], tmp_path)
    assert not Corpus.objects.exists()
    assert not Dialogue.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"dialogue": True},
        {"response": None, "dialogue": True, "system": True, "message": 1},
        {"response": None},
    ],
    ids=["two things", "a system's message", "nothing"],
)
def test_a_label_is_of_one_thing(version: CorpusVersion, changes: dict[str, Any]) -> None:
    values = {"response": Response.objects.first(), **changes}
    for key, row in (("dialogue", Dialogue.objects.get()), ("system", version.systems.first())):
        if values.get(key):
            values[key] = row
    with pytest.raises(IntegrityError, match="label_is_of_one_thing"), transaction.atomic():
        Label.objects.create(rater=Rater.objects.get(), question="q", value="v", **values)


def test_a_dialogue_s_label_is_given_once(version: CorpusVersion) -> None:
    label = Label.objects.get(message=1)
    label.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        label.save()


@pytest.mark.parametrize("level", ["response", "dialogue"])
def test_a_preference_is_given_once(version: CorpusVersion, level: str) -> None:
    preference = Preference.objects.filter(**{f"{level.removesuffix('e')}e__isnull": False} if (
        level == "dialogue"
    ) else {"sample_b__isnull": False}).first()  # fmt: skip
    assert preference is not None
    preference.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        preference.save()


def test_a_preference_is_of_two_of_one_kind(version: CorpusVersion) -> None:
    preference = Preference.objects.filter(dialogue=None).first()
    assert preference is not None
    preference.pk, preference.dialogue = None, Dialogue.objects.get()
    constraint = "preference_is_of_two_responses_or_two_systems"
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        preference.save()


# --- any conversation -----------------------------------------------------------------------------

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
SAID = TEXTS.filter(lambda text: bool(text.strip()))
NUMBERS = st.integers(-(10**25), 10**25) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=6,
)
METADATA = st.dictionaries(TEXTS, JSON, max_size=3)
PARTS = st.lists(METADATA.map(lambda part: {**part, "type": "call"}), max_size=2).map(tuple)
MESSAGES = st.builds(
    Message,
    st.sampled_from(["system", "user", "assistant", "tool", "Ann"]) | SAID,
    TEXTS,
    TEXTS,
    PARTS,
    st.sampled_from(["", "2026-11-27T10:00:00+01:00"]),
    METADATA,
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Record]:
    messages = tuple(draw(st.lists(MESSAGES, min_size=1, max_size=5)))
    places = st.integers(0, len(messages)) | st.none()
    turns = tuple(
        TurnRecord(number, references=tuple(draw(st.lists(SAID, max_size=2))), after=draw(places))
        for number in range(2)
    )
    dialogue = DialogueRecord(
        "soup",
        tuple(draw(st.lists(SAID, max_size=1))),
        (),
        turns,
        messages,
        knowledge=tuple(draw(st.lists(SAID, max_size=1))),
        metadata=draw(METADATA),
    )
    responses = [
        ResponseRecord("soup", 1, system, draw(TEXTS), sample, draw(PARTS), draw(METADATA))
        for sample, system in ((0, "cook"), (0, "guest"), (1, "cook"))
    ]
    label = replace(RECORDS[9], value=draw(SAID | st.lists(SAID, max_size=2).map(tuple)))  # type: ignore[type-var]
    preference = replace(RECORDS[11], comment=draw(TEXTS), metadata=draw(METADATA))  # type: ignore[type-var]
    return [*RECORDS[:4], dialogue, *responses, *RECORDS[8:9], label, preference]


@given(conversations())
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_conversation_goes_round_with_its_digest(
    tmp_path: Path, db: None, records: list[Record]
) -> None:
    """File → records → rows → records → file."""
    exporter, importer = exporters()["jsonl"], importers()["jsonl"]
    exporter.export(records, tmp_path / "first", replace=True)
    file = tmp_path / "first" / "corpus.jsonl"
    assert list(map(canonical_line, importer.read(file))) == list(map(canonical_line, records))
    with transaction.atomic():
        (outcome,) = actions.import_corpus(importer, file, "round")
        exporter.export(records_of(outcome.version), tmp_path / "second", replace=True)
        transaction.set_rollback(True)
    (again,) = survey(importer, tmp_path / "second" / "corpus.jsonl")
    digest = Digest()
    for record in records:
        digest.add(record)
    assert again.digest == outcome.version.digest == digest.hexdigest()


HOLD_EVERYTHING = ("jsonl", "dataset", "label-studio", "argilla")


@pytest.mark.parametrize("name", HOLD_EVERYTHING)
@given(records=conversations())
@settings(
    max_examples=8,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_conversation_comes_back_from_each_format_that_holds_everything(
    tmp_path: Path, name: str, records: list[Record]
) -> None:
    exporters()[name].export(records, tmp_path / "out", replace=True)
    path = tmp_path / "out" / ("corpus.jsonl" if name == "jsonl" else "")
    again = list(importers()[name].read(path))
    assert list(map(canonical_line, again)) == list(map(canonical_line, records))


def test_an_old_corpus_is_written_as_before(tmp_path: Path) -> None:
    old = [*RECORDS[:4], DialogueRecord("d", (), (), (TurnRecord(0, references=("x",)),))]
    exporters()["jsonl"].export(old, tmp_path)
    line = json.loads((tmp_path / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert line == {
        "type": "dialogue",
        "id": "d",
        "persona": [],
        "partner_persona": [],
        "turns": [{"number": 0, "context": [], "references": ["x"]}],
    }
