"""The adapter of the language model: the only place that knows OpenAI's Responses API."""
