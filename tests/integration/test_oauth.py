# SPDX-License-Identifier: Apache-2.0
"""kbgate as an OAuth resource server: clients that come without a token find their way to one, and
what those without the right one are told (RFC 6750, RFC 9728)."""

import contextlib
import json
import re
import socket
import time

import pytest

import drivers
import service as kb
from authorization_server import OIDC, AuthorizationServer

pytestmark = pytest.mark.security

METADATA = ("/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp")
FOUND = ["tools/call", {"query": "How far ahead do I have to book travel?", "top_k": 2}]
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
POLICY = """\
policy_version: 1
issuers:
  corp:
    iss: "{issuer}"
    jwks_file: corp.json
    audiences: ["{resource}"]
    algs: [ES256]
    claims:
      scopes: {{path: scope, kind: space_string}}
      groups: {{path: groups, kind: array}}
      tenant: {{path: tid, kind: string}}
    tenants: {{"tid-42": acme}}
grants:
  - id: reading
    tenants: [acme]
    when: {{scopes_all: ["kb:read"]}}
    allow: {{collections: [handbook, faq], doc_types: ["*"], labels: [public]}}
  - id: staff-only
    tenants: [acme]
    when: {{scopes_any: ["kb:staff", "kb:all"], groups_any: [legal]}}
    allow: {{collections: [contracts], doc_types: [contract], labels: [public, internal, legal]}}
{challenge_scopes}
"""
# Whatever a grant names is nobody's business: only challenge_scopes is shown.
GRANT_NAMES = ("kb:staff", "kb:all", "legal", "contracts", "handbook", "faq", "reading", "staff-only", "internal", "acme")

OAUTH_CLIENTS = [
    drivers.Client("oauth-v2", "oauth_v2.mjs", "http", "legacy", kb.LEGACY),
    drivers.Client("oauth-v2", "oauth_v2.mjs", "http", "auto", kb.MODERN),
    drivers.Client("oauth-v2", "oauth_v2.mjs", "http", kb.MODERN, kb.MODERN),
]
# Version 1 does not read the challenge's scope: it has to be told, and cannot step up.
OAUTH_V1 = drivers.Client("oauth-v1", "oauth_v1.mjs", "http", "legacy", kb.LEGACY)


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def protect(home, store, challenge_scopes='challenge_scopes: ["kb:read"]', **options):
    """An authorization server (its options) and a kbgate that trusts it. The client compares `resource`
    with the address it was given, so this kbgate's public URL is the one it listens on."""
    port = free_port()
    resource = f"http://127.0.0.1:{port}/mcp"
    options.setdefault("claims", {"tid": "tid-42"})
    with AuthorizationServer(resource, **options) as issuer:
        policy = POLICY.format(issuer=issuer.issuer, resource=resource, challenge_scopes=challenge_scopes)
        server = kb.Service(home, store, policy=policy, budgets="")
        issuer.save_jwks(home / "corp.json")
        config = server.config.read_text().replace(kb.RESOURCE, resource)
        server.config.write_text(config.replace('listen: "127.0.0.1:0"', f'listen: "127.0.0.1:{port}"', 1))
        server.start()
        try:
            yield issuer, server
        finally:
            code = server.stop()
        assert code == 0 and "Sanitizer" not in server.log_text(), server.log_text()


@pytest.fixture
def protected(tmp_path, store):
    """protect() for one test, with options."""
    with contextlib.ExitStack() as stack:
        yield lambda **options: stack.enter_context(protect(tmp_path / "service", store, **options))


@pytest.fixture(scope="module")
def gate(tmp_path_factory, store):
    """protect() for tests that share it: they leave it unchanged."""
    with protect(tmp_path_factory.mktemp("oauth") / "service", store) as both:
        yield both


def credentials(issuer, **more) -> str:
    known = {"clientId": issuer.client_id, "clientSecret": issuer.client_secret, "expectedIssuer": issuer.issuer}
    return json.dumps(known | more)


def check_found(result: dict) -> None:
    assert "raised" not in result, result
    hits = result["structuredContent"]["results"]
    assert {hit["collection"] for hit in hits} <= {"handbook", "faq"}
    assert "fourteen days ahead" in hits[0]["text"]


