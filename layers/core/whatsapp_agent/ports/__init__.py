"""What the use cases need from the outside, as protocols. Adapters implement them; nothing here does I/O."""
