"""Writing to a summary that has expired but that DynamoDB has not deleted yet.

An update leaves the attributes that it does not name, so writing onto an expired item would bring what has
expired back to life. The expired item goes first; that costs a write only in this rare case.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from whatsapp_agent.clock import to_epoch
from whatsapp_agent.store import actions
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.items import expiry_of
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.wire import Item, from_wire

EXPIRED = "#expires_at <= :now"


def without_expired_summary(
    database: Database, table: str, key: Item, now: datetime, write: Callable[[], None]
) -> None:
    """Calls `write`, of which the first action is on the summary; where an expired one refuses it, once more
    without that one.

    Raises:
        ConditionRefused: The write is refused for another reason.
    """
    try:
        write()
    except ConditionRefused as refused:
        refusal = refused.refusals[0]
        if refusal is None or not refusal.item or not gone(expiry_of(from_wire(refusal.item)), now):
            raise
    else:
        return
    # Where somebody else was quicker, or has already written anew, the write below finds out.
    with suppress(ConditionRefused):
        database.write(actions.delete(table, key, EXPIRED, {"now": to_epoch(now)}))
    write()
