"""What an organiser may store as a judge's prompt, what keeps it, and when it may go."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from annotations.models import AuditEntry
from tests.at_once import at_once
from tests.challenges.sets import open_round
from tests.judges.written import TEXT, configuration_of, forget, organiser, rated_version, written
from workers.judges import prompt_actions, prompt_queries, trial_actions
from workers.judges.core import prompt_file
from workers.judges.models import Budget, JudgePrompt, JudgeRun, PromptVersion, Trial
from workers.judges.prompt_actions import Refused
from workers.judges.prompt_queries import Naming
from workers.metrics.common.configuration import parse
from workers.runs import actions


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    forget()
    yield
    forget()


# --- storing --------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_prompt_is_stored_with_its_first_version_and_a_line_in_the_log() -> None:
    by = organiser()
    version = written("Kind words", by=by)
    assert (str(version), version.text, version.created_by) == ("kind-words@1", TEXT, by)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.subject, entry.actor) == (
        "judge_prompt.created",
        "kind-words",
        "olga",
    )
    assert entry.details["digest"] == version.digest


@pytest.mark.django_db
def test_a_stored_version_is_on_the_shelf_and_makes_a_judge() -> None:
    version = written()
    assert prompt_file.text_of("kind-words@1") == TEXT
    assert configuration_of(version).text == "judge[model=judge-a,prompt=kind-words@1]"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name",
    ["kind-words", "kind-words@2", "kind-words@01", "kind-words@0", "@1", "", "KIND@1", "a@1\n"],
)
def test_anything_else_is_not_on_the_shelf(name: str) -> None:
    written()
    assert prompt_file.text_of(name) is None


@pytest.mark.django_db
def test_another_wording_gets_the_next_number_and_changes_nothing_else() -> None:
    version = written()
    kept = prompt_actions.write(version.prompt, TEXT.replace("About B", "Of B"), None)
    assert (kept.is_new, kept.version.number) == (True, 2)
    assert PromptVersion.objects.get(number=1).text == TEXT


@pytest.mark.django_db
def test_the_same_wording_is_the_same_version_whatever_its_line_ends_and_its_name() -> None:
    """The digest is of what decides the answer: the file's own name is no part of it, nor are
    blanks at line ends."""
    version = written()
    same = (
        TEXT.replace("name: kind", "name: kinder")
        .replace("Said before:", "Said before:  ")
        .replace("\n", "\r\n")
    )
    kept = prompt_actions.write(version.prompt, same, None)
    assert (kept.is_new, kept.version.pk) == (False, version.pk)
    assert AuditEntry.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("title", "slug", "field"),
    [
        ("", "", "title"),
        (" \n ", "", "title"),
        ("x" * 121, "", "title"),
        ("nul\0", "", "title"),
        ("half \ud800", "", "title"),
        ("善", "", "slug"),
        ("🙂", "", "slug"),
        ("New", "", "slug"),
        ("Taken", "", "slug"),
        ("Fine", "Not So", "slug"),
        ("Fine", "a@1", "slug"),
        ("Fine", "a,b", "slug"),
        ("Fine", "é", "slug"),
        ("Fine", "x" * 61, "slug"),
        ("Fine", "taken", "slug"),
    ],
)
def test_titles_and_names_that_cannot_be_are_refused_by_field(
    title: str, slug: str, field: str
) -> None:
    written("Taken")
    with pytest.raises(Refused) as refusal:
        prompt_actions.create(title, slug, TEXT, None)
    assert refusal.value.field == field
    assert JudgePrompt.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\t",
        "hello",
        TEXT.replace("step: turn", "step: dialogue"),
        TEXT.replace("scale: 1-5", "scale: 5-1"),
        TEXT.replace("{response}", ""),
        TEXT.replace("{fact}", "{faktum}"),
        TEXT.replace("Said", "{Said"),
        TEXT + "\0",
        TEXT + "\ud800",
        TEXT + "x" * 1_000_000,
    ],
)
def test_a_text_that_the_checker_refuses_is_not_stored(text: str) -> None:
    with pytest.raises(Refused) as refusal:
        prompt_actions.create("Fine", "", text, None)
    assert refusal.value.field == "text"
    assert not JudgePrompt.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_prompts_of_one_name_at_once_make_one_and_the_other_is_told() -> None:
    outcomes = at_once(*[lambda: written("Twins")] * 2)
    made = [one for one in outcomes if isinstance(one, PromptVersion)]
    refused = [one for one in outcomes if isinstance(one, Refused)]
    assert (len(made), len(refused)) == (1, 1), outcomes
    assert refused[0].field == "slug"
    assert (JudgePrompt.objects.count(), PromptVersion.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_two_wordings_at_once_get_two_numbers_and_one_wording_twice_gets_one() -> None:
    prompt = written().prompt
    texts = [TEXT.replace("About", word) for word in ("Of", "On", "On")]
    kept = at_once(*[lambda text=text: prompt_actions.write(prompt, text, None) for text in texts])
    assert sorted(one.version.number for one in kept) in ([2, 3, 3], [2, 2, 3])
    assert prompt.versions.count() == 3


# --- deleting -------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_prompt_that_nobody_uses_goes_with_its_trials_and_their_budgets() -> None:
    version, corpus = written(), rated_version()
    trial = trial_actions.start(version, corpus, configuration_of(version), "overall")
    trial_actions.stop(trial)
    Budget.objects.filter(pk=trial.budget_id).update(calls=7, tokens_spent=900, cost_spent="0.25")
    prompt_actions.delete(version.prompt, organiser())
    assert not JudgePrompt.objects.exists()
    assert not Trial.objects.exists()
    assert not Budget.objects.exists()
    entry = AuditEntry.objects.get(action="judge_prompt.deleted")
    assert (entry.subject, entry.actor) == ("kind-words", "olga")
    assert entry.details | {"title": ""} == {
        "title": "", "version": 1, "trials": 1, "calls": 7, "tokens": 900, "cost_usd": "0.25",
    }  # fmt: skip


@pytest.mark.django_db
def test_a_prompt_stays_while_runs_name_it() -> None:
    version, corpus = written(), rated_version()
    actions.request([configuration_of(version)], list(corpus.systems.all()), hint=False)
    with pytest.raises(Refused, match=corpus.corpus.slug):
        prompt_actions.delete(version.prompt, None)
    assert JudgePrompt.objects.exists()


@pytest.mark.django_db
def test_runs_of_another_prompt_whose_name_begins_alike_keep_nothing() -> None:
    """``kind-words@1`` stands in ``very-kind-words@1`` and in ``kind-words@12``."""
    version = written()
    other, corpus = written("Very kind words"), rated_version()
    actions.request([configuration_of(other)], list(corpus.systems.all()), hint=False)
    prompt_actions.delete(version.prompt, None)
    assert [one.slug for one in JudgePrompt.objects.all()] == ["very-kind-words"]


@pytest.mark.django_db
def test_a_prompt_stays_while_a_judge_run_or_a_round_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version, corpus = written(), rated_version()
    text = configuration_of(version).text
    run = JudgeRun.objects.create(
        version=corpus, configuration=text, budget=Budget.objects.create()
    )
    with pytest.raises(Refused, match=corpus.corpus.slug):
        prompt_actions.delete(version.prompt, None)
    run.delete()
    monkeypatch.setattr(
        prompt_queries, "_providers", [lambda part: [Naming(text, "round 1 of The cup")]]
    )
    with pytest.raises(Refused, match="round 1 of The cup"):
        prompt_actions.delete(version.prompt, None)


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["metrics", "private_metrics"])
def test_a_prompt_stays_while_a_challenge_s_round_asks_for_it(field: str) -> None:
    version = written()
    text = configuration_of(version).text
    round = open_round(**{field: ["word_f1", text]})
    with pytest.raises(Refused, match=f"{round.name}, {round.challenge.name}"):
        prompt_actions.delete(version.prompt, None)
    (use,) = prompt_queries.uses_of("kind-words")
    assert (use.configuration, use.corpus, use.runs) == (text, "", 0)


@pytest.mark.django_db
def test_a_prompt_stays_while_it_is_being_tried() -> None:
    version, corpus = written(), rated_version()
    trial = trial_actions.start(version, corpus, configuration_of(version), "overall")
    with pytest.raises(Refused, match="trial"):
        prompt_actions.delete(version.prompt, None)
    trial_actions.stop(trial)
    prompt_actions.delete(version.prompt, None)


@pytest.mark.django_db
def test_a_deleted_name_s_numbers_are_not_given_again() -> None:
    """A file of scores may name kind-words@2, and a worker may remember what it said."""
    version = written()
    prompt_actions.write(version.prompt, TEXT.replace("About", "On"), None)
    prompt_actions.delete(version.prompt, None)
    again = written(text=TEXT.replace("About", "As to"))
    assert str(again) == "kind-words@3"
    prompt_actions.delete(again.prompt, None)
    assert str(written()) == "kind-words@4"


@pytest.mark.django_db
def test_deleting_twice_is_no_error() -> None:
    version = written()
    prompt_actions.delete(version.prompt, None)
    prompt_actions.delete(version.prompt, None)
    assert AuditEntry.objects.filter(action="judge_prompt.deleted").count() == 1


# --- where it is used -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("configuration", "named"),
    [
        ("judge[prompt=kind@1]", [("kind", 1)]),
        ("judge[model=m,prompt=kind@12,samples=3]", [("kind", 12)]),
        ('cpdscore_detail[prompt="kind@1"]', [("kind", 1)]),
        ("cpdscore_dialogue[prompt=whole@2,turn_prompt=kind@1]", [("whole", 2), ("kind", 1)]),
        ("judge[prompt=/srv/kind@1.txt]", []),
        ("judge[prompt=kind@01]", []),
        ("judge[otherprompt=kind@1]", []),
        ("judge", []),
    ],
)
def test_a_configuration_tells_which_prompt_it_names(
    configuration: str, named: list[tuple[str, int]]
) -> None:
    assert prompt_queries.named_in(configuration) == named


@pytest.mark.django_db
def test_uses_are_counted_by_corpus_and_version_of_the_prompt() -> None:
    version, corpus = written(), rated_version()
    actions.request([configuration_of(version)], list(corpus.systems.all()), hint=False)
    corpus.systems.first().metric_runs.update(
        state="done", signature="s", system_score=1.0, finished_at="2026-11-01T00:00Z"
    )
    (use,) = prompt_queries.uses_of("kind-words")
    assert (use.number, use.corpus, use.done, use.runs) == (1, corpus.corpus.slug, 1, 3)
    assert prompt_queries.uses_by_slug() == {"kind-words": [use]}
    assert parse(use.configuration) == configuration_of(version)


# --- two versions ---------------------------------------------------------------------------------


def test_a_difference_shows_what_was_added_and_removed_with_lines_around() -> None:
    before = "".join(f"line {n}\n" for n in range(20))
    after = before.replace("line 2\n", "second\n").replace("line 15\n", "line 15\nmore\n")
    lines = prompt_queries.difference(before, after, context=1)
    assert [(one.kind, one.text) for one in lines] == [
        ("same", "line 1"), ("removed", "line 2"), ("added", "second"), ("same", "line 3"),
        ("gap", ""),
        ("same", "line 15"), ("added", "more"), ("same", "line 16"),
    ]  # fmt: skip
    assert prompt_queries.difference(before, before) == []
