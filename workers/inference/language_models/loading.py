"""A causal language model and its tokenizer from a folder, a GGUF file in it included. Torch and
transformers."""

from __future__ import annotations

import contextlib
import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workers.inference import resources
from workers.inference.encoders.cpu_layers import use_onednn
from workers.inference.encoders.devices import is_out_of_memory
from workers.inference.encoders.tokens import check_vocabulary
from workers.inference.language_models import gguf_cache
from workers.inference.model_files import ModelError, ModelFiles, first_line

if TYPE_CHECKING:
    import torch

log = logging.getLogger(__name__)


def best_dtype(device: torch.device) -> torch.dtype:
    """bfloat16 on an accelerator and on a CPU with AMX; float32 elsewhere, where bfloat16 is ten
    times slower, and where the site asks for it."""
    import torch

    if resources.at_hand().precision == "float32":
        return torch.float32
    if device.type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if device.type == "cpu":
        return torch.bfloat16 if torch.cpu._is_amx_tile_supported() else torch.float32
    return torch.float32


def load_causal(files: ModelFiles, device: torch.device, dtype: torch.dtype) -> tuple[Any, Any]:
    """(tokenizer, model) in evaluation mode on the device. Raises ``ModelError`` where the folder
    holds none."""
    try:
        tokenizer, model = (
            _cached_or_from_gguf(files, dtype) if files.gguf_file else _from_folder(files, dtype)
        )
        model = model.to(device).eval()
        use_onednn(model)
        return tokenizer, model
    except ModelError:
        raise
    except Exception as error:  # what a damaged or foreign folder makes a loader raise is anything
        if is_out_of_memory(error):
            raise ModelError(
                f"there is not enough memory on {device} for the model {files.name}"
            ) from error
        raise ModelError(
            f"{files.name} cannot be loaded as a causal language model: {first_line(error)}"
        ) from error


def _cached_or_from_gguf(files: ModelFiles, dtype: torch.dtype) -> tuple[Any, Any]:
    folder = gguf_cache.cache_folder(files, str(dtype).removeprefix("torch."))
    if folder is None:
        return _from_gguf(files, dtype)
    if gguf_cache.is_good(folder, files):
        try:
            return _from_folder(replace(files, folder=folder, gguf_file=""), dtype)
        except Exception as error:  # whatever a loader meets in files that somebody has changed
            if is_out_of_memory(error):
                raise
            log.warning("the copy of %s in %s cannot be loaded: %s", files.name, folder, error)
            return _from_gguf(files, dtype)
    tokenizer, model = _from_gguf(files, dtype)
    gguf_cache.keep(folder, files, tokenizer, model)
    return tokenizer, model


def _tokenizer(files: ModelFiles) -> Any:
    from transformers import AutoTokenizer

    gguf = {"gguf_file": files.gguf_file} if files.gguf_file else {}
    tokenizer = AutoTokenizer.from_pretrained(str(files.folder), local_files_only=True, **gguf)
    check_vocabulary(tokenizer, files)
    return tokenizer


def _from_folder(files: ModelFiles, dtype: torch.dtype) -> tuple[Any, Any]:
    from transformers import AutoModelForCausalLM

    tokenizer = _tokenizer(files)
    untyped: Any = AutoModelForCausalLM
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):  # a bar of progress
        model, loading = untyped.from_pretrained(
            str(files.folder), dtype=dtype, local_files_only=True, output_loading_info=True
        )
    if missing := sorted(loading["missing_keys"]):
        # transformers fills them with random numbers: scores would look like scores.
        raise ValueError(f"the weights lack {len(missing)} parameters, {missing[0]} first")
    return tokenizer, model


def _from_gguf(files: ModelFiles, dtype: torch.dtype) -> tuple[Any, Any]:
    """transformers' own reader of GGUF. ``from_pretrained`` would do the same, but wants the
    package accelerate."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers import modeling_gguf_pytorch_utils as gguf_reader

    tokenizer = _tokenizer(files)
    load_gguf_checkpoint: Any = gguf_reader.load_gguf_checkpoint
    untyped: Any = AutoModelForCausalLM
    path = str(files.folder / files.gguf_file)
    config = AutoConfig.for_model(**load_gguf_checkpoint(path)["config"])
    with torch.device("meta"):
        outline = untyped.from_config(config)
    # A bar that cannot be turned off
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stderr(nowhere):
        weights = load_gguf_checkpoint(
            path, return_tensors=True, model_to_load=outline, torch_dtype=dtype
        )["tensors"]
    model = untyped.from_config(config, dtype=dtype)
    absent = set(model.load_state_dict(weights, strict=False).missing_keys)
    model.tie_weights()
    if absent and not (config.tie_word_embeddings and absent == {"lm_head.weight"}):
        raise ValueError(f"the GGUF file lacks {len(absent)} parameters, {min(absent)} first")
    return tokenizer, model
