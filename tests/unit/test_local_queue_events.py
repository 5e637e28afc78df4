"""The sample events of the functions behind the queues are what the script writes, and can be read."""

from pathlib import Path

import pytest

from tools.local.queue_events import events, written
from whatsapp_agent.events import decode
from whatsapp_agent.queues.compaction import decode_job
from whatsapp_agent.queues.lambda_event import records

DIRECTORY = Path(__file__).parents[2] / "events"


def test_the_files_are_what_the_script_writes():
    names = {path.name for path in DIRECTORY.glob("*.json") if not path.name.startswith(("ingest-", "env"))}
    assert names == events().keys()
    assert all(
        (DIRECTORY / name).read_text(encoding="utf-8") == written(event) for name, event in events().items()
    )


@pytest.mark.parametrize("name", [name for name in events() if name.startswith(("reply-", "compact-"))])
def test_every_queued_sample_can_be_read(name):
    read = decode if name.startswith("reply-") else decode_job
    batch = records(events()[name])
    assert batch
    assert all(read(record.body) for record in batch)
    assert all(record.group for record in batch)
