"""What docs/benchmarks shows, measured."""
