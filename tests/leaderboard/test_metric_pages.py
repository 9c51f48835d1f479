"""The page of a metric, on small corpora whose numbers are worked by hand."""

from __future__ import annotations

import csv
import html
import re

import pytest
from django.test import Client

from annotations.corpora.actions import data_changed
from annotations.models import Corpus, CorpusVersion
from leaderboard.models import Analysis
from leaderboard.pages.metric.query import disagreement
from leaderboard.results.computing import answer_of, compute_waiting
from tests.campaigns.sets import made_user
from tests.leaderboard.conftest import FOUR_RESPONSES, Rated
from workers.models import MetricRun

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def page(client: Client, address: str = "/metrics/length/", **headers: str) -> str:
    response = client.get(address, headers=headers)
    assert response.status_code == 200, response.content.decode()[:400]
    return html.unescape(" ".join(response.content.decode().split()))


def table(client: Client, name: str, address: str = "/metrics/length/") -> list[dict[str, str]]:
    joint = "&" if "?" in address else "?"
    answer = client.get(f"{address}{joint}download={name}.csv")
    assert answer.status_code == 200
    return list(csv.DictReader(answer.content.decode("utf-8-sig").splitlines()))


FIVE = [(1, 1), (2, 3), (3, 2), (4, 5), (5, 4)]
"""Human scores and lengths."""


def computed(version: CorpusVersion) -> None:
    version.refresh_from_db()
    answer_of(version, "correlations", aspect=version.main_aspect)


# --- what it measures -----------------------------------------------------------------------------


def test_a_metric_that_never_ran_says_what_it_measures_and_how_to_run_it(client: Client) -> None:
    said = page(client, "/metrics/bleu_4/")
    assert "<math" in said
    assert "Papineni et al. (2002)" in said
    assert "manage.py score --corpus S --metrics bleu_4" in said
    assert (
        "metric:bleu_4|version:2|normalize:true|tokenize:auto|unicode:fold|smooth:method1" in said
    )
    assert "It has not run yet" in said
    assert "There is no corpus here that you can see." in said


