"""One message of every type for `events/`, in each provider's own form. whasp's are assumed, see
`whatsapp_agent.providers.whasp`; Meta's are those of its webhook reference.
"""

from typing import Any

_BOOK = [
    {"name": {"formatted_name": "Zoe Ruiz", "first_name": "Zoe"}, "phones": [{"phone": "+34 600 333 444"}]},
    {"name": {"formatted_name": "No phone"}},
]
_PLACE = {"latitude": 41.3874, "longitude": 2.1686, "name": "Plaça de Catalunya", "address": "Barcelona"}
_VIDEO = "video/mp4"

WHASP: dict[str, dict[str, Any]] = {
    "audio": {"type": "audio", "media": {"id": "media_audio_1", "mime_type": "audio/mpeg", "size": 90_112}},
    "video": {
        "type": "video",
        "media": {"id": "media_video_1", "mime_type": _VIDEO, "size": 1_204_224},
        "caption": "From the top",
    },
    "document": {
        "type": "document",
        "media": {
            "id": "media_document_1",
            "mime_type": "application/pdf",
            "size": 40_960,
            "filename": "offer.pdf",
        },
        "caption": "Your offer",
    },
    "sticker": {
        "type": "sticker",
        "media": {"id": "media_sticker_1", "mime_type": "image/webp", "size": 9_216},
    },
    "location": {"type": "location", **_PLACE},
    "contacts": {"type": "contacts", "contacts": _BOOK},
    "reaction": {"type": "reaction", "emoji": "👍", "message_id": "msg_text"},
    "button": {"type": "button", "id": "yes", "title": "Yes, please"},
    "list": {"type": "list", "id": "plan_2", "title": "The second plan"},
    "quoted": {"type": "text", "text": "I meant this one", "reply_to": "msg_text"},
    "edited": {"type": "edited", "message_id": "msg_text", "text": "I start the new job on Tuesday"},
    "deleted": {"type": "deleted", "message_id": "msg_text"},
    "unsupported": {"type": "poll", "question": "Where?", "options": ["here", "there"]},
}
"""The `message` of a `message.received` event, beside those that `sign_event` has, by the file's name."""


def _message(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {"type": kind, kind: content, **fields}


META: dict[str, dict[str, Any]] = {
    "text": _message("text", {"body": "I start the new job on Monday"}),
    "voice": _message("audio", {"id": "1001", "mime_type": "audio/ogg; codecs=opus", "voice": True}),
    "audio": _message("audio", {"id": "1002", "mime_type": "audio/mpeg"}),
    "image": _message("image", {"id": "1003", "mime_type": "image/jpeg", "caption": "My new desk"}),
    "video": _message("video", {"id": "1004", "mime_type": _VIDEO, "caption": "From the top"}),
    "document": _message(
        "document", {"id": "1005", "mime_type": "application/pdf", "filename": "offer.pdf", "caption": "Offer"}
    ),
    "sticker": _message("sticker", {"id": "1006", "mime_type": "image/webp", "animated": False}),
    "location": _message("location", _PLACE),
    "contacts": _message("contacts", _BOOK),
    "reaction": _message("reaction", {"message_id": "wamid.sample-text", "emoji": "👍"}),
    "template-button": _message("button", {"payload": "yes", "text": "Yes, please"}),
    "button": _message(
        "interactive", {"type": "button_reply", "button_reply": {"id": "yes", "title": "Yes, please"}}
    ),
    "list": _message(
        "interactive", {"type": "list_reply", "list_reply": {"id": "plan_2", "title": "The second plan"}}
    ),
    "form": _message(
        "interactive",
        {
            "type": "nfm_reply",
            "nfm_reply": {
                "name": "flow",
                "body": "Sent",
                "response_json": '{"flow_token": "t", "city": "Lima"}',
            },
        },
    ),
    "order": _message(
        "order",
        {
            "catalog_id": "5",
            "text": "Please gift wrap",
            "product_items": [
                {"product_retailer_id": "tea-01", "quantity": 2, "item_price": 3.5, "currency": "EUR"}
            ],
        },
    ),
    "quoted": _message(
        "text", {"body": "I meant this one"}, context={"from": "34600111222", "id": "wamid.sample-text"}
    ),
    "forwarded-ad": _message(
        "text",
        {"body": "Is it still there?"},
        context={"forwarded": True},
        referral={"source_type": "ad", "source_url": "https://fb.me/" + "x" * 2_000, "headline": "Sale"},
    ),
    "edited": _message(
        "edit",
        {
            "original_message_id": "wamid.sample-text",
            "message": {"type": "text", "text": {"body": "I start the new job on Tuesday"}},
        },
    ),
    "deleted": _message("revoke", {"original_message_id": "wamid.sample-text"}),
    "unsupported": {"type": "unsupported", "errors": [{"code": 131051, "title": "Message type unknown"}]},
    "unknown": {"type": "unknown", "errors": [{"code": 131051, "title": "Message type unknown"}]},
    "group": _message("text", {"body": "hello everybody"}, group_id="120363040000000000"),
    "number-changed": _message(
        "system",
        {"type": "user_changed_number", "wa_id": "34600111333", "body": "Maya changed their number"},
    ),
}
"""Messages of a `messages` value from Maya, by the file's name."""
