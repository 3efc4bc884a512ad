# SPDX-License-Identifier: Apache-2.0
"""Everything at once for some seconds: calls of every kind, clients that leave half-way, publishing,
policy reloads, a stop while calls run. What is asked follows a seed; what must hold holds in any order.
Built with a sanitizer, the service reports what it finds into its log, which fails the test too."""

import collections
import http.client
import json
import random
import re
import shutil
import signal
import socket
import struct
import threading
import time
from pathlib import Path
from urllib.parse import quote

import corpus
import service as kb

SEED = 20260101
N_CLIENTS = 8
N_EDITIONS = 4
N_CALLS = 60  # of each client under each edition
HIDDEN = "BARNACLE-4"  # no client here may see it


def publish(store, folder, n):
    """Guides that name their edition, and a contract that nobody here may see."""
    shutil.rmtree(folder, ignore_errors=True)
    docs = [
        corpus.Document(f"doc{i}.md", f"# Guide {i}\n\nThe travel desk answers. EDITION-{n} of part {i}.\n", "handbook", "policy", ["public"])
        for i in range(12)
    ]
    docs.append(corpus.Document("terms.md", f"# Terms\n\nThe travel desk signs. {HIDDEN}, EDITION-{n}.\n", "contracts", "contract", ["legal"]))
    kb.ingest(store, corpus.write(folder, docs))


def replace(path, text):
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(path)


