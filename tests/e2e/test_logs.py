"""What people write is in no log."""

from pathlib import Path

from tests.e2e.watching import log_lines
from tools.local import http_json
from tools.local.sign import signed_request


def test_no_log_holds_what_was_said_or_by_whom(talk, person):
    secret_words = "el gato duerme en la lavadora"
    (delivery,) = talk.write(person, f"{secret_words}, {person}", contact_name="Rosalinda")
    assert talk.wait_until_answered(person, [delivery["event_id"]])
    body, headers = signed_request(talk.info, person, secret_words)
    forged = headers | {"webhook-signature": "v1,AAAA"}
    assert http_json.send("POST", talk.info.webhook_url, body, forged)[0] == 401

    lines = log_lines(talk)
    assert any("Ingest" in group and found for group, found in lines.items()), list(lines)
    assert any("Reply" in group and found for group, found in lines.items()), list(lines)
    everything = "\n".join(line for group in lines.values() for line in group)
    everything += Path(talk.info.logs, "emulator.log").read_text(encoding="utf-8", errors="replace")
    for private in ("lavadora", person, person.removeprefix("+"), "Rosalinda", *talk.info.secrets.values()):
        assert private not in everything
