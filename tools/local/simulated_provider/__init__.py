"""A WhatsApp provider to run on a laptop: plays whasp and Meta's Cloud API over real HTTP.

`python -m tools.local.simulated_provider --port 0 --webhook-url URL --secret SECRET` prints `{"port": N}` as
its first line. What the agent calls lies under `/v1/` (whasp) and `/v<version>/` (Meta); what a test, the demo
or the playground calls lies under `/_control/` (see `control`). It shares no code with the agent, so that a
mistake in one is not repeated in the other.
"""
