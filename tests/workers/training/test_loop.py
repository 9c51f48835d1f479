"""The training loop: what comes out does not hang on how often it was interrupted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.workers.training.lines import Killed, LineTask
from workers.training.core import checkpoint, loop
from workers.training.core.loop import train
from workers.training.core.settings import Outcome, Progress, TrainingError, TrainingSettings

STEPS = 12
"""Three epochs of four batches."""


def settings(**changed: Any) -> TrainingSettings:
    chosen: dict[str, Any] = {
        "epochs": 3,
        "learning_rate": 0.05,
        "curve_every": 3,
        "device": "cpu",
        **changed,
    }
    return TrainingSettings(**chosen)


class Stop(Exception):
    pass


class StopAt:
    def __init__(self, step: int) -> None:
        self._step = step
        self.heard: list[Progress] = []

    def __call__(self, progress: Progress) -> None:
        self.heard.append(progress)
        if progress.step == self._step:
            raise Stop


def learned(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The last weights, and all that the checkpoint says but for times."""
    found = checkpoint.newest(folder)
    assert found is not None
    said = {
        name: found.config[name]
        for name in ("curves", "validations", "best", "step", "ending", "steps")
    }
    return found.weights(), said


def assert_same(folder: Path, other: Path) -> None:
    weights, said = learned(folder)
    other_weights, other_said = learned(other)
    assert said == other_said
    assert all(torch.equal(weights[name], other_weights[name]) for name in weights)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uninterrupted")
    train(LineTask(), settings(), folder)
    return folder


def test_a_line_is_learned(uninterrupted: Path) -> None:
    figures = [one["figures"]["fit"] for one in learned(uninterrupted)[1]["validations"]]
    # The squared error, with a minus, is a fourth of what it was
    assert figures[-1] > figures[0] / 4


@pytest.mark.parametrize("step", range(STEPS + 1))
def test_stopped_after_any_step_it_goes_on_as_if_nothing_had_happened(
    step: int, uninterrupted: Path, tmp_path: Path
) -> None:
    with pytest.raises(Stop):
        train(LineTask(), settings(), tmp_path, StopAt(step))
    left = checkpoint.newest(tmp_path)
    assert left is not None
    assert left.config["step"] == step
    train(LineTask(), settings(), tmp_path)
    assert_same(tmp_path, uninterrupted)


@pytest.mark.parametrize("killed_at", range(1, STEPS + 1))
def test_killed_within_any_step_it_goes_on_at_the_last_checkpoint(
    killed_at: int, uninterrupted: Path, tmp_path: Path
) -> None:
    with pytest.raises(Killed):
        train(LineTask(killed_at=killed_at), settings(save_every=3), tmp_path)
    resumed = LineTask()
    train(resumed, settings(save_every=3), tmp_path)
    done = max(step for step in (0, 3, 4, 6, 8, 9, 12) if step < killed_at)
    assert resumed.losses == STEPS - done
    assert_same(tmp_path, uninterrupted)


def test_a_damaged_checkpoint_is_passed_over(uninterrupted: Path, tmp_path: Path) -> None:
    with pytest.raises(Stop):
        train(LineTask(), settings(save_every=1, keep=2), tmp_path, StopAt(6))
    newest = tmp_path / checkpoint.name_of(6)
    weights = newest / checkpoint.WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-5])
    resumed = LineTask()
    train(resumed, settings(), tmp_path)
    assert resumed.losses == STEPS - 5
    assert_same(tmp_path, uninterrupted)


def test_a_training_at_its_end_is_not_trained_again(tmp_path: Path) -> None:
    first = train(LineTask(), settings(), tmp_path)
    again = LineTask()
    second = train(again, settings(), tmp_path)
    assert again.losses == 0
    assert (second.best, second.figures, second.step, second.ending) == (
        first.best,
        first.figures,
        STEPS,
        "epochs",
    )


