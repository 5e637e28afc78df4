"""Documents to text, in a process of its own: a file that somebody made may hang or fill the memory."""
