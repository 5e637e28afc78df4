"""Folds older messages into the summary and the facts."""
