import os

# Before numpy is loaded: its matrix products are small here and run in our own threads; BLAS
# threads beside them spin on the same few cores and cost several times what they gain.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from dialeval_site.celery import app as celery_app

__all__ = ["celery_app"]
