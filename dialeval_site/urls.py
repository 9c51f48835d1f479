from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("", include("annotations.urls")),
    path("", include("workers.urls")),
    path("", include("leaderboard.urls")),
    path("accounts/", include("dialeval_site.account_urls")),
    path("admin/", admin.site.urls),
]
