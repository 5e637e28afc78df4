"""A stand-in for the model's service: the same HTTP API, and answers made only from what a request holds."""
