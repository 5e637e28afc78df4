"""What both providers' downloads of media have in common."""

from datetime import datetime
from urllib.parse import quote

from whatsapp_agent.errors import MediaTooLarge, MediaUnreadable, ProviderUnavailable
from whatsapp_agent.providers.http import Answer, retry_after
from whatsapp_agent.providers.people import MEDIA_ID

_GONE = frozenset({400, 404, 410})
"""Meta answers 400 for an id that it does not know (any more)."""


def safe_id(identifier: str) -> str:
    """A medium's id as it may stand in a path.

    Raises:
        MediaUnreadable: It could lead elsewhere: `../x`, `1?fields=owner`.
    """
    if not MEDIA_ID.fullmatch(identifier):
        raise MediaUnreadable("the medium's id is none", code="bad_id")
    return quote(identifier, safe="")


def check_answer(answer: Answer, now: datetime) -> None:
    """Raises for an answer that is not what was asked for.

    Raises:
        ProviderUnavailable: Try again later.
        MediaUnreadable: It is gone, or this deployment may not have it.
    """
    if answer.ok:
        return
    if answer.status in (408, 425, 429) or answer.status >= 500:
        raise ProviderUnavailable(
            f"the provider's media answered {answer.status}", retry_after=retry_after(answer.headers, now)
        )
    if answer.status in _GONE:
        raise MediaUnreadable("the medium is no longer there", code="gone")
    raise MediaUnreadable("the provider refuses the medium", code=f"http_{answer.status}")


def bytes_of(answer: Answer, most_bytes: int, now: datetime) -> bytes:
    """The bytes of an answer of which one more than `most_bytes` was read at most.

    Raises:
        ProviderUnavailable, MediaUnreadable: As `check_answer`.
        MediaTooLarge: There is more.
    """
    check_answer(answer, now)
    if len(answer.body) > most_bytes:
        raise MediaTooLarge("the medium is larger than this deployment reads")
    return answer.body
