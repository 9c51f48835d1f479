"""A tiny BERT with random weights and dialogues made by a rule, from which a selection model learns
within seconds.

Somebody asks about a thing, and the answer names it too. Negatives are answers about other things.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from annotations.formats.records import Utterance
from workers.training.core.conversations import Pair
from workers.training.core.recipes.density import DensitySettings, DensityTask

THINGS = ("bread", "rain", "music", "horses")
_ASKING = ("do you like {}", "what about {}", "tell me of {}", "i think of {}")
_LABELS = (
    *("do", "you", "like", "what", "about", "tell", "me", "of", "i", "think"),
    *("yes", "is", "all", "want", "hello", "well", "then"),
)
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def save_encoder(
    folder: Path, layers: int = 2, size: int = 32, dropout: float = 0.1, seed: int = 3
) -> Path:
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    vocabulary = {word: number for number, word in enumerate((*SPECIALS, *_LABELS, *THINGS))}
    rust = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    rust.pre_tokenizer = pre_tokenizers.Whitespace()
    rust.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    names = dict(
        zip(
            ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token"),
            SPECIALS,
            strict=True,
        )
    )
    transformers.PreTrainedTokenizerFast(tokenizer_object=rust, **names).save_pretrained(folder)
    torch.manual_seed(seed)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * size,
        max_position_embeddings=64,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        initializer_range=0.3,
    )
    transformers.BertModel(config).save_pretrained(folder)
    return folder


def pairs(count: int, seed: int = 0, turns: int = 1) -> list[Pair]:
    """One pair a dialogue; the last utterance of the context names what the answer names."""
    drawn = random.Random(seed)
    found = []
    for number in range(count):
        thing = drawn.choice(THINGS)
        said = [
            drawn.choice(("hello", "well then", "i think")) for _ in range(drawn.randrange(turns))
        ]
        context = [*said, drawn.choice(_ASKING).format(thing)]
        speakers = ("A", "B")
        utterances = tuple(
            Utterance(speakers[place % 2], text) for place, text in enumerate(context)
        )
        found.append(Pair(number, len(context), utterances, f"yes {thing} is all i want", ()))
    return found


def density_task(
    encoder: Path, training: int = 24, validation: int = 12, **settings: Any
) -> DensityTask:
    chosen: dict[str, Any] = {"contexts": 4, "negatives": 3, "max_tokens": 32, **settings}
    wanted = DensitySettings(encoder=str(encoder), **chosen)
    return DensityTask(
        wanted, pairs(training, 1, 3), pairs(validation, 2, 3), data_signature="made by a rule"
    )
