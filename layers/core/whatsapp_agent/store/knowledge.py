"""The catalogue of an agent's knowledge, on DynamoDB; it lies in the Recall table beside the chunks."""

from typing import TYPE_CHECKING

from whatsapp_agent.clock import new_id
from whatsapp_agent.memory.passages import Catalogue, Source, source_key
from whatsapp_agent.store import actions
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.recall import WITH_PREFIX
from whatsapp_agent.store.recall_items import CATALOGUE, SOURCE, source_from, source_item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoKnowledgeCatalogue:
    """Implements `ports.KnowledgeCatalogue`."""

    def __init__(self, client: "DynamoDBClient", *, recall: str, database: Database | None = None) -> None:
        self._db = database or Database(client)
        self._recall = recall

    def catalogue(self, owner: str) -> Catalogue:
        """See `ports.KnowledgeCatalogue.catalogue`."""
        found = self._db.get_many(self._recall, [{"owner": owner, "id": CATALOGUE}])
        if not found:
            return Catalogue()
        return Catalogue(found[0].get("version", ""), int(found[0].get("chunks", 0)))

    def sources(self, owner: str) -> list[Source]:
        """See `ports.KnowledgeCatalogue.sources`."""
        pages = self._db.pages(self._recall, WITH_PREFIX, {"owner": owner, "prefix": SOURCE})
        return sorted((source_from(item) for page in pages for item in page), key=lambda source: source.name)

    def put_source(self, source: Source) -> None:
        """See `ports.KnowledgeCatalogue.put_source`."""
        self._db.write(actions.put(self._recall, source_item(source)))

    def delete_source(self, owner: str, name: str) -> None:
        """See `ports.KnowledgeCatalogue.delete_source`."""
        self._db.write(actions.delete(self._recall, {"owner": owner, "id": SOURCE + source_key(name)}))

    def publish(self, owner: str, chunks: int) -> None:
        """See `ports.KnowledgeCatalogue.publish`."""
        item = {"owner": owner, "id": CATALOGUE, "version": new_id("v"), "chunks": chunks}
        self._db.write(actions.put(self._recall, item))
