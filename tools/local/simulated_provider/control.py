"""The control API, JSON under `/_control/`, for tests, the demo and the playground.

GET  health
GET  sent?person=&number=&after=   what the agent sent, oldest first; `after` skips that many of the list
GET  log                           requests by path, read marks and typing, webhooks and their answers
POST webhook       {url, host?, secret?}                      where webhooks go from now on
POST inbound       {person, text | message, provider?, number?, label?, contact_name?, event_id?,
                    message_id?, reply_to?, sent_at?, created_at?, signed?, duplicates?, shuffle?, seed?,
                    concurrent?, attempts?, wait?, batch? (Meta: one envelope), messages?: [{…}, …]}
POST event         {provider?, event, event_id?, signed?, attempts?, duplicates?}     any webhook body
POST fail          {status, times?, skip?, path?, code?, retry_after?, accept?, drop?}
POST replace_number {old, new, label?, notify?}
POST delivery_failed {id, code}                               reports a sent message as not delivered
POST opt_out       {person}      POST close_window {person}   (Meta's 24 hours)
POST media         {data: base64, mime_type?, id?}
POST reset
"""

import base64
import binascii
import threading
from collections.abc import Callable
from typing import Any

from tools.local.simulated_provider import meta, whasp
from tools.local.simulated_provider.exchange import (
    BadRequest,
    Request,
    Response,
    count_of,
    json_response,
    text_of,
)
from tools.local.simulated_provider.inbound import envelopes_for
from tools.local.simulated_provider.state import Failure, Medium, State, same_person
from tools.local.simulated_provider.webhooks import Courier, Envelope

PREFIX = "/_control/"
Fields = dict[str, Any]


