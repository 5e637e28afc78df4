"""What the model sees, in an order that lets consecutive prompts share the longest possible prefix.

A reply's prompt, item by item (every item is text; `PromptItem.kind` names it):

    facts     <memory label>                         role user; absent where nothing is known
              <facts label>:
              - name: "Maya" since 2026-11-01
              - mood: "tired" since 2026-11-20 (unconfirmed: check before relying on it)
    summary   <memory label>                         role user; absent where it is empty
              <summary label>: "She started a new job."
    message   what was said and answered since the summary, oldest first, append-only
    recall    <recall label>                         role user; of this turn only; absent where nothing fits
              - "manual.pdf › Returns": "text"
              - 2026-10-03: "what was said → what was answered"
    notes     <notes label>:                         role user; of this turn only
              - Date and hour: Sunday 2026-11-29, 11h (Europe/Madrid)
              - Days since the person last wrote: 21
              - hobby: "chess" since 2026-11-01  (facts that are close to it, where not all have room above)
    new       what is to be answered now, one item per message

A compaction's prompt has `facts` and `summary` in the same form, `notes` with the date, and one last item
(kind `new`) with a line per message: `[12] 2026-11-29 Sunday user: "text"`; the number is the message's `seq`.
"""

from collections.abc import Sequence
from datetime import datetime
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from whatsapp_agent.memory.exchange import Prompt, PromptItem
from whatsapp_agent.memory.facts import UNCONFIRMED_BELOW, for_prompt
from whatsapp_agent.memory.passages import NOTHING, Recalled
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.quoting import clean, quoted, sendable
from whatsapp_agent.memory.recall_block import recall_item
from whatsapp_agent.memory.records import Fact, Message, Summary
from whatsapp_agent.memory.rules import compaction_rules, reply_rules
from whatsapp_agent.memory.window import unanswered

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FACTS_FOR_COMPACTION = 100


def reply_prompt(
    profile: AgentProfile,
    facts: Sequence[Fact],
    summary: Summary,
    window: Sequence[Message],
    now: datetime,
    *,
    close: Sequence[Fact] = (),
    recalled: Recalled = NOTHING,
) -> Prompt:
    """The prompt that answers the person's newest messages.

    `facts` may be everything known: expired ones and those beyond the prompt's share are left out here.
    `window` is what `window.choose` kept, oldest first. `now` tells the model the day and the hour, in the
    agent's time zone. `close` are further facts that matter for the newest messages only;
    `recalled` is what was looked up for them.
    """
    new = unanswered(window)
    answered = window[: len(window) - len(new)]
    looked_up = recall_item(profile, recalled)
    items = [
        *_memory(profile, for_prompt(facts, profile, now), summary),
        *(_said(message, "message", profile) for message in answered if _has_content(message)),
        *([looked_up] if looked_up else []),
        _notes(profile, answered, new, now, close),
        *(_said(message, "new", profile) for message in new if _has_content(message)),
    ]
    return Prompt(reply_rules(profile), tuple(items))


def talk_prompt(window: Sequence[Message]) -> Prompt:
    """The messages alone, as a prompt shows them: what a budget for messages is counted on."""
    return Prompt("", tuple(_said(message, "message") for message in window if _has_content(message)))


def compaction_prompt(
    profile: AgentProfile,
    facts: Sequence[Fact],
    summary: Summary,
    messages: Sequence[Message],
    now: datetime,
) -> Prompt:
    """The prompt that turns old messages into a new summary and changes of facts."""
    zone = ZoneInfo(profile.time_zone)
    today = PromptItem("user", "notes", _phrase(profile.phrases.now, "now", _day(now, zone)))
    lines = "\n".join(_transcript_line(message, zone) for message in messages if _has_content(message))
    known = for_prompt(facts, profile, now, _FACTS_FOR_COMPACTION)
    items = (*_memory(profile, known, summary), today, PromptItem("user", "new", lines))
    return Prompt(compaction_rules(profile), items)


def _memory(profile: AgentProfile, facts: Sequence[Fact], summary: Summary) -> list[PromptItem]:
    phrases = profile.phrases
    items = []
    if facts:
        lines = (_fact_line(fact, profile) for fact in facts)
        text = "\n".join((phrases.memory_label, f"{phrases.facts_label}:", *lines))
        items.append(PromptItem("user", "facts", text))
    if clean(summary.text):
        text = f"{phrases.memory_label}\n{phrases.summary_label}: {quoted(summary.text)}"
        items.append(PromptItem("user", "summary", text))
    return items


