# SPDX-License-Identifier: Apache-2.0
"""What the tests with Redis stand on does what it says: the server, its clock, the faults, the round-robin."""

import socket
import time

import pytest

from fault_proxy import Balancer, FaultProxy, Relay
from redis_server import Client, Clock, RedisError
from replicas import StoreFault, at_once, call_bytes, error_type, together, wait_for

pytestmark = pytest.mark.redis


def test_redis_answers_pauses_and_returns_empty_on_the_same_port(redis_server):
    server = redis_server()
    assert server("SET", "k", b"\0\r\n") == b"OK" and server("GET", "k") == b"\0\r\n"
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(str(server.path))
        s.sendall(b"PING\r\n")
        assert s.recv(100) == b"+PONG\r\n"
    port = server.port
    server.restart()
    assert server.port == port and server("GET", "k") is None
    with server.client(timeout=0.3) as c:
        server.pause()
        with pytest.raises(TimeoutError):
            c("PING")
    server.resume()
    assert wait_for(server.is_answering, 5)
    server.pause()
    server.kill()  # a paused one, too
    with pytest.raises(ConnectionRefusedError):
        Client(port)


def test_redis_with_a_password_wants_it(redis_server):
    server = redis_server(password="s3cret")
    assert server("PING") == b"PONG"
    with Client(server.port) as c, pytest.raises(RedisError, match="NOAUTH"):
        c("PING")


def test_redis_lives_by_the_clock_it_is_given(redis_server, tmp_path):
    clock = Clock(tmp_path / "clock")
    server = redis_server(env=clock.environment())
    assert abs(int(server("TIME")[0]) - time.time()) < 5
    clock.freeze(1_900_000_000_123_456)
    assert server("TIME") == [b"1900000000", b"123456"]
    assert server("EVAL", "return redis.call('TIME')", 0) == [b"1900000000", b"123456"]
    server("SET", "k", "v", "PX", 60_000)
    clock.forward(59_999_000)
    assert server("GET", "k") == b"v" and server("PTTL", "k") == 1
    clock.forward(1_001_000)
    assert server("GET", "k") is None
    clock.skew(-3600)
    assert abs(int(server("TIME")[0]) + 3600 - time.time()) < 5
    clock.run()
    assert abs(int(server("TIME")[0]) - time.time()) < 5


def test_a_service_lives_by_the_clock_it_is_given(own_server, tmp_path):
    clock = Clock(tmp_path / "clock")
    server = own_server(start=False).start(clock.environment())
    short, long = server.mint(ttl="5m"), server.mint(ttl="1h")
    assert server.rpc("tools/list", {}, short).status == 200
    clock.skew(600)
    assert server.rpc("tools/list", {}, short).status == 401
    assert server.rpc("tools/list", {}, long).status == 200


def test_a_store_hangs_and_fails_at_will(own_server, tmp_path):
    fault = StoreFault(tmp_path / "fault")
    server = own_server(start=False, config="deadline_ms: 300\ncache_bytes: 0\n").start(together(fault.environment()))
    request = call_bytes(server.mint(), "travel")
    [(status, good)] = at_once([(server.host, request)])
    assert status == 200 and error_type(good) == "ok"
    fault.hold()
    [(status, body)] = at_once([(server.host, request)])
    assert status == 200 and error_type(body) == "retryable"
    fault.fail()
    [(status, body)] = at_once([(server.host, request)])
    assert b"-32603" in body and b"result" not in body
    fault.release()
    assert at_once([(server.host, request)]) == [(200, good)]


class Echo(Relay):
    async def serve(self, reader, writer):
        while data := await reader.read(100):
            writer.write(self.name + data)


def echo(name: bytes = b"") -> Echo:
    server = Echo()
    server.name = name
    return server


def say(s: socket.socket, text: bytes) -> bytes | None:
    """What comes back; empty: the connection ended. None: nothing came in time."""
    try:
        s.sendall(text)
        return s.recv(1000)
    except TimeoutError:
        return None
    except ConnectionError:
        return b""


def ask(port: int, text: bytes = b"x", timeout: float = 0.5) -> bytes | None:
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as s:
        return say(s, text)


def test_the_round_robin_takes_turns_and_leaves_out_the_dead():
    servers = [echo(b"a"), echo(b"b"), echo(b"c")]
    balancer = Balancer(lambda: [one.host for one in servers])
    assert sorted(ask(balancer.port) for _ in range(6)) == [b"ax", b"ax", b"bx", b"bx", b"cx", b"cx"]
    servers[1].close()
    assert {ask(balancer.port) for _ in range(6)} == {b"ax", b"cx"}
    servers[0].close()
    servers[2].close()
    assert ask(balancer.port) == b""
    balancer.close()


def test_the_proxy_does_each_fault_to_open_and_new_connections():
    server = echo()
    proxy = FaultProxy(server.port)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=0.5) as before:
        assert ask(proxy.port) == b"x" == say(before, b"x")
        proxy.set("garbage", garbage=b"zz")
        assert ask(proxy.port) == b"zz" == say(before, b"x")
        proxy.set("garbage")
        assert ask(proxy.port) not in (b"", b"x", None)
        proxy.set("delay", delay_ms=200)
        start = time.monotonic()
        assert ask(proxy.port) == b"x" and time.monotonic() - start >= 0.2
        proxy.set("blackhole")
        assert ask(proxy.port) is None and say(before, b"x") is None
        proxy.set("cut")
        assert ask(proxy.port) == b"" == say(before, b"x")
        proxy.set("pass")
        assert ask(proxy.port) == b"x"
    server.close()
    assert ask(proxy.port) == b"", "its server is away"
    proxy.close()


def test_environments_add_up(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/first.so")
    both = together({"LD_PRELOAD": "/a.so /first.so", "A": "1"}, {"LD_PRELOAD": "/b.so /first.so", "B": "2"})
    assert both == {"LD_PRELOAD": "/a.so /first.so /b.so", "A": "1", "B": "2"}
