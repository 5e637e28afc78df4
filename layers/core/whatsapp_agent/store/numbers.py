"""Business numbers of the directory: who has them, and which took the place of which."""

from datetime import datetime

from whatsapp_agent.clock import to_iso
from whatsapp_agent.errors import StoreUnavailable
from whatsapp_agent.store import actions
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.wire import Item, from_wire

_ATTEMPTS = 4
_LONGEST_CHAIN = 50

# A replacement holds while the old number's agent is the one that was read (else the new number would
# inherit from the past) and while no later replacement of the old number is written down.
NOT_REPLACED_LATER = "(attribute_not_exists(#retired_at) OR #retired_at <= :at)"
AGENT_UNCHANGED = "#agent = :agent"
STILL_WITHOUT_AGENT = "attribute_not_exists(#agent)"


def number_key(number: str) -> Item:
    """Key of a business number."""
    return {"id": f"number#{number}"}


class NumberChain:
    """Writes the numbers' items: agent, status (`active`, `retired`), and which number replaced which."""

    def __init__(self, database: Database, table: str) -> None:
        self._db = database
        self._table = table

    def assign(self, number: str, agent: str) -> None:
        """Gives a number to an agent."""
        self._db.write(
            actions.update(self._table, number_key(number), {"agent": agent}, defaults={"status": "active"})
        )

    def replace(self, old: str, new: str, label: str, at: datetime) -> None:
        """Retires `old`, lets `new` inherit its agent, and hands that on to numbers that replaced `new`."""
        if old == new:
            return
        for _ in range(_ATTEMPTS):
            agent = str((self._db.get(self._table, number_key(old)) or {}).get("agent", ""))
            try:
                self._db.transact([self._retire(old, new, agent, at), self._succeed(old, new, agent, label)])
            except ConditionRefused as refused:
                refusal = refused.refusals[0]
                stored = from_wire(refusal.item) if refusal and refusal.item else {}
                if stored.get("retired_at", "") > to_iso(at):
                    return
            else:
                if agent:
                    self._hand_on(new, agent)
                return
        raise StoreUnavailable("the number is given to other agents while it is being replaced")

    def _retire(self, old: str, new: str, agent: str, at: datetime) -> actions.Action:
        moment = to_iso(at)
        return actions.update(
            self._table,
            number_key(old),
            {"status": "retired", "replaced_by": new, "retired_at": moment},
            f"{AGENT_UNCHANGED if agent else STILL_WITHOUT_AGENT} AND {NOT_REPLACED_LATER}",
            {"agent": agent, "at": moment},
        )

    def _succeed(self, old: str, new: str, agent: str, label: str) -> actions.Action:
        return actions.update(
            self._table,
            number_key(new),
            {"replaces": old} | ({"label": label} if label else {}),
            defaults={"agent": agent, "status": "active"},
        )

    def _hand_on(self, number: str, agent: str) -> None:
        """Gives the agent to each number down the chain, up to one that another agent has."""
        for _ in range(_LONGEST_CHAIN):
            item = self._db.get(self._table, number_key(number)) or {}
            number = str(item.get("replaced_by", ""))
            if not number or item.get("agent") != agent:
                return
            self._db.write(actions.update(self._table, number_key(number), {}, defaults={"agent": agent}))
