"""``python -m bench.neural``: metrics with a model at ComperDial's size, against the usual ways on
the same weights.

99 systems × 105 turns, made by ``bench.neural_input``; the packaged models. Every measurement has a
process of its own, in which the model is loaded and has seen one text before the clock starts; both
sides have the same number of threads. Ours computes as a worker does: as many systems in a call as
the metric asks for, features remembered in a folder, which is empty where it says *cold*. The peers
are bert-score 0.3.13 and ``bench.neural_peers``. Slow ones are run on some of the systems and
scaled to all; how many is printed. With one thread seconds are those of the processor, which other
work on the machine moves least; with more they are the clock's, for waiting threads burn the
processor.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from bench.neural_input import SYSTEMS, made_systems, vocabulary
from workers.inference.model_files import PACKAGED_ENCODER, PACKAGED_LANGUAGE_MODEL, model_files
from workers.metrics.base import Example

BERTSCORE = ("bertscore_p", "bertscore_r", "bertscore_f1")
EMBEDDINGS = ("embedding_average", "vector_extrema", "greedy_matching")
DISTRIBUTIONS = ("fbd", "prd")
NINE = (*BERTSCORE, "simcse", *EMBEDDINGS, *DISTRIBUTIONS)
SUBMISSIONS = 5
EQUAL = 1e-5
UNEQUAL_SHARE = 0.001
"""bert-score lets a best cosine be negative in the longest texts of each of its batches only; see
the description of bertscore_f1."""

Systems = list[list[Example]]


def alone(threads: int, work: Callable[..., Any], *arguments: Any) -> Any:
    """What ``work`` returns in a process that has done nothing before."""
    os.environ |= {
        name: str(threads)
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    }
    os.environ["HF_HUB_OFFLINE"] = "1"
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(work, threads, *arguments).result()


def clock(threads: int) -> Callable[[], float]:
    return time.process_time if threads == 1 else time.perf_counter


# --- ours -----------------------------------------------------------------------------------------


def ours(threads: int, names: Sequence[str], systems: Systems, folder: str) -> dict[str, Any]:
    """Seconds of each metric in turn, and its scores: one a response, or one a system."""
    from workers.inference import resources
    from workers.inference.encoders.encoder import encoder_for
    from workers.metrics.common.configuration import parse

    resources.use(resources.Resources("cpu", threads, feature_folder=Path(folder)))
    encoder_for().token_states(["One text."])
    found: dict[str, Any] = {}
    now = clock(threads)
    for name in names:
        configuration = parse(name)
        start = now()
        scores = _scored(configuration.scorer(), configuration.metric, systems)
        found[name] = {"seconds": now() - start, "scores": [float(score) for score in scores]}
    return found


def _scored(scorer: Any, metric: Any, systems: Systems) -> list[Any]:
    if "turn" not in metric.levels:
        human = [as_human(example) for example in systems[0]]
        scorer.prepare([*(example for examples in systems for example in examples), *human])
        return [scorer.score_system(examples, human) for examples in systems]
    scores: list[Any] = []
    for start in range(0, len(systems), metric.systems_at_once):
        scores += scorer.score(
            [e for examples in systems[start : start + metric.systems_at_once] for e in examples]
        )
    return scores


def as_human(example: Example) -> Example:
    """The reference in the place of the response: the human side of a distribution metric."""
    from dataclasses import replace

    return replace(example, response=example.references[0], references=())


def our_likelihoods(threads: int, examples: list[Example]) -> dict[str, Any]:
    from workers.inference import resources
    from workers.inference.language_models.likelihood import causal_model_for
    from workers.metrics.common.configuration import parse

    resources.use(resources.Resources("cpu", threads))
    causal_model_for()
    scorer = parse("gpt2_coherency").scorer()
    now = clock(threads)
    start = now()
    scores = scorer.score(examples)
    return {"seconds": now() - start, "scores": [float(score) for score in scores]}


# --- the peers ------------------------------------------------------------------------------------


def package_bert_score(threads: int, folder: str, systems: Systems) -> dict[str, Any]:
    import torch

    from bench import neural_peers as peers

    torch.set_num_threads(threads)
    scorer = peers.bert_scorer(folder)
    references, responses = peers.texts_of(
        [example for examples in systems for example in examples]
    )
    scorer.score(["One text."], ["One text."])
    now = clock(threads)
    start = now()
    scores = peers.bert_score(folder, references, responses, scorer)
    return {"seconds": now() - start, "scores": scores.tolist()}


def plain_peer(threads: int, name: str, folder: str, systems: Systems) -> dict[str, Any]:
    import torch

    from bench import neural_peers as peers

    torch.set_num_threads(threads)
    encoder = peers.PlainEncoder(folder)
    encoder.sentences(["One text."])
    references, responses = peers.texts_of(
        [example for examples in systems for example in examples]
    )
    now = clock(threads)
    start = now()
    if name in DISTRIBUTIONS:
        human = pairs_of([as_human(example) for example in systems[0]])
        way = {"fbd": peers.fbd, "prd": peers.prd}[name]
        scores = way(encoder, human, [pairs_of(examples) for examples in systems])
    else:
        ways = {"simcse": peers.sentence_cosine, "embedding_average": peers.embedding_average}
        ways |= {"vector_extrema": peers.vector_extrema, "greedy_matching": peers.greedy_matching}
        scores = ways[name](encoder, references, responses)
    return {"seconds": now() - start, "scores": scores}


def pairs_of(examples: Sequence[Example]) -> list[tuple[str, str]]:
    return [
        (" ".join(said.text for said in example.context), example.response) for example in examples
    ]


def one_by_one(threads: int, examples: list[Example]) -> dict[str, Any]:
    """A forward pass over context and response for each of them, with the same weights in
    float32."""
    import torch

    from bench import neural_peers as peers
    from workers.inference.language_models.loading import load_causal

    torch.set_num_threads(threads)
    tokenizer, model = load_causal(
        model_files(PACKAGED_LANGUAGE_MODEL), torch.device("cpu"), torch.float32
    )
    prompts = [(_tagged(example), f" {example.response.strip()}") for example in examples]
    now = clock(threads)
    start = now()
    scores = peers.likelihood_one_by_one(model, tokenizer, prompts)
    return {"seconds": now() - start, "scores": scores}


def _tagged(example: Example) -> str:
    return "".join(f"{said.speaker}: {said.text.strip()}\n" for said in example.context) + "B:"


def frechet(_threads: int, samples: int = 150, dimensions: int = 768) -> dict[str, float]:
    from bench import neural_peers as peers
    from workers.metrics.common.frechet import frechet_distance

    random = np.random.default_rng(0)
    a = random.normal(size=(samples, dimensions)).astype(np.float32)
    b = (random.normal(size=(samples, dimensions)) * 1.1 + 0.1).astype(np.float32)

    def way_of_roots() -> float:
        x, y = a.astype(np.float64), b.astype(np.float64)
        return peers.frechet_by_square_root(
            x.mean(0), np.cov(x, rowvar=False), y.mean(0), np.cov(y, rowvar=False)
        )

    frechet_distance(a, b)
    (seconds, value), (root_seconds, root_value) = (
        _best(lambda: frechet_distance(a, b), 20),
        _best(way_of_roots, 3),
    )
    return {
        "seconds": seconds,
        "root_seconds": root_seconds,
        "value": value,
        "root_value": root_value,
    }


def _best(work: Callable[[], float], times: int) -> tuple[float, float]:
    """The median's seconds, and the last value."""
    seconds, value = [], 0.0
    for _ in range(times):
        start = time.process_time()
        value = float(work())
        seconds.append(time.process_time() - start)
    return float(np.median(seconds)), value


