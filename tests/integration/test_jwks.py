# SPDX-License-Identifier: Apache-2.0
"""Keys over HTTPS: from the first fetch through rotation, floods and failures to a server that is gone."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time

import pytest

import service as kb
from keys_server import Authority, KeysServer, SigningKey

pytestmark = pytest.mark.security

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ISSUER = "https://login.example/"


def policy(uri: str, more="") -> str:
    text = kb.POLICY.format(issuer=ISSUER, resource=kb.RESOURCE)
    text = text.replace("jwks_file: jwks.json", f'jwks_uri: "{uri}"\n    ca_file: ca.pem' + more)
    return text.replace("    typ_any: true\n    development: true\n", "")


@pytest.fixture
def ca(tmp_path):
    return Authority(tmp_path / "ca")


@pytest.fixture
def keys(ca):
    """The issuer's server; it has one key, `a`."""
    server = KeysServer(ca.issue())
    server.keys = [SigningKey("a")]
    yield server
    server.close()


@pytest.fixture
def make(own_server, ca):
    """make(keys, more, config) → a service that is about to fetch from keys; not started yet."""
    def build(keys, more="", config="", budgets=kb.BUDGETS):
        one = own_server(start=False, policy=policy(keys.uri, more), config=config, budgets=budgets)
        (one.home / "ca.pem").write_bytes(ca.file.read_bytes())
        return one

    return build


def wait_for(condition, seconds) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def ready(service) -> bool:
    return service.request("GET", "/readyz", admin=True).status == 200


def start_ready(service, env=None):
    service.start(env)
    assert wait_for(lambda: ready(service), 5), service.log_text()
    return service


def status(service, token) -> int:
    return service.post(LIST, token).status


def metric(service, name, **labels) -> float | None:
    text = service.request("GET", "/metrics", admin=True).body.decode()
    wanted = ",".join(f'{k}="{v}"' for k, v in labels.items())
    found = re.search(rf"^{name}\{{{wanted}\}} (.+)$", text, re.M)
    return float(found[1]) if found else None


def failures(service, reason) -> float:
    return metric(service, "kbgate_jwks_fetch_failures_total", issuer="tests", reason=reason)


def test_tokens_of_a_fetched_key_pass(make, keys):
    service = start_ready(make(keys))
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    assert status(service, SigningKey("a").sign(ISSUER)) == 401, "another key of the same name"
    assert keys.requests[0][0] == "/jwks.json"
    assert metric(service, "kbgate_jwks_keys", issuer="tests") == 1
    assert metric(service, "kbgate_jwks_dropped_keys", issuer="tests") == 0
    assert 0 <= metric(service, "kbgate_jwks_age_seconds", issuer="tests") < 60
    assert metric(service, "kbgate_jwks_fetches_total", issuer="tests") >= 1
    event = next(json.loads(line) for line in service.log_text().splitlines() if "jwks_fetched" in line)
    assert event["uri"] == keys.uri and event["keys"] == 1


def test_unusable_keys_are_dropped_and_counted(make, keys):
    def answer():
        good = keys.keys[0].jwk()
        bad = [{"kty": "oct", "k": "c2VjcmV0", "kid": "o"}, SigningKey("twice").jwk(), SigningKey("twice").jwk()]
        return 200, {}, json.dumps({"keys": [good, *bad]}).encode()

    keys.override = answer
    service = start_ready(make(keys))
    assert metric(service, "kbgate_jwks_keys", issuer="tests") == 1
    assert metric(service, "kbgate_jwks_dropped_keys", issuer="tests") == 3
    assert status(service, keys.keys[0].sign(ISSUER)) == 200


def test_a_rotation_is_picked_up_on_first_use(make, keys):
    service = start_ready(make(keys))
    old, new = keys.keys[0], SigningKey("b")
    assert status(service, old.sign(ISSUER)) == 200
    keys.keys = [new]
    assert status(service, new.sign(ISSUER)) == 200, "the very first call with the new key"
    assert status(service, old.sign(ISSUER)) == 401, "gone from a good fetch; remembered tokens too"
    assert len(keys.requests) == 3, "the start, the new kid, the old one"


def test_a_new_key_under_the_same_kid_is_picked_up(make, keys):
    service = start_ready(make(keys))
    old = keys.keys[0].sign(ISSUER)
    assert status(service, old) == 200
    keys.keys = [SigningKey("a")]
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    assert status(service, old) == 401


