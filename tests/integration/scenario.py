"""A story in which the deployed functions do everything that they can: for tests that watch what they touch."""

import base64
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import boto3

from tests.builders import NUMBER, PERSON, fact, inbound, message
from tests.integration.deployed import Deployed
from tools.local.sign_event import events as sample_events
from tools.local.simulated_model.control import Failure
from whatsapp_agent.clock import from_iso, to_iso, utc_now
from whatsapp_agent.events import (
    DeliveryStatus,
    Erase,
    Event,
    InboundMessage,
    Media,
    NumberReplaced,
    OptOut,
    OwnerMessage,
    PersonChangedNumber,
    encode,
)
from whatsapp_agent.memory.passages import Passage
from whatsapp_agent.memory.records import CompactionCommit, CompactionJob, FactUpdate, Summary
from whatsapp_agent.queues.compaction import encode_job
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.items import message_item
from whatsapp_agent.store.knowledge import DynamoKnowledgeCatalogue
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.store.wire import to_wire

ALIAS = "US.13491208655302741918"
FRIEND = "+34600333444"
MOVED = "+34600555666"
THIRD = "+34600777999"
SILENT = "+34600222333"


class Story:
    """Tells the story; `canary` stands in every text that a person or a provider can fill."""

    def __init__(self, deployed: Deployed, canary: str = "") -> None:
        self.deployed = deployed
        self.canary = canary
        self._ids: Iterator[int] = count(1)

    def message(self, text: str, **changes: Any) -> InboundMessage:
        now = utc_now()
        event_id = changes.pop("event_id", f"evt_{self.canary}_{next(self._ids)}")
        made = inbound(
            event_id,
            f"{text} {self.canary}".strip(),
            sent_at=now,
            received_at=now,
            contact_name=f"Maya {self.canary}",
            label=self.canary,
        )
        return replace(made, **changes)

    def say(self, text: str, **changes: Any) -> None:
        self.deployed.send(self.message(text, **changes))
        self.deployed.work()

    def tell(self, *events: Event) -> None:
        self.deployed.send(*events)
        self.deployed.work()

    def fill(self, messages: int, **changes: Any) -> None:
        """Enough talk for a compaction to be due; sent in bursts."""
        for start in range(0, messages, 10):
            texts = [self.message(f"I thought about thing {start + n}.", **changes) for n in range(10)]
            self.tell(*texts)

    def everything(self) -> None:
        self.knowledge()
        self.webhooks()
        self.say("Hello, my name is Maya and I live in Lima.")
        self.say("Remember that I like Cuban music.")
        self.say("Forget what I told you about music.")
        self.kinds()
        self.people()
        self.fill(50)
        self.deployed.work("CompactionQueue")
        self.time_passes(days=7)
        self.fill(30)
        self.deployed.work("CompactionQueue")
        self.many_facts()
        self.failures()
        self.endings()

    def knowledge(self) -> None:
        """A document that the agent knows."""
        table = self.deployed.physical["RecallTable"]
        passage = Passage("sales", 1, f"Parcels arrive within two days {self.canary}", f"faq-{self.canary}.md")
        DynamoRecallStore(self.deployed.dynamodb, recall=table, now=utc_now).put([passage])
        DynamoKnowledgeCatalogue(self.deployed.dynamodb, recall=table).publish("sales", 1)

    def time_passes(self, *, days: int) -> None:
        """Everything that is stored is some days older."""
        for table, items in self.deployed.items().items():
            for item in items:
                if "active_at" in item:
                    earlier = from_iso(item["active_at"]["S"]) - timedelta(days=days)
                    item["active_at"] = {"S": to_iso(earlier)}
                if "expires_at" in item:
                    item["expires_at"] = {"N": str(int(item["expires_at"]["N"]) - days * 86_400)}
                self.deployed.dynamodb.put_item(TableName=self.deployed.physical[table], Item=item)

    def many_facts(self) -> None:
        """A compaction with more changes than one transaction holds: through the function's own adapter."""
        now, conversation = utc_now(), "sales#+34600777888"
        facts = [fact("interests", f"{n}", item=f"{n}", conversation=conversation) for n in range(120)]
        tables = {
            name: self.deployed.physical[f"{name.capitalize()}Table"]
            for name in ("messages", "turns", "summaries", "facts")
        }
        store = DynamoConversationStore(boto3.client("dynamodb"), **tables, now=utc_now, retention_days=30)
        self.deployed.dynamodb.put_item(
            TableName=tables["messages"], Item=to_wire(message_item(message(conversation=conversation), None))
        )
        learned = tuple(FactUpdate("interests", each.item, 0, each, None) for each in facts)
        forgotten = tuple(FactUpdate("interests", each.item, 1, None, None) for each in facts[:2])
        first, second = (Summary(conversation, "Many things.", 1, version, now) for version in (1, 2))
        with self.deployed.acting("compact"):
            store.commit_compaction(CompactionCommit(first, 0, 1, learned))
            store.commit_compaction(CompactionCommit(second, 1, 1, forgotten))

    def expired(self, conversation: str) -> None:
        """The conversation's summary and state are past their end, and DynamoDB has not deleted them yet."""
        self.deployed.dynamodb.put_item(
            TableName=self.deployed.physical["SummariesTable"],
            Item={
                "conversation": {"S": conversation},
                "opted_out_at": {"S": to_iso(utc_now())},
                "expires_at": {"N": "1"},
            },
        )

    def webhooks(self) -> None:
        """Every sample of a webhook, signed and forged."""
        for name, event in sorted(sample_events().items()):
            if name.startswith("ingest-"):
                self.deployed.invoke("ingest", event)
        self.deployed.invoke("ingest", {**_request(b'{"a": "' + self.canary.encode() + b'"}')})
        self.deployed.work()

    def kinds(self) -> None:
        """Everything that a message can be."""
        photo = Media(f"media_{self.canary}", "image/jpeg", 10, f"{self.canary}.jpg")
        for kind in ("image", "voice", "document", "sticker", "video"):
            self.say("look", kind=kind, media=photo)
        self.say("\N{THUMBS UP SIGN}", kind="reaction", target_id="msg_evt_1")
        first = self.message("where is my order?")
        self.tell(first)
        self.say("where is my parcel?", kind="edited", target_id=first.message_id)
        self.say("and this one?", reply_to=first.message_id)
        self.say("", kind="deleted", target_id=first.message_id)
        self.say("", kind="unsupported")

    def people(self) -> None:
        """Addresses, numbers, and whoever else writes."""
        now = utc_now()
        self.say("hi from here", alias=ALIAS)
        self.say("hi from there", person=ALIAS, address=ALIAS)
        self.say("I am a friend", person=FRIEND, address=FRIEND)
        self.tell(PersonChangedNumber(f"moved_{self.canary}", FRIEND, MOVED, NUMBER, now))
        self.say("I moved", person=MOVED, address=MOVED)
        # Back at the first number: the way from there is taken away again.
        self.tell(PersonChangedNumber(f"back_{self.canary}", MOVED, FRIEND, NUMBER, now))
        self.tell(NumberReplaced(f"replaced_{self.canary}", NUMBER, "+15550199", now, self.canary))
        # Expired in the eyes of the store, which then has to put it away before it writes.
        self.expired(f"sales#{SILENT}")
        self.tell(replace(self.message(""), text="STOP", person=SILENT, address=SILENT))
        self.tell(
            OwnerMessage(
                f"owner_{self.canary}",
                FRIEND,
                FRIEND,
                NUMBER,
                f"m_{self.canary}",
                "text",
                f"I take over {self.canary}",
                now,
                now,
            )
        )
        self.say("and now?", person=FRIEND, address=FRIEND)
        sent = self.deployed.provider.state.sent[-1]
        self.tell(DeliveryStatus(f"failed_{self.canary}", PERSON, NUMBER, sent.id, "failed", now, "131026"))

    def failures(self) -> None:
        """The bad paths: model, provider, records."""
        control = self.deployed.model.control
        for failure in (
            Failure(status=503),
            Failure(status=401, code="invalid_api_key"),
            Failure(kind="empty"),
        ):
            control.fail(replace(failure, times=2))
            self.say("are you there?")
        self.deployed.send(self.message("last try"))
        control.fail(Failure(status=500, times=2))
        self.deployed.work(attempts=5)
        self.deployed.provider.state.failures.clear()
        for queue in ("InboundQueue", "CompactionQueue"):
            self.deployed.sqs.send_message(
                QueueUrl=self.deployed.physical[queue],
                MessageBody=f'{{"v": 1, "{self.canary}": "{PERSON}"}}',
                MessageGroupId=PERSON,
                MessageDeduplicationId=f"bad-{queue}",
            )
        self.deployed.settle()
        # A batch of which one person's record fails is partly returned.
        control.fail(Failure(status=503, times=1))
        self.tell(self.message("one"), self.message("two", person=MOVED, address=MOVED))
        self.fill(40, person=THIRD, address=THIRD)
        self.expired(f"sales#{THIRD}")
        self.deployed.work("CompactionQueue")
        self.fill(40)
        control.fail(Failure(kind="empty", times=2))
        self.deployed.work("CompactionQueue")

    def endings(self) -> None:
        """Silence and forgetting."""
        now = utc_now()
        self.deployed.sqs.send_message(
            QueueUrl=self.deployed.physical["InboundDeadLetterQueue"],
            MessageBody=encode(self.message("given up", received_at=now - timedelta(hours=1))),
            MessageGroupId=PERSON,
            MessageDeduplicationId="dead-1",
        )
        self.deployed.sqs.send_message(
            QueueUrl=self.deployed.physical["CompactionDeadLetterQueue"],
            MessageBody=encode_job(CompactionJob(f"sales#{PERSON}", 3)),
            MessageGroupId=f"sales#{PERSON}",
            MessageDeduplicationId="dead-2",
        )
        self.tell(OptOut(f"out_{self.canary}", FRIEND, NUMBER, now))
        self.deployed.send(replace(self.message(""), text="STOP"))
        self.deployed.work()
        self.say("I am back")
        self.deployed.invoke("erase", {"person": PERSON, "agent": "sales"})
        self.deployed.invoke("erase", {"person": f"no phone {self.canary}"})
        self.deployed.invoke("erase", {"text": self.canary})
        self.deployed.work()
        # As a compaction would that was in flight all the time.
        late = Passage(f"sales#{PERSON}", 100, f"what she said {self.canary}")
        table = self.deployed.physical["RecallTable"]
        DynamoRecallStore(self.deployed.dynamodb, recall=table, now=utc_now).put([late])
        self.deployed.work("CompactionQueue")
        self.tell(Erase(f"erase_{self.canary}", "companion", FRIEND, utc_now()))
        self.deployed.settle()


def _request(body: bytes) -> dict[str, Any]:
    return {
        "version": "2.0",
        "rawPath": "/webhooks/whasp",
        "rawQueryString": "",
        "headers": {"webhook-signature": "v1,forged", "webhook-id": "x", "webhook-timestamp": "1"},
        "requestContext": {"http": {"method": "POST", "path": "/webhooks/whasp"}},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }
