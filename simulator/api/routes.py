"""Every path of the server, and the middleware around them."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec
from aiohttp import web

from simulator.api import bodies, shapes
from simulator.api.control import Control
from simulator.api.generate import Generator, close, stream
from simulator.errors import ApiError
from simulator.faults import REQUEST_KINDS, Faults
from simulator.journal import Journal
from simulator.metrics.page import Page
from simulator.options import Options

VERSION = "0.32.0+sim"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Api:
    """The handlers; `application` gives them their paths."""

    def __init__(self, options: Options, generator: Generator, page: Page, faults: Faults, journal: Journal) -> None:
        self.options, self.generator, self.page, self.faults, self.journal = options, generator, page, faults, journal
        self.draining = False
        self._frozen = ""  # the page while a fault keeps it still

    def application(self, control: Control) -> web.Application:
        """The aiohttp application."""
        app = web.Application(client_max_size=self.options.max_body_mb * 2**20, middlewares=[self._around])
        if self.options.response_headers:
            app.on_response_prepare.append(self._sign)
        get, post = app.router.add_get, app.router.add_post
        post("/v1/chat/completions", self.chat)
        post("/v1/completions", self.completions)
        post("/v1/chat/completions/render", self.render_chat)
        post("/v1/completions/render", self.render_completions)
        post("/tokenize", self.tokenize)
        post("/detokenize", self.detokenize)
        get("/v1/models", self.models)
        get("/health", self.health)
        get("/ping", self.health)
        get("/version", self.version)
        get("/metrics", self.metrics)
        control.add_routes(app)
        return app

    @web.middleware
    async def _around(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Errors as vLLM words them, the key, request counts."""
        status = 500
        try:
            self._check_key(request)
            response = await handler(request)
            status = response.status
        except ApiError as error:
            status = error.status
            response = answer(error.body(self.options.error_format), status)
        except (TypeError, ValueError, AttributeError) as error:  # a field of a shape nobody reads; the server lives
            status = 400
            response = answer(ApiError(400, f"1 validation error: {error}", kind="Bad Request").body(self.options.error_format), status)
        except web.HTTPException as error:
            status = error.status
            detail = {404: "Not Found", 405: "Method Not Allowed"}.get(status, error.reason)
            response = answer({"detail": detail}, status)
            if status == 405 and "Allow" in error.headers:
                response.headers["Allow"] = error.headers["Allow"]
        finally:
            known = request.match_info.route.resource
            handler_name = known.canonical if known is not None else "other"
            self.generator.engine.counters.http[(handler_name, request.method, status)] += 1
        return response

    async def _sign(self, request: web.Request, response: web.StreamResponse) -> None:
        """Say which pod answers, on the headers of whatever goes out."""
        local = request.transport.get_extra_info("sockname") if request.transport else None
        response.headers["x-inference-pod"] = self.options.pod_name
        response.headers["x-inference-namespace"] = self.options.pod_namespace
        response.headers["x-inference-port"] = str(local[1] if local else self.options.port)

    def _check_key(self, request: web.Request) -> None:
        wanted = self.options.api_key
        if wanted and request.path.startswith("/v1") and request.headers.get("authorization") != f"Bearer {wanted}":
            raise ApiError(401, "Unauthorized")

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/chat/completions`."""
        return await self._generate(request, chat=True)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        """`POST /v1/completions`."""
        return await self._generate(request, chat=False)

    async def _generate(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        body = await self._body(request)
        if self.draining:
            raise ApiError(503, "The server is shutting down.")
        headers = {name.lower(): value for name, value in request.headers.items()}
        entry = self.journal.open(at=self.generator.clock.now(), path=request.path, headers=headers, body=body)
        effect = self._effect(request, headers, body)
        if effect:
            early = await self._suffer(request, effect)
            if early is not None:
                entry["status"] = early.status
                return early
        running = await self.generator.start(
            body, headers.get("x-request-id", "") or str(body.get("request_id") or ""), chat=chat, entry=entry
        )
        if running.generation.stream:
            cut = int(effect.get("events", 1)) if effect and effect["kind"] == "cut_stream" else None
            response = await stream(request, self.generator, running, cut)
        else:
            try:
                whole = msgspec.json.encode(await self.generator.answer(running))
            finally:
                self.generator.abandon(running)
            response = await _maybe_spoiled(request, whole, effect)
        entry["status"] = response.status
        entry["finish_reason"] = running.sequences[0].finish_reason
        entry["cached_tokens"] = running.sequences[0].cached_tokens
        return response

    def _effect(self, request: web.Request, headers: Mapping[str, str], body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        own = headers.get("x-sim-fault")
        if own and self.options.request_faults:
            return _own_fault(own)
        return self.faults.for_request(request.path, headers, has_media=_has_media(body))

    async def _suffer(self, request: web.Request, effect: Mapping[str, Any]) -> web.StreamResponse | None:
        """What a fault does before the request is handled; None: go on."""
        kind = effect["kind"]
        if kind == "status":
            return answer(effect.get("body", ""), int(effect.get("status", 500)), headers=effect.get("headers"))
        if kind == "delay":
            await self.generator.clock.sleep(float(effect.get("ms", 0)) / 1000)
        elif kind == "hang":
            await asyncio.Event().wait()
        elif kind == "reset":
            close(request)
            return web.Response(status=500)
        elif kind == "garbage":
            return web.Response(body=b"<html>not json", content_type="application/json")
        elif kind == "exit":
            raise SystemExit(int(effect.get("code", 1)))
        return None

    async def _body(self, request: web.Request) -> dict[str, Any]:
        return bodies.decode(await request.read(), request.content_type if request.headers.get("content-type") else "")

    async def render_chat(self, request: web.Request) -> web.StreamResponse:
        """Token ids and placeholders of a chat, without running it."""
        body = await self._body(request)
        generation = bodies.chat(body, self.options)
        prompt = await self.generator.chat_prompt(generation, {})
        features: dict[str, Any] | None = None
        if prompt.spans:
            features = {"mm_hashes": {}, "mm_placeholders": {}}
            for span in prompt.spans:
                features["mm_hashes"].setdefault(span.item.kind, []).append(span.item.hash)
                features["mm_placeholders"].setdefault(span.item.kind, []).append({"offset": span.offset, "length": span.item.tokens})
        return answer({"token_ids": prompt.tokens, "features": features})

    async def render_completions(self, request: web.Request) -> web.StreamResponse:
        """Token ids of every prompt."""
        generation = bodies.completions(await self._body(request))
        ids = [self.generator.vocabulary.learn(p) if isinstance(p, str) else list(p) for p in generation.prompts]
        return answer([{"token_ids": tokens, "features": None} for tokens in ids])

    async def tokenize(self, request: web.Request) -> web.StreamResponse:
        """Token ids of a prompt or of messages."""
        body = await self._body(request)
        if "messages" in body:
            tokens = (await self.generator.chat_prompt(bodies.chat(body, self.options), {})).tokens
        else:
            tokens = self.generator.vocabulary.learn(str(body.get("prompt", "")))
        return answer({"count": len(tokens), "max_model_len": self.options.max_model_len, "tokens": tokens, "token_strs": None})

    async def detokenize(self, request: web.Request) -> web.StreamResponse:
        """The text of token ids."""
        tokens = (await self._body(request)).get("tokens")
        if not isinstance(tokens, list) or not all(isinstance(t, int) for t in tokens):
            raise ApiError(400, "1 validation error: tokens must be a list of whole numbers", kind="Bad Request", param="body.tokens")
        return answer({"prompt": self.generator.vocabulary.text(tokens)})

    async def models(self, _: web.Request) -> web.StreamResponse:
        """`GET /v1/models`."""
        created = int(self.generator.clock.wall())
        return answer(shapes.models(self.options.names, self.options.model, created, self.options.max_model_len))

    async def health(self, _: web.Request) -> web.StreamResponse:
        """200 with an empty body, 503 while a fault says so."""
        return web.Response(status=503 if self.faults.standing("unhealthy") else 200)

    async def version(self, _: web.Request) -> web.StreamResponse:
        """`GET /version`."""
        return answer({"version": VERSION})

    async def metrics(self, _: web.Request) -> web.StreamResponse:
        """The Prometheus page."""
        broken = self.faults.standing("metrics")
        if broken and broken.get("mode") == "hang":
            await asyncio.Event().wait()
        if broken and broken.get("mode") == "frozen":
            self._frozen = self._frozen or self.page.text()
            return _page(self._frozen)
        self._frozen = ""
        if broken:
            return web.Response(status=int(broken.get("status", 500)))
        return _page(self.page.text())


def _page(text: str) -> web.Response:
    return web.Response(text=text, headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"})


def _has_media(body: Mapping[str, Any]) -> bool:
    messages = body.get("messages")
    contents = [m.get("content") for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    return any(isinstance(part, dict) and part.get("type") != "text" for c in contents if isinstance(c, list) for part in c)


def _own_fault(text: str) -> Mapping[str, Any]:
    try:
        effect = json.loads(text)
    except ValueError:
        effect = None
    if not isinstance(effect, dict) or effect.get("kind") not in REQUEST_KINDS:
        raise ApiError(400, f"x-sim-fault: {text!r} is not a JSON object with a kind of {', '.join(REQUEST_KINDS)}")
    return effect


async def _maybe_spoiled(request: web.Request, whole: bytes, effect: Mapping[str, Any] | None) -> web.StreamResponse:
    if effect and effect["kind"] in ("truncate_body", "cut_stream"):
        response = web.StreamResponse(headers={"content-type": "application/json", "content-length": str(len(whole))})
        await response.prepare(request)
        await response.write(whole[: len(whole) // 2])
        close(request)
        return response
    return web.Response(body=whole, content_type="application/json", headers={"server": "uvicorn"})


def answer(value: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    """A JSON response."""
    return web.Response(
        body=msgspec.json.encode(value), status=status, content_type="application/json", headers={"server": "uvicorn", **(headers or {})}
    )