def test_waiting_calls_share_one_fetch(make, keys):
    service = start_ready(make(keys))
    asked, answer_now = threading.Event(), threading.Event()
    new = SigningKey("b")

    def slow():
        asked.set()
        answer_now.wait(4)
        return 200, {}, json.dumps({"keys": [keys.keys[0].jwk(), new.jwk()]}).encode()

    keys.override = slow
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(status(service, new.sign(ISSUER)))) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert asked.wait(5)
    assert status(service, keys.keys[0].sign(ISSUER)) == 200, "known keys are not held up"
    assert answers == []
    answer_now.set()
    for thread in threads:
        thread.join()
    assert answers == [200] * 8
    assert len(keys.requests) == 2


def flood(service, make_token, seconds, counts):
    """Calls with a token each on one connection, as fast as they are answered."""
    connection = http.client.HTTPConnection(service.host, timeout=30)
    body = json.dumps(LIST)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        connection.request("POST", "/mcp", body, {"Authorization": "Bearer " + make_token(), "Content-Type": "application/json",
                                                  "Accept": "application/json, text/event-stream"})
        answer = connection.getresponse()
        answer.read()
        counts[answer.status] = counts.get(answer.status, 0) + 1
    connection.close()


def test_a_flood_of_unknown_kids_makes_two_fetches(make, keys):
    service = start_ready(make(keys))
    known = keys.keys[0]
    bad = known.sign(ISSUER).split(".")
    numbers = iter(range(10**9))

    def unknown():
        header = {"alg": "ES256", "typ": "at+jwt", "kid": f"unknown-{next(numbers)}"}
        return ".".join([kb.b64url(json.dumps(header).encode()), *bad[1:]])

    counts, good = [{} for _ in range(4)], {}
    threads = [threading.Thread(target=flood, args=(service, unknown, 10, c)) for c in counts]
    threads.append(threading.Thread(target=flood, args=(service, lambda: known.sign(ISSUER), 10, good)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(set(c) == {401} for c in counts), counts
    assert set(good) == {200} and good[200] > 20
    assert sum(c[401] for c in counts) > 1000, "a flood it was"
    assert len(keys.requests) <= 1 + 2


BAD_ANSWERS = {
    "500": ((500, {}, b"oops"), "status"),
    "an empty set": ((200, {}, b'{"keys":[]}'), "unusable"),
    "symmetric keys alone": ((200, {}, b'{"keys":[{"kty":"oct","k":"c2VjcmV0","kid":"a"}]}'), "unusable"),
    "garbage": ((200, {}, b"<html>maintenance</html>"), "unusable"),
    "no body": ((200, {}, b""), "unusable"),
    "a huge body": ((200, {}, b" " * (256 * 1024 + 1)), "too_large"),
    "a huge head": ((200, {f"X-{i}": "x" * 1000 for i in range(20)}, b"{}"), "too_large"),
}


@pytest.mark.parametrize("row", BAD_ANSWERS)
def test_a_bad_answer_changes_nothing(make, keys, row):
    keys.override, reason = None, BAD_ANSWERS[row][1]
    service = start_ready(make(keys))
    keys.override = BAD_ANSWERS[row][0]
    assert status(service, SigningKey("b").sign(ISSUER)) == 401
    assert len(keys.requests) == 2 and failures(service, reason) == 1
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    assert ready(service)
    event = next(json.loads(line) for line in service.log_text().splitlines() if "jwks_fetch_failed" in line)
    assert event["reason"] == reason and event["issuer"] == "tests"
    keys.override, keys.keys = None, [SigningKey("b")]
    assert status(service, keys.keys[0].sign(ISSUER)) == 200, "and heals"


def test_a_redirect_is_not_followed(make, keys, ca):
    service = start_ready(make(keys))
    other = KeysServer(ca.issue())
    other.keys = [SigningKey("b")]
    keys.override = (302, {"Location": other.uri}, b"")
    assert status(service, other.keys[0].sign(ISSUER)) == 401
    assert failures(service, "status") == 1
    assert other.requests == []
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    other.close()


def test_a_server_that_is_down_changes_nothing(make, keys):
    service = start_ready(make(keys))
    keys.close()
    assert status(service, SigningKey("b").sign(ISSUER)) == 401
    assert failures(service, "connect") == 1
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    assert ready(service)


def assert_cold(service, token, reason):
    assert wait_for(lambda: failures(service, reason) >= 1, 5), service.log_text()
    assert not ready(service)
    assert "keys" in service.request("GET", "/readyz?verbose", admin=True).body.decode()
    assert service.request("GET", "/livez", admin=True).status == 200
    reply = service.post(LIST, token)
    assert reply.status == 503 and int(reply.header("Retry-After")) > 0
    assert reply.header("WWW-Authenticate") is None, "it is not the token's fault"
    assert service.request("GET", "/v1/search?q=travel", token).status == 503
    assert service.post(LIST, token.replace("at+jwt", "x")[:-4]).status in (401, 503)
    assert service.post(LIST, "garbage").status == 401
    assert service.post(LIST).status == 401


def test_before_the_first_fetch_it_lives_but_is_not_ready(make, keys):
    keys.override = (500, {}, b"")
    service = make(keys).start()
    token = keys.keys[0].sign(ISSUER)
    assert_cold(service, token, "status")
    keys.override = None
    service.process.send_signal(signal.SIGHUP)  # the calls have used up the limit
    assert wait_for(lambda: ready(service), 3), service.log_text()
    assert status(service, token) == 200


def test_a_server_of_keys_that_starts_late_is_found_soon(make, keys):
    keys.override = (500, {}, b"")
    service = make(keys).start()
    assert wait_for(lambda: len(keys.requests) >= 1, 3)
    assert not ready(service)
    keys.override = None
    assert wait_for(lambda: ready(service), 3), service.log_text()


@pytest.mark.parametrize("trouble", ["a certificate for another name", "a CA that is not trusted"])
def test_certificates_are_verified(make, ca, tmp_path, trouble):
    if "name" in trouble:
        certificate = ca.issue("localhost")
    else:
        certificate = Authority(tmp_path / "stranger").issue()
    server = KeysServer(certificate)
    server.keys = [SigningKey("a")]
    service = make(server).start()
    assert_cold(service, server.keys[0].sign(ISSUER), "tls")
    assert server.requests == [], "not a byte of HTTP was said"
    server.close()


def test_past_max_stale_the_answer_is_503_and_not_401(make, keys):
    service = start_ready(make(keys, more="\n    max_stale_s: 10"))
    token = keys.keys[0].sign(ISSUER)
    assert status(service, token) == 200
    keys.override = (500, {}, b"")
    fetched = time.monotonic()
    while time.monotonic() < fetched + 4:
        assert status(service, token) == 200
        time.sleep(0.2)
    assert wait_for(lambda: status(service, token) != 200, 15)
    reply = service.post(LIST, token)
    assert reply.status == 503 and int(reply.header("Retry-After")) > 0
    assert ready(service), "one issuer's trouble does not take the others down"
    assert metric(service, "kbgate_jwks_age_seconds", issuer="tests") >= 10
    assert metric(service, "kbgate_jwks_keys", issuer="tests") == 0
    keys.override = None
    service.process.send_signal(signal.SIGHUP)
    assert wait_for(lambda: status(service, token) == 200, 3)


def test_a_call_waits_no_longer_than_its_deadline(make, keys):
    service = start_ready(make(keys, config="deadline_ms: 1000\n"))
    hold = threading.Event()

    def silent():
        hold.wait(20)
        return 500, {}, b""

    keys.override = silent
    began = time.monotonic()
    reply = service.post(LIST, SigningKey("b").sign(ISSUER))
    assert reply.status == 503 and reply.header("Retry-After")
    assert 0.9 < time.monotonic() - began < 4
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    hold.set()


def test_a_client_that_leaves_while_it_waits_leaves_nothing_behind(make, keys):
    service = start_ready(make(keys))
    asked, hold = threading.Event(), threading.Event()

    def silent():
        asked.set()
        hold.wait(20)
        return 500, {}, b""

    keys.override = silent
    host, port = service.host.split(":")
    with socket.create_connection((host, int(port))) as client:
        body = json.dumps(LIST)
        client.sendall((f"POST /mcp HTTP/1.1\r\nHost: {service.host}\r\nAuthorization: Bearer {SigningKey('b').sign(ISSUER)}\r\n"
                        f"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
                        f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
        assert asked.wait(5)
    in_flight = re.compile(rb"^kbgate_requests_in_flight 0$", re.M)
    assert wait_for(lambda: in_flight.search(service.request("GET", "/metrics", admin=True).body), 3)
    hold.set()
    assert status(service, keys.keys[0].sign(ISSUER)) == 200


def test_no_variable_or_netrc_moves_a_request(make, keys, tmp_path):
    proxy = socket.create_server(("127.0.0.1", 0))
    proxy.settimeout(0)
    url = f"http://127.0.0.1:{proxy.getsockname()[1]}"
    home = tmp_path / "home"
    home.mkdir()
    (home / ".netrc").write_text("machine 127.0.0.1 login canary password canary\n")
    (home / ".netrc").chmod(0o600)
    (home / ".curlrc").write_text(f'proxy = "{url}"\n')
    env = {name: url for name in ("http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")}
    env |= {"no_proxy": "", "HOME": str(home), "NETRC": str(home / ".netrc"), "CURL_HOME": str(home)}
    service = start_ready(make(keys), env)
    assert status(service, keys.keys[0].sign(ISSUER)) == 200
    assert all("Authorization" not in headers and "Proxy-Authorization" not in headers for _, headers in keys.requests)
    with pytest.raises(BlockingIOError):
        proxy.accept()
    proxy.close()


def test_a_reloaded_policy_keeps_the_keys(make, keys, ca):
    service = start_ready(make(keys))
    token = keys.keys[0].sign(ISSUER)
    keys.override = (500, {}, b"")  # whoever fetches again is lost
    file = service.home / "policy.yaml"
    file.write_text(file.read_text() + "revoked: {jti: [], sub: [leaver], client_id: []}\n")
    assert wait_for(lambda: status(service, keys.keys[0].sign(ISSUER, sub="leaver")) == 401, 3)
    assert status(service, token) == 200
    assert len(keys.requests) == 1
    keys.override = None
    (service.home / "ca.pem").write_bytes(b"# another file\n" + ca.file.read_bytes())
    assert wait_for(lambda: len(keys.requests) == 2, 3), "other CAs, another fetch"
    assert wait_for(lambda: status(service, token) == 200, 3)
    (service.home / "ca.pem").write_bytes(b"no certificate")
    assert wait_for(lambda: "policy_reload_failed" in service.log_text(), 3)
    assert status(service, token) == 200


def test_sighup_fetches_at_once(make, keys):
    service = start_ready(make(keys))
    token = keys.keys[0].sign(ISSUER)
    assert status(service, token) == 200
    keys.keys = [SigningKey("b")]
    service.process.send_signal(signal.SIGHUP)
    assert wait_for(lambda: status(service, token) == 401, 2), "a revoked key"
    for _ in range(3):
        before = len(keys.requests)
        service.process.send_signal(signal.SIGHUP)
        assert wait_for(lambda: len(keys.requests) > before, 2), "whatever the limit says"


@pytest.mark.parametrize("content, reason", [(None, "ca.pem"), ("no certificate\n", "holds no certificate")])
def test_a_bad_ca_file_stops_the_start(make, keys, content, reason):
    service = make(keys)
    if content is None:
        (service.home / "ca.pem").unlink()
    else:
        (service.home / "ca.pem").write_text(content)
    with pytest.raises(AssertionError, match=reason):
        service.start()
    assert keys.requests == []


def stdio(service, token):
    done = subprocess.run([kb.KBGATE, "stdio", "--config", str(service.config)], input=json.dumps(LIST) + "\n",
                          capture_output=True, text=True, timeout=60, env=os.environ | {"KBGATE_TOKEN": token})
    return json.loads(done.stdout)


def test_stdio_waits_for_the_first_keys(make, keys):
    service = make(keys)
    assert stdio(service, keys.keys[0].sign(ISSUER))["result"]["tools"]
    keys.override = (500, {}, b"")
    error = stdio(service, keys.keys[0].sign(ISSUER))["error"]
    assert error["code"] == -31002 and error["data"]["retry_after_ms"] > 0


def test_check_explains_a_token_of_fetched_keys(make, keys):
    service = make(keys)
    out = kb.run("check", "--config", service.config, "--token", keys.keys[0].sign(ISSUER)).stdout
    assert "token: ok" in out and "partition: collection=handbook" in out
    done = kb.run("check", "--config", service.config, "--token", SigningKey("b").sign(ISSUER), check=False)
    assert done.returncode == 1 and "unknown_key" in done.stdout
