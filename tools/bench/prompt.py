"""What the model is sent, turn by turn, over a long conversation: ours, the whole history, a sliding window."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from statistics import mean, median
from typing import Any

from tools.bench.cache import CHARS_PER_TOKEN, Cache, Seen, tokens
from tools.bench.grown import MODEL, Grown
from whatsapp_agent.prices import MILLION, MODELS

NAME = "prompt"
TURNS = 400
SETTLED = 45
"""Turns after which the conversation is in its steady state: the first compactions are behind it."""

LEAST_SHARED = 0.80

Body = dict[str, Any]


def measure() -> dict[str, Any]:
    """Grows one conversation and looks at every request."""
    grown = Grown(2 * TURNS, keep=True)
    sent = [body for body, _ in grown.model.replies]
    talk = _talk(sent, [text for _, text in grown.model.replies])
    ours = _seen(sent)
    window = _window_as_large(sent, ours)
    layouts = {
        "ours": ours,
        "whole history": _seen([_with(body, talk[: 2 * turn]) for turn, body in enumerate(sent)]),
        # Its beginning is another one in each turn: marks would pay for writing what is never read.
        "sliding window": _seen(
            [_with(body, _unmarked(talk[: 2 * turn][-window:])) for turn, body in enumerate(sent)]
        ),
    }
    compactions = [
        {"input_tokens": round(tokens(Cache().see(body).chars)), "output_tokens": round(tokens(len(text)))}
        for body, text in grown.model.compactions
    ]
    return {
        "turns": TURNS,
        "settled_after_turns": SETTLED,
        "chars_per_token": CHARS_PER_TOKEN,
        "sliding_window_messages": window,
        "layouts": {name: _figures(seen) for name, seen in layouts.items()},
        "compactions": len(compactions),
        "turns_per_compaction": round(_turns_between(grown.compacted), 1),
        "compaction_input_tokens": round(mean(each["input_tokens"] for each in compactions)),
        "compaction_output_tokens": round(mean(each["output_tokens"] for each in compactions)),
        "reply_output_tokens": round(mean(tokens(len(text)) for _, text in grown.model.replies)),
        "series": {name: [each.chars for each in seen] for name, seen in layouts.items()},
        "shared_series": {
            name: [round(each.shared_share, 3) for each in seen] for name, seen in layouts.items()
        },
    }


def check(figures: Mapping[str, Any]) -> None:
    """Raises AssertionError where the steady state shares less than 80 % from one prompt to the next."""
    ours = figures["layouts"]["ours"]
    for name in ("shared_share_median", "shared_share_mean"):
        assert ours[name] >= LEAST_SHARED, f"{name} is {ours[name]}, promised are {LEAST_SHARED}"


def _seen(bodies: Sequence[Body]) -> list[Seen]:
    cache = Cache()
    return [cache.see(body) for body in bodies]


def _talk(sent: Sequence[Body], answers: Sequence[str]) -> list[dict[str, Any]]:
    """The whole talk as input items: what was new in each request, and its answer."""
    items: list[dict[str, Any]] = []
    for body, answer in zip(sent, answers, strict=True):
        said = body["input"][-1]["content"]
        marked = {"type": "input_text", "text": said, "prompt_cache_breakpoint": {"mode": "explicit"}}
        items.append({"type": "message", "role": "user", "content": [marked]})
        items.append({"type": "message", "role": "assistant", "content": answer, "phase": "final_answer"})
    return items


def _with(body: Body, talk: Sequence[dict[str, Any]]) -> Body:
    """The request with this talk in front of its notes and its new message, and no memory."""
    return {**body, "input": [*talk, *body["input"][-2:]]}


def _unmarked(talk: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        item if item["role"] == "assistant" else {**item, "content": item["content"][0]["text"]}
        for item in talk
    ]


def _window_as_large(sent: Sequence[Body], ours: Sequence[Seen]) -> int:
    """Messages of a window with which a prompt is as large as ours on the average."""
    settled = range(SETTLED, len(sent))
    alone = [Cache().see(_with(sent[turn], [])).chars for turn in settled]
    room = mean(ours[turn].chars for turn in settled) - mean(alone)
    talk = [item["content"] for body in sent for item in body["input"] if item["role"] == "assistant"]
    said = [body["input"][-1]["content"] for body in sent]
    return round(room / mean([mean(map(len, talk)), mean(map(len, said))]))


def _turns_between(compacted: Sequence[int]) -> float:
    return mean(later - earlier for earlier, later in pairwise(compacted))


def _figures(seen: Sequence[Seen]) -> dict[str, Any]:
    settled = seen[SETTLED:]
    price = MODELS[MODEL]
    plain = mean(each.chars - each.cached - each.written for each in settled)
    dollars = tokens(plain) * price.input
    dollars += tokens(mean(each.cached for each in settled)) * price.cached
    dollars += tokens(mean(each.written for each in settled)) * price.cache_write
    # Everything up to the last mark is written again.
    marked = mean(each.cached + each.written for each in settled)
    cold = tokens(plain) * price.input + tokens(marked) * price.cache_write
    return {
        "chars_mean": round(mean(each.chars for each in settled)),
        "chars_last": seen[-1].chars,
        "tokens_mean": round(tokens(mean(each.chars for each in settled))),
        "shared_share_median": round(median(each.shared_share for each in settled), 3),
        "shared_share_mean": round(mean(each.shared_share for each in settled), 3),
        "cached_share_mean": round(mean(each.cached / each.chars for each in settled), 3),
        "cached_tokens_mean": round(tokens(mean(each.cached for each in settled))),
        "written_tokens_mean": round(tokens(mean(each.written for each in settled))),
        "plain_tokens_mean": round(tokens(plain)),
        "input_dollars_per_1000_turns": round(1000 * dollars / MILLION, 4),
        "cold_dollars_per_1000_turns": round(1000 * cold / MILLION, 4),
    }


def page(figures: Mapping[str, Any]) -> str:
    """The section of the page."""
    lines = [
        "## Prompt per turn",
        "",
        f"One conversation of {figures['turns']} turns through the real prompt, window and compaction. Means "
        f"from turn {figures['settled_after_turns']} on, of the request as it is sent, tools and "
        f"instructions included. A token is {figures['chars_per_token']} characters here. The other two get "
        "the same instructions and messages; the window is as large as our prompt on the average: "
        f"{figures['sliding_window_messages']} messages.",
        "",
        "| | characters | tokens | at the last turn | beginning shared with the turn before (median / mean) "
        "| read from the cache | input, $ per 1,000 turns | the same, nothing in the cache |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {name} | {row['chars_mean']:,} | {row['tokens_mean']:,} | {row['chars_last']:,} "
        f"| {row['shared_share_median']:.0%} / {row['shared_share_mean']:.0%} | {row['cached_share_mean']:.0%} "
        f"| {row['input_dollars_per_1000_turns']:.3f} | {row['cold_dollars_per_1000_turns']:.3f} |"
        for name, row in figures["layouts"].items()
    ]
    lines += [
        "",
        f"Every {figures['turns_per_compaction']:g} turns a compaction reads "
        f"{figures['compaction_input_tokens']:,} tokens and writes {figures['compaction_output_tokens']:,}. "
        "The turn after it finds another memory in front of its messages: it shares instructions and facts, "
        "and reads nothing from a cache that goes by marks, as the first mark stands behind the summary. "
        f"`make bench` fails below {LEAST_SHARED:.0%}.",
        "",
        "![Characters of the prompt by turn](prompt.svg)",
        "",
    ]
    return "\n".join(lines)
