import gc
import os

# Loading the site makes half a million objects that stay: to look through them for garbage again
# and again took a fifth of a command's start, and an eighth of `migrate`.
gc.set_threshold(50_000, 20, 20)

# Before numpy is loaded: its matrix products are small here and run in our own threads; BLAS
# threads beside them spin on the same few cores and cost several times what they gain.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dialeval_site.celery import app as celery_app  # noqa: E402

__all__ = ["celery_app"]
