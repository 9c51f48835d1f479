from __future__ import annotations

from typing import Any

from django.contrib.auth import views

from dialeval_site.demo import accounts_on_this_site


class LoginView(views.LoginView):
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(demo_accounts=accounts_on_this_site(), **kwargs)
