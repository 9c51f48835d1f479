from django.contrib import admin
from django.urls import include, path, re_path
from django.views.decorators.csrf import csrf_exempt

from dialeval_site.accounts import token_views
from dialeval_site.api.root import api, no_such_address
from dialeval_site.dashboard.views import dashboard
from dialeval_site.help import views as help_views
from dialeval_site.home import home
from dialeval_site.operations.health import health, ready
from dialeval_site.operations.monitoring.page import monitoring

handler500 = "dialeval_site.operations.error_pages.server_error"
urlpatterns = [
    path("", home, name="home"),
    path("desk/", dashboard, name="desk"),
    path("health/", health, name="health"),
    path("ready/", ready, name="ready"),
    path("monitoring/", monitoring, name="monitoring"),
    path("help/", help_views.help_index, name="help"),
    path("help/tour/", help_views.tour, name="tour"),
    path("help/<slug:name>/", help_views.help_page, name="help-page"),
    path("", include("annotations.urls")),
    path("", include("workers.urls")),
    path("", include("leaderboard.urls")),
    path("accounts/", include("dialeval_site.accounts.urls")),
    path("admin/", admin.site.urls),
    path("accounts/tokens/", token_views.tokens, name="tokens"),
    path("accounts/tokens/<int:pk>/revoke/", token_views.token_revoke, name="token-revoke"),
    path("api/v1/docs/", token_views.api_docs, name="api-docs"),
    path("api/v1/", api.urls),
    re_path(r"^api/", csrf_exempt(no_such_address), name="no-such-api-address"),
]