def refused_and_served(server) -> tuple:
    """How many requests got a challenge and how many an answer."""
    metrics = server.request("GET", "/metrics", admin=True).body.decode()
    counts = {"unauthorised": 0, "ok": 0}
    for outcome, n in re.findall(r'^kbgate_requests_total\{[^}]*outcome="(\w+)"[^}]*\} (\d+)$', metrics, re.M):
        counts[outcome] = counts.get(outcome, 0) + int(n)
    return counts["unauthorised"], counts["ok"]


# -- whole flows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("client", OAUTH_CLIENTS, ids=str)
def test_a_client_without_a_token_finds_its_way_to_an_answer(client, protected, tmp_path):
    issuer, server = protected()
    seen = drivers.run(client, server, credentials(issuer), [["tools/list"], FOUND], tmp_path)
    assert seen["version"] == client.version
    assert [tool["name"] for tool in seen["results"][0]["tools"]] == ["search_kb"]
    check_found(seen["results"][1])
    (form,) = issuer.token_requests()  # one token is enough for the whole session
    assert form["scope"] == "kb:read", "the challenge's scope"
    assert form["resource"] == server.url, "RFC 8707: the token is for this server alone"
    assert not [path for _, path, _ in issuer.requests if path == "/jwks.json"], "keys come from the file"
    assert refused_and_served(server)[0] == 1


@pytest.mark.parametrize("client", OAUTH_CLIENTS, ids=str)
def test_a_client_with_too_little_scope_steps_up(client, protected, tmp_path):
    issuer, server = protected(narrow_first="profile")
    seen = drivers.run(client, server, credentials(issuer), [FOUND], tmp_path)
    check_found(seen["results"][0])
    first, second = issuer.token_requests()
    assert first["scope"] == "kb:read"
    assert set(second["scope"].split()) == {"kb:read", "profile"}, "the union of what it has and what it needs"
    assert second["resource"] == server.url
    assert refused_and_served(server)[0] == 2, "one 401, one 403"


def test_a_client_of_the_older_sdk_that_is_told_its_scope(protected, tmp_path):
    issuer, server = protected()
    seen = drivers.run(OAUTH_V1, server, credentials(issuer, scope="kb:read"), [FOUND], tmp_path)
    assert seen["version"] == OAUTH_V1.version
    check_found(seen["results"][0])
    assert [form["resource"] for form in issuer.token_requests()] == [server.url]


def test_an_issuer_with_a_path_that_speaks_only_openid(protected, tmp_path):
    issuer, server = protected(path="/tenant", places=(OIDC,))
    check_found(drivers.run(OAUTH_CLIENTS[1], server, credentials(issuer), [FOUND], tmp_path)["results"][0])
    assert len(issuer.token_requests()) == 1


def test_a_token_that_never_opens_anything_ends_the_flow(protected, tmp_path):
    """The client's limit ends it, not ours: kbgate says the same to each attempt."""
    issuer, server = protected(claims={"tid": "tid-of-a-stranger"})
    with pytest.raises(AssertionError, match="insufficient_scope"):
        drivers.run(OAUTH_CLIENTS[0], server, credentials(issuer), [FOUND], tmp_path)
    assert 1 <= len(issuer.token_requests()) < 10
    assert refused_and_served(server) == (1 + len(issuer.token_requests()), 0)


# -- challenges ----------------------------------------------------------------------------------


def parse_challenge(value: str) -> dict:
    """The parameters of one Bearer challenge; every byte of it is accounted for (RFC 9110 section 11.6.1)."""
    assert value.startswith("Bearer "), value
    pairs = re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"(?:, |$)', value[7:])
    assert ", ".join(f'{name}="{text}"' for name, text in pairs) == value[7:], value
    assert len(dict(pairs)) == len(pairs), value
    return dict(pairs)


def expect(reply, status: int, error: str | None, server) -> None:
    parameters = {"scope": "kb:read", "resource_metadata": server.url.removesuffix("/mcp") + METADATA[1]}
    assert reply.status == status, (reply.status, reply.body)
    assert parse_challenge(reply.header("WWW-Authenticate")) == parameters | ({"error": error} if error else {})
    assert reply.body == (b'{"error":"%s"}' % error.encode() if error else b"")
    told = (str(reply.headers) + reply.body.decode()).replace(parameters["scope"], "")
    assert not [name for name in GRANT_NAMES if name in told]


