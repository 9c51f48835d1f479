"""Adding ratings, labels and responses to a corpus: a new version, made of an older one and a
table. The corpus is ``two_systems``: two dialogues, three turns, systems echo and dull, raters ann
and bob."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from annotations.corpora.additions import AdditionOutcome, add_to_version
from annotations.corpora.record_stream import records_of
from annotations.formats.importers.canonical import Digest
from annotations.formats.importers.column_mapping import Column, TableMapping
from annotations.formats.importers.problems import ImportFailed
from annotations.models import AuditEntry, CorpusVersion, Label, Rating
from tests.annotations.stored import stored, two_systems

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(tmp_path: Path) -> CorpusVersion:
    return stored(two_systems(), tmp_path)


def added(
    version: CorpusVersion, folder: Path, text: str, mapping: TableMapping | None = None
) -> AdditionOutcome:
    path = folder / "more.csv"
    path.write_text(text, encoding="utf-8")
    return add_to_version(version, path, mapping)


def faults(version: CorpusVersion, folder: Path, text: str) -> list[str]:
    with pytest.raises(ImportFailed) as failure:
        added(version, folder, text)
    assert CorpusVersion.objects.count() == 1
    assert not CorpusVersion.staged.exists()
    return [str(problem).removeprefix("more.csv:") for problem in failure.value.problems]


def scores(version: CorpusVersion) -> set[tuple[str, int | None, str, str, str, float]]:
    """(dialogue, turn, system, rater, aspect, score) of every rating."""
    of_turns = Rating.objects.filter(rater__version=version, response__isnull=False).values_list(
        "response__turn__dialogue__external_id",
        "response__turn__number",
        "response__system__name",
        "rater__name",
        "aspect",
        "score",
    )
    of_dialogues = Rating.objects.filter(rater__version=version, dialogue__isnull=False)
    return {*of_turns} | {
        (one[0], None, *one[1:])
        for one in of_dialogues.values_list(
            "dialogue__external_id", "system__name", "rater__name", "aspect", "score"
        )
    }


RATINGS = """dialog_id,turn,system,rater,score
d0,0,echo,cat,3
d1,0,echo,ann,5
"""


class TestRecords:
    """Lines of ``jsonl``; those of the corpus itself, its systems, raters and dialogues, are passed
    over."""

    def test_responses_ratings_and_labels_are_added(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        place = {"dialogue_id": "d0", "turn": 0}
        of_cook = {**place, "system": "cook", "rater": "cat"}
        lines = [
            {"type": "corpus", "name": "more"},
            {"type": "response", **place, "system": "cook", "text": "Leeks."},
            {"type": "rating", **of_cook, "aspect": "overall", "score": 3, "comment": "hot"},
            {"type": "label", **of_cook, "question": "fault", "value": "short"},
            {"type": "rating", **of_cook, "turn": None, "aspect": "overall", "score": 2},
        ]
        before = scores(version)
        outcome = added(version, tmp_path, "".join(json.dumps(one) + "\n" for one in lines))
        assert scores(outcome.version) - before == {
            ("d0", 0, "cook", "cat", "overall", 3.0),
            ("d0", None, "cook", "cat", "overall", 2.0),
        }
        assert outcome.added.as_json() == {
            "systems": 1,
            "responses": 1,
            "raters": 1,
            "ratings": 2,
            "labels": 1,
        }

    @pytest.mark.parametrize(
        ("changes", "fault"),
        [
            ({"type": "preference"}, "a preference cannot be added: response, rating, label can"),
            ({"sample": 1}, "further samples and labels of messages cannot be added"),
            ({"type": "label", "value": ["a"]}, "a list of categories cannot be added"),
        ],
    )
    def test_what_cannot_be_added_is_a_fault(
        self, version: CorpusVersion, tmp_path: Path, changes: dict[str, object], fault: str
    ) -> None:
        line = {"type": "response", "dialogue_id": "d0", "turn": 0, "system": "cook", "text": "Hi"}
        rating = {**line, "type": "rating", "system": "echo", "rater": "ann", "aspect": "overall"}
        text = "".join(json.dumps(one) + "\n" for one in ({**rating, "score": 1}, line | changes))
        assert any(fault in one for one in faults(version, tmp_path, text))


class TestRatings:
    def test_a_new_version_holds_the_old_ones_ratings_and_the_new(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        before = scores(version)
        outcome = added(version, tmp_path, RATINGS)
        assert outcome.created
        assert outcome.version.number == 2
        assert scores(outcome.version) == before | {
            ("d0", 0, "echo", "cat", "overall", 3.0),
            ("d1", 0, "echo", "ann", "overall", 5.0),
        }
        assert scores(version) == before

    def test_it_says_what_it_was_made_of(self, version: CorpusVersion, tmp_path: Path) -> None:
        made = added(version, tmp_path, RATINGS).version
        assert made.derived_from == version
        assert made.addition == {
            "file": "more.csv",
            "sha256": hashlib.sha256(RATINGS.encode()).hexdigest(),
            "raters": 1,
            "ratings": 2,
        }
        entry = AuditEntry.objects.get(action="corpus.extended")
        assert (entry.details["derived_from"], entry.details["ratings"]) == (version.label, 2)

    def test_its_digest_is_that_of_its_records(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        made = added(version, tmp_path, RATINGS).version
        digest = Digest()
        for record in records_of(made):
            digest.add(record)
        assert digest.hexdigest() == made.digest

    def test_the_same_file_twice_adds_nothing(self, version: CorpusVersion, tmp_path: Path) -> None:
        made = added(version, tmp_path, RATINGS).version
        again = added(made, tmp_path, RATINGS)
        assert (again.created, again.version, again.added.known) == (False, made, 2)
        assert CorpusVersion.objects.count() == 2

    def test_nor_to_the_older_version_again(self, version: CorpusVersion, tmp_path: Path) -> None:
        made = added(version, tmp_path, RATINGS).version
        again = added(version, tmp_path, RATINGS)
        assert (again.created, again.version) == (False, made)
        assert not CorpusVersion.staged.exists()

    def test_an_aspect_of_their_own(self, version: CorpusVersion, tmp_path: Path) -> None:
        text = "dialog_id,turn,system,rater,Fluent\nd0,0,echo,ann,70\n"
        made = added(version, tmp_path, text).version
        assert made.aspects == ["overall", "Fluent"]
        assert made.scales == {"overall": [1.0, 5.0], "Fluent": [None, None]}
        assert ("d0", 0, "echo", "ann", "Fluent", 70.0) in scores(made)

    def test_known_aspects_in_other_letters_are_known(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,turn,system,rater,aspect,score\nd0,0,echo,cat,Overall,2\n"
        assert added(version, tmp_path, text).version.aspects == ["overall"]

    def test_an_empty_turn_is_the_whole_conversation(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,turn,system,rater,score\nd0,,echo,ann,4\n"
        made = added(version, tmp_path, text).version
        assert ("d0", None, "echo", "ann", "overall", 4.0) in scores(made)

    def test_without_a_column_of_turns_a_single_turn_is_meant(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,system,rater,score\nd1,echo,ann,4\nd0,echo,ann,2\n"
        made = added(version, tmp_path, text).version
        assert {
            ("d1", 0, "echo", "ann", "overall", 4.0),
            ("d0", None, "echo", "ann", "overall", 2.0),
        } <= scores(made)

    def test_texts_are_labels_and_comments_stay_with_their_score(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,turn,system,rater,score,safe,comment\nd1,0,echo,ann,4,yes,Fine.\n"
        mapping = TableMapping(
            {
                "dialog_id": Column("conversation"),
                "turn": Column("turn"),
                "system": Column("system"),
                "rater": Column("rater"),
                "score": Column("score"),
                "safe": Column("label", "safe"),
                "comment": Column("comment"),
            }
        )
        outcome = added(version, tmp_path, text, mapping)
        (label,) = Label.objects.filter(rater__version=outcome.version)
        assert (label.question, label.value) == ("safe", "yes")
        assert Rating.objects.get(comment="Fine.").score == 4
        again = added(outcome.version, tmp_path, text, mapping)
        assert (again.created, again.added.known) == (False, 3)


class TestResponses:
    TEXT = """dialog_id,turn,system,response,rater,score
