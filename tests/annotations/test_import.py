"""What an import leaves in the database: everything once, a new version for new content, nothing
for a bad file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotations.corpora import actions
from annotations.corpora.queries import counts_of, version_of
from annotations.formats.importers import base
from annotations.formats.importers.base import Importer, ImportFailed, Placed
from annotations.formats.importers.problems import Problems
from annotations.formats.importers.registry import importers
from annotations.formats.records import CorpusRecord, RatingRecord, Record, SystemRecord
from annotations.management.commands import import_corpus as import_command
from annotations.models import Corpus, CorpusVersion, Dialogue, Rating, Response, Turn
from tests.annotations.stored import dialogue, rated_corpus, stored, two_systems, written
from tests.at_once import at_once

pytestmark = pytest.mark.django_db


def import_file(path: Path, slug: str = "small", name: str = "") -> list[actions.ImportOutcome]:
    return actions.import_corpus(importers()["jsonl"], path, slug, name)


# --- what is stored -------------------------------------------------------------------------------


def test_everything_is_stored_once(tmp_path: Path) -> None:
    counts = counts_of(stored(two_systems(), tmp_path))
    found = (
        counts.dialogues,
        counts.turns,
        counts.systems,
        counts.responses,
        counts.raters,
        counts.ratings,
    )
    assert found == (2, 3, 2, 5, 2, 6)


def test_progress_is_told_while_a_file_is_checked_and_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """18 records: a corpus, 2 systems, 2 raters, 2 dialogues, 5 responses, 6 ratings."""
    monkeypatch.setattr(base, "WATCHED", 6)
    told: list[tuple[str, int]] = []
    path = written(two_systems(), tmp_path / "small.jsonl")
    actions.import_corpus(
        importers()["jsonl"], path, "small", progress=lambda *what: told.append(what)
    )
    assert told == [(what, count) for what in ("checked", "stored") for count in (0, 6, 12)]


def test_a_cancelled_import_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def passed(_progress: import_command.Progress, what: str, _records: int) -> None:
        if what == "stored":
            raise KeyboardInterrupt

    monkeypatch.setattr(import_command.Progress, "passed", passed)
    path = written(two_systems(), tmp_path / "small.jsonl")
    with pytest.raises(CommandError, match="cancelled: nothing was stored"):
        call_command("import_corpus", str(path), "--slug", "small")
    assert (Corpus.objects.count(), CorpusVersion.staged.count()) == (0, 0)


def test_a_turn_keeps_its_context_its_references_and_both_personas(tmp_path: Path) -> None:
    turn = Turn.objects.get(
        dialogue__version=stored(two_systems(), tmp_path), dialogue__external_id="d1"
    )
    assert turn.context == [["A", "question about d1"]]
    assert turn.references == ["the answer"]
    assert (turn.dialogue.persona, turn.dialogue.partner_persona) == (["I test."], ["I ask."])


def test_a_long_corpus_keeps_its_order_over_batches(tmp_path: Path) -> None:
    names = [f"dialogue {number}" for number in range(2 * 20 + 1)]
    version = stored(rated_corpus([dialogue(name) for name in names], {}), tmp_path)
    assert [one.external_id for one in version.dialogues.order_by("position")] == names
    assert [one.position for one in version.dialogues.order_by("position")] == list(
        range(len(names))
    )


def test_a_rating_of_a_whole_dialogue_names_the_system_and_the_dialogue(tmp_path: Path) -> None:
    records = rated_corpus(
        [dialogue("d0")], {("d0", 0, "echo"): "hi"}, {("d0", None, "echo"): {"ann": 4}}
    )
    rating = Rating.objects.get(rater__version=stored(records, tmp_path))
    assert rating.response is None
    assert (rating.system.name, rating.dialogue.external_id, rating.score) == ("echo", "d0", 4.0)


def test_aspects_and_their_scales_are_kept_in_the_file_s_order(tmp_path: Path) -> None:
    records: list[Record] = [
        CorpusRecord(
            aspects=("Natural", "Overall"), main_aspect="Overall", scales=(("Natural", 1, 3),)
        ),
        dialogue("d0"),
    ]
    version = stored(records, tmp_path)
    assert (version.aspects, version.main_aspect) == (["Natural", "Overall"], "Overall")
    assert version.scales == {"Natural": [1, 3], "Overall": [1.0, 5.0]}


# --- again, and changed ---------------------------------------------------------------------------


def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    (first,), (second,) = import_file(path), import_file(path)
    assert (first.created, second.created) == (True, False)
    assert first.version == second.version
    assert (CorpusVersion.objects.count(), Response.objects.count(), Rating.objects.count()) == (
        1,
        5,
        6,
    )


def test_white_space_and_key_order_make_no_new_version(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    import_file(path)
    spaced = path.read_text().replace('","', '", "').replace('":', '": ')
    path.write_text("\n\n" + spaced.replace("\n", "\r\n"))
    assert not import_file(path)[0].created


def test_a_changed_file_makes_version_2_and_version_1_stays(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    first = import_file(path)[0].version
    path.write_text(path.read_text().replace('"text":"yes"', '"text":"perhaps"'))
    second = import_file(path)[0].version
    assert (first.number, second.number) == (1, 2)
    assert Response.objects.get(system__version=first, text="yes").system.name == "dull"
    assert Response.objects.get(system__version=second, text="perhaps").system.name == "dull"
    assert version_of("small") == second
    assert version_of("small", 1) == first


def test_going_back_to_the_old_content_finds_version_1(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    old = path.read_text()
    first = import_file(path)[0].version
    path.write_text(old.replace('"text":"yes"', '"text":"perhaps"'))
    import_file(path)
    path.write_text(old)
    again = import_file(path)[0]
    assert (again.created, again.version) == (False, first)


def test_the_same_file_under_another_name_is_another_corpus(tmp_path: Path) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    one, other = import_file(path, "one")[0], import_file(path, "other")[0]
    assert one.version != other.version
    assert one.version.digest == other.version.digest


def test_the_name_is_the_one_given_or_the_file_s_or_the_slug(tmp_path: Path) -> None:
    named = written([CorpusRecord(name="of the file"), dialogue("d0")], tmp_path / "named.jsonl")
    nameless = written([CorpusRecord(), dialogue("d0")], tmp_path / "nameless.jsonl")
    assert import_file(named, "a", "given")[0].version.corpus.name == "given"
    assert import_file(named, "b")[0].version.corpus.name == "of the file"
    assert import_file(nameless, "c")[0].version.corpus.name == "c"


# --- bad files ------------------------------------------------------------------------------------


def nothing_is_stored() -> bool:
    return not any(
        model.objects.exists() for model in (Corpus, CorpusVersion, Dialogue, Response, Rating)
    )


GOOD = "".join(
    f"{line}\n"
    for line in (
        '{"type":"corpus"}',
        '{"type":"system","name":"echo"}',
        '{"type":"rater","name":"ann"}',
        '{"type":"dialogue","id":"d0","persona":[],"partner_persona":[],'
        '"turns":[{"number":0,"context":[{"speaker":"A","text":"hi"}]}]}',
        '{"type":"response","dialogue_id":"d0","turn":0,"system":"echo","text":"hi"}',
        (
            '{"type":"rating","dialogue_id":"d0","turn":0,"system":"echo","rater":"ann",'
            '"aspect":"overall","score":4}'
        ),
    )
)


def test_the_good_file_below_is_good(tmp_path: Path) -> None:
    path = tmp_path / "good.jsonl"
    path.write_text(GOOD)
    assert import_file(path)[0].created


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (GOOD[:-30], "bad.jsonl:6"),  # cut off in the middle of the last line
        (GOOD.replace('"score":4', '"score":"4"'), "bad.jsonl:6: score"),
        (GOOD.replace('"score":4', '"score":6'), "bad.jsonl:6: score"),
        (
            GOOD.replace('"turn":0,"system":"echo","text"', '"turn":"0","system":"echo","text"'),
            "bad.jsonl:5: turn",
        ),
        (GOOD + GOOD.splitlines()[4] + "\n", "bad.jsonl:7"),  # the response once more
        (GOOD + GOOD.splitlines()[5] + "\n", "bad.jsonl:7"),  # the rating once more
        (GOOD.replace('"text":"hi"}\n', '"text":"h\\u0000i"}\n'), "bad.jsonl:5: text"),
        (GOOD.replace('"text":"hi"}\n', '"text":"h\0i"}\n'), "NUL"),
        (GOOD.replace('"echo","rater"', '"echo ","rater"'), "bad.jsonl:6: system"),
        ("", "is empty"),
        ("x" * (5 * 1024 * 1024), "is longer than"),  # a line that never ends
        ("[" * 1_000_000, "bad.jsonl:1"),
    ],
)
def test_a_file_with_a_problem_stores_nothing_and_names_the_place(
    tmp_path: Path, bad: str, says: str
) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(bad)
    with pytest.raises(ImportFailed) as failure:
        import_file(path)
    assert says in str(failure.value)
    assert nothing_is_stored()


def test_at_most_a_hundred_problems_are_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(GOOD + '{"type":"no such type"}\n' * 1000)
    with pytest.raises(ImportFailed) as failure:
        import_file(path)
    assert len(failure.value.problems) == 100
    assert nothing_is_stored()


def test_a_file_larger_than_the_limit_is_refused_unread(tmp_path: Path, settings) -> None:
    path = tmp_path / "large.jsonl"
    path.write_text(GOOD)
    settings.MAX_IMPORT_BYTES = len(GOOD.encode())
    assert import_file(path)[0].created
    settings.MAX_IMPORT_BYTES -= 1
    with pytest.raises(ImportFailed, match="DIALEVAL_MAX_IMPORT_MB"):
        import_file(path, "other")
    assert not Corpus.objects.filter(slug="other").exists()


def test_a_bad_change_leaves_the_old_version_alone(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(GOOD)
    version = import_file(path)[0].version
    path.write_text(GOOD.replace('"score":4', '"score":6'))
    with pytest.raises(ImportFailed):
        import_file(path)
    assert list(CorpusVersion.objects.all()) == [version]


def test_a_file_that_changes_between_the_check_and_the_storing_stores_nothing(
    tmp_path: Path,
) -> None:
    """The check reads the file, then the storing does. What was checked must be what is stored."""
    texts = iter(["checked", "swapped"])
    path = written([], tmp_path / "file")

    def stream(path: Path, part: str, problems: Problems) -> Iterator[Placed]:
        text = next(texts)
        path.write_text(text)
        yield CorpusRecord(), 1, ""
        yield SystemRecord(text), 2, ""
        yield dialogue("d0"), 3, ""

    with pytest.raises(ImportFailed, match="changed while it was read"):
        actions.import_corpus(Importer("test", "", stream, re.compile("test")), path, "small")
    assert nothing_is_stored()


# --- at once --------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("versions_before", [0, 1])
def test_imports_of_one_file_at_once_make_one_version(tmp_path: Path, versions_before: int) -> None:
    path = written(two_systems(), tmp_path / "corpus.jsonl")
    if versions_before:
        import_file(path)
    written([*two_systems(), RatingRecord("d1", 0, "echo", "ann", "overall", 3)], path)
    results = at_once(*[lambda: import_file(path)] * 4)
    assert [one for one in results if isinstance(one, Exception)] == []
    assert sorted(outcome.created for outcomes in results for outcome in outcomes) == [
        False,
        False,
        False,
        True,
    ]
    assert (Corpus.objects.count(), CorpusVersion.objects.count()) == (1, versions_before + 1)
    assert version_of("small").number == versions_before + 1
    assert Rating.objects.count() == 6 * versions_before + 7
