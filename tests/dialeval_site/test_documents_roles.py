"""The documents for organisers, raters and participants: their commands run on a real site, their
labels stand on pages, their keys and limits are those of the code."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotations.campaigns.models.campaign import Campaign
from annotations.formats.importers.registry import importers
from common.text import MAX_RESPONSE
from dialeval_site.config.environment import SETTINGS
from dialeval_site.demo.site import DEMO_CORPUS
from tests.conftest import made_site
from tests.dialeval_site.documents import first_table, flat, sections, table_rows, text_of
from tests.site import PROJECT, Site

ROLES = ("organiser", "rater", "participant")

# --- labels ---------------------------------------------------------------------------------------


def words_of_pages() -> str:
    folders = ("templates", "common", "annotations", "workers", "leaderboard", "dialeval_site")
    files = [
        path
        for folder in folders
        for path in (PROJECT / folder).rglob("*")
        if path.suffix in (".html", ".py")
    ]
    return flat(" ".join(path.read_text(encoding="utf-8") for path in files))


WORDS_OF_PAGES = words_of_pages()


@pytest.mark.parametrize("role", ROLES)
def test_what_one_is_told_to_press_stands_on_a_page(role: str) -> None:
    text = flat(re.sub(r"```.*?```", "", text_of(f"{role}.md"), flags=re.DOTALL))
    labels = re.findall(r"(?<![*\w])\*([A-Z][^*]{2,60}?)\*(?!\*)", text)
    assert labels
    assert [label for label in labels if label not in WORDS_OF_PAGES] == []


def test_the_rater_s_keys_are_those_of_the_page() -> None:
    dialog = (PROJECT / "templates" / "campaigns" / "rating" / "_dialogs.html").read_text(
        encoding="utf-8"
    )
    explained = " ".join(re.findall(r"<dt>(.*?)</dt>", dialog))
    shown = set(re.findall(r"<kbd>([^<{]+)</kbd>", explained))
    told = {row[0] for row in first_table(sections(text_of("rater.md"))["Keys"])}
    named = {"⌫": "Backspace", "1": "1 to 5", "5": "1 to 5", "9": "1 to 9"}
    assert len(shown) >= 8
    assert {named.get(key, key) for key in shown} <= told


def test_every_kind_of_campaign_is_told_to_raters() -> None:
    kinds = [row[0] for row in first_table(sections(text_of("rater.md"))["What you see"])]
    compared = ["pairs of responses", "pairs of dialogues", "lists of responses"]
    assert kinds == ["responses", "dialogues", *compared, "chats", "meetings"]
    assert len(kinds) == len(Campaign.Kind.values)


def test_the_participant_s_limits_are_the_site_s() -> None:
    page = flat(text_of("participant.md"))
    largest = next(one.default for one in SETTINGS if one.name == "DIALEVAL_MAX_UPLOAD_MB")
    assert (
        f"{largest} MB a file unless the site says otherwise, {MAX_RESPONSE:,} characters a "
        "response" in page
    )


@pytest.mark.parametrize("role", [*ROLES, "metric_author", "operators", "statistics"])
def test_a_role_s_document_is_on_the_readme_s_table_of_roles(role: str) -> None:
    rows = table_rows(sections((PROJECT / "README.md").read_text(encoding="utf-8"))["For whom"])
    assert any(f"(docs/{role}.md)" in row[2] for row in rows)


# --- an organiser's commands ----------------------------------------------------------------------


def commands_in(heading: str) -> list[list[str]]:
    text = sections(text_of("organiser.md"))[heading]
    shell = "\n".join(re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL))
    return [shlex.split(line)[2:] for line in shell.splitlines()]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """With a worker, and the demo corpus scored by one metric."""
    with made_site(tmp_path_factory.mktemp("site")) as made:
        made.manage_all(
            ["import_corpus", "jsonl", DEMO_CORPUS, "--slug", "demo"],
            ["score", "--corpus", "demo", "--metrics", "word_f1", "--inline"],
        )
        made.start_worker()
        yield made


def usr_file(folder: Path) -> Path:
    """Named like the published file: the importer's example three times, with other words."""
    example = json.loads(importers()["usr"].example)
    contexts = [
        json.loads(json.dumps(example[0]).replace("cacti", plant))
        for plant in ("cacti", "ferns", "mosses")
    ]
    path = folder / "pc_usr_data.json"
    path.write_text(json.dumps(contexts), encoding="utf-8")
    return path


@pytest.mark.slow
def test_your_own_dialogues_by_commands(site: Site, tmp_path: Path) -> None:
    """As they stand there, but for ``--metrics all``, which would take minutes of models."""
    inside = {
        "pc_usr_data.json": str(usr_file(tmp_path)),
        "reports": str(tmp_path / "reports"),
        "all": "word_f1,rouge_l",
    }
    inside["usr-export"] = str(tmp_path / "usr-export")
    commands = [
        [inside.get(word, word) for word in command]
        for command in commands_in("Your own dialogues")
    ]
    said = dict(zip((name for name, *_ in commands), site.manage_all(*commands), strict=True))
    assert "usr: stored" in said["import_corpus"]
    assert "rouge_l" in said["score"]
    assert "Krippendorff" in said["agreement"]
    assert "word_f1" in said["correlate"]
    assert [path.suffix for path in (tmp_path / "reports").iterdir()] == [".html"]
    # 3 × 2 × 2, a heading
    assert (tmp_path / "usr-export" / "ratings.csv").read_text(encoding="utf-8").count("\n") == 13


@pytest.mark.slow
def test_into_a_paper_by_commands(site: Site, tmp_path: Path) -> None:
    inside = {"reports": str(tmp_path / "reports"), "demo-export": str(tmp_path / "demo-export")}
    commands = [
        [inside.get(word, word) for word in command] for command in commands_in("Into a paper")
    ]
    latex, _, _ = site.manage_all(*commands)
    assert r"\toprule" in latex
    assert "metric:word_f1|version:2" in latex  # the signatures, as comments
    assert [path.suffix for path in (tmp_path / "reports").iterdir()] == [".html"]
    assert (tmp_path / "demo-export" / "names.tsv").is_file()
