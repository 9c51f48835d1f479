"""Files that teams fetch and hand in: dialogues, templates, responses, scores of metrics. Pure."""
