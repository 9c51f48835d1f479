"""How one rater rates beside the others. Pure: no Django here."""
