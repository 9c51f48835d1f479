"""What each fact of a signature means, besides the metric, its version, its options and the corpus:
for the reference pages. A test holds the names to what metrics and scorers put into signatures."""

from __future__ import annotations

FACTS = {
    "n": "all: responses that have a score (turn level), dialogues that have one "
    "(cpdscore_dialogue), or responses that the system gave (FBD, PRD). Exports leave it "
    "out: there a signature is of all systems, which may have answered different turns",
    "n_human": "FBD, PRD: human references",
    "references": "reference metrics: what is done with several, `best` or `clipped`",
    "model_revision": "all with a model: the first 12 digits of the SHA-256 of its weights",
    "dtype": "all that run a model: the precision it was computed in, `float32` or `bfloat16`",
    "layer_used": "BERTScore: the layer, where the option leaves it to the model",
    "baselines": "BERTScore: the three numbers taken from the baseline's file",
    "vectors_of": "word vectors: `words` of a file, or the model's `input embeddings`",
    "pooling": "context_similarity, FBD, PRD, bert_ruber: how states become one vector",
    "with_persona": "context_similarity, judges: whether `all`, `some` or `none` of the run's "
    "responses had "
    "a persona",
    "directions": "greedy_matching: `both`",
    "ddof": "FBD: 1, unbiased covariances",
    "trace": "FBD: how the last term is computed",
    "starts": "PRD: of each clustering, the best of which counts",
    "length": "likelihoods: a mean per token",
    "logarithm": "likelihoods: natural",
    "prior": "pmi: what comes before p(r)",
    "copied": "pmi: from which share on a response is remarked as a copy",
    "sides": "FED: a difference of means",
    "followups_sha256": "FED: a hash of the wording used",
    "idf": "persona_coverage: of which words a word's frequency is counted",
    "max_tokens": "bleurt, unieval, usr_mlm, persona_contradiction, persona_consistency, density "
    "and its kin: the longest input",
    "negatives": "cmn, cmn_no_nsp: how many training pairs each information is compared with",
    "encoder_revision": "bert_ruber: the first 12 digits of the SHA-256 of the cosine's encoder",
    "overall": "unieval: a mean",
    "questions_hash": "unieval: a hash of the questions",
    "masked": "usr_mlm: whose tokens are masked",
    "log": "usr_mlm: natural",
    "prompt_sha256": "judges: the first 12 digits of the SHA-256 of the prompt",
    "turn_prompt_sha256": "cpdscore_dialogue: the same of its first step's prompt",
    "asked_with": "judges, only where the endpoint did not take the request as it is: parameters "
    "that "
    "were not sent (`no_seed`, …), `no_prefill`, `continue_final_message`, `json_schema`; "
    "`written_number` where it replaces an expected score (docs/judges.md)",
    "reported_model": "judges: what the endpoint says has answered about the run's responses, "
    "where that is "
    "not the model's name",
    "epsilon": "BLEU: as so many matches",
    "measure": "ROUGE: which of precision, recall and F",
    "tokens": "ROUGE: what a token is",
    "tokenize": "lexical metrics: what was used where the option did not say it, written "
    "`tokenize_used`",
    "unicode": "lexical metrics: the same, written `unicode_used`",
    "language": "lexical metrics: the corpus's language, by which `tokenize=auto` chose; `unknown` "
    "where nobody knows it",
    "case": "chrf, chrf_pp: sacrebleu's",
    "eff": "chrf, chrf_pp, corpus_bleu: sacrebleu's",
    "nc": "chrf, chrf_pp: sacrebleu's, orders of characters",
    "nw": "chrf, chrf_pp: sacrebleu's, orders of words",
    "space": "chrf, chrf_pp: sacrebleu's",
    "implementation": "METEOR, chrf, chrf_pp, corpus_bleu: whose code",
    "wordnet": "METEOR: the version of WordNet",
    "alpha": "METEOR: a parameter of its equation",
    "beta": "METEOR: a parameter of its equation",
    "gamma": "METEOR: a parameter of its equation",
}
