"""Generated conversations about one thing each, and a tiny encoder that knows their words."""

from __future__ import annotations

import json
import random
from pathlib import Path

from tests.workers.checkpoints import SPECIALS, word_tokenizer
from tests.workers.training.talk import talk
from workers.training.core.conversations import TrainingDialogue
from workers.training.core.latent_scorer import LatentScorer, LatentScoring
from workers.training.core.latent_space import OTHERS, load_latent_space

THINGS = ("dogs", "trains", "soup", "rain")
WORDS_OF_PRAISE = ("fine", "cold", "late", "loud", "old", "new", "sad", "big")
OPENINGS = ("i like {}", "tell me of {}")
ANSWERS = ("yes {} are {}", "no {} is {}")
WORDS = sorted(
    {word for text in (*THINGS, *WORDS_OF_PRAISE, *OPENINGS, *ANSWERS) for word in text.split()}
    - {"{}"}
)


def about_one_thing(count: int, seed: int = 1) -> list[TrainingDialogue]:
    """Each has an opening and an answer to it, with the same thing: what makes a response
    follow."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        thing = THINGS[number % len(THINGS)]
        made.append(
            talk(str(number), draw.choice(OPENINGS).format(thing), answer_about(thing, draw))
        )
    return made


def answer_about(thing: str, draw: random.Random) -> str:
    """Follows what was said of the thing; what it says of it is nowhere foretold, so only z can
    tell the decoder."""
    return draw.choice(ANSWERS).format(thing, draw.choice(WORDS_OF_PRAISE))


def save_tiny_encoder(folder: Path, width: int = 32, layers: int = 2, seed: int = 3) -> Path:
    """A BERT with two segments, nothing learned."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models

    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(SPECIALS) + len(WORDS),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * width,
        max_position_embeddings=48,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.3,
    )
    transformers.BertModel(config).save_pretrained(folder)
    tokenizer = word_tokenizer()
    vocabulary = {word: number for number, word in enumerate((*SPECIALS, *WORDS))}
    rust: Tokenizer = tokenizer.backend_tokenizer
    rust.model = models.WordPiece(vocabulary, unk_token="[UNK]")
    tokenizer.model_max_length = 48
    tokenizer.save_pretrained(folder)
    return folder


def load_scorer(checkpoint: Path, settings: LatentScoring) -> LatentScorer:
    """Of a checkpoint of the recipe ``cmn``, on the CPU."""
    space = load_latent_space(checkpoint, "cpu")
    others = [(tuple(context), response) for context, response in json.loads(space.files[OTHERS])]
    return LatentScorer(space, others, settings)
