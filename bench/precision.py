"""``python -m bench.precision``: what bfloat16 on a GPU does to scores, and what it saves.

Metrics with a model score the demo's 448 responses, each time in a process of its own: on the CPU
in float32, on the device in float32 (``DIALEVAL_PRECISION=float32``), and on the device as ``auto``
has it. Printed for each metric: the largest difference from the CPU, Spearman's ρ with the CPU's
scores, ρ with the demo's ratings, and the largest difference of a system's mean against the spread
of these means. Seconds are of 99 systems × 105 made turns (``bench.neural_input``), the model
loaded, nothing remembered; a smaller number of systems is printed. No Django: a machine needs
PyTorch and transformers only.

Without ``--language-model`` a GPT-2 of four layers is first trained on the demo for a minute.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from annotations.formats.records import Utterance
from bench.neural import as_human
from bench.neural_input import SYSTEMS, made_systems, vocabulary
from workers.inference.model_files import PACKAGED_ENCODER, model_files
from workers.metrics.base import Example

DEMO = Path(__file__).parent.parent / "annotations" / "demo" / "demo.jsonl"
WITH_ENCODER = (
    *("bertscore_p", "bertscore_r", "bertscore_f1", "simcse", "context_similarity"),
    *("embedding_average", "vector_extrema", "greedy_matching"),
)
OF_SYSTEMS = ("fbd", "prd")
WITH_LANGUAGE_MODEL = ("gpt2_coherency", "pmi", "fed_interesting")
STEPS, BATCH, LENGTH = 300, 16, 64


def demo() -> tuple[list[list[Example]], list[list[float]]]:
    """By system, without the gold answers, which are the references: examples and mean ratings."""
    records = [json.loads(line) for line in DEMO.read_text("utf-8").splitlines()]
    gold, said, ratings = {}, {}, {}
    for one in records:
        if one["type"] == "response":
            place = one["dialogue_id"], one["turn"]
            said.setdefault(one["system"], {})[place] = one["text"]
            if one["system"] == "gold":
                gold[place] = one["text"]
        elif one["type"] == "rating" and one.get("turn") is not None:
            key = one["system"], one["dialogue_id"], one["turn"]
            ratings.setdefault(key, []).append(float(one["score"]))
    systems, human = [], []
    for system in (name for name in said if name != "gold"):
        examples, means = [], []
        for dialogue in (one for one in records if one["type"] == "dialogue"):
            for turn in dialogue["turns"]:
                place = dialogue["id"], turn["number"]
                context = tuple(Utterance(u["speaker"], u["text"]) for u in turn["context"])
                examples.append(
                    Example(
                        *place,
                        tuple(dialogue["persona"]),
                        tuple(dialogue["partner_persona"]),
                        context,
                        (gold[place],),
                        said[system][place],
                    )
                )
                means.append(float(np.mean(ratings.get((system, *place), [np.nan]))))
        systems.append(examples)
        human.append(means)
    return systems, human


def alone(work: Callable[..., Any], *arguments: Any) -> Any:
    """What ``work`` returns in a process that has done nothing before."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def train_language_model(folder: str, tokenizer_folder: str, device: str) -> None:
    """A small GPT-2 on the demo's utterances, saved in ``folder``."""
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    torch.manual_seed(0)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder)
    size = len(tokenizer)
    ends = {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": tokenizer.sep_token_id}
    shape = {"n_positions": 512, "n_embd": 256, "n_layer": 4, "n_head": 4}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=size, **shape, **ends)).to(device)
    systems, _ = demo()
    texts = [u.text for example in systems[0] for u in example.context]
    texts += [example.response for examples in systems for example in examples]
    ids = [one for text in texts for one in tokenizer(text)["input_ids"]]
    stream = torch.tensor(ids, device=device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    random = np.random.default_rng(0)
    for _ in range(STEPS):
        starts = random.integers(0, len(ids) - LENGTH, BATCH)
        batch = torch.stack([stream[start : start + LENGTH] for start in starts])
        optimizer.zero_grad()
        model(batch, labels=batch).loss.backward()
        optimizer.step()
    tokenizer.bos_token, tokenizer.eos_token = tokenizer.cls_token, tokenizer.sep_token
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def scored(
    device: str, precision: str, names: Sequence[str], models: dict[str, str], timed: int
) -> dict[str, Any]:
    """By metric: scores of the demo and seconds of the made systems, or what was raised."""
    from workers.inference import resources
    from workers.metrics.common.configuration import parse

    resources.use(resources.Resources(device, precision))
    systems, _ = demo()
    many = made_systems(vocabulary(models["encoder"]), timed) if timed else []
    found: dict[str, Any] = {}
    for name in names:
        model = models["causal" if name in WITH_LANGUAGE_MODEL else "encoder"]
        more = ",format=tags" if name in WITH_LANGUAGE_MODEL else ""
        try:
            configuration = parse(f"{name}[model={json.dumps(model)}{more}]")
            scorer = configuration.scorer()
            scores = _scores(scorer, configuration.metric, systems)
            account = scorer.account()
            start = time.perf_counter()
            if many:
                _scores(scorer, configuration.metric, many)
            seconds = time.perf_counter() - start
            found[name] = {"scores": scores, "device": account.device, "seconds": seconds}
        except Exception as error:
            found[name] = {"error": f"{type(error).__name__}: {error}"}
        print(device, precision, name, found[name].get("error", ""), file=sys.stderr, flush=True)
    return found


def _scores(scorer: Any, metric: Any, systems: list[list[Example]]) -> list[Any]:
    """One a response in the systems' order, or one a system; None where undefined."""
    if hasattr(scorer, "see_corpus"):
        scorer.see_corpus([as_human(example) for example in systems[0]])
    if "turn" in metric.levels:
        scores = scorer.score([example for examples in systems for example in examples])
    else:
        human = [as_human(example) for example in systems[0]]
        scores = [scorer.score_system(examples, human) for examples in systems]
    return [score if isinstance(score, float) else None for score in scores]


def compare(name: str, runs: dict[str, dict[str, Any]], human: np.ndarray) -> None:
    """One row for each run on the device."""
    of_cpu = runs["cpu float32"][name]
    if "error" in of_cpu:
        print(f"| {name} | {of_cpu['error']} |")
        return
    reference = np.array(of_cpu["scores"], dtype=np.float64)
    for run, of_run in runs.items():
        found = of_run[name]
        if "error" in found:
            print(f"| {name} | {run} | {found['error']} |", flush=True)
            continue
        scores = np.array(found["scores"], dtype=np.float64)
        both = np.isfinite(scores) & np.isfinite(reference)
        gap = float(np.abs(scores - reference)[both].max())
        same = float(spearmanr(scores[both], reference[both]).statistic)
        of_turns = len(scores) == human.size
        people = human.ravel() if of_turns else human.mean(axis=1)
        use = both & np.isfinite(people)
        with_people = float(spearmanr(scores[use], people[use]).statistic)
        shape = (len(human), -1)
        means, own = (np.nanmean(one.reshape(shape), axis=1) for one in (scores, reference))
        moved = float(np.abs(means - own).max() / own.std(ddof=1))
        undefined = int((np.isfinite(scores) != np.isfinite(reference)).sum())
        print(
            f"| {name} | {run} | {found['device']} | {gap:.1e} | {same:.6f} | {with_people:.4f} | "
            f"{moved:.1e} | {undefined} | {found['seconds']:.2f} |",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--encoder", default="", help="a folder; else the packaged one")
    parser.add_argument("--language-model", default="", help="a folder; else a small one is made")
    parser.add_argument("--systems", type=int, default=SYSTEMS, help="that are timed; 0: none")
    parser.add_argument("--cpu-systems", type=int, default=0, help="the same, on the CPU")
    parser.add_argument("--save", default="", help="a file for all scores, as JSON")
    chosen = parser.parse_args()
    encoder = chosen.encoder or str(model_files(PACKAGED_ENCODER).folder)
    with tempfile.TemporaryDirectory() as made:
        if not chosen.language_model:
            alone(train_language_model, made, encoder, chosen.device)
        models = {"encoder": encoder, "causal": chosen.language_model or made}
        names = (*WITH_ENCODER, *OF_SYSTEMS, *WITH_LANGUAGE_MODEL)
        runs = {
            run: alone(scored, device, precision, names, models, timed)
            for run, device, precision, timed in (
                ("cpu float32", "cpu", "float32", chosen.cpu_systems),
                ("device float32", chosen.device, "float32", chosen.systems),
                ("device auto", chosen.device, "auto", chosen.systems),
            )
        }
    if chosen.save:
        Path(chosen.save).write_text(json.dumps(runs), encoding="utf-8")
    _, human = demo()
    print(
        "| metric | run | where | largest difference | ρ with the CPU | ρ with people | of means, "
        "in their standard deviations | undefined in one | seconds |"
    )
    print("|" + "---|" * 9)
    for name in names:
        compare(name, runs, np.array(human))
    return 0


if __name__ == "__main__":
    sys.exit(main())
