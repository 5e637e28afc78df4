"""JSON over HTTP to servers on this machine; proxies of the environment are not asked."""

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from tools.local.errors import LocalError

_SECONDS = 60


def send(method: str, url: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, bytes]:
    """Sends one request; returns the status and the body of the answer.

    Raises:
        LocalError: Nobody answers.
    """
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_SECONDS)
    path = address.path + (f"?{address.query}" if address.query else "")
    try:
        connection.request(method, path, body, dict(headers))
        response = connection.getresponse()
        return response.status, response.read()
    except (OSError, http.client.HTTPException) as error:
        raise LocalError(f"{address.netloc} does not answer ({type(error).__name__})") from error
    finally:
        connection.close()


def get(url: str) -> Any:
    """The JSON that a server answers to a GET.

    Raises:
        LocalError: It does not answer, or not with 2xx and JSON.
    """
    return _json("GET", url, b"")


def post(url: str, value: Mapping[str, Any]) -> Any:
    """The JSON that a server answers to a POST of `value`; None where the answer is empty.

    Raises:
        LocalError: It does not answer, or not with 2xx and JSON.
    """
    return _json("POST", url, json.dumps(value).encode())


def _json(method: str, url: str, body: bytes) -> Any:
    status, answer = send(method, url, body, {"Content-Type": "application/json"} if body else {})
    if not 200 <= status < 300:
        raise LocalError(f"{method} {url}: {status} {answer[:200].decode(errors='replace')}")
    try:
        return json.loads(answer) if answer else None
    except ValueError as error:
        raise LocalError(f"{method} {url}: the answer is no JSON") from error
