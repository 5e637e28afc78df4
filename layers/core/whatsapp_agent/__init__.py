"""A WhatsApp agent that remembers each person: the code that every function shares."""
