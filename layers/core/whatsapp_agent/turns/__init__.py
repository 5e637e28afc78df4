"""From queued events to a reply that was sent: one person at a time, in order, each step written down."""
