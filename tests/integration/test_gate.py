# SPDX-License-Identifier: Apache-2.0
"""Who is let in, and what the others are told."""

import base64
import hashlib
import hmac
import json
import os
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

import service as kb

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


def parts(token):
    return [json.loads(base64.urlsafe_b64decode(p + "==")) for p in token.split(".")[:2]]


def encode(value) -> str:
    return kb.b64url(json.dumps(value, separators=(",", ":")).encode())


def hs256_with_the_public_key(server, token):
    header, claims = parts(token)
    jwk = (server.home / "jwks.json").read_bytes()
    unsigned = encode({**header, "alg": "HS256"}) + "." + encode(claims)
    return unsigned + "." + kb.b64url(hmac.new(jwk, unsigned.encode(), hashlib.sha256).digest())


def spoiled(server, token) -> dict:
    header, claims = parts(token)
    signature = token.split(".")[2]
    flipped = ("A" if signature[0] != "A" else "B") + signature[1:]
    return {
        "alg none": encode({**header, "alg": "none"}) + "." + encode(claims) + ".",
        "alg none with a signature": encode({**header, "alg": "none"}) + "." + encode(claims) + "." + signature,
        "tampered claims": encode(header) + "." + encode({**claims, "scope": "kb:all"}) + "." + signature,
        "tampered signature": token.rsplit(".", 1)[0] + "." + flipped,
        "no signature": token.rsplit(".", 1)[0] + ".",
        "HS256 with the public key": hs256_with_the_public_key(server, token),
        "two segments": token.rsplit(".", 1)[0],
        "five segments": token + ".a.b",
        "padding": token + "=",
        "not a token": "garbage",
        "over the size limit": token + "A" * 9000,
    }


def test_without_a_token_the_challenge_names_no_error(server):
    reply = server.post(LIST)
    assert reply.status == 401 and reply.body == b""
    challenge = reply.header("WWW-Authenticate")
    assert challenge.startswith("Bearer ") and "error=" not in challenge
    assert 'scope="kb:read"' in challenge
    assert 'resource_metadata="http://kb.example/.well-known/oauth-protected-resource/mcp"' in challenge


def test_every_invalid_token_gets_one_answer(server, token):
    answers = set()
    for name, bad in spoiled(server, token).items():
        reply = server.post(LIST, bad)
        assert reply.status == 401, name
        answers.add((reply.body, reply.header("WWW-Authenticate")))
    assert len(answers) == 1
    body, challenge = answers.pop()
    assert body == b'{"error":"invalid_token"}' and 'error="invalid_token"' in challenge
    assert server.post(LIST, token).status == 200, "the good token passes: the test can fail"


def sign(server, claims, header=None) -> str:
    """A token signed with the service's own development key, whatever its claims say."""
    key = serialization.load_pem_private_key((server.home / "token.pem").read_bytes(), None)
    unsigned = encode(header or {"alg": "ES256", "typ": "JWT"}) + "." + encode(claims)
    r, s = decode_dss_signature(key.sign(unsigned.encode(), ec.ECDSA(hashes.SHA256())))
    return unsigned + "." + kb.b64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def good_claims() -> dict:
    now = int(time.time())
    return {"iss": kb.ISSUER, "aud": kb.RESOURCE, "sub": "ann", "tid": "acme", "scope": "kb:read", "iat": now, "exp": now + 600}


