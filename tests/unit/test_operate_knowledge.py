"""`operate knowledge` on fakes: what goes in, what is embedded again, what an agent would find."""

from pathlib import Path

import pytest

from tests.fakes.recall import FakeKnowledgeCatalogue, FakeRecallStore, WordEmbedder
from tests.unit.operating import Operator, operator
from tests.unit.pdf_files import pdf
from tools.operate.library import Library
from whatsapp_agent.errors import ModelUnavailable
from whatsapp_agent.memory.passages import KNOWLEDGE


class Desk:
    """An operator with a library, and the parts of it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        plain = operator(capsys)
        self.store: FakeRecallStore = plain.world.recall
        self.catalogue: FakeKnowledgeCatalogue = plain.world.catalogue
        self.embedder: WordEmbedder | None = WordEmbedder()
        self._operator = plain.with_(library=self._library)

    def _library(self) -> Library:
        return Library(self.store, self.catalogue, self.embedder, self._operator.world.now)

    @property
    def operator(self) -> Operator:
        return self._operator

    @property
    def embedded(self) -> list[str]:
        assert self.embedder is not None
        return [text for texts in self.embedder.asked for text in texts]


@pytest.fixture
def desk(capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(capsys)


@pytest.fixture
def manuals(tmp_path: Path) -> Path:
    folder = tmp_path / "manuals"
    (folder / "more").mkdir(parents=True)
    (folder / "returns.md").write_text("# Shop\n\n## Returns\n\n45 days to return.\n\n## Lamps\n\nWipe it dry.")
    (folder / "prices.pdf").write_bytes(pdf("The blue lamp costs 42 euros."))
    (folder / "more" / "page.html").write_text("<h1>Hours</h1><p>Open from ten to seven.</p>")
    return folder


def test_a_folder_goes_in_with_all_its_documents(desk: Desk, manuals: Path):
    ran = desk.operator.say("knowledge", "add", str(manuals), "--agent", "sales", "--json")

    assert ran.status == 0
    assert [row["document"] for row in ran.json["added"]] == [
        "manuals/more/page.html",
        "manuals/prices.pdf",
        "manuals/returns.md",
    ]
    assert sum(row["embedded"] for row in ran.json["added"]) == 4
    assert desk.catalogue.published["sales"].chunks == 4
    assert len(desk.store.passages("sales", KNOWLEDGE, 99)) == 4


def test_an_unreadable_file_is_named_and_the_rest_goes_in(desk: Desk, manuals: Path):
    (manuals / "photo.png").write_bytes(b"png")
    (manuals / "empty.md").write_text("")

    ran = desk.operator.say("knowledge", "add", str(manuals), "--json")

    assert ran.status == 5
    assert {row["file"] for row in ran.json["skipped"]} == {"manuals/photo.png", "manuals/empty.md"}
    assert "manuals/photo.png" in ran.err
    assert len(ran.json["added"]) == 3


def test_nothing_readable_is_a_failure(desk: Desk, tmp_path: Path):
    assert desk.operator.say("knowledge", "add", str(tmp_path / "absent.md")).status == 2
    assert desk.operator.say("knowledge", "add", str(tmp_path)).status == 2


def test_adding_again_embeds_only_what_has_changed_and_leaves_exactly_the_new_chunks(desk: Desk, manuals: Path):
    file = manuals / "returns.md"
    desk.operator.say("knowledge", "add", str(file))
    assert desk.embedder is not None
    desk.embedder.asked.clear()

    file.write_text("# Shop\n\n## New\n\nFirst of all.\n\n## Returns\n\n45 days to return.")
    ran = desk.operator.say("knowledge", "add", str(file), "--json")

    (row,) = ran.json["added"]
    assert (row["chunks"], row["embedded"], row["unchanged"]) == (2, 1, 1)
    assert desk.embedded == ["Shop › New\nFirst of all."]
    known = desk.store.passages("sales", KNOWLEDGE, 99)
    assert [each.text for each in known] == ["First of all.", "45 days to return."]
    assert all(desk.store.owned["sales"][each.key].embedding for each in known)


def test_a_shorter_document_leaves_no_chunk_of_the_old_one(desk: Desk, manuals: Path):
    file = manuals / "returns.md"
    desk.operator.say("knowledge", "add", str(file))
    file.write_text("# Shop\n\n## Returns\n\n45 days to return.")

    ran = desk.operator.say("knowledge", "add", str(file), "--json")

    assert ran.json["added"][0]["removed"] == 1
    assert len(desk.store.owned["sales"]) == 1


def test_a_run_that_breaks_off_is_shown_and_finished_by_the_same_call(desk: Desk, manuals: Path):
    assert desk.embedder is not None
    desk.embedder.fails = ModelUnavailable("busy")
    failed = desk.operator.say("knowledge", "add", str(manuals / "returns.md"))
    listed = desk.operator.say("knowledge", "list", "--json")
    desk.embedder.fails = None
    again = desk.operator.say("knowledge", "add", str(manuals / "returns.md"))

    assert failed.status == 1
    assert listed.json[0]["state"].startswith("unfinished")
    assert again.status == 0
    assert desk.operator.say("knowledge", "list", "--json").json[0]["state"] == "ok"


def test_a_removed_document_is_gone_after_a_yes(desk: Desk, manuals: Path):
    desk.operator.say("knowledge", "add", str(manuals))
    before = desk.catalogue.published["sales"].version

    refused = desk.operator.say("knowledge", "remove", "manuals/prices.pdf")
    done = desk.operator.say("knowledge", "remove", "manuals/prices.pdf", "--yes")

    assert (refused.status, done.status) == (4, 0)
    assert "42" not in " ".join(each.text for each in desk.store.passages("sales", KNOWLEDGE, 99))
    assert desk.catalogue.published["sales"].version != before
    assert desk.operator.say("knowledge", "remove", "manuals/prices.pdf", "--yes").status == 3


def test_a_search_shows_what_would_stand_in_the_prompt_and_why(desk: Desk, manuals: Path):
    desk.operator.say("knowledge", "add", str(manuals))

    ran = desk.operator.say("knowledge", "search", "what does the blue lamp cost?", "--json")

    best = ran.json[0]
    assert best["document"] == "manuals/prices.pdf"
    assert best["in_prompt"]
    assert best["similarity"] > 0
    assert best["words"] > 0


def test_one_agent_does_not_know_what_another_does(desk: Desk, manuals: Path):
    desk.operator.say("knowledge", "add", str(manuals), "--agent", "companion")

    assert desk.operator.say("knowledge", "list", "--agent", "sales").status == 3
    assert desk.operator.say("knowledge", "search", "blue lamp", "--agent", "sales").status == 3


def test_after_a_change_of_model_reindex_renews_every_vector(desk: Desk, manuals: Path):
    desk.operator.say("knowledge", "add", str(manuals))
    desk.embedder = WordEmbedder("words-2")
    listed = desk.operator.say("knowledge", "list", "--json").json

    ran = desk.operator.say("knowledge", "reindex", "--json")

    assert {row["state"] for row in listed} == {"vectors of another model: reindex"}
    assert ran.json == {"agent": "sales", "renewed": 4, "model": "words-2"}
    assert {model for model, _ in desk.store.vectors("sales", KNOWLEDGE).values()} == {"words-2"}
    assert {row["state"] for row in desk.operator.say("knowledge", "list", "--json").json} == {"ok"}


def test_without_an_embedding_model_documents_are_found_by_their_words(desk: Desk, manuals: Path):
    desk.embedder = None

    assert desk.operator.say("knowledge", "add", str(manuals)).status == 0
    hits = desk.operator.say("knowledge", "search", "blue lamp", "--json").json

    assert hits[0]["document"] == "manuals/prices.pdf"
    assert hits[0]["similarity"] == 0
