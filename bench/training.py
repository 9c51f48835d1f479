"""``python -m bench.training``: examples/s of training DEnsity's selection model, and what comes
after it.

Ours is the loop that trainings use (``workers.training.core.loop`` with the recipe density, L_RS +
L_CL). The peer is a plain PyTorch loop over the very same batches: the same encoder and first
weights, the same token ids, losses, gradient limit and AdamW, every batch padded to its longest
input and taken in one pass, the last layer whole. It is given ready token ids; ours makes them. An
*example* is a context with one response, so a batch has contexts × (1 + negatives).

Dialogues are made with a seed in DailyDialog's shape: 2 to 14 utterances, 12 words each on average.
MiniLM is the packaged one; the base-size BERT (12 layers, d = 768) has weights drawn with a seed.
On a CPU both sides have one thread and float32, and seconds are the processor's, which other work
on the machine moves least; on a GPU both have bfloat16 and seconds are the clock's.
"""

from __future__ import annotations

import argparse
import copy
import os
import random
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from bench.neural_gpu import _make_base_model
from bench.neural_input import vocabulary
from workers.inference.model_files import PACKAGED_ENCODER, model_files

MODELS = ("minilm", "base")
POINTS = 20_000
"""That the Gaussian is laid over; DailyDialog's training part has 76,000 pairs."""


@dataclass(frozen=True, slots=True)
class Shape:
    contexts: int
    negatives: int
    steps: int
    """Measured ones; one more goes before."""
    scored: int
    """Pairs; figures are scaled to 1,000."""

    @property
    def examples(self) -> int:
        return self.contexts * (1 + self.negatives)


ON_CPU = {"minilm": Shape(4, 7, 2, 96), "base": Shape(2, 3, 2, 96)}
ON_GPU = {"minilm": Shape(16, 15, 30, 10_000), "base": Shape(16, 15, 30, 10_000)}


def made_dialogues(count: int, seed: int = 0) -> list[Any]:
    from annotations.formats.records import Utterance
    from workers.training.core.conversations import TrainingDialogue

    source = random.Random(seed)
    words = vocabulary(str(model_files(PACKAGED_ENCODER).folder))
    weights = [1 / (rank + 2) for rank in range(len(words))]

    def sentence() -> str:
        return (
            " ".join(source.choices(words, weights, k=min(40, 3 + int(source.expovariate(1 / 9)))))
            + "."
        )

    def dialogue(number: int) -> TrainingDialogue:
        said = tuple(
            Utterance("AB"[place % 2], sentence()) for place in range(source.randint(2, 14))
        )
        return TrainingDialogue(str(number), said, ((), ()))

    return [dialogue(number) for number in range(count)]


# --- training -------------------------------------------------------------------------------------


def trained(threads: int, model: str, device: str, shape: Shape) -> dict[str, Any]:
    """Seconds of the measured steps, of ours and of the peer's, and the losses of the first
    batches."""
    import torch

    from workers.inference import resources
    from workers.training.core.making import plan_of, split_of
    from workers.training.core.recipes.density import DensityTask

    resources.use(resources.Resources(device, threads))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        encoder = PACKAGED_ENCODER
        if model == "base":
            encoder = str(folder / "base")
            _make_base_model(folder / "base")
        chosen = {
            "encoder": encoder,
            "contexts": shape.contexts,
            "negatives": shape.negatives,
            "device": device,
        }
        chosen |= {
            "epochs": 1,
            "pairs_an_epoch": shape.contexts * (shape.steps + 2),
            "validation_pairs": 1,
        }
        plan = plan_of("density", chosen)
        task = DensityTask(plan.settings, *split_of(plan, made_dialogues(200)))
        batches = task.batches(0)[: shape.steps + 1]
        tokens = [len(one) for item in batches[1:] for one in _inputs(task, item)]
        plain = copy.deepcopy(task.model)
        found = {
            "device": device,
            "tokens": sum(tokens) / len(tokens),
            "ours": _ours(task, plan.training, folder / "run", device, shape),
        }
        found |= _peer(task, plain, batches, device)
        if device == "cuda":
            found["memory"] = torch.cuda.max_memory_allocated() / 2**30
    return found


