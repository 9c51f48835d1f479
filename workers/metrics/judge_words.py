"""What the pages of LLM judges say in common."""

from __future__ import annotations

EQUATIONS = r"""\text{scoring=expected:}\quad s = \frac{\sum_{i} i \, p(i)}{\sum_{i} p(i)}

\text{scoring=answer:}\quad s = \frac{1}{|R|} \sum_{j \in R} x_j"""

HOW_IT_IS_READ = """With scoring=expected (the default) the answer is begun for the model up to
the number, and the score is the mean of the scale's numbers i weighted by the
probabilities p that the endpoint gives them there (G-Eval's equation 1, over one place instead of
samples); where none of its 20 likeliest tokens is a number of the scale there is no score. With
scoring=answer it is the number x that the model writes, read strictly: the last well-formed line of
the form with a number of the scale. What cannot be read is asked again, at most twice, and is then
undefined. Of several samples the mean over those that could be read (R) counts. The paper's average
of three calls is samples=3,scoring=answer.

The wording is the project's own: sections, scale, steps and form are the paper's, the sentences are
not. Published figures belong to the published wording and its models; a file can hold that wording
(prompt=FILE)."""

SMALL_MODEL_CAVEAT = """What a judge is worth depends on the model. ComperDial's figures
were made with GPT-3.5 and GPT-4. The packaged model is there so that all this can be tried with no
network, and is a weak judge: do not rank systems by it. Its PMI, for which nobody asks it for a
judgement, has r = .32 on USR, more than its score as a judge."""
