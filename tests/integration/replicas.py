# SPDX-License-Identifier: Apache-2.0
"""Several kbgate that serve one knowledge base: one store, one policy, one set of keys, one Redis, and a round-robin
over TCP in front. Each has a log, an audit stream and, if need be, a clock of its own."""

import asyncio
import json
import os
import re
import signal
import socket
import time
from datetime import UTC, datetime
from pathlib import Path

import service as kb
from fault_proxy import Balancer, FaultProxy
from redis_server import RedisServer, preloading, shim

# Redis answers within this where a test is not about time: a busy machine makes no miss then.
PATIENT = {"command_ms": 2000, "connect_ms": 2000}
NO_LIMITS = "budgets:\n  tenant: {per_minute: 0, burst: 1, per_day: 0}\n  subject: {per_minute: 0, burst: 1, per_day: 0}\n"


def wait_for(condition, seconds, why=""):
    """The first true value of condition(); fails when it takes longer."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not within {seconds} s: {why() if callable(why) else why}"
        time.sleep(0.01)
    return found


class StoreFault:
    """A store that hangs, or fails, for every program that runs with environment()."""

    def __init__(self, file: Path):
        self.file = file

    def environment(self) -> dict:
        return preloading(shim("store_shim")) | {"STORE_FAULT": str(self.file)}

    def hold(self):
        self.file.write_bytes(b"")

    def fail(self):
        fresh = self.file.with_suffix(".new")
        fresh.write_bytes(b"fail")
        fresh.rename(self.file)

    def release(self):
        self.file.unlink(missing_ok=True)


def together(*environments: dict) -> dict:
    """Several environments as one: whatever each preloads is preloaded."""
    whole = {k: v for e in environments for k, v in e.items()}
    libraries = dict.fromkeys(lib for e in environments for lib in e.get("LD_PRELOAD", "").split())
    return whole | ({"LD_PRELOAD": " ".join(libraries)} if libraries else {})


class Replica(kb.Service):
    """One of them. `in_turn`: whether the round-robin gives it connections."""

    env: dict = {}
    in_turn = False

    def start(self, env: dict | None = None, in_turn: bool = True) -> "Replica":
        self.started = datetime.now(UTC).isoformat(timespec="milliseconds")  # as its audit stream writes times
        super().start(self.env | (env or {}))
        self.in_turn = in_turn
        return self

    def stop(self, *how) -> int:
        self.in_turn = False
        return super().stop(*how)

    # -- what it says of itself -------------------------------------------------------------------

    def metrics(self) -> dict:
        """{name{labels}: value}"""
        text = self.request("GET", "/metrics", admin=True).body.decode()
        return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{[^}\n]*\})?) (\S+)$", text, re.M)}

    def step(self, name: str) -> int:
        """How often a step was done to its end."""
        return int(self.metrics()[f'kbgate_step_total{{step="{name}"}}'])

    def searched(self) -> int:
        """How often it searched the store, in all its lives, for who was answered."""
        return sum(1 for line in self.audit() if line["outcome"] in ("ok", "empty") and not line["cache_hit"])

    def in_flight(self) -> int:
        return int(self.metrics()["kbgate_requests_in_flight"])

    def events(self, *names) -> list:
        """Lines of its log with these events, in order."""
        lines = [json.loads(line) for line in self.log_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") in names]

    def audit(self) -> list:
        path = self.home / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def redis_config(url: str, cache_key: Path, **settings) -> str:
    """The section of kbgate.yaml; what is None is left out."""
    lines = {"url": url, "cache_key_file": str(cache_key), "replicas_max": 3} | PATIENT | settings
    return "redis:\n" + "".join(f"  {k}: {json.dumps(v)}\n" for k, v in lines.items() if v is not None)


class Replicas:
    """n of them, and their Redis, which is started at once.

    proxy     they reach Redis through a FaultProxy, .proxy
    settings  lines of `redis:`, beside and instead of the usual ones; None leaves one out
    env       env(i) → the environment of the i-th, beside that of the store's fault
    """

    def __init__(self, home: Path, store: Path, redis: RedisServer, n: int = 3, proxy: bool = False, settings: dict | None = None,
                 config: str = "", budgets: str = NO_LIMITS, env=lambda i: {}):
        self.redis, self.all = redis, []
        home.mkdir(parents=True)
        self.cache_key = home / "cache.key"
        self.cache_key.write_bytes(os.urandom(32))
        self.cache_key.chmod(0o600)
        self.fault = StoreFault(home / "store-fault")
        self.proxy = FaultProxy(redis.port) if proxy else None
        url = redis.url.replace(f":{redis.port}", f":{self.proxy.port}") if proxy else redis.url
        lines = config + redis_config(**{"url": url, "cache_key": self.cache_key} | (settings or {}))
        for i in range(n):
            one = Replica(home / f"replica{i}", store, config=lines, budgets=budgets, like=self.all[0] if i else None)
            one.env = together(self.fault.environment(), env(i))
            self.all.append(one)
        self.balancer = Balancer(lambda: [one.host for one in self.all if one.in_turn])

    def __iter__(self):
        return iter(self.all)

    def __getitem__(self, i) -> Replica:
        return self.all[i]

    def start(self, reached: bool = True) -> "Replicas":
        for one in self.all:
            one.start()
        if reached:
            self.wait_reached()
        return self

    def restart(self, one: Replica, how: int = signal.SIGTERM):
        """One of them; it takes calls again once Redis is there for it."""
        code = one.stop(how)
        assert code == (0 if how == signal.SIGTERM else -how), (code, one.log_text())
        one.start(in_turn=False)
        self.wait_reached()
        one.in_turn = True

    def stop(self):
        """Ends them, and looks for what a sanitizer had to say."""
        self.fault.release()
        codes = [one.stop() for one in self.all]
        self.balancer.close()
        if self.proxy:
            self.proxy.close()
        for one in self.all:
            log = one.home / "serve.log"
            text = one.log_text() if log.exists() else ""
            assert "Sanitizer" not in text and "runtime error" not in text, text
        assert set(codes) == {0}, codes

    def mint(self, *args, **options) -> str:
        return self.all[0].mint(*args, **options)

    def total(self, what) -> int:
        """A figure of all together: a step's name, or a function of a replica."""
        return sum(one.step(what) if isinstance(what, str) else what(one) for one in self.all if one.process)

    def searches(self) -> int:
        """How often the store was searched to the end, since each started."""
        return self.total("retrieve")

    def wait_reached(self, seconds: float = 10):
        """Until every loop of all that run reaches Redis."""
        for one in self.all:
            if one.process:
                wait_for(lambda one=one: is_reached(one), seconds, one.log_text)


