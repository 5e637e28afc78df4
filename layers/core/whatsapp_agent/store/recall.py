"""What can be recalled, on DynamoDB."""

from typing import TYPE_CHECKING

from whatsapp_agent.store.database import Database
from whatsapp_agent.store.erasing import Partition, erase

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoRecallStore:
    """Implements `ports.RecallStore`."""

    def __init__(self, client: "DynamoDBClient", *, recall: str, database: Database | None = None) -> None:
        self._db = database or Database(client)
        self._recall = recall

    def erase(self, owner: str) -> int:
        """See `ports.RecallStore.erase`."""
        return erase(self._db, [Partition(self._recall, ("owner", "id"))], owner)
