"""Personas made from a knowledge file and fictional personal information. Pure: no Django here."""