LEEWAY = 30
# changes to good claims (a function of now), and whether the token still passes
CLAIM_ROWS = {
    "as it is": (lambda now: {}, True),
    "expired within the leeway": (lambda now: {"exp": now - LEEWAY + 10}, True),
    "expired": (lambda now: {"exp": now - LEEWAY - 1}, False),
    "no expiry": (lambda now: {"exp": None}, False),
    "expiry as text": (lambda now: {"exp": str(now + 600)}, False),
    "not valid yet": (lambda now: {"nbf": now + LEEWAY + 10}, False),
    "valid from now on": (lambda now: {"nbf": now}, True),
    "another audience": (lambda now: {"aud": "http://other.example/mcp"}, False),
    "an audience that begins like ours": (lambda now: {"aud": kb.RESOURCE + "/x"}, False),
    "ours among audiences": (lambda now: {"aud": ["http://other.example/mcp", kb.RESOURCE]}, True),
    "no audience": (lambda now: {"aud": None}, False),
    "an empty audience": (lambda now: {"aud": []}, False),
    "another issuer": (lambda now: {"iss": kb.ISSUER + "/"}, False),
    "scope of the wrong type": (lambda now: {"scope": ["kb:read"]}, False),
    "a lifetime of two days": (lambda now: {"exp": now + 2 * 86400}, False),
}


@pytest.mark.parametrize("row", CLAIM_ROWS)
def test_claims(server, row):
    change, passes = CLAIM_ROWS[row]
    claims = good_claims() | change(int(time.time()))
    reply = server.post(LIST, sign(server, {k: v for k, v in claims.items() if v is not None}))
    assert reply.status == (200 if passes else 401)
    assert passes or reply.body == b'{"error":"invalid_token"}'


@pytest.mark.parametrize("header", [{"alg": "es256"}, {"alg": "ES256", "crit": []}, {"alg": "ES256", "kid": "unknown"}, {"alg": "ES256", "typ": "dpop+jwt"}])
def test_headers(server, header):
    assert server.post(LIST, sign(server, good_claims(), header)).status == 401
    assert server.post(LIST, sign(server, good_claims(), {"alg": "ES256"})).status == 200, "without the change it passes"


def test_another_audience_is_refused(server, own_server):
    other = own_server(start=False)
    other.config.write_text(other.config.read_text().replace(kb.RESOURCE, "http://other.example/mcp"))
    policy = other.home / "policy.yaml"
    policy.write_text(policy.read_text().replace(kb.RESOURCE, "http://other.example/mcp"))
    for name in ("token.pem", "jwks.json"):
        (other.home / name).write_bytes((server.home / name).read_bytes())
    foreign = other.mint("kb:read")
    assert server.post(LIST, foreign).status == 401


@pytest.mark.parametrize("scopes, tenant", [("other:scope", "acme"), ("", "acme"), ("kb:all", "globex")])
def test_a_valid_token_without_any_grant_is_forbidden(server, scopes, tenant):
    reply = server.post(LIST, server.mint(scopes, tenant=tenant))
    assert reply.status == 403
    assert reply.json() == {"error": "insufficient_scope"}
    challenge = reply.header("WWW-Authenticate")
    assert 'error="insufficient_scope"' in challenge and 'scope="kb:read"' in challenge


def test_two_authorization_headers_are_a_bad_request(server, token):
    reply = server.post(LIST, token, [("Authorization", f"Bearer {token}")])
    assert reply.status == 400


def test_the_token_comes_before_the_body(server):
    assert server.post(b"no json", None).status == 401
    assert server.request("POST", "/mcp", None, [("Content-Type", "text/plain")], "x").status == 401


def test_the_scheme_has_no_case_and_the_query_string_no_token(server, token):
    for scheme in ("bearer", "BEARER"):
        assert server.post(LIST, None, [("Authorization", f"{scheme} {token}")]).status == 200
    assert server.request("GET", f"/v1/search?q=travel&access_token={token}").status == 401


