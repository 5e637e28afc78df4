"""What is never a fact, by rules that do not depend on a model's good will.

The memory model is told the same; these rules hold where it was talked into something else. They look at the
form of a text, so they miss what is put in a new way and refuse some harmless values: a lost fact is cheaper
than a kept password.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from whatsapp_agent.memory.likeness import normalised, without_accents
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.refusal_tables import (
    CODE_WORDS,
    CREDENTIAL_WORDS,
    GREETINGS,
    HARMLESS_CODES,
    LINKS,
    NOTHING,
    ORDERS,
    Orders,
)

MAX_VALUE = 200
"""Characters of a fact's value. Longer ones are refused: half a fact can say the opposite of the whole."""


def _order_forms(row: Orders) -> Iterator[str]:
    edge = row.edge
    yield f"{row.lead}(?:{row.always}){row.gap}(?:{row.verbs}){edge}"
    yield f"(?:^|[.,;:!?] ?)(?:{row.verbs}){row.gap}(?:{row.always}){edge}"
    yield f"{edge}(?:{row.must})"
    if row.verb_last:
        yield f"(?:{row.rules}).{{0,20}}?(?:{row.ignore})"
    yield f"{edge}(?:{row.ignore}){edge}.{{0,30}}?(?:{row.rules})"


@cache
def _orders() -> list[re.Pattern[str]]:
    """Compiled at the first value that is judged: these are the largest expressions of the application, and a
    function that starts to answer somebody rarely judges one.
    """
    return [re.compile("|".join(_order_forms(row))) for row in ORDERS.values()]


# Every round begins with one thing only, so that no text makes the search try its blanks in many ways.
_LINK = rf"(?:\s*[:=\-–,]|\s+(?:{LINKS})(?=[\s:=\-–,])|\s*[是はが])*\s*[\"'«“]?"
# Arabic writes "and", "by", "for" and the article together with the word.
_AND = r"(?:[وفبل]?(?:ال)?)"


@cache
def _secret_forms() -> tuple[re.Pattern[str], ...]:
    """As `_orders`."""
    return (
        re.compile(rf"(?<!\w){_AND}(?:{CREDENTIAL_WORDS}){_LINK}(?P<secret>[^\s\"'»”]{{4,}})"),
        re.compile(
            rf"(?P<harmless>(?:{HARMLESS_CODES}) )?(?<!\w){_AND}(?:{CODE_WORDS})"
            rf"(?P<harmless_too> (?:{HARMLESS_CODES}))?{_LINK}"
            r"(?P<secret>[0-9](?:[ \-]?[0-9]){2,9}(?!\w)|[a-z0-9]*[0-9][a-z0-9]*)"
        ),
        re.compile(
            rf"(?<!\w)(?P<secret>[0-9]{{4,8}})\s+(?:is|es|e|est|ist)\s+(?:(?!{HARMLESS_CODES})\w+\s+){{0,3}}"
            rf"(?:{CODE_WORDS}|{CREDENTIAL_WORDS})(?!\w)"
        ),
        # Keys of well-known services, and JSON web tokens.
        re.compile(
            r"(?<!\w)(?P<secret>(?:sk|pk|rk)[-_][a-z0-9_-]{12,}|gh[pousr]_[a-z0-9]{16,}|akia[0-9a-z]{12,}|"
            r"xox[abprs]-[a-z0-9-]{10,}|eyj[a-z0-9_-]{10,}\.[a-z0-9_.-]{6,})"
        ),
    )


# Letters, numbers and pictures say something; punctuation alone does not.
_TELLING = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "So"})
_MASK = "[…]"
_CARD_LIKE = re.compile(r"\+?\d(?:[ .\-/_]?\d){12,}")
_DIGIT_RUN = re.compile(r"\+?[0-9](?:[ .\-/_]?[0-9]){12,}")


def reason_to_refuse(value: str) -> str:
    """Why a cleaned value cannot be a fact by itself, or an empty string: `empty`, `too_long`, `card_number`,
    `secret`, `instruction`, `greeting`.
    """
    bare = without_accents(normalised(value))
    folded = _folded(value)
    rules: dict[str, Callable[[], bool]] = {
        "too_long": lambda: len(value) > MAX_VALUE,
        "empty": lambda: bare in NOTHING or not any(unicodedata.category(c) in _TELLING for c in value),
        "greeting": lambda: bare in GREETINGS,
        "card_number": lambda: _has_card_number(folded),
        "secret": lambda: any(_secrets(folded)),
        "instruction": lambda: any(order.search(folded) for order in _orders()),
    }
    return next((reason for reason, holds in rules.items() if holds()), "")


def secrets_said(texts: Iterable[str]) -> frozenset[str]:
    """Every password, code or key that the texts give away, folded: no value may hold one of them."""
    return frozenset(secret for text in texts for secret in _secrets(_folded(clean(text))))


def holds_secret(value: str, secrets: frozenset[str]) -> bool:
    """Whether the value repeats one of the secrets that `secrets_said` found."""
    folded = _folded(value)
    return any(re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", folded) for secret in secrets)


def without_secrets(text: str, secrets: frozenset[str]) -> str:
    """The text with `[…]` in place of every one of the secrets, as `secrets_said` gives them, and of every card
    number.
    """
    words = re.split(r"(\s+)", text)
    kept = [_MASK if word.strip() and holds_secret(word, secrets) else word for word in words]
    masked = _CARD_LIKE.sub(
        lambda found: _MASK if _has_card_number(_folded(found[0])) else found[0], "".join(kept)
    )
    # A code may be written in groups.
    for secret in sorted(secret for secret in secrets if " " in secret):
        masked = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", _MASK, masked, flags=re.IGNORECASE)
    return masked


def _folded(text: str) -> str:
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in without_accents(text))


def _secrets(folded: str) -> Iterator[str]:
    for pattern in _secret_forms():
        for match in pattern.finditer(folded):
            groups = match.groupdict()
            if groups.get("harmless") or groups.get("harmless_too"):
                continue
            # "forgot the password again" gives nothing away: a secret has a digit or a symbol in it.
            secret = match["secret"].strip(".,;!?)")
            if len(secret) >= 3 and not secret.isalpha():
                yield secret


def _has_card_number(folded: str) -> bool:
    """Whether 13 to 19 digits in a row, by groups, start like a card and pass the check of ISO/IEC 7812."""
    for match in _DIGIT_RUN.finditer(folded):
        groups = re.split(r"[ .\-/_]", match[0].removeprefix("+"))
        if match[0].startswith("+") and sum(map(len, groups)) <= 15:
            continue  # an international phone number
        for start in range(len(groups)):
            digits = ""
            for group in groups[start:]:
                digits += group
                if len(digits) > 19:
                    break
                if len(digits) >= 13 and digits[0] in "23456" and _passes_luhn(digits):
                    return True
    return False


def _passes_luhn(digits: str) -> bool:
    doubled = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
    return sum(doubled[int(d)] if i % 2 else int(d) for i, d in enumerate(reversed(digits))) % 10 == 0
