"""``{% load judge_money %}{{ cost|usd }}``: an amount in USD as all pages of judges write it."""

from __future__ import annotations

from decimal import Decimal

from django import template

from workers.judges.budgets import money

register = template.Library()


@register.filter
def usd(amount: Decimal) -> str:
    return money(amount)
