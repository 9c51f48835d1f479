import os
import sys

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
application = get_wsgi_application()

from annotations import orphans, site_identity  # noqa: E402  the site's settings are read now

APP_LOAD_ERROR = 4
"""With this status of one of its processes gunicorn ends, too."""
if refusal := site_identity.why_not_start():
    print(f"dialeval: {refusal}", file=sys.stderr, flush=True)
    sys.exit(APP_LOAD_ERROR)
orphans.collect_temporary()
# Every view with what it needs (some half a second), loaded now: not while somebody waits for a
# page.
_ = get_resolver().url_patterns
