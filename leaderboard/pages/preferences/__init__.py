"""Systems and metrics by preferences: which of two responses people liked better."""
