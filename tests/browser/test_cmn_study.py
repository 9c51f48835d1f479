"""CMN's study (Zhao et al., 2023, section 4.1) on made texts: two sets cut by BLEU-1, two aspects of
each response rated by two people in Chromium, their κ, and metrics against the mean of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.stage import Stage
from tests.browser.visit import Visit
from tests.workers import checkpoints

WORDS = checkpoints.WORDS[:17]
CONTEXTS, SIZE = 8, 5
SETS = ("standard", "diverse")
RATERS = ("rater", "participant")
BOTH = "Appropriateness+Coherence"
"""The study's human score is their mean."""
METRICS = ("bleu_1", "cmn_no_mi[trained=study]")


def reference(number: int) -> list[str]:
    return [WORDS[(number + 3 * place) % len(WORDS)] for place in range(6)]


def responses(number: int) -> dict[str, str]:
    """Of two systems near the reference, of two in other words."""
    words = reference(number)
    others = [word for word in WORDS if word not in words]
    changed = number % 3
    return {
        "copies": " ".join([*words[: 6 - changed], *others[:changed]]),
        "shortens": " ".join(words[: 3 + changed]),
        "strays": " ".join([*others[:4], *words[: number % 2]]),
        "wanders": " ".join(reversed(others[: 3 + number % 5])),
    }


def corpus_lines() -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = [{"type": "corpus", "name": "Study"}]
    lines += [{"type": "system", "name": name} for name in responses(0)]
    for number in range(CONTEXTS):
        name, said = f"d{number}", " ".join(reference(number + 5))
        turn = {
            "number": 0,
            "context": [{"speaker": "A", "text": said}],
            "references": [" ".join(reference(number))],
        }
        personas: dict[str, list[str]] = {"persona": [], "partner_persona": []}
        lines.append({"type": "dialogue", "id": name, **personas, "turns": [turn]})
        lines += [
            {"type": "response", "dialogue_id": name, "turn": 0, "system": system, "text": text}
            for system, text in responses(number).items()
        ]
    return lines


def judge(response: str, rater: int) -> tuple[int, int]:
    """Appropriateness and coherence; the second rater is stricter with what begins with i."""
    words = response.split()
    return min(5, len(words)) - rater * words[0].startswith("i"), 1 + len(words[-1]) % 4


def conversations(path: Path) -> Path:
    """To train on, four utterances each."""
    drawn = Random(0)
    lines = [
        "".join(f"{' '.join(drawn.sample(WORDS, 6))} __eou__ " for _ in range(4)) for _ in range(60)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def set_up(page: Page, name: str) -> None:
    page.get_by_label("Name", exact=True).fill(f"Study {name}")
    page.get_by_label("Template").select_option("cmn")
    page.locator("#raters > summary").click()
    page.get_by_label("study", exact=True).check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the campaign").click()
    expect(page.get_by_text("The campaign is open")).to_be_visible()


def rate_all(page: Page, rater: int) -> None:
    page.get_by_role("button", name="Take part").click()
    for number in range(1, SIZE + 1):
        expect(page.locator("#item-heading")).to_have_text(f"Item {number} of {SIZE}")
        page.wait_for_load_state("load")
        for value in judge(page.locator(".judged [data-text]").inner_text(), rater):
            page.keyboard.press(str(value))
        expect(page.locator("#questions-answered")).to_have_text("2 of 2 answered")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="You have rated all of it")).to_be_visible()


def publish(page: Page) -> None:
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("link", name="Publish the ratings").click()
    button = page.get_by_role("button", name=f"Publish {2 * SIZE} ratings")
    button.click()
    flagged, done = page.locator("#flagged"), page.get_by_text("ratings are published")
    expect(flagged.or_(done).first).to_be_visible()
    if flagged.count():  # nobody reads so fast
        for choice in flagged.get_by_label("keep these ratings").all():
            choice.check()
        button.click()
    expect(done.first).to_be_visible()


def kappa(scores: Sequence[tuple[float, float]]) -> float:
    """Of two raters, unweighted: (p_o - p_e) / (1 - p_e)."""
    first, second = (list(of_rater) for of_rater in zip(*scores, strict=True))
    observed = np.mean([one == other for one, other in scores])
    by_chance = (
        sum(first.count(value) * second.count(value) for value in {*first, *second})
        / len(scores) ** 2
    )
    return float((observed - by_chance) / (1 - by_chance))


