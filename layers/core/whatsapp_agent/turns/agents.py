"""Which agent a message is for, and under which key its sender is remembered."""

from collections.abc import Mapping
from datetime import datetime

from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.phones import canonical
from whatsapp_agent.ports.directory import Directory
from whatsapp_agent.ports.store import ConversationStore


class AgentFinder:
    """Finds the agent of a business number: by the numbers in the agents' files, then the directory, then
    the labels in the agents' files, then the default.
    """

    def __init__(
        self,
        profiles: Mapping[str, AgentProfile],
        default: str,
        directory: Directory,
        conversations: ConversationStore,
    ) -> None:
        self._profiles = profiles
        self._default = default
        self._directory = directory
        self._by_number = {number: profile for profile in profiles.values() for number in profile.numbers}
        self._by_label = {label: profile for profile in profiles.values() for label in profile.labels}
        self._joiner = _Joiner(directory, conversations)

    def find(
        self, number: str, person: str, *, label: str = "", alias: str = "", sent_at: datetime | None = None
    ) -> tuple[AgentProfile, str]:
        """The agent that answers on `number`, and the key under which `person` is remembered.

        An agent that the directory names but that is no longer deployed gives way to the next rule.

        Args:
            number: As the provider names it: a phone number, or Meta's id of one.
            person: The canonical key that came with the message.
            label: The number's label; with Meta the phone number as it is displayed.
            alias: Another key of the same person that came with the message. Both lead to one memory from
                then on.
            sent_at: When; a phone number can have been somebody else's before.
        """
        address = self._directory.resolve(number, person, sent_at)
        profile = (
            self.claimed(number)
            or self._profiles.get(address.agent)
            or self._by_label.get(label.strip())
            or self.claimed(label)
            or self._profiles[self._default]
        )
        if alias and alias != person:
            return profile, self._joiner.join(profile.agent_id, address.person, person, alias)
        return profile, address.person

    def claimed(self, number: str) -> AgentProfile | None:
        """The agent whose file names this number, in any spelling."""
        try:
            return self._by_number.get(canonical(number)) if number else None
        except ValueError:
            return None


class _Joiner:
    """Lets the two keys of a person, seen together, lead to one memory."""

    def __init__(self, directory: Directory, conversations: ConversationStore) -> None:
        self._directory = directory
        self._conversations = conversations

    def join(self, agent: str, found: str, person: str, alias: str) -> str:
        """The key under which the person is remembered; `found` is where the directory leads from `person`."""
        # Looked up each time: an erasure, of any process, takes the alias away.
        leads_to = self._directory.resolve("", alias).person
        if leads_to == found:
            return found
        if found == person and found != alias and self._remembers_only(agent, alias, person):
            # They wrote under the other key first: the memory stays where it is.
            self._directory.alias_person(person, alias)
            return alias
        if found != alias:
            self._directory.alias_person(alias, found)
        return found

    def _remembers_only(self, agent: str, alias: str, person: str) -> bool:
        if self._directory.resolve("", alias).person != alias:
            return False
        return self._has_memory(conversation_key(agent, alias)) and not self._has_memory(
            conversation_key(agent, person)
        )

    def _has_memory(self, conversation: str) -> bool:
        return bool(self._conversations.newest_messages(conversation, 1)) or bool(
            self._conversations.summary(conversation).version
        )
