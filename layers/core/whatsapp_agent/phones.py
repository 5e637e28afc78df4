"""One canonical key per person, however a provider writes their phone number.

Sources: ITU-T E.164 (at most 15 digits); the extra mobile digits of Mexico (52 1) and Argentina (54 9) and
Brazil's ninth digit as WhatsApp's own ids carry or drop them.
"""

import re
import unicodedata

_SEPARATORS = re.compile(r"[\s().\-\u2010-\u2015]+")
_SCHEMES = ("whatsapp:", "tel:")
_PHONE_SERVERS = ("", "s.whatsapp.net", "c.us")
"""What may follow an `@`. Another suffix (`lid`, `g.us`) says that the digits before it are no phone number,
and they could be somebody else's.
"""
_USER_ID = re.compile(r"[A-Z]{2}\.[A-Za-z0-9]{1,128}")


def canonical(address: str) -> str:
    """`+` and digits for a phone number; a provider's user id (`US.1349…`) unchanged.

    Digits of any script count; `00` in front stands for `+`. Mexico's and Argentina's extra mobile digit is
    dropped and Brazil's ninth digit added, so that both spellings of a number are one person.

    Raises:
        ValueError: The address is neither a phone number nor a user id.
    """
    text = unicodedata.normalize("NFKC", address)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf").strip()
    if _USER_ID.fullmatch(text):
        return text
    for scheme in _SCHEMES:
        if text.lower().startswith(scheme):
            text = text[len(scheme) :]
    text, _, server = text.partition("@")
    if server.lower() not in _PHONE_SERVERS:
        raise ValueError("neither a phone number nor a user id")
    text = _SEPARATORS.sub("", text)
    digits = text.removeprefix("+")
    if not digits or not all(c.isdecimal() for c in digits):
        raise ValueError("neither a phone number nor a user id")
    digits = "".join(str(unicodedata.decimal(c)) for c in digits)
    if not text.startswith("+"):
        digits = digits.removeprefix("00")
    if not 7 <= len(digits) <= 15 or digits.startswith("0"):
        raise ValueError("not an international phone number: 7 to 15 digits, starting with the country code")
    return "+" + _fold_mobile_digit(digits)


def is_phone(key: str) -> bool:
    """Whether a canonical key is a phone number."""
    return key.startswith("+")


def _fold_mobile_digit(digits: str) -> str:
    if digits.startswith("521") and len(digits) == 13:
        return "52" + digits[3:]
    if digits.startswith("549") and len(digits) == 13:
        return "54" + digits[3:]
    if digits.startswith("55") and len(digits) == 12 and digits[4] in "6789":
        return digits[:4] + "9" + digits[4:]
    return digits
