"""Which family a name says, and that nothing is guessed."""

from __future__ import annotations

import pytest

from workers.judges.core.model_caveats import family_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4-turbo-2024-04-09", "gpt"),
        ("gpt-3.5-turbo-0125", "gpt"),
        ("GPT4 agent", "gpt"),
        ("chatgpt", "gpt"),
        ("o3-mini", "gpt"),
        ("claude-3-opus", "claude"),
        ("gemini-1.5-pro", "gemini"),
        ("gemma-2-9b-it", "gemma"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama"),
        ("Mixtral-8x7B", "mistral"),
        ("Qwen2.5-7B-Instruct", "qwen"),
        ("smollm2-135m-instruct", "smollm"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "smollm"),
        ("phi-3-mini", "phi"),
        ("command-r-plus", "command"),
        ("flan-t5-xl", "t5"),
        ("deepseek-v3", "deepseek"),
    ],
)
def test_a_name_says_its_family(name: str, family: str) -> None:
    assert family_of(name) == family


@pytest.mark.parametrize("name", ["gpt2-medium", "GPT-2", "distilgpt2"])
def test_gpt_2_is_no_gpt_of_today(name: str) -> None:
    assert family_of(name) == "gpt-2"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "north",
        "kv-memnn",
        "Seq2Seq",
        "human",
        "Original Ground Truth",
        "zero1",
        "p2_bot",
        "philosopher",
        "😀",
        "\0",
    ],
)
def test_a_name_that_says_none_is_unknown(name: str) -> None:
    assert family_of(name) == ""


@pytest.mark.parametrize("name", ["gpt4-vs-claude", "DeepSeek-R1-Distill-Qwen-7B"])
def test_a_name_that_says_two_is_unknown(name: str) -> None:
    assert family_of(name) == ""
