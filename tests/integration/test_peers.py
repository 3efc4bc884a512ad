# SPDX-License-Identifier: Apache-2.0
"""kbgate speaks to nobody whom its configuration or command line does not name, whatever the environment says."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import corpus
import peers
import service as kb

pytestmark = pytest.mark.security


class Listener:
    """Answers every request with one status and keeps the requests."""

    def __init__(self, status: int, headers=()):
        self.requests = requests = []

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                requests.append((self.command, self.path, dict(self.headers)))
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                self.send_response(status)
                for name, value in (*headers, ("Content-Length", "0")):
                    self.send_header(name, value)
                self.end_headers()

            do_GET = do_POST = do_CONNECT = answer

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.http.server_port}"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()


@pytest.fixture
def listener():
    """make(status, headers) → a Listener."""
    with contextlib.ExitStack() as stack:
        yield lambda *args: stack.enter_context(Listener(*args))


@pytest.fixture
def world(listener, tmp_path):
    """An environment that would lead a careless program elsewhere: (variables, the proxy it names)."""
    proxy = listener(200)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text("machine 127.0.0.1 login netrc password netrc\ndefault login netrc password netrc\n")
    (home / ".netrc").chmod(0o600)
    (home / ".curlrc").write_text(f'proxy = "http://{proxy.address}"\nlocation\n')
    names = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    variables = {name: f"http://{proxy.address}" for name in names}
    return variables | {"HOME": str(home), "no_proxy": "", "NO_PROXY": "", "NETRC": str(home / ".netrc")}, proxy


@pytest.fixture
def watched(world, tmp_path):
    """run(*args) → kbgate under the log and in that environment; peers() → whom it spoke to so far."""
    log = tmp_path / "peers"
    variables = peers.environment(log) | world[0]

    def run(*args, check=True):
        return kb.run(*args, check=check, env=os.environ | variables)

    run.environment, run.peers, run.proxy = variables, lambda: peers.read(log), world[1]
    return run


def test_the_log_sees_what_it_claims(tmp_path):
    """Calls of each kind, made by another program, are written down with their peers."""
    assert peers.SHIM.exists(), f"no {peers.SHIM}: build the target connect_log"
    log = tmp_path / "peers"
    script = """if True:
        import socket
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.sendto(b"x", ("127.0.0.1", 9))
        udp.sendmsg([b"x"], [], 0, ("127.0.0.2", 9))
        for family, address in ((socket.AF_INET, ("127.0.0.3", 1)), (socket.AF_INET6, ("::1", 1)), (socket.AF_UNIX, "/nowhere")):
            try:
                socket.socket(family).connect(address)
            except OSError:
                pass
        socket.getaddrinfo("localhost", 80)
    """
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | peers.environment(log))
    seen = [(peer.what, peer.whom) for peer in peers.read(log, os.path.basename(sys.executable))]
    wanted = [("send", "127.0.0.1:9"), ("send", "127.0.0.2:9"), ("connect", "127.0.0.3:1"), ("connect", "unix:/nowhere"), ("resolve", "localhost")]
    assert [peer for peer in seen if peer in wanted] == wanted
    assert not socket.has_ipv6 or ("connect", "[::1]:1") in seen


@pytest.mark.parametrize("what, whom, is_loopback", [
    ("connect", "127.0.0.1:80", True), ("connect", "[::1]:80", True), ("connect", "192.0.2.1:80", False),
    ("connect", "[2001:db8::1]:80", False), ("connect", "unix:/run/nscd/socket", False), ("connect", "family:40", False),
    ("resolve", "localhost", True), ("resolve", "127.0.0.1", True), ("resolve", "kb.example", False), ("send", "0.0.0.0:53", False),
])
def test_only_this_machine_is_loopback(what, whom, is_loopback):
    assert peers.Peer("kbgate", what, whom).is_loopback() == is_loopback


def test_the_environment_is_a_trap(world, listener):
    """Another client that is led by it does go elsewhere."""
    variables, proxy = world
    other = listener(200)
    script = f"import urllib.request; urllib.request.urlopen('http://{other.address}/mcp')"
    subprocess.run([sys.executable, "-c", script], check=True, env=os.environ | variables)
    assert len(proxy.requests) == 1 and other.requests == []


def test_a_life_of_service_speaks_to_nobody(watched, tmp_path, corpus_folder):
    """Ingest, every command on the spot, and serving through calls, a reload, a publication and the end."""
    files = shutil.copytree(corpus_folder, tmp_path / "corpus")
    store = tmp_path / "store"
    watched("ingest", "--store", store, files)
    server = kb.Service(tmp_path / "service", store)
    watched("check", "--config", server.config)
    token = watched("token", "--config", server.config, "--tenant", "acme", "--sub", "s", "--scope", "kb:all").stdout.strip()
    watched("check", "--config", server.config, "--token", token)
    assert "ZEPPELIN-7" in watched("search", "--store", store, "travel").stdout
    assert "fourteen days" in watched("search", "--config", server.config, "--token", token, "travel").stdout
    server.start(watched.environment)
    try:
        live_through_it(server, token, watched, files)
    finally:
        assert server.stop() == 0, server.log_text()
    # Where it listens is an address too, looked up as one.
    assert set(watched.peers()) == {peers.Peer("kbgate", "resolve", "127.0.0.1")}
    assert watched.proxy.requests == []


def live_through_it(server, token, watched, files):
    assert server.search(token, "travel")["results"]
    assert server.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).status == 401
    for uri in ("kb://index", "kb://doc/handbook/handbook/travel.md"):
        assert b"contents" in server.rpc("resources/read", {"uri": uri}, token, modern=True).body
    assert server.request("GET", "/v1/search?q=travel", token).status == 200
    policy = server.home / "policy.yaml"
    policy.write_text(policy.read_text() + "# changed\n")
    server.process.send_signal(signal.SIGHUP)
    wait_for(server, lambda: "policy_reloaded" in server.log_text())
    (files / "handbook" / "travel.md").write_text("# Travel\n\nTravel is now booked by the OSPREY-5 desk.\n")
    watched("ingest", "--store", server.store, files)
    wait_for(server, lambda: b"OSPREY-5" in server.request("GET", "/v1/search?q=OSPREY-5", token).body)
    for path in ("/livez", "/readyz", "/metrics"):
        assert server.request("GET", path, admin=True).status == 200


def wait_for(server, condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, server.log_text()
        time.sleep(0.05)


def test_stdio_speaks_to_nobody(watched, own_server):
    server = own_server(start=False)
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_kb","arguments":{"query":"travel"}}}\n'
    done = subprocess.run([kb.KBGATE, "stdio", "--config", server.config], input=call, capture_output=True, timeout=60,
                          env=os.environ | watched.environment | {"KBGATE_TOKEN": server.mint()})
    assert b"fourteen days" in done.stdout, done
    assert watched.peers() == [] and watched.proxy.requests == []


def test_a_search_by_address_speaks_to_that_address_alone(watched, server, token):
    plain = kb.run("search", "--url", server.url, "--token", token, "--json", "travel")
    assert watched("search", "--url", server.url, "--token", token, "--json", "travel").stdout == plain.stdout
    assert set(watched.peers()) == {peers.Peer("kbgate", "connect", server.host)}
    assert watched.proxy.requests == []


def test_no_credentials_but_the_given_ones_are_sent(watched, listener):
    other = listener(401, [("WWW-Authenticate", 'Basic realm="kb"')])
    for extra, sent in (([], None), (["--token", "given"], "Bearer given")):
        done = watched("search", "--url", f"http://{other.address}/mcp", *extra, "travel", check=False)
        assert done.returncode == 1 and "401" in done.stderr
        (request,) = other.requests
        assert request[:2] == ("POST", "/mcp") and request[2].get("Authorization") == sent
        other.requests.clear()
    assert {peer.whom for peer in watched.peers()} == {other.address}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_moves_no_request(watched, listener, status):
    elsewhere = listener(200)
    first = listener(status, [("Location", f"http://{elsewhere.address}/mcp")])
    done = watched("search", "--url", f"http://{first.address}/mcp", "--token", "given", "travel", check=False)
    assert done.returncode == 1 and re.search(rf"\b{status}\b", done.stderr), done.stderr
    assert {peer.whom for peer in watched.peers()} == {first.address}
    assert len(first.requests) == 1 and elsewhere.requests == []


@pytest.mark.parametrize("address", ["file:///etc/hostname", "ftp://127.0.0.1:1/mcp", "gopher://127.0.0.1:1/", "dict://127.0.0.1:1/", "scp://127.0.0.1:1/"])
def test_only_http_is_spoken(watched, address):
    done = watched("search", "--url", address, "--token", "given", "travel", check=False)
    assert done.returncode == 1 and done.stderr and done.stdout == ""
    assert watched.peers() == [] and watched.proxy.requests == []