class Control:
    """Carries out control requests on the shared state."""

    def __init__(self, state: State, courier: Courier, *, provider: str, numbers: dict[str, str]) -> None:
        self._state = state
        self._courier = courier
        self._provider = provider
        self._numbers = numbers
        self._post: dict[str, Callable[[Fields], Response]] = {
            "webhook": self._webhook,
            "inbound": self._inbound,
            "event": self._event,
            "fail": self._fail,
            "replace_number": self._replace_number,
            "delivery_failed": self._delivery_failed,
            "opt_out": self._opt_out,
            "close_window": self._close_window,
            "media": self._media,
            "reset": self._reset,
        }

    def handle(self, request: Request) -> Response:
        name = request.path.removeprefix(PREFIX).strip("/")
        if request.method == "GET":
            return self._get(name, request)
        action = self._post.get(name) if request.method == "POST" else None
        if action is None:
            return json_response(404, {"error": f"no control action {name!r}"})
        fields = request.json()
        if fields is None:
            return json_response(400, {"error": "the body must be a JSON object"})
        try:
            return action(fields)
        except BadRequest as error:
            return json_response(400, {"error": str(error)})

    def _get(self, name: str, request: Request) -> Response:
        match name:
            case "health":
                return json_response(200, {"ok": True})
            case "sent":
                return self._sent(request)
            case "log":
                with self._state.lock:
                    log = {
                        "requests": dict(self._state.requests),
                        "typing": list(self._state.typing),
                        "deliveries": list(self._state.deliveries),
                    }
                return json_response(200, log)
        return json_response(404, {"error": f"no control action {name!r}"})

    def _sent(self, request: Request) -> Response:
        person, number = request.query.get("person", ""), request.query.get("number", "")
        after = request.query.get("after", "0")
        with self._state.lock:
            found = [
                sent.as_json()
                for sent in self._state.sent
                if (not person or same_person(sent.person, person)) and (not number or sent.number == number)
            ]
        return json_response(200, {"messages": found[int(after) if after.isdigit() else 0 :]})

    def _webhook(self, fields: Fields) -> Response:
        target = self._courier.target
        target.url = text_of(fields, "url", target.url)
        target.host = text_of(fields, "host", target.host)
        target.secret = text_of(fields, "secret", target.secret)
        return json_response(200, {"url": target.url, "host": target.host})

    def _inbound(self, fields: Fields) -> Response:
        self._need_webhook()
        envelopes = envelopes_for(self._state, {"provider": self._provider, **fields}, self._numbers)
        return self._deliver(envelopes, fields)

    def _event(self, fields: Fields) -> Response:
        self._need_webhook()
        provider, event = text_of(fields, "provider", self._provider), fields.get("event")
        if event is None:
            raise BadRequest("event must be the webhook's JSON")
        inner = event.get("id") if isinstance(event, dict) else None
        event_id = text_of(fields, "event_id") or (
            inner if isinstance(inner, str) else self._state.new_id("evt_")
        )
        body = meta.body_of(event) if provider == meta.NAME else whasp.body_of(event)
        envelope = Envelope(provider, event_id, body, signed=fields.get("signed", True) is not False)
        return self._deliver([envelope] * (1 + count_of(fields, "duplicates")), fields)

    def _deliver(self, envelopes: list[Envelope], fields: Fields) -> Response:
        attempts = count_of(fields, "attempts") or None
        concurrent = bool(fields.get("concurrent"))
        if fields.get("wait", True) is False:
            threading.Thread(
                target=self._courier.deliver_all,
                args=(envelopes,),
                kwargs={"attempts": attempts, "concurrent": concurrent},
                daemon=True,
            ).start()
            return json_response(202, {"deliveries": [{"event_id": one.event_id} for one in envelopes]})
        results = self._courier.deliver_all(envelopes, attempts=attempts, concurrent=concurrent)
        return json_response(200, {"deliveries": results})

    def _need_webhook(self) -> None:
        if not self._courier.target.url:
            raise BadRequest("no webhook URL is set: --webhook-url, or POST /_control/webhook")

    def _fail(self, fields: Fields) -> Response:
        after = fields.get("retry_after", "")
        failure = Failure(
            status=count_of(fields, "status") or 503,
            times=count_of(fields, "times") or 1,
            skip=count_of(fields, "skip"),
            path=text_of(fields, "path", "messages"),
            code=str(fields.get("code", "")),
            retry_after=str(after),
            accept=bool(fields.get("accept")),
            drop=bool(fields.get("drop")),
        )
        with self._state.lock:
            self._state.failures.append(failure)
        return json_response(200, {"failures": len(self._state.failures)})

    def _replace_number(self, fields: Fields) -> Response:
        old, new = text_of(fields, "old"), text_of(fields, "new")
        if not old or not new:
            raise BadRequest("old and new must be numbers")
        with self._state.lock:
            self._state.successors[old] = new
        if fields.get("notify", True) is False or not self._courier.target.url:
            return json_response(200, {"deliveries": []})
        event = whasp.number_replaced(
            event_id=self._state.new_id("evt_"),
            old=old,
            new=new,
            label=text_of(fields, "label"),
            at=self._state.now(),
        )
        return self._deliver([Envelope(whasp.NAME, event["id"], whasp.body_of(event))], fields)

    def _delivery_failed(self, fields: Fields) -> Response:
        self._need_webhook()
        wanted, code = text_of(fields, "id"), str(fields.get("code", "undeliverable"))
        with self._state.lock:
            sent = next((one for one in self._state.sent if one.id == wanted), None)
        if sent is None:
            raise BadRequest("no message was sent under this id")
        event_id, at = self._state.new_id("evt_"), self._state.now()
        if sent.provider == meta.NAME:
            payload = meta.status_failed(
                number=sent.number, message_id=sent.id, person=sent.person, code=code, at=at
            )
            return self._deliver([Envelope(meta.NAME, event_id, meta.body_of(payload))], fields)
        event = whasp.message_failed(
            event_id=event_id, number=sent.number, person=sent.person, message_id=sent.id, code=code, at=at
        )
        return self._deliver([Envelope(whasp.NAME, event_id, whasp.body_of(event))], fields)

    def _opt_out(self, fields: Fields) -> Response:
        with self._state.lock:
            self._state.opted_out.add(text_of(fields, "person").removeprefix("+"))
        return json_response(200, {"ok": True})

    def _close_window(self, fields: Fields) -> Response:
        with self._state.lock:
            self._state.closed_windows.add(text_of(fields, "person").removeprefix("+"))
        return json_response(200, {"ok": True})

    def _media(self, fields: Fields) -> Response:
        try:
            data = base64.b64decode(text_of(fields, "data"), validate=True)
        except binascii.Error as error:
            raise BadRequest("data must be base64") from error
        medium_id = text_of(fields, "id") or self._state.new_id("media_")
        medium = Medium(medium_id, text_of(fields, "mime_type", "application/octet-stream"), data)
        with self._state.lock:
            self._state.media[medium_id] = medium
        return json_response(200, {"id": medium_id, "size": len(data)})

    def _reset(self, _fields: Fields) -> Response:
        self._state.reset()
        return json_response(200, {"ok": True})
