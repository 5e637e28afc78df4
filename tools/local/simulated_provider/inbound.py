"""Turns "this person writes that" into the webhooks of a provider."""

import random
from datetime import UTC, datetime
from typing import Any

from tools.local.simulated_provider import meta, whasp
from tools.local.simulated_provider.exchange import BadRequest, count_of, text_of
from tools.local.simulated_provider.state import State, iso
from tools.local.simulated_provider.webhooks import Envelope

DEFAULT_PERSON = "+34600111222"


def envelopes_for(state: State, fields: dict[str, Any], numbers: dict[str, str]) -> list[Envelope]:
    """The webhooks for one `/_control/inbound` request, duplicates included, in the order of delivery.

    Raises:
        BadRequest: A field is missing or wrong.
    """
    shared = {name: value for name, value in fields.items() if name != "messages"}
    several = fields.get("messages", [{}])
    if not isinstance(several, list) or not all(isinstance(one, dict) for one in several):
        raise BadRequest("messages must be a list of objects")
    wanted = [{**shared, **one} for one in several]
    envelopes: list[Envelope] = []
    batch: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for one in wanted:
        provider = text_of(one, "provider", whasp.NAME)
        if provider not in numbers:
            raise BadRequest("provider must be whasp or meta")
        one.setdefault("number", numbers[provider])
        message, said = _message(state, one, provider)
        person = text_of(one, "person", DEFAULT_PERSON)
        state.heard(person, said, stops=provider == whasp.NAME)
        if provider == whasp.NAME:
            envelopes.append(_whasp_envelope(state, one, message, person))
            continue
        batch.append(meta.received(message=message, person=person, contact_name=text_of(one, "contact_name")))
        if not fields.get("batch"):
            envelopes.append(_meta_envelope(one, batch))
            batch = []
    if batch:
        envelopes.append(_meta_envelope(wanted[-1], batch))
    envelopes = [envelope for envelope in envelopes for _ in range(1 + count_of(fields, "duplicates"))]
    if fields.get("shuffle"):
        random.Random(count_of(fields, "seed")).shuffle(envelopes)
    return envelopes


def _whasp_envelope(state: State, one: dict[str, Any], message: dict[str, Any], person: str) -> Envelope:
    event = whasp.message_received(
        event_id=text_of(one, "event_id") or state.new_id("evt_"),
        message=message,
        person=person,
        number=text_of(one, "number"),
        created_at=text_of(one, "created_at") or iso(state.now()),
        label=text_of(one, "label"),
        contact_name=text_of(one, "contact_name"),
    )
    return Envelope(whasp.NAME, event["id"], whasp.body_of(event), signed=one.get("signed", True) is not False)


def _meta_envelope(one: dict[str, Any], batch: list[tuple[dict[str, Any], dict[str, Any]]]) -> Envelope:
    body = meta.body_of(meta.envelope(text_of(one, "number"), batch))
    return Envelope(meta.NAME, str(batch[0][1]["id"]), body, signed=one.get("signed", True) is not False)


def _message(state: State, one: dict[str, Any], provider: str) -> tuple[dict[str, Any], str]:
    """The provider's message object, and the text in it."""
    text, given = one.get("text"), one.get("message")
    if given is not None and not isinstance(given, dict):
        raise BadRequest("message must be an object of the provider's own form")
    if given is None and not isinstance(text, str):
        raise BadRequest("give text, or message for anything that is not text")
    sent_at = text_of(one, "sent_at") or iso(state.now())
    reply_to = text_of(one, "reply_to")
    if provider == whasp.NAME:
        message = {
            "id": text_of(one, "message_id") or state.new_id("msg_in_"),
            "type": "text",
            "sent_at": sent_at,
            "reply_to": reply_to or None,
            **(given or {"text": text}),
        }
        return message, str(message.get("text") or "")
    try:
        moment = datetime.fromisoformat(sent_at)
    except ValueError as error:
        raise BadRequest("sent_at must be an ISO 8601 time") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    message = {
        "id": text_of(one, "message_id") or text_of(one, "event_id") or state.new_id("wamid.IN"),
        "timestamp": str(int(moment.timestamp())),
        "type": "text",
        **(given or {"text": {"body": text}}),
    }
    if reply_to:
        message["context"] = {"id": reply_to}
    return message, text if isinstance(text, str) else ""
