import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
application = get_wsgi_application()
# Every view with what it needs (some half a second), loaded now: not while somebody waits for a page.
_ = get_resolver().url_patterns