def _clock(device: str) -> Callable[[], float]:
    if device == "cpu":
        return time.process_time
    import torch

    def now() -> float:
        torch.cuda.synchronize()
        return time.perf_counter()

    return now


def _ours(task: Any, settings: Any, folder: Path, device: str, shape: Shape) -> float:
    from workers.training.core.loop import train
    from workers.training.core.settings import Abandoned

    now, times = _clock(device), []

    def watch(said: Any) -> None:
        if said.step:
            times.append(now())
        if len(times) > shape.steps:
            raise Abandoned

    with suppress(Abandoned):
        train(task, settings, folder, watch)
    return times[-1] - times[0]


def _inputs(task: Any, item: Any) -> list[Any]:
    places, negatives = item
    return [
        task.selection.inputs.input(task._contexts[place], task._responses[response])
        for place, others in zip(places.tolist(), negatives.tolist(), strict=True)
        for response in (place, *others)
    ]


def _peer(task: Any, model: Any, batches: Any, device: str) -> dict[str, Any]:
    import torch

    from workers.training.core.losses import response_selection, supervised_contrastive

    candidates = 1 + task.settings()["negatives"]
    padding = task.selection.padding_id
    ready = [_inputs(task, item) for item in batches]
    model = model.to(device).train()
    encoder, head = model.encoder, model.head
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-5, weight_decay=0.01)
    now, begun = _clock(device), 0.0
    for number, inputs in enumerate(ready):
        if number == 1:
            begun = now()
        width = max(len(one.ids) for one in inputs)
        ids, segments, mask = (
            torch.tensor(rows, device=device)
            for rows in (
                [list(one.ids) + [padding] * (width - len(one.ids)) for one in inputs],
                [list(one.segments) + [0] * (width - len(one.ids)) for one in inputs],
                [[1] * len(one.ids) + [0] * (width - len(one.ids)) for one in inputs],
            )
        )
        with torch.autocast(device, dtype=torch.bfloat16, enabled=device == "cuda"):
            states = encoder(
                input_ids=ids, token_type_ids=segments, attention_mask=mask
            ).last_hidden_state[:, 0]
            scores = head(states).view(-1, candidates)
        features = states.float().view(-1, candidates, states.shape[-1])
        loss = response_selection(scores.float()) + supervised_contrastive(features) / len(features)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return {"peer": now() - begun, "loss": loss.item()}


# --- what comes after -----------------------------------------------------------------------------


