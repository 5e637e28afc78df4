"""The gateway hands requests on to the function's URL byte for byte."""

import http.client
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tools.local.gateway import Gateway
from tools.local.ports import LOOPBACK, free_port

pytestmark = pytest.mark.enable_socket

HOST = "abc.lambda-url.us-east-1.on.aws"


@contextmanager
def function_url(status: int = 200, answer: bytes = b"ok"):
    """A server that keeps what it was asked; yields its address and the requests."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append((self.command, self.path, self.headers, body))
            self.send_response(status)
            self.send_header("X-Answer", "yes")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_POST  # noqa: N815 - the base class's names

        def log_message(self, *args):
            pass

    server = HTTPServer((LOOPBACK, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield (LOOPBACK, server.server_port), requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ask(gateway: Gateway, method: str, path: str, body: bytes | None = None, headers=None):
    connection = http.client.HTTPConnection(*gateway.url.removeprefix("http://").split(":"))
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()
    finally:
        connection.close()


def test_body_path_and_headers_arrive_unchanged_under_the_functions_host_name():
    body = b'{ "text": "\xc3\xa9 \xff raw",  "n": 1 }\r\n'
    with function_url() as (address, requests), Gateway(free_port(), "id") as gateway:
        gateway.forward_to(address, HOST)
        headers = {"webhook-signature": "v1,a b+/=", "Content-Type": "application/json"}
        status, answer_headers, answer = ask(gateway, "POST", "/webhooks/whasp?x=%2F&y=", body, headers)
    assert (status, answer, answer_headers["X-Answer"]) == (200, b"ok", "yes")
    method, path, seen, received = requests[0]
    assert (method, path, received) == ("POST", "/webhooks/whasp?x=%2F&y=", body)
    assert seen["Host"] == HOST
    assert seen["webhook-signature"] == "v1,a b+/="
    assert seen["Content-Type"] == "application/json"


def test_a_get_is_handed_on_without_a_body():
    with function_url() as (address, requests), Gateway(free_port(), "id") as gateway:
        gateway.forward_to(address, HOST)
        assert ask(gateway, "GET", "/webhooks/meta?hub.challenge=1")[0] == 200
    assert requests[0][1] == "/webhooks/meta?hub.challenge=1"
    assert requests[0][3] == b""


def test_refusals_come_back_as_they_are():
    with function_url(401, b"") as (address, _), Gateway(free_port(), "id") as gateway:
        gateway.forward_to(address, HOST)
        assert ask(gateway, "POST", "/webhooks/whasp", b"{}")[0] == 401


def test_before_the_deployment_it_asks_to_come_back():
    with Gateway(free_port(), "id") as gateway:
        status, headers, _ = ask(gateway, "POST", "/webhooks/whasp", b"{}")
    assert (status, headers["Retry-After"]) == (503, "1")


def test_an_emulator_that_is_gone_is_a_bad_gateway():
    with Gateway(free_port(), "id") as gateway:
        gateway.forward_to((LOOPBACK, free_port()), HOST)
        assert ask(gateway, "POST", "/webhooks/whasp", b"{}")[0] == 502


@pytest.mark.parametrize("length", ["-1", "many", "10000001"])
def test_a_length_that_cannot_be_right_is_refused(length):
    with Gateway(free_port(), "id") as gateway:
        status, _, _ = ask(gateway, "POST", "/webhooks/whasp", b"", {"Content-Length": length})
    assert status in {411, 413}
