"""Prompts that teams hand in: what one may be (``spec``), what a model is asked (``render``), what
it may use (``budget``). Pure: no database, no network."""