@pytest.mark.parametrize(
    ("task", "changed", "named"),
    [
        (LineTask(data_signature="other points"), {}, "other data"),
        (LineTask(batches=5), {}, r"other settings \(batches\)"),
        (LineTask(), {"learning_rate": 0.01, "seed": 3}, r"other training \(learning_rate, seed\)"),
    ],
)
def test_another_training_is_not_gone_on_with(
    task: LineTask, changed: Any, named: str, tmp_path: Path
) -> None:
    with pytest.raises(Stop):
        train(LineTask(), settings(), tmp_path, StopAt(2))
    with pytest.raises(TrainingError, match=named):
        train(task, settings(**changed), tmp_path)


def test_the_best_checkpoint_is_that_of_the_highest_figure(tmp_path: Path) -> None:
    kept: dict[int, torch.Tensor] = {}
    # Before the first step, which does not count; after each epoch
    task = LineTask(figures=(0.9, 0.1, 0.5, 0.5))

    def watch(progress: Progress) -> None:
        kept[progress.step] = task.model.state_dict()["0.weight"].clone()

    outcome = train(task, settings(), tmp_path, watch)
    assert outcome.best.name == "best-00000008"
    assert outcome.figures == {"fit": 0.5}
    best = checkpoint.read(outcome.best)
    assert torch.equal(best.weights()["0.weight"], kept[8])
    assert not best.is_resumable
    assert (outcome.best / "line.txt").read_bytes() == b"y = 2 a - b + 0.5"


def test_the_best_before_a_kill_is_there_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between a better one's writing and the checkpoint that names it; the second time it is
    no better, as can happen on a GPU."""
    whole_write = checkpoint.write

    def write(folder: Path, *given: Any) -> checkpoint.Checkpoint:
        if folder.name == checkpoint.name_of(8):
            raise Killed
        return whole_write(folder, *given)

    monkeypatch.setattr(checkpoint, "write", write)
    with pytest.raises(Killed):
        train(LineTask(figures=(0.0, 0.3, 0.5)), settings(), tmp_path)
    monkeypatch.undo()
    outcome = train(LineTask(figures=(0.2, 0.1)), settings(), tmp_path)
    assert outcome.best.name == "best-00000004"
    best = checkpoint.best(tmp_path)
    assert best is not None
    assert best.folder == outcome.best


def test_it_stops_early_when_figures_get_no_better(tmp_path: Path) -> None:
    task = LineTask(figures=(0.0, 0.3, 0.2, 0.3, 0.9))
    outcome = train(task, settings(epochs=4, patience=2), tmp_path)
    assert (outcome.ending, outcome.step, outcome.figures["fit"]) == ("early stop", 12, 0.3)


def test_validations_change_nothing(uninterrupted: Path, tmp_path: Path) -> None:
    train(LineTask(), settings(validate_every=1), tmp_path)
    weights, said = learned(tmp_path)
    assert len(said["validations"]) == 1 + STEPS
    assert torch.equal(weights["0.weight"], learned(uninterrupted)[0]["0.weight"])


def test_another_seed_learns_otherwise(uninterrupted: Path, tmp_path: Path) -> None:
    train(LineTask(), settings(seed=1), tmp_path)
    assert not torch.equal(learned(tmp_path)[0]["0.weight"], learned(uninterrupted)[0]["0.weight"])


def test_accumulated_batches_are_one_large_batch(tmp_path: Path) -> None:
    """Two batches of 8 points, their gradients' mean, against one of 16; the errors are means over
    points."""
    together, apart = (
        LineTask(batches=1, size=16, dropout=0),
        LineTask(batches=2, size=8, dropout=0),
    )
    apart.model.load_state_dict(together.model.state_dict())
    apart._points, apart._values = together._points, together._values
    train(together, settings(), tmp_path / "together")
    train(apart, settings(accumulate=2), tmp_path / "apart")
    assert torch.allclose(
        together.model.state_dict()["0.weight"], apart.model.state_dict()["0.weight"], atol=1e-5
    )


def test_a_curve_is_the_mean_over_its_steps(tmp_path: Path) -> None:
    """All batches once: the mean over four steps is the mean of their losses, here with a rate too
    small to matter."""
    task = LineTask(dropout=0.0)
    expected = -task.validate(task.model)["fit"]
    train(task, settings(epochs=1, learning_rate=1e-12, curve_every=4), tmp_path)
    (point,) = learned(tmp_path)[1]["curves"]
    assert point["step"] == 4
    assert point["loss"] == pytest.approx(expected, rel=1e-5)
    assert point["half"] == pytest.approx(expected / 2, rel=1e-5)


def test_a_loss_that_is_no_number_ends_it(tmp_path: Path) -> None:
    task = LineTask()
    task._values[0] = float("nan")
    with pytest.raises(TrainingError, match="no number"):
        train(task, settings(), tmp_path)


class Clock:
    """In the place of the module ``time``: goes on when a batch is trained, whatever the machine
    does."""

    def __init__(self, a_batch: float) -> None:
        self._now, self._a_batch = 100.0, a_batch

    def monotonic(self) -> float:
        return self._now

    def tick(self) -> None:
        self._now += self._a_batch


def test_a_budget_of_seconds_ends_it_with_the_rate_at_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 13 steps of 0.01 s, 1.87 of 2 s are left: for 187 more."""
    clock = Clock(0.01)
    monkeypatch.setattr(loop, "time", clock)
    task = LineTask(before_loss=clock.tick)
    outcome: Outcome = train(task, settings(epochs=10_000, seconds=2.0, warm_up_steps=0), tmp_path)
    said = learned(tmp_path)[1]
    assert outcome.ending == "budget"
    assert 199 <= outcome.step <= said["steps"] <= 200
    assert outcome.seconds == pytest.approx(2.0, abs=0.02)
    assert said["curves"][-1]["learning rate"] < 0.05 / 100
    assert "fit" in outcome.figures


