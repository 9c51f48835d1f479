"""Conversations in one text as chat models are trained on them: the templates of Llama 2 and 3,
Mistral, ChatML, Gemma, Phi, Zephyr, Vicuna and Alpaca."""

from __future__ import annotations

import re
from collections.abc import Iterable

from annotations.formats.records import Message

_ROLES = {"human": "user", "model": "assistant", "ipython": "tool"}
_HEADED = (
    re.compile(r"<\|im_start\|>(system|user|assistant|tool)\n"),
    re.compile(r"<\|start_header_id\|>(system|user|assistant|ipython)<\|end_header_id\|>\n{0,2}"),
    re.compile(r"<start_of_turn>(user|model)\n"),
    re.compile(r"<\|(system|user|assistant)\|>\n?"),
)
"""How a message begins, with its role."""
_END = re.compile(r"<\|(?:im_end|eot_id|end|endoftext|end_of_text)\|>|<end_of_turn>|</s>|<eos>")
_BEFORE = re.compile(r"\s*(?:<s>|<bos>|<\|begin_of_text\|>|<\|endoftext\|>)?\s*")
_INSTRUCTION = "[INST]"
_INSTRUCTION_END = "[/INST]"
_SYSTEM = re.compile(r"\s*<<SYS>>\s*(.*?)\s*<</SYS>>\s*", re.DOTALL)
_CAPITALS = re.compile(r"(?:\A|\s|</s>)(USER|ASSISTANT):\s?")
_ALPACA = re.compile(r"(?:\A|\n)### (Instruction|Input|Response):\n?")


def templated(text: str) -> tuple[Message, ...]:
    """The messages of a text in which a chat template marks who speaks.

    Args:
        text: any text.

    Returns:
        The messages, a system prompt among them; none for a text without such marks. A last speaker
        without a text is a prompt to answer, and left out.
    """
    for header in _HEADED:
        before, *pieces = header.split(text)
        if pieces and _BEFORE.fullmatch(before):
            return _messages(
                (_ROLES.get(role, role), _END.split(words, maxsplit=1)[0])
                for role, words in zip(pieces[::2], pieces[1::2], strict=True)
            )
    if _INSTRUCTION in text and _INSTRUCTION_END in text:
        before, *instructions = text.split(_INSTRUCTION)
        if _BEFORE.fullmatch(before):
            return _messages(_of_instructions(instructions))
    before, *pieces = _CAPITALS.split(text)
    if pieces[:3:2] == ["USER", "ASSISTANT"]:
        spoken = zip(pieces[::2], pieces[1::2], strict=True)
        return _messages(
            [("system", before), *((who.lower(), _END.sub("", words)) for who, words in spoken)]
        )
    before, *pieces = _ALPACA.split(text)
    if pieces[:1] == ["Instruction"] and "Response" in pieces[::2]:
        fields = dict(zip(pieces[::2], pieces[1::2], strict=True))
        instruction = (fields["Instruction"].strip(), fields.get("Input", "").strip())
        return _messages(
            [
                ("system", before),
                ("user", "\n".join(filter(None, instruction))),
                ("assistant", _END.sub("", fields["Response"])),
            ]
        )
    return ()


def _of_instructions(instructions: list[str]) -> list[tuple[str, str]]:
    spoken: list[tuple[str, str]] = []
    for one in instructions:
        instruction, _, answered = one.partition(_INSTRUCTION_END)
        if prompt := _SYSTEM.match(instruction):
            spoken.append(("system", prompt[1]))
            instruction = instruction[prompt.end() :]
        spoken += [("user", instruction), ("assistant", _END.sub("", answered).removesuffix("<s>"))]
    return spoken


def _messages(spoken: Iterable[tuple[str, str]]) -> tuple[Message, ...]:
    return tuple(Message(role, words.strip()) for role, words in spoken if words.strip())
