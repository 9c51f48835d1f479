"""``manage.py train``: what it prints, and that the same command again goes on."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.workers.trainings.small import encoder_in, talk_file
from workers.training import actions, queries
from workers.training.models import Training

pytestmark = pytest.mark.django_db


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    talk, encoder = talk_file(tmp_path / "talk.txt"), encoder_in(tmp_path)
    small = [
        "--negatives",
        "3",
        "--epochs",
        "2",
        "--max-tokens",
        "32",
        "--save-every",
        "2",
        "--learning-rate",
        "0.001",
    ]
    return [
        "density",
        "--corpus",
        str(talk),
        "--name",
        "small",
        "--encoder",
        str(encoder),
        *small,
        "--inline",
    ]


def trained(arguments: list[str], *more: str) -> Any:
    out = io.StringIO()
    call_command("train", *arguments, *more, "--format", "json", stdout=out, stderr=io.StringIO())
    return json.loads(out.getvalue())


def test_it_trains_and_prints_the_run(arguments: list[str]) -> None:
    found = trained(arguments, "--seed", "3", "--contrastive", "0")
    assert (found["state"], found["seed"], found["recipe"]) == ("done", 3, "density")
    assert found["settings"]["contrastive"] == "none"
    assert found["revision"] == queries.model_of("small").revision  # type: ignore[union-attr]
    assert set(found["best"]["figures"]) == {"R@1", "MRR"}
    assert "contrastive" not in found["curves"][-1]
    assert found["overlap"] == []


def test_the_table_names_the_figures(arguments: list[str]) -> None:
    out = io.StringIO()
    call_command("train", *arguments, stdout=out, stderr=io.StringIO())
    assert (
        " ".join(out.getvalue().splitlines()[0].split())
        == "name recipe state seed revision best step R@1 MRR"
    )


def test_the_same_command_goes_on_with_a_stopped_training(arguments: list[str]) -> None:
    arguments.remove("--inline")
    known = actions.start  # the row is made as the command makes it
    made: list[Training] = []

    def start_and_stop(*given: Any, **named: Any) -> Training:
        made.append(known(*given, **named))
        actions.stop(made[0])
        return made[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(actions, "start", start_and_stop)
        with pytest.raises(CommandError, match="small: Stopped"):
            trained(arguments)
    assert trained([*arguments, "--inline"])["state"] == "done"
    assert trained([*arguments, "--inline"])["state"] == "done"  # and nothing is trained twice
    assert Training.objects.get().attempts == 1


def test_other_settings_under_the_same_name_are_refused(arguments: list[str]) -> None:
    trained(arguments)
    with pytest.raises(CommandError, match="with other settings"):
        trained(arguments, "--seed", "1")


def test_a_failed_training_ends_the_command_with_its_reason(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="cannot be frozen"):
        trained(arguments, "--freeze", "9")


def test_a_corpus_that_is_not_there_is_named(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="there is no corpus nowhere"):
        trained(["density", "--corpus", "nowhere", "--name", "x"])


def test_weight_and_temperature_of_the_contrastive_loss_are_settings(arguments: list[str]) -> None:
    given = ("--contrastive-weight", "0.5", "--temperature", "0.2", "--epochs", "1")
    settings = trained(arguments, *given)["settings"]
    assert (settings["contrastive_weight"], settings["temperature"]) == (0.5, 0.2)


def test_a_setting_of_the_other_recipe_is_refused(arguments: list[str]) -> None:
    with pytest.raises(CommandError, match="no setting 'free_bits'"):
        trained(arguments, "--free-bits", "1")


def test_noise_and_the_next_sentence_are_settings_of_their_recipes(
    arguments: list[str], tmp_path: Path
) -> None:
    found = trained(
        arguments,
        "--objective",
        "binary",
        "--perturbed",
        "2",
        "--contrastive",
        "0",
        "--epochs",
        "1",
    )
    assert (found["settings"]["objective"], found["settings"]["perturbed"]) == ("binary", 2)
    assert "noise contrastive" in found["curves"][-1]
    assert "maude_style[trained=small]" in found["metrics"]
    of_cmn = ["cmn", *arguments[1:3], "--name", "other", "--next-sentence", "0"]
    asked: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            actions, "start", lambda *given, **named: asked.append(given[3]) or _refused()
        )
        with pytest.raises(CommandError, match="enough seen"):
            call_command("train", *of_cmn, stderr=io.StringIO())
    assert asked == [{"next_sentence": False}]


def _refused() -> Any:
    raise actions.Refused("enough seen")


def test_several_processes_train_inline_only(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they do together: tests/workers/training/test_several_processes.py."""
    arguments.remove("--inline")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(CommandError, match="with --inline only"):
        trained(arguments)
    assert not Training.objects.exists()
