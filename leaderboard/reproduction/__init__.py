"""The papers' tables: what is computed of them here, what they print (``published``), and both side
by side as text, CSV and LaTeX (``output``)."""
