# SPDX-License-Identifier: Apache-2.0
"""Several kbgate that serve one knowledge base: one store, one policy, one set of keys, one Redis, and a round-robin
over TCP in front. Each has a log, an audit stream and, if need be, a clock of its own."""

import asyncio
import json
import re
import time
from pathlib import Path

import service as kb
from fault_proxy import Balancer
from redis_server import preloading, shim

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


def redis_config(url: str, cache_key: Path, **settings) -> str:
    lines = {"url": url, "cache_key_file": str(cache_key), "replicas_max": 3} | PATIENT | settings
    return "redis:\n" + "".join(f"  {k}: {json.dumps(v)}\n" for k, v in lines.items())


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

    def start(self, env: dict | None = None) -> "Replica":
        super().start(self.env | (env or {}))
        self.in_turn = True
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

    def in_flight(self) -> int:
        return int(self.metrics()["kbgate_requests_in_flight"])

    def events(self, *names) -> list:
        """Lines of its log with these events, in order."""
        lines = [json.loads(line) for line in self.log_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") in names]

    def audit(self) -> list:
        path = self.home / "audit.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class Replicas:
    """n of them. `redis`: the lines of kbgate.yaml, as redis_config() writes them. env(i) → the environment of the i-th."""

    def __init__(self, home: Path, store: Path, redis: str, n: int = 3, config: str = "", budgets: str = NO_LIMITS, env=None):
        self.all = []
        for i in range(n):
            one = Replica(home / f"replica{i}", store, config=config + redis, budgets=budgets, like=self.all[0] if i else None)
            one.env = env(i) if env else {}
            self.all.append(one)
        self.balancer = Balancer(lambda: [one.host for one in self.all if one.in_turn])

    def __iter__(self):
        return iter(self.all)

    def __getitem__(self, i) -> Replica:
        return self.all[i]

    def start(self) -> "Replicas":
        for one in self.all:
            one.start()
        self.wait_shared()
        return self

    def stop(self):
        """Ends them in order, and looks for what a sanitizer had to say."""
        codes = [one.stop() for one in self.all]
        self.balancer.close()
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

    def wait_shared(self, seconds: float = 10):
        """Until Redis is up and decides for every one that runs."""
        for one in self.all:
            if one.process:
                wait_for(lambda one=one: is_shared(one), seconds, one.log_text)


def redis_up(one: Replica, endpoint: str) -> list:
    """kbgate_redis_up of an endpoint, one value a loop."""
    return [v for k, v in one.metrics().items() if k.startswith("kbgate_redis_up{") and f'endpoint="{endpoint}"' in k]


def is_shared(one: Replica) -> bool:
    """Whether each of its loops reaches Redis and the budgets are Redis' to decide."""
    up = redis_up(one, "cache") + redis_up(one, "budget")
    return bool(up) and min(up) >= 1 and one.metrics().get("kbgate_budget_shared") == 1


# -- many calls at once -------------------------------------------------------------------------------


def call_bytes(token: str, query: str, host: str = "kb.example", keep: bool = False, **arguments) -> bytes:
    """search_kb, as it goes over the wire."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "search_kb", "arguments": {"query": query, **arguments}}}).encode()
    return (f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: {kb.LEGACY}\r\n"
            f"Connection: {'keep-alive' if keep else 'close'}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


async def _exchange(host: str, request: bytes, timeout: float):
    name, port = host.rsplit(":", 1)
    reader, writer = await asyncio.open_connection(name, int(port))
    try:
        writer.write(request)
        answer = await asyncio.wait_for(reader.read(-1), timeout)
    finally:
        writer.transport.abort()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 "), answer[:200]
    return int(head.split(b" ", 2)[1]), body


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
