"""Fetching media: the fake and the real adapters, which talk HTTP to the simulated provider; and what only a
hostile or broken server does.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.contracts.scripted_http import Scripted, scripted_server
from tests.contracts.simulation import API_KEY, connections, simulated_provider
from tests.fakes.provider import FakeProvider
from tools.local.simulated_provider.state import Failure, Medium
from whatsapp_agent.errors import MediaTooLarge, MediaUnreadable, ProviderUnavailable
from whatsapp_agent.events import Media
from whatsapp_agent.media import MediaStore
from whatsapp_agent.providers.meta.api import MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider

NUMBER = "106540352242922"
DATA = bytes(range(256)) * 40


@dataclass
class Bench:
    store: MediaStore
    keep: Callable[[str, bytes], None]
    fail: Callable[[int], None]

    def fetch(self, identifier: str = "media_1", most_bytes: int = 1_000_000) -> bytes:
        return self.store.fetch(NUMBER, Media(identifier), seconds=5, most_bytes=most_bytes)


@pytest.fixture(params=["fake", "whasp", "meta"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "fake":
        fake = FakeProvider()
        yield Bench(fake, fake.media.__setitem__, lambda _: fake.fail_media(ProviderUnavailable("down")))
        return
    with simulated_provider() as (simulation, url), connections() as pool:
        state = simulation.state
        whasp = request.param == "whasp"
        yield Bench(
            WhaspProvider(url, API_KEY, pool=pool) if whasp else MetaProvider(url, API_KEY, pool=pool),
            lambda identifier, data: state.media.__setitem__(identifier, Medium(identifier, "audio/ogg", data)),
            lambda status: state.failures.append(Failure(status=status, path="media_1")),
        )


def test_the_bytes_come_as_they_were_sent(bench: Bench) -> None:
    bench.keep("media_1", DATA)
    assert bench.fetch() == DATA


def test_exactly_the_most_is_not_too_much_and_one_more_is(bench: Bench) -> None:
    bench.keep("media_1", DATA)
    assert bench.fetch(most_bytes=len(DATA)) == DATA
    with pytest.raises(MediaTooLarge):
        bench.fetch(most_bytes=len(DATA) - 1)


def test_a_medium_that_is_gone_is_unreadable(bench: Bench) -> None:
    with pytest.raises(MediaUnreadable) as raised:
        bench.fetch("media_gone")
    assert raised.value.code == "gone"


def test_a_failing_provider_is_tried_again_later(bench: Bench) -> None:
    bench.keep("media_1", DATA)
    bench.fail(503)
    with pytest.raises(ProviderUnavailable):
        bench.fetch()
    assert bench.fetch() == DATA


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted_server() as scripted:
        yield scripted


@pytest.fixture(params=[WhaspProvider, MetaProvider])
def real(request: pytest.FixtureRequest, server: Scripted) -> Iterator[MediaStore]:
    with connections() as pool:
        yield request.param(server.url, API_KEY, pool=pool)


@pytest.fixture
def meta(server: Scripted) -> Iterator[MetaProvider]:
    with connections() as pool:
        yield MetaProvider(server.url, API_KEY, pool=pool)


def resolved(url: str, **more: object) -> tuple[int, dict[str, str], bytes]:
    return (200, {}, json.dumps({"url": url, **more}).encode())


@pytest.mark.parametrize("identifier", ["../../x", "1?fields=owner", "1#x", "a/b", "", "é", "x" * 300])
def test_a_hostile_id_asks_nobody(real: MediaStore, server: Scripted, identifier: str) -> None:
    with pytest.raises(MediaUnreadable) as raised:
        real.fetch(NUMBER, Media(identifier), seconds=5, most_bytes=100)
    assert raised.value.code == "bad_id"
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/media",
        "http://lookaside.fbsbx.com/media",
        "https://lookaside.fbsbx.com.evil.example/media",
        "https://evilfbsbx.com/media",
        "https://lookaside.fbsbx.com@evil.example/media",
        "https://user:pass@lookaside.fbsbx.com/media",
        "https://lookaside.fbsbx.com:8443/media",
        "https://evil.example\\.fbsbx.com/media",
        "https://[::1/media",
        "http://169.254.169.254/latest/meta-data",
        "file:///etc/passwd",
        "",
        17,
    ],
)
def test_the_token_goes_to_no_other_host(meta: MetaProvider, server: Scripted, url: object) -> None:
    server.answers.append((200, {}, json.dumps({"url": url}).encode()))
    with pytest.raises(MediaUnreadable) as raised:
        meta.fetch(NUMBER, Media("1"), seconds=5, most_bytes=100)
    assert raised.value.code == "foreign_host"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "url", ["https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", "https://fbsbx.com/x"]
)
def test_metas_own_media_hosts_may_see_it(meta: MetaProvider, url: str) -> None:
    assert meta._may_see_token(url)  # The real host cannot be asked from here.


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_an_expired_url_is_asked_for_once_more(meta: MetaProvider, server: Scripted, status: int) -> None:
    server.answers += [
        resolved(f"{server.url}/old"),
        (status, {}, b"expired"),
        resolved(f"{server.url}/new"),
        (200, {}, DATA),
    ]
    assert meta.fetch(NUMBER, Media("17"), seconds=5, most_bytes=100_000) == DATA
    assert [asked.path for asked in server.asked] == [
        f"/v26.0/17?phone_number_id={NUMBER}",
        "/old",
        f"/v26.0/17?phone_number_id={NUMBER}",
        "/new",
    ]
    assert all(asked.headers["authorization"] == f"Bearer {API_KEY}" for asked in server.asked)


def test_a_url_that_stays_expired_is_given_up(meta: MetaProvider, server: Scripted) -> None:
    server.answers += [resolved(f"{server.url}/old"), (404, {}, b"")] * 2
    with pytest.raises(MediaUnreadable):
        meta.fetch(NUMBER, Media("17"), seconds=5, most_bytes=100)
    assert len(server.asked) == 4


def test_a_size_that_is_announced_as_too_large_is_not_fetched(meta: MetaProvider, server: Scripted) -> None:
    server.answers.append(resolved(f"{server.url}/file", file_size=60_000_000))
    with pytest.raises(MediaTooLarge):
        meta.fetch(NUMBER, Media("17"), seconds=5, most_bytes=1_000_000)
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed(real: MediaStore, server: Scripted) -> None:
    server.then = (302, {"Location": "https://evil.example/"}, b"")
    with pytest.raises(MediaUnreadable):
        real.fetch(NUMBER, Media("17"), seconds=5, most_bytes=100)
    assert len(server.asked) == 1


def test_a_download_that_trickles_in_ends_with_its_time(server: Scripted) -> None:
    server.then = (200, {}, [b"x" * 10] * 100)
    server.pause_seconds = 0.05
    with connections() as pool, pytest.raises(ProviderUnavailable):
        WhaspProvider(server.url, API_KEY, pool=pool).fetch(NUMBER, Media("17"), seconds=0.3, most_bytes=10_000)


def test_no_more_than_the_cap_is_held_of_a_stream_without_a_length() -> None:
    """A server that never stops sending, and never said how much it would be."""
    import socket
    import threading

    sent = [0]

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
            try:
                while sent[0] < 200_000_000:
                    sent[0] += connection.send(b"x" * 65536)
            except OSError:
                pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with connections() as pool, pytest.raises(MediaTooLarge):
            WhaspProvider(url, API_KEY, pool=pool).fetch(NUMBER, Media("17"), seconds=5, most_bytes=1_000_000)
        thread.join(5)
    assert sent[0] < 50_000_000