d0,0,new,Hello.,ann,4
d0,1,new,Bye.,ann,2
"""

    def test_a_new_system_with_ratings(self, version: CorpusVersion, tmp_path: Path) -> None:
        outcome = added(version, tmp_path, self.TEXT)
        assert (outcome.added.systems, outcome.added.responses) == (1, 2)
        assert [one.name for one in outcome.version.systems.all()] == ["echo", "dull", "new"]
        assert {
            ("d0", 0, "new", "ann", "overall", 4.0),
            ("d0", 1, "new", "ann", "overall", 2.0),
        } <= scores(outcome.version)

    def test_twice_adds_nothing(self, version: CorpusVersion, tmp_path: Path) -> None:
        made = added(version, tmp_path, self.TEXT).version
        again = added(made, tmp_path, self.TEXT)
        assert (again.created, again.added.known) == (False, 4)

    def test_a_known_system_may_answer_a_turn_that_it_had_not(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,turn,system,response\nd0,1,dull,yes\n"
        assert added(version, tmp_path, text).added.responses == 1

    def test_another_response_than_the_corpus_has_is_refused(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = "dialog_id,turn,system,response\nd0,0,dull,no\n"
        assert faults(version, tmp_path, text) == [
            "2: response: 'dull' has another response at turn 0 already"
        ]


class TestFaults:
    @pytest.mark.parametrize(
        ("row", "fault"),
        [
            ("d9,0,echo,ann,3", "conversation: the corpus has no conversation 'd9'"),
            ("d0,7,echo,ann,3", "turn: conversation 'd0' has no turn 7"),
            ("d0,1,dull,ann,3", "turn: 'dull' has no response at turn 1 of conversation 'd0'"),
            ("d0,0,new,ann,3", "system: the corpus has no system 'new', and no row gives its"),
            ("d0,0,,ann,3", "system: is not named, and 2 systems answer in conversation 'd0'"),
            ("d0,0,echo,ann,3", "score: ann gave 'overall' the score 4 already"),
            ("d0,0,echo,cat,9", "score: 9 lies outside the scale of 'overall', 1 to 5"),
            ("d0,x,echo,cat,3", "turn: must be a whole number, not 'x'"),
            (",0,echo,cat,3", "dialog_id: is empty"),
        ],
    )
    def test_each_is_named_with_its_line(
        self, row: str, fault: str, version: CorpusVersion, tmp_path: Path
    ) -> None:
        text = f"dialog_id,turn,system,rater,score\nd1,0,echo,ann,5\n{row}\n"
        (found,) = faults(version, tmp_path, text)
        assert found.startswith(f"3: {fault}")

    def test_a_table_that_says_nothing_of_conversations(
        self, version: CorpusVersion, tmp_path: Path
    ) -> None:
        (found,) = faults(version, tmp_path, "colour,size\nred,big\n")
        assert found == "1: one column must be a score, label, comment or response"

    def test_a_second_system_in_a_log(self, tmp_path: Path) -> None:
        log = (
            '{"messages": [{"role": "user", "content": "Hi"}, '
            '{"role": "assistant", "content": "Hello."}], "id": "c1"}\n'
        )
        version = stored_as("messages", log, tmp_path)
        text = "dialog_id,turn,system,response\nc1,0,other,Hey.\n"
        (found,) = faults(version, tmp_path, text)
        assert (
            found == "2: response: is a second one in an interactive dialogue; one system took "
            "part in it"
        )


def stored_as(format: str, text: str, folder: Path) -> CorpusVersion:
    from annotations.corpora.actions import import_corpus
    from annotations.formats.importers.registry import importers

    path = folder / "log.jsonl"
    path.write_text(text, encoding="utf-8")
    return import_corpus(importers()[format], path, "log")[0].version


def test_ratings_of_a_log_need_name_no_system(tmp_path: Path) -> None:
    log = (
        '{"messages": [{"role": "user", "content": "Hi"}, '
        '{"role": "assistant", "content": "Hello."}], "id": "c1"}\n'
    )
    version = stored_as("messages", log, tmp_path)
    made = added(version, tmp_path, "id,rater,score\nc1,ann,4\n").version
    assert {one[-1] for one in scores(made)} == {4.0}