def is_up(one: Replica, endpoint: str) -> bool:
    return one.metrics()[f'kbgate_redis_up{{endpoint="{endpoint}"}}'] == 1


def is_reached(one: Replica) -> bool:
    """Whether each of its loops reaches Redis."""
    return is_up(one, "cache") and is_up(one, "budget")


def is_budget_shared(one: Replica) -> bool:
    """Whether Redis decides its charges, as its last ones showed."""
    return one.metrics()["kbgate_budget_shared"] == 1


def is_shared(one: Replica) -> bool:
    return is_reached(one) and is_budget_shared(one)


# -- many calls at once -------------------------------------------------------------------------------


def call_bytes(token: str, query: str, host: str = "kb.example", keep: bool = False, **arguments) -> bytes:
    """search_kb, as it goes over the wire."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "search_kb", "arguments": {"query": query, **arguments}}}).encode()
    return (f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {kb.LEGACY}\r\n"
            f"Connection: {'keep-alive' if keep else 'close'}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def parse(answer: bytes):
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), answer[:200]
    return int(head.split(b" ", 2)[1]), body


def ask(host: str, request: bytes, timeout: float = 60):
    """One call on a connection of its own → (status, body)."""
    name, port = host.rsplit(":", 1)
    with socket.create_connection((name, int(port)), timeout) as s:
        s.sendall(request)
        return parse(b"".join(iter(lambda: s.recv(65536), b"")))


async def _exchange(host: str, request: bytes, timeout: float):
    name, port = host.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(-1), timeout)
    finally:
        writer.transport.abort()
    return parse(answer)


def at_once(exchanges, timeout: float = 60) -> list:
    """[(host, request), …], each on a connection of its own, all at the same time → [(status, body), …] in order."""
    async def all_of_them():
        return await asyncio.gather(*(_exchange(host, request, timeout) for host, request in exchanges))

    return asyncio.run(all_of_them())


def outcome(body: bytes) -> dict:
    """structuredContent of an answer; fails for what is no result."""
    return json.loads(body)["result"]["structuredContent"]


def error_type(body: bytes) -> str:
    """The outcome's name; "ok" for a success."""
    return outcome(body).get("error", {}).get("type", "ok")
