"""An organiser trains a model: starts it in the form, watches it, and reads its curves."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator

from tests.browser.drawn import drawn
from tests.browser.for_everybody import assert_everybody_can_use
from tests.browser.visit import Visit, visitors
from tests.conftest import made_site
from tests.site import Site
from tests.workers.trainings.small import encoder_in_hub, talk_file

ORGANISER = """
from django.contrib.auth.models import Group, User
from common.roles import ORGANISER
user = User.objects.create_user("organiser", password="demo-organiser")
user.groups.add(Group.objects.get_or_create(name=ORGANISER)[0])
"""
ROW = """
import json
from workers.training.models import Training
print(json.dumps(Training.objects.filter(name={name!r}).values("curves", "validations", "revision", "error").get()))
"""
MOST_MILLISECONDS = 400_000
"""Of a worker that loads torch on a machine with much else to do; the training itself takes
seconds."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Conversations to learn from, an organiser, and an encoder in the hub's cache: a form names no
    folder."""
    folder = tmp_path_factory.mktemp("training-site")
    with made_site(folder) as made:
        made.settings["HF_HOME"] = str(folder / "hub")
        encoder_in_hub(folder / "hub" / "hub", "tests/tiny-encoder")
        talk = talk_file(folder / "talk.txt", dialogues=200)
        made.manage("import_corpus", "dailydialog", talk, "--slug", "talk", "--name", "Talk")
        made.manage(
            "import_corpus", "jsonl", judged_file(folder / "judged.jsonl"), "--slug", "judged"
        )
        made.python(ORGANISER)
        made.start_worker()
        yield made


def judged_file(path: Path) -> Path:
    """Three answers of one system, to score."""
    lines: list[dict[str, Any]] = [
        {"type": "corpus", "name": "Judged"},
        {"type": "system", "name": "echo", "kind": "baseline"},
    ]
    for number, text in enumerate(
        ("is it late in your town", "who sang at the harbour", "where is my other shoe")
    ):
        turn = {
            "number": 0,
            "context": [{"speaker": "A", "text": text}],
            "references": ["it may be"],
        }
        lines.append(
            {
                "type": "dialogue",
                "id": str(number),
                "persona": [],
                "partner_persona": [],
                "turns": [turn],
            }
        )
        lines.append(
            {
                "type": "response",
                "dialogue_id": str(number),
                "turn": 0,
                "system": "echo",
                "text": text,
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def visit(chromium: Browser, site: Site) -> Iterator[Callable[..., Visit]]:
    with visitors(chromium, site.start_web()) as begin:
        yield begin


def row(site: Site, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(site.python(ROW.format(name=name)))
    return found


def points_of(chart: Locator) -> list[list[tuple[float, float]]]:
    """By line, as drawn."""
    chart.scroll_into_view_if_needed()
    chart.and_(chart.page.locator("[data-drawn]")).wait_for(state="attached")
    return [[(x, y) for x, y in trace["points"]] for trace in drawn(chart)]


@pytest.mark.slow
def test_a_training_is_started_watched_scored_with_and_deleted(
    visit: Callable[..., Visit], site: Site
) -> None:
    visitor = visit(role="organiser")
    page = visitor.go("/training/")
    assert page.get_by_text("No training yet").is_visible()
    page.get_by_label("Name", exact=True).fill("daily")
    page.get_by_label("Corpus", exact=True).select_option("talk")
    page.get_by_text("More settings").click()
    page.get_by_label("Encoder").fill("tests/tiny-encoder")
    page.get_by_label("Epochs").fill("4")
    page.get_by_label("Negatives").fill("3")
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url("**/training/daily/")
    page.get_by_role("button", name="Stop").wait_for()
    # The page says so by itself when the training has ended.
    page.get_by_role("heading", name="Done").wait_for(timeout=MOST_MILLISECONDS)
    page.get_by_role("link", name="density[trained=daily]", exact=True).wait_for()

    assert_everybody_can_use(page)
    found = row(site, "daily")
    for chart, names, expected in (
        ("#chart-losses", ("loss", "response selection", "contrastive"), found["curves"]),
        (
            "#chart-validations",
            ("R@1", "MRR"),
            [{"step": v["step"], **v["figures"]} for v in found["validations"]],
        ),
    ):
        shown = points_of(page.locator(chart))
        assert len(expected) > 2
        assert len(shown) == len(names)
        for line, name in zip(shown, names, strict=True):
            wanted = [(point["step"], point[name]) for point in expected]
            for at, to in zip(line, wanted, strict=True):
                assert at == pytest.approx(to, rel=0.01, abs=0.02), name

    page.get_by_role("link", name="Judged").click()
    assert (
        "density_classifier[trained=daily]"
        in page.get_by_label("Other configurations").input_value()
    )
    page.get_by_role("button", name="Compute for all systems").click()
    page.get_by_text("6 of 6 runs done").wait_for(timeout=MOST_MILLISECONDS)

    visitor.go("/training/daily/")
    page.get_by_text("Delete this training").click()
    page.get_by_text("6 scores of systems that were made with it stay").wait_for()
    page.get_by_label("Delete daily for good").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_text("daily is deleted").wait_for()
    assert not (site.home / "trained" / "daily").exists()
    visitor.go("/metrics/density/?configuration=density[trained=daily]")
    page.get_by_text("there is no trained model 'daily'").wait_for()
    page.get_by_text("were computed elsewhere or before").wait_for()
