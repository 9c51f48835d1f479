"""A small causal language model with drawn weights, in a folder, and one forward pass a text to
compare with."""

from __future__ import annotations

from pathlib import Path

from workers.inference.language_models.likelihood import CausalModel, Continuation

CHAT_TEMPLATE = (
    "{% for message in messages %}<s>{{ message['role'] }}\n{{ message['content'] }}</s>\n{% "
    "endfor %}{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)


def make_causal(
    folder: Path, kind: str = "llama", positions: int = 128, chat: bool = True, seed: int = 0
) -> Path:
    """Byte-level, so that every text has tokens. ``kind``: llama, gpt2 or bloom (ALiBi: no
    positions)."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import (
        BloomConfig,
        BloomForCausalLM,
        GPT2Config,
        GPT2LMHeadModel,
        LlamaConfig,
        LlamaForCausalLM,
    )
    from transformers import PreTrainedTokenizerFast as Fast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: place for place, token in enumerate(["<s>", "</s>", *alphabet])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = Fast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>")
    if chat:
        fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)
    torch.manual_seed(seed)
    size = len(vocabulary)
    ends = {"bos_token_id": 0, "eos_token_id": 1}
    if kind == "gpt2":
        small = {"n_embd": 32, "n_layer": 2, "n_head": 2}
        model = GPT2LMHeadModel(GPT2Config(vocab_size=size, n_positions=positions, **small, **ends))
    elif kind == "bloom":
        model = BloomForCausalLM(
            BloomConfig(vocab_size=size, hidden_size=32, n_layer=2, n_head=2, **ends)
        )
    else:
        model = LlamaForCausalLM(
            LlamaConfig(
                vocab_size=size,
                hidden_size=32,
                intermediate_size=48,
                num_hidden_layers=2,
                num_attention_heads=4,
                num_key_value_heads=2,
                max_position_embeddings=positions,
                initializer_range=0.3,
                **ends,
            )
        )
    model.save_pretrained(folder)
    return folder


def alone(model: CausalModel, continuation: Continuation) -> float:
    """Σ log p by one plain forward pass of the whole text, with nothing shared."""
    import torch

    tokenizer, causal = model._tokenizer, model._model
    prefix = tokenizer(continuation.prefix, add_special_tokens=False).input_ids or [0]
    text = tokenizer(
        continuation.text, add_special_tokens=False, split_special_tokens=True
    ).input_ids
    with torch.inference_mode():
        logits = causal(torch.tensor([[*prefix, *text]])).logits[0].float().log_softmax(-1)
    return sum(logits[len(prefix) + place - 1, token].item() for place, token in enumerate(text))