def ways_in(server, token, headers=()):
    """One request by each door that wants a token."""
    yield server.post(LIST, token, headers)
    yield server.request("GET", "/v1/search?q=travel", token, headers)
    yield server.request("POST", "/v1/search", token, [*headers, ("Content-Type", "application/json")], '{"query":"travel"}')


def test_no_credentials_no_error(gate):
    _, server = gate
    for reply in ways_in(server, None):
        expect(reply, 401, None, server)


@pytest.mark.parametrize("value", ["Basic YTpi", "Bearer", "Bearer ", "Bearer a b", "Bearer tok\"en", "DPoP abc"])
def test_credentials_of_another_kind_are_none(gate, value):
    _, server = gate
    for reply in ways_in(server, None, [("Authorization", value)]):
        assert reply.status == 401
        assert "scope" in parse_challenge(reply.header("WWW-Authenticate"))


def test_every_invalid_token_is_told_the_same(gate):
    issuer, server = gate
    invalid = [
        "a.b.c", issuer.mint(exp=1), issuer.mint(aud="http://127.0.0.1/other"), issuer.mint(iss=issuer.issuer + "/"),
        issuer.mint({"kid": "another"}), issuer.mint({"typ": "JWT"}), issuer.mint(scope=["kb:read"]),
        issuer.mint(scope=7), issuer.mint(groups="legal"), issuer.mint(jti=None), issuer.mint(client_id=None), issuer.mint(sub=None),
        issuer.mint(iat=None), issuer.mint(sub=""), issuer.mint(jti="x" * 257),
    ]
    for token in invalid:
        for reply in ways_in(server, token):
            expect(reply, 401, "invalid_token", server)
    for reply in ways_in(server, issuer.mint()):
        assert reply.status == 200 and reply.header("WWW-Authenticate") is None
    metrics = server.request("GET", "/metrics", admin=True).body.decode()
    assert re.search(r'^kbgate_tokens_refused_total\{reason="\w+"\} [1-9]', metrics, re.M), "the operator learns why"


@pytest.mark.parametrize("changes", [
    {"scope": None}, {"scope": ""}, {"scope": "profile"}, {"scope": "kb:rea"}, {"scope": "KB:READ"},
    {"tid": None}, {"tid": ["tid-42"]}, {"tid": ""}, {"tid": "tid-43"}, {"tid": "acme"},
    {"scope": "kb:staff"}, {"groups": [], "scope": "kb:staff"}, {"groups": ["lega"], "scope": "kb:staff"},
], ids=str)
def test_a_valid_token_that_opens_nothing_may_ask_for_more(gate, changes):
    issuer, server = gate
    for reply in ways_in(server, issuer.mint(**changes)):
        expect(reply, 403, "insufficient_scope", server)


def test_two_sets_of_credentials_are_a_bad_request(gate):
    issuer, server = gate
    token = issuer.mint()
    for second in (f"Bearer {token}", "Bearer a.b.c", "Basic YTpi", ""):
        for reply in ways_in(server, token, [("Authorization", second)]):
            expect(reply, 400, "invalid_request", server)


def test_a_token_is_read_from_the_header_alone(gate):
    issuer, server = gate
    token = issuer.mint()
    form = [("Content-Type", "application/x-www-form-urlencoded")]
    for reply in (
        server.request("GET", f"/v1/search?q=travel&access_token={token}"),
        server.request("POST", f"/mcp?access_token={token}", None, [("Content-Type", "application/json")], json.dumps(LIST)),
        server.request("POST", "/v1/search", None, form, f"query=travel&access_token={token}"),
        server.request("POST", "/mcp", None, form, f"access_token={token}"),
    ):
        expect(reply, 401, None, server)
    assert server.request("GET", f"/v1/search?q=travel&access_token={token}", token).status == 400, "nor beside the header"