def scored(threads: int, device: str, pairs: int) -> dict[str, float]:
    """Seconds of features and distances of ``pairs``; the peer takes 32 at a time as they come."""
    import numpy as np
    import torch

    from workers.inference import resources
    from workers.inference.encoders.loading import padded
    from workers.training.core.conversations import pairs_of
    from workers.training.core.gaussian import GaussianFit
    from workers.training.core.recipes.density import texts_of
    from workers.training.core.selection import SelectionShape, new_selection

    resources.use(resources.Resources(device, threads))
    selection = new_selection(PACKAGED_ENCODER, SelectionShape(), 0)
    selection.model.to(device).eval()
    asked = [
        (texts_of(pair), pair.response) for pair in pairs_of(made_dialogues(2 * pairs // 7 + 20))
    ][: pairs + 8]
    warm, asked = asked[:8], asked[8:]
    random_numbers = np.random.default_rng(0)
    fit = GaussianFit.of(random_numbers.standard_normal((2_000, 384)).astype(np.float32))
    selection.features(warm)
    now = _clock(device)
    begun = now()
    ours = fit.squared_mahalanobis(selection.features(asked))
    between = now()
    found = []
    with torch.inference_mode():
        for start in range(0, len(asked), 32):
            inputs = [selection.inputs.input(*pair) for pair in asked[start : start + 32]]
            ids, segments, mask = (
                torch.from_numpy(part).to(device)
                for part in padded(inputs, selection.padding_id)[:3]
            )
            states = selection.model.encoder(
                input_ids=ids, token_type_ids=segments, attention_mask=mask
            )
            found.append(states.last_hidden_state[:, 0].cpu().numpy())
    theirs = fit.squared_mahalanobis(np.concatenate(found))
    return {
        "ours": between - begun,
        "peer": now() - between,
        "difference": float(np.max(np.abs(ours - theirs) / theirs)),
        "pairs": len(asked),
    }


def fitted(threads: int, dimensions: int, points: int) -> dict[str, float]:
    """Seconds of the Gaussian over float32 features, and of scikit-learn's ``EmpiricalCovariance``
    over the same."""
    import numpy as np
    from sklearn.covariance import EmpiricalCovariance

    from workers.training.core.gaussian import GaussianFit

    features = np.random.default_rng(0).standard_normal((points, dimensions)).astype(np.float32)
    GaussianFit.of(features[: 2 * dimensions])
    now = time.process_time if threads == 1 else time.perf_counter
    begun = now()
    fit = GaussianFit.of(features)
    between = now()
    peer = EmpiricalCovariance().fit(features.astype(np.float64))
    ended = now()
    few = features[:100]
    difference = np.max(
        np.abs(fit.squared_mahalanobis(few) / peer.mahalanobis(few.astype(np.float64)) - 1)
    )
    return {"ours": between - begun, "peer": ended - between, "difference": float(difference)}


def alone(threads: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """In a process that has done nothing before."""
    os.environ |= {
        name: str(threads)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    }
    os.environ["HF_HUB_OFFLINE"] = "1"
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, threads, *arguments).result()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--only",
        choices=[*MODELS, "after"],
        help="one part: a model's training, or what comes after",
    )
    parser.add_argument(
        "--device", choices=["cpu", "cuda"], help="default: cuda where there is one"
    )
    parser.add_argument(
        "--contexts", type=int, help="in a batch; default: 4 and 2 (base) on a CPU, 16 on a GPU"
    )
    parser.add_argument(
        "--negatives", type=int, help="of each context; default: 7 and 3 on a CPU, 15 on a GPU"
    )
    parser.add_argument("--steps", type=int, help="measured; default: 2 on a CPU, 30 on a GPU")
    parser.add_argument("--points", type=int, default=POINTS, help="that the Gaussian is laid over")
    options = parser.parse_args()
    device = options.device or ("cuda" if _has_cuda() else "cpu")
    shapes = dict(ON_GPU if device == "cuda" else ON_CPU)
    given = {
        name: getattr(options, name)
        for name in ("contexts", "negatives", "steps")
        if getattr(options, name)
    }
    print(f"load average {os.getloadavg()[0]:.1f}; {device}", flush=True)
    for model in MODELS:
        if options.only in (None, model):
            shape = shapes[model] = Shape(**{**_fields(shapes[model]), **given})
            _say_training(model, shape, alone(1, trained, model, device, shape))
    if options.only in (None, "after"):
        _say_after(alone(1, scored, device, shapes["minilm"].scored))
        for dimensions in (384, 768):
            found = alone(1, fitted, dimensions, options.points)
            print(
                f"Gaussian over {options.points:,} × {dimensions}: ours {found['ours']:.2f} s, "
                f"scikit-learn {found['peer']:.2f} s, ratio {found['peer'] / found['ours']:.2f}; "
                f"largest relative difference {found['difference']:.0e}",
                flush=True,
            )


def _fields(shape: Shape) -> dict[str, int]:
    names = ("contexts", "negatives", "steps", "scored")
    return {name: getattr(shape, name) for name in names}


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


def _say_training(model: str, shape: Shape, found: dict[str, Any]) -> None:
    examples = shape.examples * shape.steps
    print(
        f"{model}: {shape.contexts} × {1 + shape.negatives} examples a step, "
        f"{found['tokens']:.0f} tokens each, {shape.steps} steps: ours "
        f"{examples / found['ours']:.1f} examples/s, plain loop {examples / found['peer']:.1f}, "
        f"ratio {found['peer'] / found['ours']:.2f}"
        + (f"; {found['memory']:.1f} GiB" if "memory" in found else ""),
        flush=True,
    )


def _say_after(found: dict[str, float]) -> None:
    ours, peer = (1_000 * found[who] / found["pairs"] for who in ("ours", "peer"))
    print(
        f"scores of 1,000 pairs ({found['pairs']:,} measured): ours {ours:.1f} s, 32 at a time as "
        f"they come {peer:.1f} s, ratio {peer / ours:.2f}; largest relative difference of d² "
        f"{found['difference']:.0e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
