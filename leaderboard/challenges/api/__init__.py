"""Challenges over the API: rounds and boards are read, teams founded and joined, submissions
submitted and followed."""