def test_a_resumed_budget_counts_what_was_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After 13 steps of 0.02 s, 1.24 of 1.5 s are left: for 62 more. The rest is made when it is
    resumed."""
    clock = Clock(0.02)
    monkeypatch.setattr(loop, "time", clock)
    chosen = settings(epochs=10_000, seconds=1.5)
    with pytest.raises(Stop):
        train(LineTask(before_loss=clock.tick), chosen, tmp_path, StopAt(20))
    planned = learned(tmp_path)[1]["steps"]
    outcome = train(LineTask(before_loss=clock.tick), chosen, tmp_path)
    assert 74 <= planned <= 75
    assert learned(tmp_path)[1]["steps"] == planned
    assert planned - 1 <= outcome.step <= planned
    assert outcome.seconds == pytest.approx(1.5, abs=0.03)


def test_progress_says_what_is_left(tmp_path: Path) -> None:
    watch = StopAt(-1)
    train(LineTask(), settings(warm_up_steps=0), tmp_path, watch)
    first, last = watch.heard[0], watch.heard[-1]
    assert (first.step, first.seconds_left, first.loss) == (0, None, None)
    assert (last.step, last.steps, last.epoch, last.epochs, last.seconds_left) == (
        12,
        12,
        2,
        3,
        0.0,
    )
    assert [one.step for one in watch.heard if one.figures is not None] == [0, 4, 8, 12]
    assert watch.heard[4].learning_rate == pytest.approx(0.05 * (12 - 3) / 12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"learning_rate": 0.0},
        {"seconds": -1.0},
        {"warm_up_share": 1.5},
        {"accumulate": 0},
        {"keep": 0},
    ],
)
def test_impossible_settings_are_refused(wrong: Any) -> None:
    with pytest.raises(TrainingError, match=next(iter(wrong))):
        settings(**wrong)
