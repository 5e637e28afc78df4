"""Adapters to WhatsApp providers: `webhook` reads what they deliver, `api` sends."""
