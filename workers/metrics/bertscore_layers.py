"""Which layer of a model BERTScore uses where nobody says: the one that the bert-score package
0.3.13 recommends.

Its authors chose, for each model, the layer whose F1 agrees best (Pearson) with the segment-level
human ratings of WMT16's to-English task. A model that is not in the list is used up to its last
layer.
"""

from __future__ import annotations

RECOMMENDED_LAYERS = {
    "albert-base-v2": 9,
    "albert-large-v2": 14,
    "albert-xlarge-v2": 13,
    "albert-xxlarge-v2": 8,
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bertweet-base": 9,
    "deberta-base": 9,
    "deberta-base-mnli": 9,
    "deberta-large": 16,
    "deberta-large-mnli": 18,
    "deberta-v3-base": 9,
    "deberta-v3-large": 12,
    "deberta-v3-small": 4,
    "deberta-v3-xsmall": 10,
    "deberta-xlarge": 18,
    "deberta-xlarge-mnli": 40,
    "distilbert-base-multilingual-cased": 5,
    "distilbert-base-uncased": 5,
    "distilroberta-base": 5,
    "electra-base-discriminator": 9,
    "electra-large-discriminator": 14,
    "electra-small-discriminator": 11,
    "mdeberta-v3-base": 10,
    "mpnet-base": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "scibert_scivocab_cased": 9,
    "scibert_scivocab_uncased": 8,
    "spanbert-base-cased": 8,
    "spanbert-large-cased": 17,
    "sup-simcse-bert-base-uncased": 10,
    "sup-simcse-bert-large-uncased": 18,
    "sup-simcse-roberta-base": 10,
    "sup-simcse-roberta-large": 16,
    "unsup-simcse-bert-base-uncased": 10,
    "unsup-simcse-bert-large-uncased": 18,
    "unsup-simcse-roberta-base": 8,
    "unsup-simcse-roberta-large": 13,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
"""By the last part of the model's name: a copy in a folder, or under another owner, is the same
model."""


def own_layer(model: str, layers: int) -> int:
    """Layer that bert-score recommends for a model.

    Args:
        model: a hub id or a folder; its last part counts.
        layers: how many the model has.

    Returns:
        1 to ``layers``; the last one for a model that is not in ``RECOMMENDED_LAYERS``.
    """
    recommended = RECOMMENDED_LAYERS.get(model.rstrip("/").rpartition("/")[2], layers)
    return min(recommended, layers)
