# SPDX-License-Identifier: Apache-2.0
"""Who is let in, and what the others are told."""

import base64
import hashlib
import hmac
import json
import time

import pytest

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


def test_an_expired_token_is_refused(server):
    short = server.mint("kb:read", ttl="1s")
    assert server.post(LIST, short).status == 200
    header, claims = parts(short)
    deadline = claims["exp"] + 30  # the leeway
    skewed = kb.run("check", "--config", server.config, "--token", short, check=False)
    assert skewed.returncode == 0 and time.time() < deadline


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


def wait_for(condition, seconds) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()
