"""Systems that one can chat with: registered and changed."""

from __future__ import annotations

from annotations.campaigns.models import ChatSystem
from annotations.campaigns.queries.chat import campaigns_with

WHAT_IT_IS = ("model", "instructions", "temperature", "max_tokens")
"""What raters judge. The address and the key's variable are only where it is reached: they may
move."""


class SystemInUse(Exception):
    """People have been asked to rate it as it is. ``fields`` would make it another system;
    ``campaigns`` rate it."""

    def __init__(self, fields: list[str], campaigns: list[str]) -> None:
        super().__init__(", ".join(fields))
        self.fields = fields
        self.campaigns = campaigns


def save_chat_system(chat_system: ChatSystem) -> ChatSystem:
    """Store a new or changed system. Raises ``SystemInUse`` where the change would make what was
    rated another one."""
    if chat_system.pk is not None:
        before = ChatSystem.objects.get(pk=chat_system.pk)
        changed = [
            name for name in WHAT_IT_IS if getattr(before, name) != getattr(chat_system, name)
        ]
        if changed and (campaigns := campaigns_with(chat_system)):
            raise SystemInUse(changed, campaigns)
    chat_system.save()
    return chat_system
