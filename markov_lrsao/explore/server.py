"""The server: one page, its files, and two addresses that it may call.

It listens on the loopback address only. A request is refused unless its Host header names that
address (no other name may be made to point here) and, for what is computed, unless the page's
token comes with it and an Origin header, if there is one, is the page's own. The token is made
anew at every start and stands in the address that is printed.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import shlex
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markov_lrsao.errors import LrsaoError, ParameterError
from markov_lrsao.explore.jobs import Jobs, Work
from markov_lrsao.explore.questions import question
from markov_lrsao.web import SCRIPTS, STYLES, assets

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ADDRESS", "Explorer", "serve"]

ADDRESS = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
COMPONENTS = Path(str(assets()))
_LARGEST_BODY = 200_000
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".LICENSE": "text/plain"}


class Explorer:
    """What the addresses answer.

    Parameters
    ----------
    work : runs a command line (the toolkit's `main`)
    options : the long options that a command has
    model : what the page offers, such as names of landscapes
    """

    def __init__(
        self,
        work: Work,
        options: Callable[[str], frozenset[str]],
        model: Mapping[str, Any],
        port: int,
    ) -> None:
        self.jobs = Jobs(work)
        self.token = secrets.token_urlsafe(24)
        self._options, self._model = options, model
        self._hosts = {f"{ADDRESS}:{port}", f"localhost:{port}"}
        self.url = f"http://{ADDRESS}:{port}/?token={self.token}"

    # -- who may ask -----------------------------------------------------------------------

    def _refusal(self, request: Request) -> str | None:
        """Say why a request is refused, or return None."""
        host = request.headers.get("host", "")
        if host not in self._hosts:
            return "this address is not served here"
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{host}":
            return "other origins may not call this"
        if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "other sites may not call this"
        return None

    def _known(self, token: str | None) -> bool:
        return token is not None and secrets.compare_digest(token.encode(), self.token.encode())

    # -- what is answered --------------------------------------------------------------------

    async def page(self, request: Request) -> Response:
        """Return the page to whoever has the token."""
        from starlette.responses import HTMLResponse, PlainTextResponse

        refused = self._refusal(request)
        if refused is None and not self._known(request.query_params.get("token")):
            refused = "open the address that markov-lrsao explore printed: it has a token"
        if refused is not None:
            return PlainTextResponse(refused, 403, headers=_HEADERS)
        text = (STATIC / "index.html").read_text(encoding="utf-8")
        model = json.dumps(self._model).replace("<", "\\u003c")
        filled = text.replace("{{components}}", _links()).replace("{{model}}", model)
        return HTMLResponse(filled, headers=_HEADERS)

    async def file(self, request: Request) -> Response:
        """Return one of the page's files."""
        from starlette.responses import PlainTextResponse, Response

        refused = self._refusal(request)
        if refused is not None:
            return PlainTextResponse(refused, 403, headers=_HEADERS)
        name = request.path_params["name"]
        for folder in (STATIC, COMPONENTS):
            path = folder / name
            if path.parent == folder and path.suffix in _TYPES and path.is_file():
                return Response(path.read_bytes(), media_type=_TYPES[path.suffix], headers=_HEADERS)
        return PlainTextResponse("no such file", 404, headers=_HEADERS)

    async def ask(self, request: Request) -> Response:
        """Answer a view; with "run": false only with the command that would."""
        from starlette.responses import JSONResponse, PlainTextResponse

        refused = self._refusal(request)
        if refused is None and not self._known(request.headers.get("x-token")):
            refused = "the token is missing or wrong"
        if refused is not None:
            return PlainTextResponse(refused, 403, headers=_HEADERS)
        try:
            view, settings, run = _asked(await request.body())
            arguments = question(view, settings, self._options)
        except LrsaoError as error:
            return JSONResponse({"error": str(error), "code": 2}, headers=_HEADERS)
        found: dict[str, Any] = {"command": command_text(arguments)}
        if run:
            answered = await self._computed(request, arguments)
            if answered is None:
                return PlainTextResponse("no longer wanted", 499, headers=_HEADERS)
            found |= answered
        return JSONResponse(found, headers=_HEADERS)

    async def _computed(self, request: Request, arguments: list[str]) -> dict[str, Any] | None:
        """Return the engine's answer, or None if the page has gone meanwhile."""
        work = asyncio.ensure_future(self.jobs.answer(arguments))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                return None
            answer = work.result()
        finally:
            for task in (work, gone):
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(work, gone, return_exceptions=True)
        if answer.code != 0 and not answer.output:
            return {"code": answer.code, "error": answer.errors.strip()}
        return {
            "code": answer.code,
            "answer": json.loads(answer.output),
            "notes": answer.errors.strip(),
        }

    # -- the application -----------------------------------------------------------------------

    def application(self) -> Starlette:
        """Return the addresses as a Starlette application."""
        from starlette.applications import Starlette
        from starlette.routing import Route

        @asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            self.jobs.start()
            try:
                yield
            finally:
                self.jobs.kill()

        return Starlette(
            routes=[
                Route("/", self.page, methods=["GET"]),
                Route("/static/{name}", self.file, methods=["GET"]),
                Route("/api/ask", self.ask, methods=["POST"]),
            ],
            lifespan=lifespan,
        )


def command_text(arguments: list[str]) -> str:
    """Return a command as people write it, without --json.

    >>> command_text(["exact", "--n=9", "--choices=", "--outside-h", "--json"])
    "markov-lrsao exact --n 9 --choices '' --outside-h"
    """
    words: list[str] = []
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if argument != "--json":
            words += [name, value] if equals and not value.startswith("-") else [argument]
    return f"markov-lrsao {shlex.join(words)}"


def _links() -> str:
    """Return the tags that load the components."""
    styles = [f'<link rel="stylesheet" href="static/{name}">' for name in STYLES]
    return "\n".join([*styles, *(f'<script src="static/{n}" defer></script>' for n in SCRIPTS)])


async def _gone(request: Request) -> None:
    """Wait until the page has closed the connection."""
    while True:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            return


def _asked(body: bytes) -> tuple[str, dict[str, Any], bool]:
    """Read what the page sends: {"view": .., "settings": {..}, "run": ..}."""
    try:
        data = json.loads(body) if len(body) <= _LARGEST_BODY else None
    except (ValueError, RecursionError):
        data = None
    if (
        not isinstance(data, dict)
        or not isinstance(data.get("view"), str)
        or not isinstance(data.get("settings"), dict)
    ):
        raise ParameterError("a question is an object with view and settings")
    return data["view"], data["settings"], data.get("run", True) is True


def serve(
    work: Work,
    options: Callable[[str], frozenset[str]],
    model: Mapping[str, Any],
    *,
    port: int = 0,
    announce: Callable[[str], None],
) -> None:
    """Serve the page on the loopback address until interrupted.

    Parameters
    ----------
    port : 0 takes any that is free
    announce : is told the address as soon as it can be opened
    """
    import uvicorn

    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((ADDRESS, port))
        except (OSError, OverflowError) as error:
            raise ParameterError(
                f"port = {port} cannot be used: {error}; without `port` a free one is taken"
            ) from None
        explorer = Explorer(work, options, model, listening.getsockname()[1])
        listening.listen(64)
        announce(explorer.url)
        config = uvicorn.Config(
            explorer.application(),
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=1,
            ws="none",
        )
        uvicorn.Server(config).run(sockets=[listening])
