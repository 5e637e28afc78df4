"""Conditions that several writes share. An item past its `expires_at` counts as gone here too."""

FREE = "attribute_not_exists(#conversation) OR #expires_at <= :now"
"""Nothing stands under the key."""

ALIVE = "(attribute_not_exists(#expires_at) OR #expires_at > :now)"
"""What stands under the key, if anything, has not expired."""

EXISTS = f"attribute_exists(#conversation) AND {ALIVE}"
"""Something stands under the key."""

SAME_MESSAGE = f"{EXISTS} AND #event_id = :event"
"""The message is still there and still the same one. An erasure deletes the messages first, so what is on its
way for the person cannot be written afterwards. A person who goes on writing after it gets the same places
again: the event tells the messages apart.
"""
