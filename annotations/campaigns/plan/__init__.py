"""What is asked of how many people, in which order, at what cost. Pure: no Django here."""