def texts_of(path: Path) -> list[str]:
    lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [line["text"] for line in lines if line["type"] == "response"]


@pytest.mark.long
def test_the_study_from_the_cut_to_the_table(
    visit: Callable[..., Visit], stage: Stage, tmp_path: Path
) -> None:
    site, files = stage.site, {name: tmp_path / f"{name}.jsonl" for name in SETS}
    whole = tmp_path / "study.jsonl"
    whole.write_text("".join(json.dumps(line) + "\n" for line in corpus_lines()), encoding="utf-8")
    encoder = checkpoints.save_bert(tmp_path / "encoder", "BertModel")
    cut = ["subset", "study", "--by", "bleu_1"]
    site.manage_all(
        ["import_corpus", "jsonl", whole, "--slug", "study"],
        ["score", "--corpus", "study", "--metrics", "bleu_1", "--inline"],
        [*cut, "--highest", SIZE, "--to", files["standard"]],
        [*cut, "--below", "0.2", "--draw", SIZE, "--balanced", "--to", files["diverse"]],
        *(["import_corpus", "jsonl", files[one], "--slug", f"dailydialog-{one}"] for one in SETS),
        [
            *("train", "cmn", "--corpus", conversations(tmp_path / "talk.txt"), "--name", "study"),
            *(
                "--encoder",
                encoder,
                "--epochs",
                1,
                "--batch",
                32,
                "--max-tokens",
                48,
                "--inline",
                "--allow-overlap",
            ),
        ],
        *(
            ["score", "--corpus", f"dailydialog-{one}", "--metrics", ",".join(METRICS), "--inline"]
            for one in SETS
        ),
    )
    stage.python(
        "from django.contrib.auth import get_user_model\n"
        "from django.contrib.auth.models import Group\n"
        "group = Group.objects.create(name='study')\n"
        f"group.user_set.add(*get_user_model().objects.filter(username__in={RATERS}))\n"
    )

    organiser = visit(role="organiser")
    for name in SETS:
        set_up(organiser.go(f"/campaigns/new/?corpus=dailydialog-{name}"), name)
        for number, role in enumerate(RATERS):
            rate_all(visit(role=role).go(f"/rate/study-{name}/"), number)
        publish(organiser.go(f"/campaigns/study-{name}/"))

    of_kappa = [
        ["tables", "agreement", "--corpora", f"cmn-dailydialog=dailydialog-{name}"] for name in SETS
    ]
    table, *agreements = site.documents(
        ["tables", "cmn", "--corpus", ",".join(f"dailydialog-{name}" for name in SETS)], *of_kappa
    )
    for name, agreement, set_of in zip(SETS, agreements, table["tables"], strict=True):
        given = [[judge(text, rater) for rater in (0, 1)] for text in texts_of(files[name])]
        row = agreement["rows"][0]
        of_appropriateness = [(first[0], second[0]) for first, second in given]
        assert row["ours"]["pairs"] == [pytest.approx(kappa(of_appropriateness))]
        assert (row["published"]["band"], bool(row["ours"]["band"])) == ("substantial", True)
        assert set_of["published_sets"] == [name]
        by_metric = {
            one["configuration"]: one
            for row in set_of["rows"]
            for group in row["ours"]
            for one in group["scored"]
        }
        assert [by_metric[one]["n"] for one in METRICS] == [SIZE, SIZE]
        (corpus,) = [one for one in table["corpora"] if one["corpus"] == f"dailydialog-{name}"]
        assert corpus["aspect"] == BOTH
        human = [float(np.mean(of_text)) for of_text in given]
        scores = bleu_1(files[name])
        assert by_metric["bleu_1"]["pearson"]["value"] == pytest.approx(
            float(np.corrcoef(human, scores)[0, 1])
        )


def bleu_1(path: Path) -> list[float]:
    """Without repeated words it is the share of words that the reference has, times the penalty of a
    text that is shorter."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    references = {
        line["id"]: line["turns"][0]["references"][0].split()
        for line in lines
        if line["type"] == "dialogue"
    }
    found = []
    for line in lines:
        if line["type"] == "response":
            words, wanted = line["text"].split(), references[line["dialogue_id"]]
            shared = len({*words} & {*wanted}) / len(words)
            found.append(shared * min(1.0, float(np.exp(1 - len(wanted) / len(words)))))
    return found
