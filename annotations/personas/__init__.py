"""Personas made from a knowledge file and fictional personal information. Pure: no Django here."""

from annotations.personas.generator import NoPersona, Persona, make_pair, make_persona
from annotations.personas.knowledge import Knowledge, load_knowledge

__all__ = ["Knowledge", "NoPersona", "Persona", "load_knowledge", "make_pair", "make_persona"]
