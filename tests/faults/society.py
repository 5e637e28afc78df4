"""Many people, agents and numbers on one deployment of fakes, beside a plain record of what must be true."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.builders import inbound, profile
from tests.fakes.provider import FakeProvider
from tests.fakes.world import World
from tests.faults.faithful import FaithfulModel, new_tokens, prompt_tokens
from tests.faults.services import tokens
from whatsapp_agent.clock import to_iso
from whatsapp_agent.errors import AgentError
from whatsapp_agent.events import Erase, InboundMessage, NumberReplaced, decode, group_of
from whatsapp_agent.ledger import OPEN_STATES
from whatsapp_agent.memory.exchange import Prompt
from whatsapp_agent.memory.records import Message, Summary, conversation_key
from whatsapp_agent.phrases import PHRASES
from whatsapp_agent.turns.answer import ContextLimits
from whatsapp_agent.turns.context import LATE

PEOPLE = ("+34600111222", "+34600333444", "+390612345678")
AGENTS = ("sales", "support")
NOTICES = frozenset(text for phrases in PHRASES.values() for text in (phrases.apology, phrases.unavailable))
ROUNDS = 12


@dataclass
class Said:
    """A message that was acknowledged, or an erasure that was asked for."""

    conversation: str
    token: str
    received_at: datetime
    sent_at: datetime
    erases: bool = False


def forgotten(said: Said, erased_at: datetime) -> bool:
    """Whether an erasure takes a message that is behind it in the queue: one that arrived before, and one that
    was sent before and took its time, which cannot be told from an old one that comes again.
    """
    late = said.received_at - said.sent_at >= LATE
    return said.received_at <= erased_at or (late and said.sent_at <= erased_at)


@dataclass
class Society:
    """The deployment, and what everybody did.

    Attributes:
        said: By conversation, in the order in which the queue got it.
        numbers: Which agent each business number stands for now.
        sent_events: Every message event, for delivering it again.
        set_back: How far the clock was set back, all in all.
    """

    model: FaithfulModel = field(default_factory=FaithfulModel)
    said: dict[str, list[Said]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[str, str] = field(default_factory=lambda: {"+15550100": "sales", "+15550200": "support"})
    sent_events: list[InboundMessage] = field(default_factory=list)
    owner: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seen: int = 0
    replaced: int = 0
    set_back: timedelta = timedelta()

    def __post_init__(self) -> None:
        profiles = {agent: profile(agent_id=agent, numbers=(number,)) for number, agent in self.numbers.items()}
        self.model.watch = self._watch
        self.world = World(
            self.model,  # type: ignore[arg-type]
            profiles=profiles,
            limits=ContextLimits(chars=4_000, messages=40),
            compact_at=6,
            keep_messages=2,
            provider=FakeProvider(),
        )

    def say(self, person: str, number: str, late: int = 0, text: str = "hello") -> None:
        """Somebody writes; `late` seconds pass on the way, by the provider's clock."""
        self.seen += 1
        event = inbound(
            f"evt{self.seen}",
            f"{text} tok{self.seen}",
            person=person,
            address=person,
            number=number,
            sent_at=self.world.clock - timedelta(seconds=late),
            received_at=self._received(),
        )
        conversation = conversation_key(self.numbers[number], person)
        self.owner[f"tok{self.seen}"] = conversation
        said = Said(conversation, f"tok{self.seen}", event.received_at, event.sent_at)
        self.said[conversation].append(said)
        self.sent_events.append(event)
        self.world.arrive(event)

    def again(self, index: int) -> None:
        """The provider delivers an event once more."""
        if self.sent_events:
            self.world.arrive(self.sent_events[index % len(self.sent_events)])

    def erase(self, person: str, agent: str) -> None:
        self.seen += 1
        at = self._received()
        conversation = conversation_key(agent, person)
        self.said[conversation].append(Said(conversation, "", at, at, erases=True))
        self.world.arrive(Erase(f"erase{self.seen}", agent, person, at))

    def replace(self, number: str) -> None:
        """A business number retires; the news is through before anybody writes to the new one."""
        self.replaced += 1
        new = f"+1555{1000 + self.replaced}"
        self.world.arrive(NumberReplaced(f"replaced{self.replaced}", number, new, self._received()))
        self.numbers[new] = self.numbers.pop(number)
        self.settle()

    def set_the_clock_back(self, seconds: int) -> None:
        self.set_back += timedelta(seconds=seconds)
        self.world.wait(seconds=-seconds)

    def work(self) -> None:
        self.world.invoke()
        self._check_window()

    def compact(self) -> None:
        """Runs what compactions are queued; one that fails comes back to the queue."""
        try:
            self.world.compact()
        except AgentError:
            self.world.wait(seconds=31)

    def settle(self) -> None:
        """Waits until nothing is left to do, redriving what was given up."""
        for _ in range(ROUNDS):
            self.world.run(hours=6)
            self.compact()
            dead = self.world.queue.fifo.dead
            for body in dead:
                self.seen += 1
                self.world.queue.fifo.put(group_of(decode(body)), f"redriven{self.seen}", body)
            dead.clear()
            if not self.world.queue.fifo.bodies and not self.world.compaction_queue.fifo.bodies:
                return
            # A job that failed stays hidden for a while, and longer by a clock that was set back meanwhile.
            self.world.wait(seconds=31)
        self.wrong.append("the deployment does not come to rest")

    def check(self) -> None:
        """Asserts everything that is promised, once the deployment is at rest."""
        self._check_window()
        assert not self.wrong, self.wrong
        for conversation in self.said:
            self._check(conversation)
        self._check_sent()

    def expected(self, conversation: str) -> list[str]:
        """The tokens that are remembered: of two that an erasure lies between, only the later."""
        kept: list[Said] = []
        erased_at: datetime | None = None
        for said in self.said[conversation]:
            if said.erases:
                kept = []
                erased_at = max(said.received_at, erased_at or said.received_at)
            elif erased_at is None or not forgotten(said, erased_at):
                kept.append(said)
        return [said.token for said in kept]

    def in_doubt(self, conversation: str) -> set[str]:
        """The tokens that came before an erasure and, by a clock that was set back, after it, or the other way
        round. Only the clock tells new talk from old talk that is delivered again: by what it says when the
        erasure is asked for, or when that is earlier, carried out.
        """
        doubtful: set[str] = set()
        marked = self.world.tables.erasures.get(conversation)
        heard: list[Said] = []
        erasures: list[datetime] = []
        for said in self.said[conversation]:
            if said.erases:
                until = min(said.received_at, marked or said.received_at)
                assert until >= said.received_at - self.set_back, "an erasure covers less than was asked for"
                doubtful |= {each.token for each in heard if each.received_at > until}
                erasures.append(said.received_at)
            else:
                doubtful |= {said.token for at in erasures if said.received_at <= at}
                heard.append(said)
        return doubtful

    def _received(self) -> datetime:
        # The queue's JSON keeps milliseconds; two events of one person are never received in the same one.
        self.world.wait(milliseconds=1)
        return self.world.clock

    def _check(self, conversation: str) -> None:
        tables = self.world.tables
        messages, summary = self._messages(conversation), self._summary(conversation)
        raw = [word for each in messages if each.role == "user" for word in tokens(each.text)]
        folded = tokens(summary.text)
        doubtful = self.in_doubt(conversation)
        assert max(Counter([*raw, *folded]).values(), default=1) == 1, (conversation, raw, folded)
        raw, folded = [word for word in raw if word not in doubtful], folded - doubtful
        expected = [word for word in self.expected(conversation) if word not in doubtful]
        assert Counter([*raw, *folded]) == Counter(expected), (conversation, raw, folded, expected)
        assert raw == expected[len(expected) - len(raw) :], "messages are remembered out of order"
        places = [each.seq for each in messages]
        first = summary.through_seq + 1
        assert places == list(range(first, first + len(places))), (places, summary.through_seq)
        turns = tables.all_alive(tables.turns[conversation])
        assert not [turn for turn in turns if turn.state in OPEN_STATES], turns
        answered = Counter(word for turn in turns for part in turn.parts for word in tokens(part))
        certain = Counter({word: times for word, times in answered.items() if word not in doubtful})
        assert certain == Counter(expected), (conversation, answered, expected)
        for fact in tables.all_alive(tables.facts[conversation]):
            assert tokens(fact.value) <= folded | doubtful, "a fact of what is not compacted"
        self._check_own(conversation)

    def _check_own(self, conversation: str) -> None:
        """Nothing of anybody else: not in the messages, the summary, the facts, their history, the turns."""
        tables = self.world.tables
        texts = [each.text for each in self._messages(conversation)]
        texts.append(self._summary(conversation).text)
        texts += [fact.value for fact in tables.all_alive(tables.facts[conversation])]
        texts += [kept.record.fact.value for kept in tables.history[conversation].values()]
        texts += [part for turn in tables.all_alive(tables.turns[conversation]) for part in turn.parts]
        assert {self.owner[word] for text in texts for word in tokens(text)} <= {conversation}

    def _check_sent(self) -> None:
        """Every part reached whom it is for, once, whatever failed."""
        times = Counter((sent.address, sent.text) for sent in self.world.provider.sent)
        doubtful = set().union(*map(self.in_doubt, self.said))
        for (address, text), count in times.items():
            if text in NOTICES or tokens(text) & doubtful:
                continue
            assert count == 1, (address, text, count)
            assert {self.owner[word].partition("#")[2] for word in tokens(text)} == {address}
        tables = self.world.tables
        for turns in list(tables.turns.values()):
            for turn in tables.all_alive(turns):
                for part in turn.parts:
                    once = times[turn.address, part] == 1 or tokens(part) & doubtful
                    assert once, (to_iso(self.world.clock), turn)

    def _check_window(self) -> None:
        """At any moment: what is remembered has no gap, and nothing of it is there twice."""
        for conversation in self.said:
            places = [each.seq for each in self._messages(conversation)]
            through = self._summary(conversation).through_seq
            if places:
                assert places == list(range(places[0], places[0] + len(places))), places
                assert places[0] <= through + 1, (places, through)

    # Past the ports: what is scripted to fail must not fail here.
    def _messages(self, conversation: str) -> list[Message]:
        tables = self.world.tables
        return sorted(tables.all_alive(tables.messages[conversation]), key=lambda each: each.seq)

    def _summary(self, conversation: str) -> Summary:
        tables = self.world.tables
        return tables.alive(tables.summaries.get(conversation)) or Summary(conversation)

    def _watch(self, prompt: Prompt, replying: bool) -> None:
        """Looks at every prompt: whose words it holds, and whether its answer is paid for already."""
        owners = {self.owner[word] for word in prompt_tokens(prompt)}
        if len(owners) > 1:
            self.wrong.append(f"a prompt holds words of {sorted(owners)}")
        written = {
            word
            for conversation in owners
            for turn in self.world.tables.all_alive(self.world.tables.turns[conversation])
            for part in turn.parts
            for word in tokens(part)
        }
        if replying and new_tokens(prompt) & written:
            self.wrong.append("the model was paid for a reply that was written down")