def test_metadata_needs_no_token(server):
    documents = [server.request("GET", path).json() for path in
                 ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")]
    assert documents[0] == documents[1]
    assert documents[0]["resource"] == kb.RESOURCE
    assert documents[0]["authorization_servers"] == [kb.ISSUER]
    assert documents[0]["scopes_supported"] == ["kb:read"]


def test_foreign_origin_and_host_are_refused_before_the_token(server, token):
    assert server.post(LIST, token, [("Origin", "http://evil.example")]).status == 403
    assert server.post(LIST, token, [("Origin", "null")]).status == 403
    assert server.post(LIST, token, [("Host", "evil.example")]).status == 403
    assert server.post(LIST, token, [("Origin", "http://kb.example")]).status == 200


def test_no_token_byte_and_no_query_text_in_log_or_audit(server, token):
    server.search(token, "c4n4ryquery travel")
    server.post(LIST, "c4n4rytoken.x.y")
    for text in (server.log_text(), (server.home / "audit.jsonl").read_text()):
        assert "c4n4ry" not in text
        assert token.split(".")[2] not in text and token.split(".")[1] not in text


def test_a_changed_policy_is_in_force_within_two_seconds(own_server):
    server = own_server()
    token = server.mint("kb:read", sub="leaver")
    assert server.post(LIST, token).status == 200
    policy = server.home / "policy.yaml"
    good = policy.read_text()
    policy.write_text(good + 'revoked: {jti: [], sub: [leaver], client_id: []}\n')
    assert wait_for(lambda: server.post(LIST, token).status == 401, 2)
    policy.write_text("grants: [")  # a broken file changes nothing
    assert wait_for(lambda: "policy_reload_failed" in server.log_text(), 2)
    assert server.post(LIST, token).status == 401
    policy.write_text(good)
    assert wait_for(lambda: server.post(LIST, token).status == 200, 2)


def test_a_reload_is_checked_like_a_start(own_server):
    """What would be refused at the start is refused at a reload; the old rules stay."""
    server = own_server()
    token = server.mint("kb:read", tenant="meagre", sub="ann")
    policy = server.home / "policy.yaml"
    good = policy.read_text()
    for old, new, word in ((f'"{kb.RESOURCE}"', '"http://other.example/mcp"', "audience"), ('"meagre": meagre', '"meagre": other', "meagre")):
        before = server.log_text().count("policy_reload_failed")
        policy.write_text(good.replace(old, new).replace(", meagre]", ", other]" if word == "meagre" else ", meagre]"))
        assert wait_for(lambda: server.log_text().count("policy_reload_failed") > before, 3), word
        assert word in server.log_text().splitlines()[-1]
        assert server.post(LIST, token).status == 200
    policy.write_text(good)
    assert wait_for(lambda: "policy_recovered" in server.log_text(), 3)


def test_a_policy_that_cannot_be_read_is_reported_and_holds_nothing_up(own_server):
    server = own_server()
    token = server.mint("kb:read", sub="ann")
    policy = server.home / "policy.yaml"
    good = policy.read_text()
    for make in (lambda: None, policy.mkdir, lambda: os.mkfifo(policy)):
        before = server.log_text().count("policy_reload_failed")
        policy.unlink()
        make()
        assert wait_for(lambda: server.log_text().count("policy_reload_failed") > before, 3)
        assert server.post(LIST, token).status == 200
        if policy.is_dir():
            policy.rmdir()
        elif policy.exists():
            policy.unlink()
        recovered = server.log_text().count("policy_recovered")
        policy.write_text(good)
        assert wait_for(lambda: server.log_text().count("policy_recovered") > recovered, 3)
    policy.unlink()
    os.mkfifo(policy)
    assert kb.run("check", "--config", server.config, check=False).returncode == 1
    assert server.stop() == 0, "a named pipe in the policy's place must not hold up the end"


def test_a_token_that_would_be_refused_is_not_minted(server):
    done = kb.run("token", "--config", server.config, "--tenant", "acme", "--sub", "a", "--ttl", "25h", check=False)
    assert done.returncode == 1 and "max_lifetime_s" in done.stderr
    assert kb.run("token", "--config", server.config, "--tenant", "acme", "--sub", "a" * 257, check=False).returncode == 2
    assert server.post(LIST, server.mint("kb:read", sub="a" * 256, ttl="24h")).status == 200


def wait_for(condition, seconds) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()
