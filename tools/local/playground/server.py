"""The page's HTTP server: static files, events (server-sent), and what the page asks for."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from tools.local.errors import LocalError
from tools.local.playground.orders import Orders
from tools.local.playground.stage import Stage
from tools.operate.errors import OperateError
from whatsapp_agent.errors import AgentError

_STATIC = Path(__file__).with_name("static")
_LOOK_SECONDS = 0.1
_KEEP_ALIVE_LOOKS = 150
_HEADERS = {
    # Nothing is loaded from elsewhere, whatever a message says.
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def application(stage: Stage, port: int) -> Starlette:
    """The server's application.

    Only requests for this machine's own names are answered, and only such changes that this page itself asks
    for: other pages in the same browser can reach the loopback interface too.
    """
    orders = Orders(stage)
    page = _Page(stage, orders, {f"http://127.0.0.1:{port}", f"http://localhost:{port}"})
    routes = [
        Route("/", page.index),
        Route("/api/events/{phone}", page.events),
        Route("/api/export/{phone}", page.export),
        Route("/api/dead-letters", page.dead_letters),
        Route("/api/do/{order}", page.obey, methods=["POST"]),
        Mount("/", StaticFiles(directory=_STATIC)),
    ]
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])
    return Starlette(routes=routes, middleware=[hosts, Middleware(_WithHeaders)])


class _Page:
    def __init__(self, stage: Stage, orders: Orders, origins: set[str]) -> None:
        self._stage = stage
        self._orders = orders
        self._origins = origins

    async def index(self, _request: Request) -> Response:
        return FileResponse(_STATIC / "index.html")

    async def events(self, request: Request) -> Response:
        """The board of the stack and that of a person, as they change."""
        phone = request.path_params["phone"]
        try:
            await run_in_threadpool(self._stage.room, phone)
        except LocalError:
            return Response("event: missing\ndata: {}\n\n", media_type="text/event-stream")
        return StreamingResponse(self._changes(phone), media_type="text/event-stream")

    async def _changes(self, phone: str) -> AsyncIterator[str]:
        with self._stage.looking(phone) as room:
            seen = {"stack": 0, "room": 0}
            boards = {"stack": self._stage.board, "room": room.board}
            silent = 0
            while True:
                silent += 1
                for name, board in boards.items():
                    seen[name], changes = board.since(seen[name])
                    if changes is not None:
                        yield f"event: {name}\ndata: {json.dumps(changes, ensure_ascii=False)}\n\n"
                        silent = 0
                if silent > _KEEP_ALIVE_LOOKS:
                    yield ": still here\n\n"
                    silent = 0
                await asyncio.sleep(_LOOK_SECONDS)

    async def export(self, request: Request) -> Response:
        phone = request.path_params["phone"]
        return await self._answer(lambda: self._orders.export(phone))

    async def dead_letters(self, _request: Request) -> Response:
        return await self._answer(self._orders.dead_letters)

    async def obey(self, request: Request) -> Response:
        """Carries out an order of the page: `POST /api/do/<order>` with a JSON object."""
        if request.headers.get("origin") not in self._origins:
            return JSONResponse({"error": "only the page itself may ask for this"}, 403)
        try:
            given = await request.json()
        except ValueError:
            given = None
        if not isinstance(given, Mapping):
            return JSONResponse({"error": "the body must be a JSON object"}, 400)
        return await self._answer(lambda: self._orders.obey(request.path_params["order"], given))

    async def _answer(self, work: Callable[[], Any]) -> Response:
        try:
            return JSONResponse(await run_in_threadpool(work))
        except (LocalError, OperateError) as error:
            return JSONResponse({"error": str(error)}, 400)
        except (AgentError, BotoCoreError, ClientError) as error:
            return JSONResponse({"error": type(error).__name__}, 502)


class _WithHeaders:
    """Adds the headers that hold for every answer."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                more = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        await self._app(scope, receive, with_headers)