def _fact_line(fact: Fact, profile: AgentProfile) -> str:
    day = fact.created_at.astimezone(ZoneInfo(profile.time_zone)).date().isoformat()
    line = f"- {clean(fact.key)}: {quoted(fact.value)} {_phrase(profile.phrases.since, 'date', day)}"
    return line if fact.confidence >= UNCONFIRMED_BELOW else f"{line} ({profile.phrases.unconfirmed})"


def _said(message: Message, kind: str, profile: AgentProfile | None = None) -> PromptItem:
    # What was said must look the same in its own turn and in every later one, or no prefix is shared.
    text = sendable(message.text)
    if message.role != "user":
        return PromptItem("assistant", "message", text)
    if profile is not None and _imitates_a_block(text, profile):
        text = quoted(text)
    return PromptItem("user", "new" if kind == "new" else "message", _label(message) + text)


def _imitates_a_block(text: str, profile: AgentProfile) -> bool:
    """Whether a line of the text begins as the agent's own blocks do, to whoever reads the prompt."""
    phrases = profile.phrases
    labels = tuple(map(_bare_label, (phrases.memory_label, phrases.notes_label, phrases.recall_label)))
    return any(_bare(line).startswith(labels) for line in text.splitlines())


@cache
def _bare_label(label: str) -> str:
    """Agents have few labels, and every message of every prompt is compared with them."""
    return _bare(label)


def _bare(line: str) -> str:
    return "".join(char for char in clean(line).casefold() if char.isalnum())


def _label(message: Message) -> str:
    if message.role != "user":
        return ""
    kind = "" if message.kind == "text" else f"[{clean(message.kind)}] "
    return kind + (f"[about {quoted(message.quote)}] " if message.quote else "")


def _has_content(message: Message) -> bool:
    # A model's service refuses an empty item. A sticker without text still says something: its label.
    return bool(_label(message) or message.text.strip())


def _notes(
    profile: AgentProfile,
    answered: Sequence[Message],
    new: Sequence[Message],
    now: datetime,
    close: Sequence[Fact],
) -> PromptItem:
    phrases = profile.phrases
    zone = ZoneInfo(profile.time_zone)
    moment = f"{_day(now, zone)}, {now.astimezone(zone).hour}h ({profile.time_zone})"
    lines = [_phrase(phrases.now, "now", moment)]
    earlier = [message for message in answered if message.role == "user"][-1:]
    if days := _days_of_silence([*earlier, *new]):
        lines.append(_phrase(phrases.days_since, "days", str(days)))
    if earlier and new and earlier[0].number and new[-1].number not in ("", earlier[0].number):
        lines.append(_phrase(phrases.new_number, "number", clean(new[-1].number)))
    marked = [f"- {line}" for line in lines]
    marked += [_fact_line(fact, profile) for fact in close]
    return PromptItem("user", "notes", "\n".join((f"{phrases.notes_label}:", *marked)))


def _days_of_silence(messages: Sequence[Message]) -> int:
    """Whole days of the longest pause between one message of the person and the next."""
    pauses = [(later.sent_at - earlier.sent_at).days for earlier, later in pairwise(messages)]
    return max(0, *pauses) if pauses else 0


def _transcript_line(message: Message, zone: ZoneInfo) -> str:
    said = quoted(_label(message) + message.text)
    return f"[{message.seq}] {_iso_day(message.sent_at, zone)} {message.role}: {said}"


def _iso_day(moment: datetime, zone: ZoneInfo) -> str:
    local = moment.astimezone(zone)
    return f"{local.date().isoformat()} {_WEEKDAYS[local.weekday()]}"


def _day(moment: datetime, zone: ZoneInfo) -> str:
    local = moment.astimezone(zone)
    return f"{_WEEKDAYS[local.weekday()]} {local.date().isoformat()}"


def _phrase(phrase: str, name: str, value: str) -> str:
    # Not str.format: a phrase comes from the user's file, and a stray brace in it must not stop replies.
    return phrase.replace("{" + name + "}", value)