class Client(threading.Thread):
    """One client: draws what it asks from a generator of its own until told to stop."""

    def __init__(self, server, token, number):
        super().__init__()
        self.server, self.token = server, token
        self.random = random.Random(SEED + number)
        self.versions = collections.defaultdict(set)  # index_version -> editions seen under it
        self.counts = collections.Counter()
        self.stop, self.answered = threading.Event(), threading.Event()
        self.failure = None
        self.kept = http.client.HTTPConnection(server.host, timeout=30)  # stays open between calls

    def run(self):
        actions = [self.search, self.search, self.rest, self.rest, self.read, self.index, self.list_tools,
                   self.invalid, self.refused, self.watch, self.leave, self.leave]
        try:
            while not self.stop.is_set():
                action = self.random.choice(actions)
                action()
                self.counts[action.__name__] += 1
                self.answered.set()
        except Exception as failure:  # looked at by the test
            self.failure = failure
        finally:
            self.kept.close()

    # -- what must hold ---------------------------------------------------------------------------

    def look(self, body: bytes, outcome: dict):
        assert HIDDEN.encode() not in body
        error = outcome.get("error", {}).get("type")
        assert error in (None, "empty", "retryable"), outcome
        if error is None:
            self.versions[outcome["index_version"]] |= set(re.findall(rb"EDITION-(\d+)", body))

    def query(self) -> str:
        return f"travel desk guide {self.random.randrange(40)}"

    # -- calls ------------------------------------------------------------------------------------

    def search(self):
        reply = self.server.rpc(
            "tools/call", {"name": "search_kb", "arguments": {"query": self.query(), "top_k": self.random.randint(1, 20)}},
            self.token, modern=self.random.random() < 0.5,
        )
        assert reply.status == 200, reply
        self.look(reply.body, reply.json()["result"]["structuredContent"])

    def rest(self):
        self.kept.request("GET", "/v1/search?q=" + quote(self.query()), headers={"Authorization": f"Bearer {self.token}"})
        answer = self.kept.getresponse()
        body = answer.read()
        assert answer.status in (200, 503), (answer.status, body)
        self.look(body, json.loads(body))

    def read(self):
        body = self.resource(f"kb://doc/handbook/doc{self.random.randrange(12)}.md")
        assert len(set(re.findall(rb"EDITION-(\d+)", body))) <= 1

    def index(self):
        assert b"contracts" not in self.resource("kb://index")

    def resource(self, uri) -> bytes:
        reply = self.server.rpc("resources/read", {"uri": uri}, self.token)
        assert reply.status == 200 and HIDDEN.encode() not in reply.body
        if "error" in reply.json():
            assert reply.json()["error"]["data"]["type"] == "retryable", reply.body
        else:
            assert b"handbook" in reply.body
        return reply.body

    def list_tools(self):
        reply = self.server.rpc("tools/list", {}, self.token)
        assert reply.status == 200 and b"handbook" in reply.body and b"contracts" not in reply.body

    def invalid(self):
        reply = self.server.rpc("tools/call", {"name": "search_kb", "arguments": {"query": "travel", "top_k": 99}}, self.token)
        assert reply.json()["result"]["structuredContent"]["error"]["type"] == "invalid_input"

    def refused(self):
        assert self.server.rpc("tools/list", {}, self.token[:-2]).status == 401

    def watch(self):
        path = self.random.choice(("/livez", "/readyz", "/metrics"))
        status = self.server.request("GET", path, admin=True).status
        assert status == 200 or path == "/readyz" and self.server.log_text().count('"draining"'), (path, status)

    def leave(self):
        """Sends a part of a call, or all of it, and goes without a word."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "search_kb", "arguments": {"query": self.query() + f" {self.random.random()}"}}})
        call = (f"POST /mcp HTTP/1.1\r\nHost: {self.server.host}\r\nAuthorization: Bearer {self.token}\r\n"
                "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                f"Content-Length: {len(body)}\r\n\r\n{body}").encode()
        host, port = self.server.host.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=30) as s:
            if self.random.random() < 0.5:  # with a reset instead of an orderly end
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            s.sendall(call[: self.random.choice((0, 40, len(call) - 20, len(call), len(call)))])


def start(server, token) -> list:
    clients = [Client(server, token, n) for n in range(N_CLIENTS)]
    for client in clients:
        client.start()
    return clients


def wait_for(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def gauge(server, name) -> int:
    return int(re.search(rb"^%s (\d+)$" % name.encode(), server.request("GET", "/metrics", admin=True).body, re.M)[1])


def test_signals_are_for_the_main_thread_alone(own_server):
    server = own_server()
    wanted = {signal.SIGHUP, signal.SIGINT, signal.SIGTERM}
    threads = [task for task in Path(f"/proc/{server.process.pid}/task").iterdir() if task.name != str(server.process.pid)]
    assert len(threads) >= 5  # two loops, the admin port's, two workers
    for task in threads:
        mask = int(re.search(r"^SigBlk:\s*([0-9a-f]+)$", (task / "status").read_text(), re.M)[1], 16)
        assert all(mask >> (number - 1) & 1 for number in wanted), task.name
    for _ in range(50):  # some come while the last one is still worked on
        server.process.send_signal(signal.SIGHUP)
        assert server.request("GET", "/livez", admin=True).status == 200
    assert server.stop() == 0, server.log_text()


def test_many_clients_publishing_and_reloads(tmp_path, own_server):
    store, folder = tmp_path / "store", tmp_path / "source"
    publish(store, folder, 0)
    # A cache that always evicts and a queue that is often full.
    server = own_server(store=store, config="cache_bytes: 60000\nworker_queue: 2\n")
    token = server.mint("kb:read kb:staff")
    policy = server.home / "policy.yaml"
    good = policy.read_text()
    variants = [good.replace("  - id: staff", "  - id: crew"), "grants: [", good]
    clients = start(server, token)
    for n in range(1, N_EDITIONS):
        publish(store, folder, n)
        replace(policy, variants[n % len(variants)])
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda n=n: f"EDITION-{n}" in str(server.call(token, query=f"travel desk {time.monotonic()}")))
        wait_for(lambda n=n: all(c.failure or c.counts.total() >= n * N_CALLS for c in clients))
    for client in clients:
        client.stop.set()
    for client in clients:
        client.join(30)
        assert not client.is_alive() and client.failure is None, (SEED, client.failure)
    seen = collections.defaultdict(set)
    for client in clients:
        for version, editions in client.versions.items():
            seen[version] |= editions
    assert all(len(editions) == 1 for editions in seen.values()), seen
    assert len(set.union(*seen.values())) == len(seen) >= 2
    # Nobody is forgotten: those who left half-way least of all.
    wait_for(lambda: gauge(server, "kbgate_requests_in_flight") == 0 and gauge(server, "kbgate_http_connections") == 0)
    assert server.request("GET", "/readyz", admin=True).status == 200
    assert "policy_reload_failed" in server.log_text() and "policy_reloaded" in server.log_text()
    assert server.stop() == 0, server.log_text()


def test_stop_while_calls_run(tmp_path, own_server):
    store = tmp_path / "store"
    publish(store, tmp_path / "source", 0)
    server = own_server(store=store, config="cache_bytes: 0\n")
    token = server.mint("kb:read")
    clients = start(server, token)
    for client in clients:
        assert client.answered.wait(30)
    assert server.stop() == 0, server.log_text()
    for client in clients:
        client.join(30)
        # Each met a closed port, or a connection that ended before its answer began: never half an answer.
        assert not client.is_alive() and isinstance(client.failure, ConnectionError), (SEED, client.failure)
    calls = [json.loads(line) for line in (server.home / "audit.jsonl").read_text().splitlines()]
    assert len(calls) >= sum(sum(client.counts[a] for a in ("search", "rest", "read", "invalid")) for client in clients)
