from django.contrib import admin
from django.urls import include, path

from dialeval_site.health import health

urlpatterns = [
    path("health/", health, name="health"),
    path("", include("annotations.urls")),
    path("", include("workers.urls")),
    path("", include("leaderboard.urls")),
    path("accounts/", include("dialeval_site.account_urls")),
    path("admin/", admin.site.urls),
]
