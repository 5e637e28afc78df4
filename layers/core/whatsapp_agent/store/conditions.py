"""Conditions that several writes share. An item past its `expires_at` counts as gone here too."""

FREE = "attribute_not_exists(#conversation) OR #expires_at <= :now"
"""Nothing stands under the key."""

ALIVE = "(attribute_not_exists(#expires_at) OR #expires_at > :now)"
"""What stands under the key, if anything, has not expired."""

EXISTS = f"attribute_exists(#conversation) AND {ALIVE}"
"""Something stands under the key."""
