"""Translates between Lambda's HTTP events and the ingest use case.

Read by hand, not with a data class of Powertools: those add some fifty modules to the cold start of the
function that every webhook waits for.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from whatsapp_agent.ingest import HttpRequest, HttpResponse


def request_of(event: Mapping[str, Any]) -> HttpRequest:
    """The request in an event of payload format 2.0 (function URL, HTTP API) or 1.0 (REST API)."""
    http = _mapping(_mapping(event.get("requestContext")).get("http"))
    return HttpRequest(
        method=str(http.get("method") or event.get("httpMethod") or "").upper(),
        path=str(event.get("rawPath") or http.get("path") or event.get("path") or "/"),
        query=_texts(event, "queryStringParameters", "multiValueQueryStringParameters"),
        headers={name.lower(): value for name, value in _texts(event, "headers", "multiValueHeaders").items()},
        body=_body(event),
    )


def response_of(response: HttpResponse) -> dict[str, Any]:
    """The answer as Lambda wants it, as plain text that no browser interprets."""
    headers = {
        "Content-Type": "text/plain; charset=utf-8",
        "X-Content-Type-Options": "nosniff",
        **response.headers,
    }
    return {"statusCode": response.status, "headers": headers, "body": response.body, "isBase64Encoded": False}


def _body(event: Mapping[str, Any]) -> bytes:
    body = event.get("body")
    if not isinstance(body, str):
        return b""
    if event.get("isBase64Encoded"):
        try:
            return base64.b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            # Whatever it is, nobody signed it.
            return body.encode("utf-8", "replace")
    return body.encode("utf-8", "replace")


def _texts(event: Mapping[str, Any], single: str, multiple: str) -> dict[str, str]:
    """Names and texts; REST APIs repeat them as lists, and some proxies send only those."""
    texts = {
        str(name): str(values[-1])
        for name, values in _mapping(event.get(multiple)).items()
        if isinstance(values, list) and values
    }
    texts.update(
        {str(name): str(value) for name, value in _mapping(event.get(single)).items() if value is not None}
    )
    return texts


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