def test_an_equation_that_cannot_be_drawn_is_shown_as_it_was_written(
    client: Client, odd_metrics: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dataclasses import replace

    from workers.metrics.registry import all_metrics

    broken = replace(
        all_metrics()["length"], equation=r"\text{<b>}", description="Counts `characters`."
    )
    monkeypatch.setattr("leaderboard.pages.metric.view.all_metrics", lambda: {"length": broken})
    answer = client.get("/metrics/length/").content.decode()
    assert r"<code>\text{&lt;b&gt;}</code>" in answer
    assert "Counts <code>characters</code>." in answer


def test_options_stand_with_what_they_do_and_what_is_set_here(client: Client) -> None:
    row, *_ = table(
        client, "metric-options", "/metrics/bleu_4/?configuration=bleu_4[normalize=false]"
    )
    assert (row["option"], row["default"], row["here"], row["choices"]) == (
        "normalize",
        "true",
        "false",
        "true or false",
    )


def test_a_metric_that_cannot_run_here_says_why(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workers.metrics.wordnet.missing", lambda: "WordNet is on holiday")
    said = page(client, "/metrics/meteor/")
    assert "WordNet is on holiday" not in said
    assert "not set up on this site" in said
    client.force_login(made_user("olga", "organiser"))
    assert "WordNet is on holiday" in page(client, "/metrics/meteor/")


@pytest.mark.parametrize(
    "address",
    [
        "/metrics/no_such_metric/",
        "/metrics/bleu_4/?configuration=rouge_l",
        "/metrics/bleu_4/?configuration=bleu_4[no=1]",
        "/metrics/bleu_4/?configuration=%00",
        "/metrics/bleu_4/?download=nothing.csv",
    ],
)
def test_what_is_not_there_is_not_found(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


# --- its agreement with people --------------------------------------------------------------------


def test_stored_correlations_stand_at_every_level(client: Client, rated: Rated) -> None:
    """r = 0.8 over the four responses, worked in the conftest."""
    computed(rated(FOUR_RESPONSES))
    (row,) = table(client, "metric-agreement")
    assert row["corpus"] == "small"
    assert float(row["turn-pearson"]) == pytest.approx(0.8)
    assert float(row["turn-kendall"]) == pytest.approx(2 / 3)
    assert row["turn-n"] == "4"
    assert "turn-pearson_low" not in row  # without d0 there are two responses, and no correlation
    assert row["system-n"] == "2"


def test_a_correlation_stands_with_its_interval(client: Client, rated: Rated) -> None:
    """Five dialogues: without any of them four pairs are left."""
    computed(
        rated(
            {
                (f"d{place}", 0, "echo"): (human, length)
                for place, (human, length) in enumerate(FIVE)
            }
        )
    )
    (row,) = table(client, "metric-agreement")
    value, low, high = (float(row[f"turn-pearson{end}"]) for end in ("", "_low", "_high"))
    assert low < value < high


@pytest.mark.by_workers
def test_what_is_not_computed_yet_is_said_and_asked_for_until_it_is_there(
    client: Client, rated: Rated
) -> None:
    rated(FOUR_RESPONSES)
    said = page(client)
    assert "Being computed for the present data of" in said
    assert 'hx-trigger="every 3s' in said
    assert {row.state for row in compute_waiting()} == {"done"}
    part = page(client, **HTMX)
    assert "0.800" in part
    assert "hx-trigger" not in part
    assert "<html" not in part


@pytest.mark.by_workers
def test_scores_and_gaps_that_are_not_computed_yet_leave_the_rest_of_the_page(
    client: Client, rated: Rated
) -> None:
    rated(FOUR_RESPONSES)
    said = page(client)
    assert said.count("wait for a worker") == 2
    assert "To compute it" in said


@pytest.mark.by_workers
def test_an_answer_of_older_data_says_so(client: Client, rated: Rated) -> None:
    version = rated(FOUR_RESPONSES)
    computed(version)
    CorpusVersion.objects.filter(pk=version.pk).update(revision=version.revision + 100)
    assert len(table(client, "metric-agreement")) == 1
    assert "Computed from older data" in page(client)


# --- who may see what -----------------------------------------------------------------------------


def test_a_private_corpus_stands_on_no_stranger_s_page(
    client: Client, rated: Rated, admin_client: Client
) -> None:
    computed(rated(FOUR_RESPONSES))
    Corpus.objects.update(is_public=False)
    said = page(client)
    assert "small" not in re.sub(r"class=\"[^\"]*\"", "", said)
    assert "There is no corpus here that you can see." in said
    for name in ("metric-agreement", "scores-data", "over-rated", "metric-models"):
        answer = client.get(f"/metrics/length/?download={name}.csv")
        assert answer.status_code == 404 or b"small" not in answer.content
    # As if it did not exist: the page without one
    assert client.get("/metrics/length/?corpus=small").status_code == 200
    assert "small" in page(admin_client)


def test_withheld_systems_are_in_no_figure(client: Client, rated: Rated) -> None:
    """Without dull there are three lengths, 1, 3 and 2, with the mean 2."""
    version = rated(FOUR_RESPONSES)
    version.systems.filter(name="dull").update(withheld=True)
    data_changed([version.pk])
    said = page(client)
    assert "dull" not in said
    assert "n = 3 responses" in said
    assert all(
        row["system"] == "echo"
        for row in table(client, "over-rated") + table(client, "under-rated")
    )


# --- scores on one corpus -------------------------------------------------------------------------


def test_the_histogram_s_data_are_its_bins(client: Client, rated: Rated) -> None:
    """Lengths 1, 2, 3, 4: 29 widths of 0.2 span the 3 between them; each score stands alone in its
    bin."""
    rated(FOUR_RESPONSES)
    rows = table(client, "scores-data")
    assert [
        (row["from"], row["responses"], row["share"]) for row in rows if row["responses"] != "0"
    ] == [
        ("1", "1", "0.25"),
        ("2", "1", "0.25"),
        ("3", "1", "0.25"),
        ("3.8", "1", "0.25"),
    ]
    assert "mean 2.500" in page(client)


def test_what_has_no_score_is_counted_with_its_reason(client: Client, rated: Rated) -> None:
    rated(FOUR_RESPONSES, metrics="short_only")
    said = page(client, "/metrics/short_only/")
    assert re.search(r'<span class="figure">1</span> longer than 3 characters', said)


def test_remarks_are_counted(client: Client, rated: Rated) -> None:
    rated(FOUR_RESPONSES)
    MetricRun.objects.filter(system__name="echo").update(
        remarks={"0": "cut at 512 tokens", "1": "cut at 512 tokens"}
    )
    Analysis.objects.all().delete()
    assert re.search(r'<span class="figure">2</span> cut at 512 tokens', page(client))


def test_the_widest_gaps_stand_on_both_sides_with_what_was_said(
    client: Client, rated: Rated
) -> None:
    """People 1, 2, 3, 4 and lengths 1, 3, 2, 4: both have the mean 2.5 and the sd √1.25 = 1.118.
    The second response lies (3 − 2) / 1.118 = 0.894 above people, the third as far below; the
    others agree."""
    rated(FOUR_RESPONSES)
    (over,) = table(client, "over-rated")
    (under,) = table(client, "under-rated")
    assert (over["system"], over["dialogue"], over["turn"], over["response"]) == (
        "echo",
        "d1",
        "0",
        "xxx",
    )
    assert float(over["gap"]) == pytest.approx(1 / 1.25**0.5)
    assert (under["dialogue"], under["response"]) == ("d2", "xx")
    assert float(under["gap"]) == pytest.approx(-1 / 1.25**0.5)
    said = page(client)
    assert "question about d1" in said
    assert "+0.89 sd" in said
    assert "/corpora/small/dialogues/1/?version=1&turn=0&system=0&aspect=overall#system-0" in said


def test_where_nobody_rated_responses_whole_dialogues_are_compared(
    client: Client, rated: Rated
) -> None:
    """Three dialogues of echo: people 1, 2, 3 and mean lengths 3, 2, 1. z ∓1.2247: d0 lies 2.449
    above people."""
    places = {(f"d{n}", 0, "echo"): (None, 3 - n) for n in range(3)}
    rated(places, of_dialogues={(f"d{n}", "echo"): n + 1 for n in range(3)})
    (over,) = table(client, "over-rated")
    assert (over["dialogue"], over["turn"]) == ("d0", "")
    assert float(over["gap"]) == pytest.approx(2 * 1.5**0.5)


def test_a_metric_of_whole_systems_shows_systems(client: Client, rated: Rated) -> None:
    """Echo's responses have the mean length (1 + 3 + 2) / 3 = 2, dull's 4; the references 10
    characters: −8 and −6. People gave echo 2 and dull 4: both order them alike, so there is no
    gap."""
    rated(FOUR_RESPONSES, metrics="system_length")
    address = "/metrics/system_length/"
    rows = {row["system"]: float(row["score"]) for row in table(client, "scores-data", address)}
    assert rows == {"echo": -8.0, "dull": -6.0}
    assert table(client, "over-rated", address) == []
    assert "None: no gap on this side." in page(client, address)


def test_without_ratings_there_is_no_comparison_and_the_reason(
    client: Client, rated: Rated
) -> None:
    rated({place: (None, length) for place, (_, length) in FOUR_RESPONSES.items()})
    assert "No comparison: nobody has rated overall here." in page(client)


def test_gold_answers_are_not_compared_with_themselves(client: Client, rated: Rated) -> None:
    """Word-F1 of the gold answer is 1 by its making: it would be the most over-rated response
    wherever people differ. It is left out for metrics without references, too: all are held against
    people on the same responses."""
    version = rated(FOUR_RESPONSES, metrics="word_f1,length")
    MetricRun.objects.filter(metric="word_f1", system__name="echo").update(
        turn_scores=[0.1, 0.3, 0.2]
    )
    assert disagreement(version, "overall", "word_f1").n == 4
    version.systems.filter(name="dull").update(kind="gold")
    assert disagreement(version, "overall", "word_f1").n == 3
    assert disagreement(version, "overall", "length").n == 3
    assert disagreement(version, "overall", "length", "all").n == 4
    compute_waiting()
    for address in ("/metrics/word_f1/", "/metrics/length/"):
        page(client, address)
        compute_waiting()
        assert "Left out for all metrics: dull" in page(client, address)
        assert "Left out" not in page(client, f"{address}?systems=all")


def test_a_metric_that_ran_on_withheld_systems_alone_has_not_run(
    client: Client, rated: Rated
) -> None:
    version = rated(FOUR_RESPONSES)
    version.systems.update(withheld=True)
    data_changed([version.pk])
    said = page(client)
    assert "It has not run yet" in said
    assert "echo" not in said


# --- configurations and corpora -------------------------------------------------------------------


def test_configurations_that_ran_can_be_chosen_the_plain_one_first(
    client: Client, rated: Rated
) -> None:
    rated(FOUR_RESPONSES, metrics="word_f1[normalize=false],word_f1")
    found = re.findall(
        r'<a href="[^"]*configuration=[^"]*"(?: aria-current="true")?><code>([^<]*)</code>',
        page(client, "/metrics/word_f1/"),
    )
    assert found == ["word_f1", "word_f1[normalize=false]"]
    said = page(client, "/metrics/word_f1/?configuration=word_f1[normalize=false]")
    assert "--metrics 'word_f1[normalize=false]'" in said
    assert "normalize:false|" in said


def test_models_and_machines_that_runs_used_are_named(client: Client, rated: Rated) -> None:
    rated(FOUR_RESPONSES)
    assert "Models and machines" not in page(client)
    MetricRun.objects.update(model="ruler@abc123", device="cpu, 1 thread")
    (row,) = table(client, "metric-models")
    assert (row["model"], row["device"], row["runs"]) == ("ruler@abc123", "cpu, 1 thread", "2")


def test_an_unknown_corpus_is_not_found_where_the_metric_ran(client: Client, rated: Rated) -> None:
    rated(FOUR_RESPONSES)
    assert client.get("/metrics/length/?corpus=elsewhere").status_code == 404


# --- the list -------------------------------------------------------------------------------------


def test_every_metric_is_in_one_group_and_leads_to_its_page(client: Client) -> None:
    from workers.metrics.registry import all_metrics
    from workers.runs.metric_list import metric_groups, metrics_table

    groups = metric_groups(metrics_table())
    names = [
        cell for group in groups for cell in (row.cells["metric"].value for row in group.table.rows)
    ]
    assert sorted(names) == sorted(all_metrics())
    assert 'href="/metrics/bleu_4/"' in page(client, "/metrics/")


def test_a_search_leaves_the_metrics_with_these_words_in_their_name_or_beside_it(
    client: Client,
) -> None:
    one = page(client, "/metrics/?q=METEOR")
    assert 'href="/metrics/meteor/"' in one
    assert 'href="/metrics/bleu_4/"' not in one
    assert "Not available as released" not in one
    assert 'href="/metrics/meteor/"' in page(client, "/metrics/?q=scattered")  # of its description
    assert "Not available as released" in page(client, "/metrics/?q=dynaeval")
    assert "No metric has this" in page(client, "/metrics/?q=%00%3Cb%3E")


def test_published_metrics_that_cannot_be_loaded_are_named_with_the_reason(client: Client) -> None:
    rows = table(client, "not-available", "/metrics/")
    assert [row["metric"] for row in rows] == [
        "MAUDE",
        "MDD-Eval",
        "USL-H",
        "FlowScore",
        "DynaEval",
        "RADE",
        "GRADE",
    ]
    assert rows[5]["why"] == "the repository has its data and a training script, and no checkpoint"
    assert 'href="https://github.com/shizhl/RADE"' in page(client, "/metrics/")


def test_a_leaderboard_leads_to_the_metric_s_page(client: Client, rated: Rated) -> None:
    rated(FOUR_RESPONSES)
    said = page(client, "/corpora/small/metrics/")
    assert 'href="/metrics/length/"' in said
    assert 'href="/metrics/length/?corpus=small"' in said


def test_a_setting_of_a_metric_leads_to_itself_there(client: Client, rated: Rated) -> None:
    rated(FOUR_RESPONSES, metrics="word_f1[normalize=false]")
    address = "/metrics/word_f1/?configuration=word_f1%5Bnormalize%3Dfalse%5D"
    assert f'href="{address}"' in page(client, "/corpora/small/metrics/")
    assert f'href="{address}"' in page(client, "/corpora/small/runs/")
    assert "Its scores on small" in page(client, address)


def test_the_api_says_what_the_page_says(client: Client) -> None:
    found = {one["name"]: one for one in client.get("/api/v1/metrics").json()["items"]}
    assert found["bleu_4"]["description"].startswith("The share of the response's n-grams")
    assert found["bleu_4"]["equation"].startswith(r"\text{BLEU}_4")


def test_a_remark_stands_beside_its_score_on_the_dialogue_page(
    client: Client, rated: Rated
) -> None:
    rated(FOUR_RESPONSES)
    MetricRun.objects.filter(system__name="echo").update(remarks={"0": "copies the <context>"})
    said = client.get("/corpora/small/dialogues/0/").content.decode()
    assert said.count('<dd class="remark">copies the &lt;context&gt;</dd>') == 1
    assert 'id="system-0"' in said
    assert "copies the" not in client.get("/corpora/small/dialogues/1/").content.decode()
