"""A checkpoint's weights from a folder through transformers; and what is asked of every model once
it is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers.inference.encoders.devices import is_out_of_memory, out_of_memory
from workers.inference.encoders.tokens import Input, Tokens
from workers.inference.model_files import ModelError, ModelFiles, first_line

_COUNTS_POSITIONS_FROM_PADDING = ("roberta", "xlm-roberta", "camembert", "mpnet")


@contextmanager
def loading(files: ModelFiles, device_label: str) -> Iterator[None]:
    """What loaders raise becomes a ``ModelError`` of one line."""
    try:
        yield
    except ModelError:
        raise
    # Transformers, safetensors and the pickle reader each have their own
    except Exception as error:
        if is_out_of_memory(error):
            raise out_of_memory(files.name, device_label, "load it") from error
        raise ModelError(f"the model {files.name} cannot be loaded: {first_line(error)}") from error


def from_folder(files: ModelFiles, auto_class: str) -> tuple[Any, list[str]]:
    """The model in float32 by this class of transformers', and the names of the parts that its
    weights lack.

    transformers fills such parts with random numbers: the caller must know which the model does
    without.
    """
    import torch
    import transformers
    from transformers.utils import logging as its_logging

    library_logging: Any = its_logging  # its functions have no types
    library_logging.set_verbosity_error()
    library_logging.disable_progress_bar()
    model, report = getattr(transformers, auto_class).from_pretrained(
        str(files.folder),
        local_files_only=True,
        trust_remote_code=False,
        dtype=torch.float32,
        output_loading_info=True,
    )
    return model, sorted(key for key in report["missing_keys"] if "position_ids" not in key)


def check_has_rows(model: Any, tokens: Tokens, files: ModelFiles) -> None:
    """Raises ``ModelError`` where the tokenizer knows ids that the model does not. On a GPU one
    such id stops the process for good."""
    rows = int(model.get_input_embeddings().num_embeddings)
    if tokens.vocabulary_size > rows:
        raise ModelError(
            f"the tokenizer of the model {files.name} has {tokens.vocabulary_size} words, the "
            f"model {rows}"
        )


def most_tokens(config: Any, tokens: Tokens, otherwise: int | None = None) -> int:
    """The most tokens a model takes, special ones included; ``otherwise``, or what its tokenizer
    says, where the model has no limit of its own."""
    own = int(getattr(config, "max_position_embeddings", None) or 0)  # XLNet's is −1: none
    positions = own if own > 0 else otherwise or tokens.longest
    if config.model_type in _COUNTS_POSITIONS_FROM_PADDING:
        positions -= int(config.pad_token_id or 0) + 1
    return min(positions, tokens.longest)


def has_segments(config: Any) -> bool:
    """Whether a model tells the two texts of a pair apart by segment ids."""
    return int(getattr(config, "type_vocab_size", 0) or 0) > 1 or config.model_type == "xlnet"


def check_class_token_is_first(tokens: Tokens, files: ModelFiles) -> None:
    """What is trained here reads a text's state at its first token. Raises ``ModelError``."""
    if tokens.class_place != 0:
        raise ModelError(
            f"the model {files.name} cannot be trained on: its texts do not begin with a class "
            "token"
        )


def padded(
    inputs: Sequence[Input], padding_id: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Ids, segments and the mask of what is text: inputs × the longest one's tokens."""
    ids = np.full((len(inputs), max(map(len, inputs))), padding_id, dtype=np.int64)
    segments, mask = np.zeros_like(ids), np.zeros_like(ids)
    for row, one in enumerate(inputs):
        ids[row, : len(one)] = one.ids
        segments[row, : len(one)] = one.segments
        mask[row, : len(one)] = 1
    return ids, segments, mask
