"""whasp: rents WhatsApp numbers to agents."""