def test_whoever_may_come_in_is_never_challenged(gate):
    issuer, server = gate
    token = issuer.mint()
    json_body = [("Content-Type", "application/json")]
    replies = [
        *ways_in(server, token),
        server.rpc("tools/call", {"name": "search_kb", "arguments": {"query": "terms", "collection": "contracts"}}, token),
        server.rpc("tools/call", {"name": "search_kb", "arguments": {"query": "terms", "collection": "none-such"}}, token),
        server.rpc("resources/read", {"uri": "kb://doc/contracts/contracts/standard-terms.html"}, token),
        server.request("GET", "/v1/search?q=", token),
        server.request("POST", "/mcp", token, json_body, "{"),
        server.request("GET", "/mcp"),
        server.request("GET", "/nowhere"),
        server.request("GET", "/v1/search?q=travel", None, [("Origin", "http://evil.example")]),
        server.request("GET", "/v1/search?q=travel", None, [("Host", "evil.example")]),
        *(server.request("GET", path) for path in METADATA),
    ]
    assert {reply.status for reply in replies} == {200, 400, 403, 404, 405}
    assert [reply.header("WWW-Authenticate") for reply in replies] == [None] * len(replies)
    # A collection outside the grants is answered like one that does not exist: no scope would be a hint.
    assert replies[3].body == replies[4].body


def test_without_challenge_scopes_none_is_shown(protected):
    issuer, server = protected(challenge_scopes="")
    for reply in (server.post(LIST), server.post(LIST, "a.b.c"), server.post(LIST, issuer.mint(scope="profile"))):
        assert "scope" not in parse_challenge(reply.header("WWW-Authenticate"))
    for path in METADATA:
        assert set(server.request("GET", path).json()) == {"resource", "authorization_servers", "bearer_methods_supported"}


# -- metadata ------------------------------------------------------------------------------------


def test_the_metadata_speaks_of_the_configured_address_only(gate):
    issuer, server = gate
    liars = [[], [("Host", "evil.example")], [("Host", "localhost")], [("X-Forwarded-Host", "evil.example")],
             [("X-Forwarded-Proto", "https")], [("Forwarded", "host=evil.example;proto=https")]]
    replies = [server.request("GET", path, None, headers) for path in METADATA for headers in liars]
    assert {reply.status for reply in replies} == {200}
    assert {reply.header("Content-Type") for reply in replies} == {"application/json"}
    assert len({reply.body for reply in replies}) == 1, "both places, whatever the request says"
    assert replies[0].json() == {
        "resource": server.url,
        "authorization_servers": [issuer.issuer],
        "scopes_supported": ["kb:read"],
        "bearer_methods_supported": ["header"],
    }
    told = replies[0].body.decode().replace("kb:read", "")
    assert not [name for name in GRANT_NAMES if name in told]


def test_a_challenge_does_not_take_its_address_from_the_request(gate):
    _, server = gate
    reply = server.post(LIST, None, [("Host", "localhost"), ("X-Forwarded-Host", "evil.example")])
    expect(reply, 401, None, server)


def test_metadata_is_read_with_get_only_and_at_no_other_place(gate):
    issuer, server = gate
    for path in METADATA:
        assert server.request("POST", path, issuer.mint(), [], "{}").status in (404, 405)
    for path in (METADATA[0] + "/", METADATA[1] + "/", METADATA[0] + "/other", METADATA[0] + "mcp"):
        assert server.request("GET", path, issuer.mint()).status == 404, path
    # A token, good or bad, changes nothing: the documents are for those who have none.
    assert server.request("GET", METADATA[0], "a.b.c").status == 200


def test_changed_challenge_scopes_are_shown_from_the_reload_on(protected):
    issuer, server = protected()
    policy = server.home / "policy.yaml"
    policy.write_text(policy.read_text().replace('challenge_scopes: ["kb:read"]', 'challenge_scopes: ["kb:read", "profile"]'))
    end = time.monotonic() + 5
    while server.request("GET", METADATA[0]).json()["scopes_supported"] != ["kb:read", "profile"]:
        assert time.monotonic() < end, server.log_text()
        time.sleep(0.05)
    for reply in (server.post(LIST), server.post(LIST, "a.b.c"), server.post(LIST, issuer.mint(scope="other"))):
        assert parse_challenge(reply.header("WWW-Authenticate"))["scope"] == "kb:read profile"
