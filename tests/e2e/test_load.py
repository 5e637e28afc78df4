"""Some people at once, each message with repetitions and out of order: a small `make load`."""

from tools.local.load.rounds import Load, run


def test_twenty_people_at_once_are_each_remembered_and_answered_once_and_in_order(talk):
    said = []
    (done,) = run(talk.info, Load(people=(20,), messages=10, seconds=180), said.append)
    assert done.broken == (), said
    assert done.remembered == done.messages == 200
    assert done.posts > 300
