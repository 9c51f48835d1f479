"""Published metrics that people look for here, and why none of them can be computed: what was
released of them loads neither through transformers nor as safetensors. One list for the command,
the site and the documents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NotAvailable:
    """A published metric that cannot be computed here."""

    name: str
    citation: str
    url: str
    """Where its code is, and what else was released."""
    why: str
    """Why it cannot be loaded, and what comes near it here."""


NOT_AVAILABLE: tuple[NotAvailable, ...] = (
    NotAvailable(
        "MAUDE",
        "Sinha et al. (2020), Learning an Unreferenced Metric for Online Dialogue Evaluation, ACL",
        "https://github.com/facebookresearch/online_dialog_eval",
        "its weights are PyTorch Lightning checkpoints of a recurrent network over BERT's "
        "projected vectors, in an archive on a file share: no model of transformers. maude_style "
        "trains its loss on its kinds of noise",
    ),
    NotAvailable(
        "MDD-Eval",
        "Zhang et al. (2022), MDD-Eval: Self-Training on Augmented Data for Multi-Domain Dialogue "
        "Evaluation, AAAI",
        "https://github.com/e0397123/MDD-Eval",
        "its code is TensorFlow 1, and the place of its checkpoint is empty in the repository's "
        "description. Training it takes a teacher on answers that people wrote to be wrong, and "
        "back-translated and refilled texts of many corpora, which are not here; random and "
        "perturbed answers alone are maude_style",
    ),
    NotAvailable(
        "USL-H",
        "Phy et al. (2020), Deconstruct to Reconstruct a Configurable Evaluation Metric for "
        "Open-Domain Dialogue Systems, COLING",
        "https://github.com/vitouphy/usl_dialogue_metric",
        "its three checkpoints, on a file share, are of PyTorch Lightning with heads of its own "
        "over BERT (pooled by maximum): no model of transformers. Next of kin: usr_retrieval and "
        "usr_mlm",
    ),
    NotAvailable(
        "FlowScore",
        "Li et al. (2021), Conversations Are Not Flat: Modeling the Dynamic Information Flow "
        "across Dialogue Utterances, ACL",
        "https://github.com/ictnlp/DialoFlow",
        "its weights, on a file share, are one pickled object of classes for transformers 3.0: "
        "loading it runs whatever code the file holds",
    ),
    NotAvailable(
        "DynaEval",
        "Zhang et al. (2021), DynaEval: Unifying Turn and Dialogue Level Evaluation, ACL",
        "https://github.com/e0397123/DynaEval",
        "a graph network over the turns of a dialogue, whose repository tells how to train one "
        "and names no checkpoint",
    ),
    NotAvailable(
        "RADE",
        "Shi et al. (2023), RADE: Reference-Assisted Dialogue Evaluation for Open-Domain "
        "Dialogue, ACL",
        "https://github.com/shizhl/RADE",
        "the repository has its data and a training script, and no checkpoint",
    ),
    NotAvailable(
        "GRADE",
        "Huang et al. (2020), GRADE: Automatic Graph-Enhanced Coherence Metric for Evaluating "
        "Open-Domain Dialogue Systems, EMNLP",
        "https://github.com/li3cmz/GRADE",
        "its checkpoint, on a file share, is of a Texar model with a graph of keywords beside "
        "BERT, for Python 3.6 and CUDA 10.1: no model of transformers. Its ratings can be "
        "imported (import_corpus grade)",
    ),
)
