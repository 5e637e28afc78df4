"""Which agent a message is for, and under which key its sender is remembered."""

from collections.abc import Mapping

from whatsapp_agent.memory.records import AgentProfile
from whatsapp_agent.phones import canonical
from whatsapp_agent.ports import Directory


class AgentFinder:
    """Finds the agent of a business number: by the agents' files, then the directory, then the default."""

    def __init__(self, profiles: Mapping[str, AgentProfile], default: str, directory: Directory) -> None:
        self._profiles = profiles
        self._default = default
        self._directory = directory
        self._by_number = {number: profile for profile in profiles.values() for number in profile.numbers}

    def find(self, number: str, person: str) -> tuple[AgentProfile, str]:
        """The agent that answers on `number`, and the canonical key of `person`.

        An agent that the directory names but that is no longer deployed gives way to the default one.
        """
        address = self._directory.resolve(number, person)
        profile = self._by_number.get(_canonical(number)) or self._profiles.get(address.agent)
        return profile or self._profiles[self._default], address.person


def _canonical(number: str) -> str:
    # Meta names a business number by an id of digits; the agents' files write it as any other number.
    try:
        return canonical(number)
    except ValueError:
        return number
