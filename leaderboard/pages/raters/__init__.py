"""How far raters agree, on corpora and in campaigns, and which of them are strict."""
