"""Made-up corpora in which two metrics are equally good, for the type-I error of tests: who tells
them apart errs.

People's score of a response is a_s + b_d + c_sd + u_sdt + noise. Each metric is the same without
that noise, plus an opinion of its own: of the system, of the dialogue, of what this system said in
this dialogue (shared by its turns), and noise. ``own`` are the standard deviations of these four;
both metrics' opinions are drawn from the same law, anew for each corpus, so that the metrics are
exchangeable in a population of corpora.

``same_systems``: the opinions of systems are fixed instead, unlike each other but equally far from
people's, so that the metrics are equally good on these very systems and other dialogues.

``noisier``: the second metric's responses scatter so many times as far about their system's mean,
which stays as it was: the metrics are equally good at system level alone. ``skewed``: both metrics
are exponentials; ``tied``: both have three values. ``nested``: every system has dialogues of its
own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    systems: int
    dialogues: int
    turns: int


@dataclass(frozen=True)
class Own:
    system: float = 0.0
    dialogue: float = 0.0
    cell: float = 0.0
    noise: float = 1.0
    noisier: float = 1.0
    skewed: bool = False
    tied: bool = False
    nested: bool = False


@dataclass(frozen=True)
class NullCorpus:
    """``human``: (n,); ``metrics``: (2, n); ``system``, ``dialogue``: (n,) from 0."""

    human: FloatArray
    metrics: FloatArray
    system: NDArray[np.int64]
    dialogue: NDArray[np.int64]


def null_corpus(shape: Shape, own: Own, seed: int, same_systems: bool = False) -> NullCorpus:
    random = np.random.default_rng((seed, shape.systems, shape.dialogues))
    systems, dialogues, turns = shape.systems, shape.dialogues, shape.turns

    def effect(scale: float, *size: int) -> FloatArray:
        return random.normal(scale=scale, size=size) if scale else np.zeros(size)

    quality = effect(0.6, systems, 1, 1)
    own_or_shared = systems if own.nested else 1
    heard = (
        quality
        + effect(0.3, own_or_shared, dialogues, 1)
        + effect(0.3, systems, dialogues, 1)
        + effect(0.5, systems, dialogues, turns)
    )
    human = heard + effect(0.7, systems, dialogues, turns)
    opinion = effect(own.system, 2, systems, 1, 1)
    if same_systems:
        opinion = _equally_far(opinion[:, :, 0, 0], quality[:, 0, 0], own.system)[:, :, None, None]
    metrics = (
        heard
        + opinion
        + effect(own.dialogue, 2, own_or_shared, dialogues, 1)
        + effect(own.cell, 2, systems, dialogues, 1)
        + effect(own.noise, 2, systems, dialogues, turns)
    )
    if own.noisier != 1.0:
        means = metrics[1].mean(axis=(1, 2), keepdims=True)
        metrics[1] = means + own.noisier * (metrics[1] - means)
    if own.skewed:
        metrics = np.exp(metrics)
    if own.tied:
        metrics = np.digitize(metrics, (-0.5, 1.0)).astype(np.float64)
    system = np.repeat(np.arange(systems), dialogues * turns)
    dialogue = np.tile(np.repeat(np.arange(dialogues), turns), systems)
    if own.nested:
        dialogue = system * dialogues + dialogue
    return NullCorpus(human.ravel(), metrics.reshape(2, -1), system, dialogue)


def _equally_far(opinion: FloatArray, quality: FloatArray, scale: float) -> FloatArray:
    """Uncorrelated with people's quality and of one length, so that both metrics' true correlations
    are the same."""
    centred = quality - quality.mean()
    opinion = opinion - opinion.mean(axis=1, keepdims=True)
    opinion = opinion - np.outer(opinion @ centred / (centred @ centred), centred)
    return np.asarray(
        scale * np.sqrt(len(quality)) * opinion / np.linalg.norm(opinion, axis=1, keepdims=True)
    )