# --- the questions --------------------------------------------------------------------------------


class Bench:
    def __init__(self, threads: int, systems: int, peer_systems: int) -> None:
        self.threads = threads
        self.folder = str(model_files(PACKAGED_ENCODER).folder)
        self.systems = made_systems(vocabulary(self.folder), systems)
        self.peer_systems = min(peer_systems, systems)
        self.seconds: dict[str, float] = {}
        self.failed = False

    @property
    def responses(self) -> int:
        return sum(map(len, self.systems))

    def alone(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return alone(self.threads, work, *arguments)

    def say(self, what: str, ratio: float, wanted: float, at_most: bool = False) -> None:
        good = ratio <= wanted if at_most else ratio >= wanted
        self.failed |= not good
        print(
            f"  {what}: {ratio:.2f} ({'at most' if at_most else 'at least'} {wanted:g} wanted)",
            flush=True,
        )

    def bertscore(self) -> None:
        print("BERTScore, cold")
        with tempfile.TemporaryDirectory() as folder:
            mine = self.alone(ours, ["bertscore_f1"], self.systems, folder)["bertscore_f1"]
        theirs = self.alone(package_bert_score, self.folder, self.systems)
        self.seconds |= {"bertscore": mine["seconds"], "package": theirs["seconds"]}
        differences = [abs(a - b[2]) for a, b in zip(mine["scores"], theirs["scores"], strict=True)]
        unequal = sum(difference > EQUAL for difference in differences)
        for who, seconds in (("bert-score", theirs["seconds"]), ("dialeval", mine["seconds"])):
            print(f"  {who:10} {seconds:7.1f} s {self.responses / seconds:8,.0f} responses/s")
        print(
            f"  {unequal} of {self.responses:,} differ by more than {EQUAL:g}, at most by "
            f"{max(differences):.1e}"
        )
        self.failed |= unequal > UNEQUAL_SHARE * self.responses
        self.say("bert-score / dialeval", theirs["seconds"] / mine["seconds"], 1.5)

    def submission(self) -> None:
        print(
            f"BERTScore of one new submission, references known: {SUBMISSIONS} of them, each alone"
        )
        known, new = self.systems[:2], self.systems[-SUBMISSIONS:]
        with tempfile.TemporaryDirectory() as folder:
            self.alone(ours, ["bertscore_f1"], known, folder)
            mine = [
                self.alone(ours, ["bertscore_f1"], [one], folder)["bertscore_f1"]["seconds"]
                for one in new
            ]
        theirs = [self.alone(package_bert_score, self.folder, [one])["seconds"] for one in new]
        print(f"  bert-score {_three(theirs)} s, dialeval {_three(mine)} s: least, median, most")
        self.say("bert-score / dialeval, medians", float(np.median(theirs) / np.median(mine)), 3)

    def nine(self) -> None:
        print("Nine encoder metrics together")
        with tempfile.TemporaryDirectory() as folder:
            mine = self.alone(ours, NINE, self.systems, folder)
        for name, found in mine.items():
            print(f"  {name:18}{found['seconds']:7.2f} s")
        total = sum(found["seconds"] for found in mine.values())
        without = sum(found["seconds"] for name, found in mine.items() if name not in DISTRIBUTIONS)
        alone_seconds = self.seconds.get("bertscore", mine["bertscore_p"]["seconds"])
        texts, pairs = tokens_of(self.systems)
        print(
            f"  tokens: {texts:,} of texts; {pairs:,} of pairs, {pairs / texts:.1f} times as many"
        )
        self.say("nine / BERTScore alone", total / alone_seconds, 1.3, at_most=True)
        self.say(
            "the seven that encode no pairs / BERTScore alone",
            without / alone_seconds,
            1.3,
            at_most=True,
        )
        self._peers_of_nine(mine, total)

    def _peers_of_nine(self, mine: dict[str, Any], total: float) -> None:
        some = self.systems[: self.peer_systems]
        scale = len(self.systems) / len(some)
        print(
            f"  peers one after another, each on {len(some)} systems, scaled to {len(self.systems)}"
        )
        package = (
            self.seconds.get("package")
            or self.alone(package_bert_score, self.folder, some)["seconds"] * scale
        )
        print(f"    bert-score (P, R, F1 at once) {package:7.1f} s")
        theirs = package
        for name in ("simcse", *EMBEDDINGS, *DISTRIBUTIONS):
            found = self.alone(plain_peer, name, self.folder, some)
            theirs += found["seconds"] * scale
            values = zip(mine[name]["scores"], found["scores"], strict=False)
            difference = max(abs(a - b) for a, b in values)
            print(
                f"    {name:18}{found['seconds'] * scale:7.1f} s, largest difference "
                f"{difference:.1e}",
                flush=True,
            )
        self.say("peers / dialeval", theirs / total, 5)

    def distance(self) -> None:
        print("Fréchet distance, d = 768, n = 150")
        found = self.alone(frechet)
        print(
            f"  sqrtm {found['root_seconds']:.3f} s, dialeval {found['seconds'] * 1000:.1f} ms; ",
            end="",
        )
        print(f"{found['root_value']:.6f} and {found['value']:.6f}")
        self.say("sqrtm / dialeval", found["root_seconds"] / found["seconds"], 50)

    def coherency(self) -> None:
        turns = range(3, 105, 15)
        examples = [system[turn] for system in self.systems for turn in turns]
        few = examples[:: max(1, len(examples) // 40)]
        print(
            f"GPT2-Coherency, {len(examples)} responses; one by one on {len(few)} of them, scaled"
        )
        mine = self.alone(our_likelihoods, examples)
        theirs = self.alone(one_by_one, few)
        scaled = theirs["seconds"] * len(examples) / len(few)
        ours_of_few = mine["scores"][:: max(1, len(examples) // 40)]
        difference = max(abs(a - b) for a, b in zip(ours_of_few, theirs["scores"], strict=True))
        print(
            f"  one by one {scaled:.1f} s, dialeval {mine['seconds']:.1f} s; largest difference "
            f"{difference:.1e}"
        )
        self.say("one by one / dialeval", scaled / mine["seconds"], 3)

    def gpu(self) -> None:
        from bench.neural_gpu import measured

        print("A base-size encoder in bfloat16 on a GPU")
        found = self.alone(measured, self.systems)
        if found is None:
            print("  there is no GPU here: not measured")
            return
        print(
            f"  {found['device']}: {found['rate']:,.0f} responses/s, {found['texts']:,} distinct "
            "texts"
        )
        self.say("share of time that the GPU is busy", found["busy"], 0.8)


def _three(seconds: Sequence[float]) -> str:
    return " ".join(f"{value:.2f}" for value in (min(seconds), np.median(seconds), max(seconds)))


def tokens_of(systems: Systems) -> tuple[int, int]:
    """Tokens of distinct responses and references, and of distinct pairs of context and response,
    specials included."""
    from workers.inference.encoders.tokens import Tokens

    tokens = Tokens(model_files(PACKAGED_ENCODER))
    flat = [example for examples in systems for example in examples]
    texts = list(
        {example.response for example in flat} | {example.references[0] for example in systems[0]}
    )
    pairs = list(
        dict.fromkeys(pairs_of(flat) + pairs_of([as_human(example) for example in systems[0]]))
    )
    longest = tokens.longest
    return sum(map(len, tokens.inputs(texts, longest))), sum(
        map(len, tokens.pair_inputs(pairs, longest))
    )


PARTS = ("bertscore", "submission", "nine", "distance", "coherency", "gpu")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--systems", type=int, default=SYSTEMS)
    parser.add_argument("--peer-systems", type=int, default=8)
    parser.add_argument("--only", choices=PARTS, action="append")
    chosen = parser.parse_args()
    bench = Bench(chosen.threads, chosen.systems, chosen.peer_systems)
    distinct = len({example.response for examples in bench.systems for example in examples})
    load = json.dumps([round(value, 1) for value in os.getloadavg()])
    print(
        f"{bench.responses:,} responses ({distinct:,} distinct), {chosen.threads} thread(s), load "
        f"{load}",
        flush=True,
    )
    for part in chosen.only or PARTS:
        getattr(bench, part)()
    return 1 if bench.failed else 0


if __name__ == "__main__":
    sys.exit(main())
