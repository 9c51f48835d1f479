"""The page of rater effects: what it says, and whose names it does not say."""

from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from annotations.formats.records import RaterRecord
from annotations.models import CorpusVersion
from leaderboard.pages.raters import view
from leaderboard.pages.raters.query import rater_effects
from leaderboard.queries import agreement_pairs
from tests.annotations.stored import dialogue, rated_corpus, stored

pytestmark = pytest.mark.django_db

DIALOGUES = 8
STRICT = {"xavier-strict": 1, "yvonne-mild": 0, "zoe-lenient": -1}
QUALITY = {"low": 2, "middle": 3, "high": 4}


def panel(folder: Path, *, kind="identified", judges=None, names=STRICT) -> CorpusVersion:
    """Three systems of qualities 2, 3 and 4 by three raters, one of them one point strict, one one
    point lenient. ``judges``: who judges which system; everybody everything without it. A dialogue
    in two is half a point harder."""
    responses = {
        (f"d{d}", 0, system): f"{system} says {d}" for d in range(DIALOGUES) for system in QUALITY
    }
    ratings = {
        (f"d{d}", 0, system): {
            rater: float(
                min(
                    max(QUALITY[system] - (d % 2) - names[rater] + (d == 3 and rater[0] == "y"), 1),
                    5,
                )
            )
            for rater in (judges or {}).get(system, names)
        }
        for d in range(DIALOGUES)
        for system in QUALITY
    }
    people = [RaterRecord(name, kind) for name in names]
    records = rated_corpus(
        [dialogue(f"d{d}") for d in range(DIALOGUES)], responses, ratings, raters=people
    )
    return stored(records, folder)


def page_of(client: Client, query="") -> str:
    answer = client.get(reverse("rater-effects", args=["small"]) + query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_raters_stand_under_pseudonyms_in_the_page_its_files_and_the_stored_answer(
    tmp_path, client
):
    version = panel(tmp_path)
    texts = [page_of(client), str(rater_effects(version, "overall"))]
    texts += [
        page_of(client, f"?download={file}")
        for file in ("raters.csv", "raters.json", "severity-data.csv")
    ]
    for text in texts:
        assert "rater 1" in text
        assert not any(name in text for name in STRICT)


@pytest.mark.slow
def test_of_many_raters_the_page_draws_both_ends_and_the_file_has_all(tmp_path, client):
    """Of 101 the 51st in severity is not drawn."""
    many = {f"rater-{number}": (number % 3) - 1 for number in range(101)}
    panel(tmp_path, names=many)
    page = page_of(client)
    assert page.count("Drawn: the 50 strictest and the 50 most lenient; the data have all.") >= 2
    for file in ("severity-data.csv", "scale-use-data.csv"):
        assert len(page_of(client, f"?download={file}").strip().splitlines()) == 1 + 101


def test_the_strictest_rater_comes_first_and_has_the_right_number(tmp_path):
    document = rater_effects(panel(tmp_path), "overall")
    severity = {one.rater: one.severity.value for one in document.raters}
    assert severity["rater 1"] > 0.8
    assert severity["rater 3"] < -0.8
    assert document.reason == ""


def test_who_is_judged_by_the_strict_rater_rises(tmp_path):
    """``middle`` is judged by the strict and the mild rater, the others by the mild and the lenient
    one."""
    judges = {
        "low": ["yvonne-mild", "zoe-lenient"],
        "middle": ["xavier-strict", "yvonne-mild"],
        "high": ["yvonne-mild", "zoe-lenient"],
    }
    systems = {
        one.system: one for one in rater_effects(panel(tmp_path, judges=judges), "overall").systems
    }
    change = {name: one.change for name, one in systems.items()}
    assert change["middle"] > 0.2 > -0.1 > change["high"]
    places = {name: (one.raw_place, one.corrected_place) for name, one in systems.items()}
    # As it stands, it shares its place with ``low``
    assert places == {"high": (1, 1), "middle": (2, 2), "low": (2, 3)}


def test_shares_of_each_score_sum_to_one_and_are_of_the_scale(tmp_path):
    document = rater_effects(panel(tmp_path), "overall")
    for one in document.raters:
        assert sum(one.shares) == pytest.approx(1)
        assert len(one.shares) == len(document.steps)


def test_the_page_tells_its_story(tmp_path, client):
    panel(tmp_path)
    text = page_of(client)
    assert "The raters judged all systems alike" in text
    assert "Severity: rating points below" in text
    assert "Use of the scale, n = 3 raters" in text
    assert 'href="/corpora/small/agreement/?version=1&amp;aspect=overall"' in text


def test_the_agreement_page_leads_there(tmp_path, client):
    panel(tmp_path)
    text = client.get(reverse("agreement", args=["small"])).content.decode()
    assert "/corpora/small/agreement/raters/?version=1&amp;aspect=overall" in text


@pytest.mark.parametrize(
    ("kind", "words"),
    [("anonymous", "raters are anonymous"), ("aggregate", "mean scores, not raters")],
)
def test_who_is_not_identified_has_no_severity_and_the_page_says_why(tmp_path, client, kind, words):
    panel(tmp_path, kind=kind)
    text = page_of(client)
    assert words in text
    assert "rater 1" not in text


def test_panels_that_share_no_system_are_not_compared_and_the_page_says_why(tmp_path, client):
    judges = {"low": ["zoe-lenient"], "middle": ["xavier-strict"], "high": ["xavier-strict"]}
    panel(tmp_path, judges=judges)
    text = page_of(client)
    assert "2 groups that share no rating" in text
    assert "Raters, small" in text  # each rater's use of the scale is known all the same


def test_withheld_systems_and_their_raters_are_not_there(tmp_path):
    version = panel(
        tmp_path, judges={"low": ["zoe-lenient"], "middle": list(STRICT), "high": ["yvonne-mild"]}
    )
    version.systems.filter(name__in=["middle"]).update(withheld=True)
    document = rater_effects(version, "overall")
    assert [one.system for one in document.systems] == ["low", "high"]
    assert [one.rater for one in document.raters] == ["rater 2", "rater 3"]


def test_hostile_names_are_text(tmp_path, client):
    names = {"<script>alert(1)</script>": 1, "=1+1": 0, "zoe": -1}
    panel(tmp_path, names=names)
    assert "alert(1)" not in page_of(client)


def test_nothing_rated_and_levels_that_do_not_exist(tmp_path, client):
    stored(rated_corpus([dialogue("d0")], {("d0", 0, "echo"): "yes"}), tmp_path)
    assert "No ratings" in page_of(client)
    assert client.get(reverse("rater-effects", args=["small"]) + "?level=word").status_code == 404


def pairs_of(client: Client) -> HttpResponse:
    return client.get(reverse("agreement", args=["small"]), {"download": "rater-pairs.csv"})


def test_the_file_of_pairs_has_those_that_the_page_leaves_out(tmp_path, client, monkeypatch):
    """Of three raters one pair shows, and all three are in the file."""
    monkeypatch.setattr(agreement_pairs, "PAIRS_SHOWN", 1)
    panel(tmp_path)
    page = client.get(reverse("agreement", args=["small"])).content.decode()
    assert page.count('data-id="pair-') == 1
    assert "all 3 are in the download" in page
    assert len(pairs_of(client).content.decode().splitlines()) == 1 + 3


def test_a_file_whose_answer_was_replaced_in_this_moment_is_asked_for_again(
    tmp_path, client, monkeypatch
):
    panel(tmp_path)
    monkeypatch.setattr(view, "whole", lambda found: None)
    assert pairs_of(client).status_code == 503
