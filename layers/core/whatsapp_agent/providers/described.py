"""Puts into words what is no text: places, contact cards, orders, forms, choices. Bounded, for a reader."""

import math
from collections.abc import Mapping
from typing import Any

from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.providers.payload import items_of, line_of, object_of, read_json, text_of

LIMIT = 2_000
"""Characters of a description."""

_MOST_CONTACTS = 10
_MOST_PHONES = 5
_MOST_PRODUCTS = 20
_MOST_ANSWERS = 30


def location(value: Mapping[str, Any]) -> str:
    """`Location: Café Sol, Main Street 1 (37.5, -122.1)`, with as much of it as there is."""
    named = ", ".join(part for part in (line_of(value.get("name")), line_of(value.get("address"))) if part)
    latitude, longitude = _degrees(value.get("latitude"), 90), _degrees(value.get("longitude"), 180)
    place = f"({latitude}, {longitude})" if latitude and longitude else ""
    return " ".join(part for part in ("Location:", named, place) if part)


def contacts(value: Any) -> str:
    """`Contacts: Zoe +1555, Ana`: names and phones."""
    cards = [object_of(card) for card in items_of(value)]
    described = [_contact(card) for card in cards[:_MOST_CONTACTS]]
    more = [f"and {len(cards) - _MOST_CONTACTS} more"] if len(cards) > _MOST_CONTACTS else []
    return text_of("Contacts: " + ", ".join([card for card in described if card] + more), LIMIT).rstrip()


def order(value: Mapping[str, Any]) -> str:
    """`Order: 2 × tea-01 (3.50 EUR each). Please gift wrap`."""
    products = [object_of(item) for item in items_of(value.get("product_items"))]
    described = [_product(item) for item in products[:_MOST_PRODUCTS]]
    more = [f"and {len(products) - _MOST_PRODUCTS} more"] if len(products) > _MOST_PRODUCTS else []
    note = line_of(value.get("text"), 1_000)
    return text_of("Order: " + ", ".join(described + more) + (f". {note}" if note else ""), LIMIT)


def form(value: Mapping[str, Any]) -> str:
    """`Form: city: Lima; date: 2026-12-01`: the answers of a flow, without the flow's own token."""
    answers = value.get("response_json")
    if isinstance(answers, str):
        try:
            answers = read_json(answers.encode("utf-8", "replace"))
        except InvalidPayload:
            answers = {}
    pairs = [
        f"{line_of(key, 60)}: {_answer(answer)}"
        for key, answer in list(object_of(answers).items())[:_MOST_ANSWERS]
        if "token" not in key.lower() and _answer(answer)
    ]
    words = "; ".join(pairs) or line_of(value.get("body"), 1_000) or line_of(value.get("name"))
    return text_of(f"Form: {words}", LIMIT).rstrip()


def choice(value: Mapping[str, Any]) -> str:
    """The words on the button or the row that the person chose, or its id where it has no words."""
    return next((words for key in ("title", "text", "payload", "id") if (words := line_of(value.get(key)))), "")


def unsupported(type_name: str) -> str:
    """`[unsupported message: poll]`."""
    kind = "" if type_name in ("", "unnamed", "unknown", "unsupported") else f": {type_name}"
    return f"[unsupported message{kind}]"


def caption(value: Any) -> str:
    """The caption of a medium; empty where nothing of it can be seen."""
    text = text_of(value)
    return "" if is_blank(text) else text


def _degrees(value: Any, most: int) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return ""
    if not math.isfinite(number) or abs(number) > most:
        return ""
    return f"{number:.6f}".rstrip("0").rstrip(".")


def _contact(card: Mapping[str, Any]) -> str:
    name = card.get("name")
    parts = object_of(name)
    words = (
        line_of(name)
        or line_of(parts.get("formatted_name"))
        or " ".join(p for p in (line_of(parts.get("first_name")), line_of(parts.get("last_name"))) if p)
        or line_of(object_of(card.get("org")).get("company"))
    )
    phones = [phone for entry in items_of(card.get("phones"))[:_MOST_PHONES] if (phone := _phone(entry))]
    if single := line_of(card.get("phone"), 40):
        phones.append(single)
    return " ".join([words, *phones]).strip()


def _phone(entry: Any) -> str:
    return (
        line_of(entry, 40)
        or line_of(object_of(entry).get("phone"), 40)
        or line_of(object_of(entry).get("wa_id"), 40)
    )


def _product(item: Mapping[str, Any]) -> str:
    quantity = line_of(item.get("quantity"), 10) or "1"
    price, currency = item.get("item_price"), line_of(item.get("currency"), 10)
    words = f"{price:g}" if isinstance(price, float) and math.isfinite(price) else line_of(price, 20)
    each = f" ({words} {currency} each)" if words and currency else ""
    return f"{quantity} × {line_of(item.get('product_retailer_id'), 100) or 'product'}{each}"


def _answer(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}" if math.isfinite(value) else ""
    if isinstance(value, list):
        return ", ".join(word for item in value[:_MOST_ANSWERS] if (word := _answer(item)))[:200]
    if isinstance(value, dict):
        return ", ".join(f"{line_of(k, 60)} {_answer(v)}" for k, v in list(value.items())[:_MOST_ANSWERS])[:200]
    return line_of(value)
