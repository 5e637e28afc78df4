"""What the page is told of changes."""

from tools.local.playground.board import Board


def test_only_what_changed_since_is_told():
    board = Board()
    board.put("facts", "name", "Maya")
    version, first = board.since(0)
    assert first == {"reset": True, "changes": {"facts": {"name": "Maya"}}}
    assert board.since(version) == (version, None)
    board.put("facts", "name", "Maya")
    assert board.since(version) == (version, None)
    board.put("facts", "city", "Lugo")
    assert board.since(version)[1] == {"reset": False, "changes": {"facts": {"city": "Lugo"}}}


def test_a_value_that_goes_is_told_once_and_not_to_newcomers():
    board = Board()
    board.put("facts", "name", "Maya")
    version, _ = board.since(0)
    board.put("facts", "name", None)
    assert board.since(version)[1] == {"reset": False, "changes": {"facts": {"name": None}}}
    assert board.since(0)[1] == {"reset": True, "changes": {}}


def test_after_clearing_pages_begin_anew():
    board = Board()
    board.put("facts", "name", "Maya")
    board.put("person", "state", {"phone": "+34600111222"})
    version, _ = board.since(0)
    board.clear(but=("person",))
    assert board.since(version)[1] == {
        "reset": True,
        "changes": {"person": {"state": {"phone": "+34600111222"}}},
    }
    assert board.values("facts") == {}
