"""The memory core: pure functions and records, no input or output of any kind."""
