"""The scripts that every page has."""

from __future__ import annotations

from django.contrib.staticfiles.storage import staticfiles_storage
from django.template import Library
from django.templatetags.static import static
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from dialeval_site.config.collected_assets import SCRIPT, SCRIPTS, CollectedStorage

register = Library()


@register.simple_tag
def site_scripts() -> SafeString:
    """Collected, one file; where the source is served, each."""
    names = [SCRIPT] if isinstance(staticfiles_storage, CollectedStorage) else SCRIPTS
    return format_html_join(
        "\n  ", '<script src="{}" defer></script>', ((static(name),) for name in names)
    )
