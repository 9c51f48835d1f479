"""``tables cmn``: the paper's figures of its own sets beside what models trained here make on
ours."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotations.models import CorpusVersion
from leaderboard.reproduction import cmn
from tests.leaderboard.conftest import Rated
from tests.leaderboard.trained import AS_PEOPLE, ENDS_SWAPPED, PLACES, TWO_SWAPPED, model_in, scored
from workers.models import MetricRun

pytestmark = pytest.mark.django_db
FORMS = ("cmn[trained=talk]", "cmn[form=released,trained=talk]")
REMARK = "Monte-Carlo error 0.500: I(c, x) = 1.000, I(x, r) = 2.000, g = 0.900"


@pytest.fixture
def version(rated: Rated, home: Path) -> CorpusVersion:
    made = rated(PLACES)
    model_in(home, "talk", "cmn")
    scored(made, FORMS[0], AS_PEOPLE, remark=REMARK)
    scored(made, FORMS[1], TWO_SWAPPED)
    scored(made, "cmn_no_nsp[trained=talk]", TWO_SWAPPED)
    scored(made, "cmn_no_mi[trained=talk]", ENDS_SWAPPED)
    return made


@pytest.fixture
def table(capsys: pytest.CaptureFixture[str]):
    def run(form: str = "json") -> Any:
        capsys.readouterr()
        call_command(
            "tables", "cmn", corpora={"dailydialog-zhao": "small"}, resamples=20, format=form
        )
        printed = capsys.readouterr().out
        return json.loads(printed) if form == "json" else printed

    return run


def row(document: dict[str, Any], metric: str) -> dict[str, Any]:
    (found,) = [one for one in document["tables"] if one["corpus"] == "small"]
    return next(one for one in found["rows"] if one["metric"] == metric)


@pytest.mark.usefixtures("version")
def test_both_sets_of_the_paper_stand_beside_ours(table) -> None:
    full = row(table(), cmn.FULL)
    assert [(one["set"], one["pearson"]["value"]) for one in full["published"]] == [
        ("standard", 0.2446),
        ("diverse", 0.6325),
    ]
    assert full["published"][0]["spearman"] == {"value": 0.2211, "significant": True, "p": 0.0459}


@pytest.mark.usefixtures("version")
def test_a_set_of_the_study_s_kind_stands_beside_the_paper_s_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command(
        "tables", "cmn", corpora={"personachat-diverse": "small"}, resamples=0, format="json"
    )
    document = json.loads(capsys.readouterr().out)
    (own,) = [one for one in document["tables"] if one["corpus"] == "small"]
    assert (own["number"], own["title"]) == ("2", "diverse PersonaChat, turn level")
    published = row(document, cmn.FULL)["published"]
    assert [(one["set"], one["pearson"]["value"]) for one in published] == [("diverse", 0.4)]
    others = {one["corpus"] for one in document["tables"]} - {"small"}
    assert others == {"dailyz", "grade-dailydialog", "usr-persona", "grade-convai2"}


@pytest.mark.usefixtures("version")
def test_the_paper_s_form_comes_before_the_released_one(table) -> None:
    groups = row(table(), cmn.FULL)["ours"]
    assert [(one["options"], one["scored"][0]["configuration"]) for one in groups] == [
        ("", FORMS[0]),
        ("form=released", FORMS[1]),
    ]


@pytest.mark.usefixtures("version")
def test_the_drawing_s_error_is_held_against_the_scores_spread(table) -> None:
    """Scores 1 to 5 have the variance 2.5; an error of 0.5 at each is 0.25 of it: a tenth."""
    drawn, not_told = (one["scored"][0] for one in row(table(), cmn.FULL)["ours"])
    assert drawn["monte_carlo"] == {
        "error": pytest.approx(0.5),
        "spread": pytest.approx(2.5**0.5),
        "share": pytest.approx(0.1),
    }
    assert "monte_carlo" not in not_told
    assert "10.0 %" in table("table")


@pytest.mark.usefixtures("version")
def test_errors_as_large_as_the_spread_are_no_share_of_it(table) -> None:
    """An error of 1.6 squared is 2.56, of scores whose variance is 2.5: 102 % is no share."""
    for run in MetricRun.objects.exclude(remarks={}):
        run.remarks = {
            place: remark.replace("0.500", "1.600") for place, remark in run.remarks.items()
        }
        run.save()
    drawn = row(table(), cmn.FULL)["ours"][0]["scored"][0]["monte_carlo"]
    assert (drawn["share"], drawn["reason"]) == (
        None,
        "the drawing's errors are as large as the scores' spread",
    )
    assert drawn["reason"] in table("table")


@pytest.mark.usefixtures("version")
def test_what_each_part_adds_is_held_against_both_sets(table) -> None:
    found = {(one["claim"], one["of"], one["coefficient"]): one for one in table()["findings"]}
    nsp = found["what NSP adds", "", "pearson"]
    # .2446 − .2292, .6325 − .5453 = .0872
    assert nsp["published"] == {"standard": 0.0154, "diverse": 0.0872}
    assert nsp["ours"]["value"] == pytest.approx(1.0 - 0.9)
    assert nsp["said"] == "same direction"
    assert found["what MI adds", "", "pearson"]["ours"]["value"] == pytest.approx(1.0 - -0.6)
    assert found["what MI adds", "form=released", "pearson"]["ours"]["value"] == pytest.approx(
        0.9 - -0.6
    )
    assert found["what NSP adds", "form=released", "pearson"]["said"] == "not computed"
    assert found["CMN", "", "pearson"]["said"].startswith("higher by .37")  # 1 − 0.6325


@pytest.mark.usefixtures("version")
def test_as_csv_the_error_stands_at_its_configuration(table) -> None:
    rows = [one for one in csv.DictReader(io.StringIO(table("csv"))) if one["source"] == FORMS[0]]
    assert [(one["corpus"], float(one["monte_carlo_error"]), one["of"]) for one in rows] == [
        ("small", 0.5, "")
    ]


@pytest.mark.usefixtures("version")
def test_as_latex_both_sets_have_columns(table) -> None:
    printed = table("latex")
    assert r"\multicolumn{2}{c}{standard} & \multicolumn{2}{c}{diverse}" in printed
    assert r" & talk (released) & 0.900 & 0.900 \\" in printed


@pytest.mark.usefixtures("home")
def test_without_a_model_the_next_command_trains_one(db: None, rated: Rated, table) -> None:
    rated(PLACES)
    assert any(
        "train a model first: manage.py train cmn" in line["reason"] for line in table()["missing"]
    )
