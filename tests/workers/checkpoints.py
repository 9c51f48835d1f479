"""Tiny checkpoints with random weights, made where a test runs: an architecture, a tokenizer, and
nothing learned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_SENTENCES = (
    "hello there you i like dogs cats yes no how are do your my friend what why ? . ! question : "
    "response fact dialogue history say is it this follow mean clear person could have said in a "
    "conversation"
)
WORDS = _SENTENCES.split(" ")
SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SEED = 20
WIDE = 0.6
"""The spread of random weights: with the usual 0.02 all texts look alike."""


def word_tokenizer(
    specials: tuple[str, ...] = SPECIALS,
    mask: bool = True,
    pair: str = "[CLS] $A [SEP] $B:1 [SEP]:1",
    single: str = "",
) -> Any:
    """Whole words, as BERT's tokenizer frames them; what it does not know is [UNK]."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    padding, unknown, begin, end, masked = specials
    vocabulary = {word: number for number, word in enumerate((*specials, *WORDS))}
    rust = Tokenizer(models.WordPiece(vocabulary, unk_token=unknown))
    rust.normalizer = normalizers.BertNormalizer()
    rust.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    rust.post_processor = processors.TemplateProcessing(
        single=single or f"{begin} $A {end}",
        pair=pair,
        special_tokens=[(begin, vocabulary[begin]), (end, vocabulary[end])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=rust,
        pad_token=padding,
        unk_token=unknown,
        cls_token=begin,
        sep_token=end,
        **({"mask_token": masked} if mask else {}),
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )


def _seeded(seed: int = SEED) -> None:
    import torch

    torch.manual_seed(seed)


def _bert_size(positions: int) -> dict[str, Any]:
    return {
        "vocab_size": len(SPECIALS) + len(WORDS),
        "hidden_size": 16,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": positions,
        "initializer_range": WIDE,
    }


def save_bert(
    folder: Path,
    class_name: str,
    outputs: int = 1,
    positions: int = 48,
    tokenizer: Any = None,
    seed: int = SEED,
) -> Path:
    """A BERT with the head that ``class_name`` has, for instance
    ``BertForSequenceClassification``."""
    import transformers

    _seeded(seed)
    config = transformers.BertConfig(**_bert_size(positions), num_labels=outputs)
    getattr(transformers, class_name)(config).save_pretrained(folder)
    (tokenizer or word_tokenizer()).save_pretrained(folder)
    return folder


def save_nli(
    folder: Path, labels: tuple[str, ...] = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
) -> Path:
    """A classifier of pairs whose configuration names its outputs."""
    save_bert(folder, "BertForSequenceClassification", outputs=len(labels))
    config = json.loads((folder / "config.json").read_text())
    names = {"id2label": dict(enumerate(labels)), "label2id": {n: i for i, n in enumerate(labels)}}
    (folder / "config.json").write_text(json.dumps({**config, **names}))
    return folder


def save_xlnet(folder: Path) -> Path:
    """Its class token stands at the end, and it has no limit of its own."""
    import transformers

    _seeded()
    config = transformers.XLNetConfig(
        vocab_size=len(SPECIALS) + len(WORDS),
        d_model=16,
        n_layer=2,
        n_head=2,
        d_inner=32,
        initializer_range=WIDE,
    )
    transformers.XLNetModel(config).save_pretrained(folder)
    tokenizer = word_tokenizer(single="$A [SEP] [CLS]:2", pair="$A [SEP] $B:1 [SEP]:1 [CLS]:2")
    tokenizer.model_max_length = 512
    tokenizer.save_pretrained(folder)
    return folder


def save_roberta(folder: Path, positions: int = 48) -> Path:
    """Its tokenizer is one of bytes, in which a word after a space is another token than one
    without."""
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    specials = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("h", "e"), ("Ġ", "he"), ("y", "o"), ("Ġ", "yo"), ("Ġyo", "u"), ("l", "l")]
    vocabulary = {
        word: number
        for number, word in enumerate((*specials, *alphabet, *(a + b for a, b in merges)))
    }
    rust = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>"))
    rust.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    rust.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=False, add_prefix_space=False
    )
    _seeded()
    config = transformers.RobertaConfig(
        **{**_bert_size(positions), "vocab_size": len(vocabulary)},
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
    )
    transformers.RobertaForMaskedLM(config).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=rust,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    ).save_pretrained(folder)
    return folder


def save_t5(
    folder: Path, words: tuple[str, ...] = ("Yes", "No", *WORDS), first_pieces: bool = False
) -> Path:
    """``first_pieces``: words fall into letters, so that Yes and No have several tokens."""
    import transformers
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    specials = ("<pad>", "</s>", "<unk>")
    pieces = tuple("YesNoabcdhilrtu?:.,") if first_pieces else words
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys((*specials, *pieces)))}
    rust = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    rust.pre_tokenizer = (
        pre_tokenizers.Split(Regex(r"\s*\S"), "isolated")
        if first_pieces
        else pre_tokenizers.Whitespace()
    )
    rust.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    _seeded()
    config = transformers.T5Config(
        vocab_size=len(vocabulary),
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
    )
    model = transformers.T5ForConditionalGeneration(config)
    for weights in model.parameters():
        weights.data.mul_(3.0)
    model.save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=rust, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    return folder
