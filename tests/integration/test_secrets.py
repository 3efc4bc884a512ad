# SPDX-License-Identifier: Apache-2.0
"""What must not be told is told nowhere: one service is taken through good and bad requests, reloads and
failing starts, all of them full of marked secrets, and then everything it wrote is searched for the marks.

Each mark is shown to have been in play, and each place to hold what belongs there: so an absence means
something.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

import corpus
import service as kb
from authorization_server import AuthorizationServer, b64url

pytestmark = pytest.mark.security

QUERY = "travel q7canaryquery"
VISIBLE = "fourteen days ahead"
HIDDEN_TITLE, HIDDEN_TEXT = "H7canarytitle of the merger", "The h7canarytext merger closes in autumn, with travel to the signing."
TENANT, POOR, STRANGER = "t7canarytenant", "p7canarypoor", "x7canarystranger"
GROUP, SUBJECT = "g7canarygroup", "u7canarysubject"
PRIVATE = {
    "email": "e7canary@people.example",
    "name": "N7canary Person",
    "badge": "b7canarybadge",
    "address": {"street": "s7canarystreet"},
}
COMMANDS = ("serve", "stdio", "ingest", "token", "search", "check", "version")

POLICY = """\
policy_version: 1
issuers:
  corp:
    iss: "{issuer}"
    jwks_file: corp.json
    audiences: ["{resource}"]
    algs: [ES256]
    development: true
    claims:
      scopes: {{path: scope, kind: space_string}}
      groups: {{path: groups, kind: array}}
      tenant: {{path: tid, kind: string}}
    tenants: {{"{tenant}": acme, "{poor}": poor}}
grants:
  - id: reading
    tenants: [acme, poor]
    when: {{scopes_all: ["kb:read"]}}
    allow: {{collections: [handbook, faq], doc_types: ["*"], labels: [public]}}
  - id: deals
    tenants: [acme]
    when: {{scopes_all: ["kb:read"], groups_any: [{group}]}}
    allow: {{collections: [deals], doc_types: [note], labels: [secret]}}
challenge_scopes: ["kb:read"]
"""
BUDGETS = """\
budgets:
  tenants:
    poor: {per_minute: 1, burst: 1, per_day: 10}
"""


def length_prefixed(*parts: bytes) -> bytes:
    return b"".join(len(part).to_bytes(8, "little") + part for part in parts)


def leaks(needles: list, place: bytes) -> list:
    """The needles that stand in a place, in any mix of cases."""
    place = place.lower()
    return [needle for needle in needles if needle.lower() in place]


def windows(text: str, width: int = 16) -> list:
    """Every piece of a text: that much of a token is found wherever it was cut."""
    return [text[i:i + width].encode() for i in range(0, len(text) - width + 1)]


def key_forms(key: bytes) -> list:
    """As it stands, and as somebody might print it; prefixes, since output may be cut."""
    head = key[:15]  # whole base64 characters
    return [head, head.hex().encode(), base64.b64encode(head), base64.urlsafe_b64encode(head)]


class Scene:
    """Everything that was written and said, by place; and the marks."""

    def __init__(self, home: Path, issuer: AuthorizationServer):
        self.home, self.issuer = home, issuer
        self.replies = []  # (caller, reply)
        self.places = {}
        self.failures = []  # (what, exit code, standard error)
        self.docs = corpus.documents() + [corpus.Document(
            "deals/merger.md", f"# {HIDDEN_TITLE}\n\n{HIDDEN_TEXT}\n", "deals", "note", ["secret"], published="2025-01-01")]
        self._make_service()
        self._make_tokens()

    def _make_service(self):
        files = corpus.write(self.home / "corpus", self.docs)
        (files / "broken.jsonl").write_text('{"id": "x", "text": "' + HIDDEN_TEXT + '\n')
        ingested = kb.run("ingest", "--store", self.home / "store", files)
        self.places["ingest"] = (ingested.stdout + ingested.stderr).encode()
        self.server = kb.Service(
            self.home / "service", self.home / "store", config="log_level: debug\n", budgets=BUDGETS,
            policy=POLICY.format(issuer=self.issuer.issuer, resource=kb.RESOURCE, tenant=TENANT, poor=POOR, group=GROUP))
        home = self.server.home
        self.fence_key, self.audit_key = b"f7canaryfencekey" + os.urandom(24), b"a7canaryauditkey" + os.urandom(24)
        (home / "fence.key").write_bytes(self.fence_key)
        (home / "audit.key").write_bytes(self.audit_key)
        self.pem = (home / "token.pem").read_text()
        self.issuer.key = serialization.load_pem_private_key(self.pem.encode(), None)
        self.issuer.save_jwks(home / "corp.json")

    def _make_tokens(self):
        base = PRIVATE | {"sub": SUBJECT, "tid": TENANT}
        mint = self.issuer.mint
        self.tokens = {
            "member": mint(**base, groups=[GROUP]),
            "outsider": mint(**base),
            "poor": mint(**base | {"tid": POOR}),
            "stranger": mint(**base | {"tid": STRANGER}),
            "no scope": mint(**base, scope="profile"),
            "expired": mint(**base, exp=1),
            "other audience": mint(**base, aud="http://other.example/mcp"),
            "unknown key": mint({"kid": "another"}, **base),
        }
        self.tokens["tampered"] = self.tokens["member"][:-4] + "AAAA"
        self.tokens["cut"] = self.tokens["member"].rsplit(".", 1)[0]

    # -- what happens -----------------------------------------------------------------------------

    def ask(self, caller: str):
        server, token = self.server, self.tokens[caller]
        json_body = [("Content-Type", "application/json")]

        def call(**arguments):
            return server.rpc("tools/call", {"name": "search_kb", "arguments": arguments}, token)

        replies = [
            call(query=QUERY), call(query=QUERY, top_k=21), call(query=QUERY, collection="deals"), call(query=QUERY * 200),
            call(query=QUERY, published_from="q7canaryquery"), call(query=f"{HIDDEN_TEXT} {HIDDEN_TITLE}"),
            call(query=QUERY, access_token=token), call(),
            server.rpc("tools/list", {}, token), server.rpc("tools/call", {"name": "other", "arguments": {"query": QUERY}}, token),
            server.rpc("resources/read", {"uri": "kb://index"}, token),
            server.rpc("resources/read", {"uri": "kb://doc/deals/deals/merger.md"}, token),
            server.rpc("resources/read", {"uri": "kb://doc/deals/deals/merger.md", "_meta": 7}, token),
            server.rpc("prompts/get", {"name": "literature_summary", "arguments": {}}, token),
            server.rpc("no/such", {"query": QUERY}, token),
            server.post('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"query":"' + QUERY, token),
            server.post({"query": QUERY}, token), server.post({"jsonrpc": "2.0", "id": 1, "method": [QUERY]}, token),
            server.request("GET", "/v1/search?q=travel+q7canaryquery", token),
            server.request("GET", "/v1/search?q=travel+q7canaryquery&top_k=x", token),
            server.request("GET", f"/v1/search?q=travel+q7canaryquery&access_token={token}", token),
            server.request("POST", "/v1/search", token, json_body, json.dumps({"query": QUERY, "top_k": 0})),
            server.request("POST", "/v1/search", token, json_body, '{"query": "' + QUERY),
            server.request("GET", f"/v1/search?access_token={token}"),
            server.request("GET", f"/{token}", token), server.request("PUT", f"/mcp?q={token}", token),
            server.post({}, token, [("Authorization", f"Bearer {token}")]), server.post({}, token, [("Host", "q7canaryquery")]),
            server.post({}, token, [("Origin", "http://q7canaryquery")]), server.post({}, None, [("Authorization", f"Basic {token}")]),
        ]
        self.replies += [(caller, reply) for reply in replies]

    def reload_nonsense(self):
        """Somebody puts the key where the policy belongs; the service says so and goes on."""
        policy = self.server.home / "policy.yaml"
        good = policy.read_text()
        for n, bad in enumerate((self.pem, good.replace("grants:", "grantz:"), good + "revoked: {sub: %s}\n" % SUBJECT), 1):
            policy.write_text(bad)
            wait_for(lambda n=n: self.server.log_text().count("policy_reload_failed") >= n)
        policy.write_text(good)

    def visit_admin(self):
        for place, path in (("metrics", "/metrics"), ("readyz", "/readyz?verbose"), ("livez", "/livez")):
            reply = self.server.request("GET", path, admin=True)
            assert reply.status == 200
            self.places[place] = reply.body

    def run_commands(self):
        config = self.server.config
        good = kb.run("check", "--config", config)
        self.places["check"] = (good.stdout + good.stderr).encode()
        helps = [kb.run(*args) for args in (["--help"], ["serve", "--help-config"], *([name, "--help"] for name in COMMANDS))]
        self.places["help"] = "".join(done.stdout + done.stderr for done in helps).encode()
        for caller in ("expired", "tampered", "unknown key", "cut"):
            token = self.tokens[caller]
            for args in (["check", "--config", config, "--token", token], ["search", "--config", config, "--token", token, QUERY],
                         ["search", "--url", self.server.url, "--token", token, QUERY]):
                self.note_failure(f"{args[0]} {caller}", *args)

    def talk_over_pipes(self):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search_kb", "arguments": {"query": QUERY}}}
        lines = "".join(json.dumps(message) + "\n" for message in (call, {"jsonrpc": "2.0", "id": 2, "method": QUERY}))
        told = b""
        for caller in ("expired", "tampered", "stranger"):
            done = subprocess.run(
                [kb.KBGATE, "stdio", "--config", self.server.config], input=(lines + "{" + QUERY + "\n").encode(),
                capture_output=True, timeout=60, env=os.environ | {"KBGATE_TOKEN": self.tokens[caller]})
            assert done.returncode == 0 and done.stdout.count(b"\n") >= 2, done
            told += done.stdout + done.stderr
        self.places["stdio"] = told

    def note_failure(self, what: str, *args):
        done = kb.run(*args, check=False)
        self.failures.append((what, done.returncode, done.stderr))
        assert what.startswith("search") or not re.search("q7canary", done.stdout), what
        self.places["refused commands"] = self.places.get("refused commands", b"") + (done.stdout + done.stderr).encode()

    def start_wrongly(self):
        """Each a mistake that an operator makes with a secret at hand."""
        def variant(name):
            home = self.home / "wrong" / name
            shutil.copytree(self.server.home, home)
            return home, home / "kbgate.yaml"

        def edit(name, file, old, new):
            home, config = variant(name)
            text = (home / file).read_text()
            assert old in text, (name, old)
            (home / file).write_text(text.replace(old, new))
            self.note_failure(name, "serve", "--config", config)

        private = self.issuer.jwks()
        private["keys"][0]["d"] = b64url(self.scalar())
        home, config = variant("short key")
        for key in ("fence.key", "audit.key"):
            kept = (home / key).read_bytes()
            (home / key).write_bytes(kept[:31])
            self.note_failure(f"short {key}", "serve", "--config", config)
            (home / key).write_bytes(kept)
        (self.server.home / "private.json").write_text(json.dumps(private))
        (self.server.home / "cut.json").write_text(json.dumps(private)[:-24])
        edit("the key as policy", "kbgate.yaml", "policy_file: policy.yaml", "policy_file: token.pem")
        edit("the fence key as policy", "kbgate.yaml", "policy_file: policy.yaml", "policy_file: fence.key")
        edit("the key as keys", "policy.yaml", "jwks_file: corp.json", "jwks_file: token.pem")
        edit("private keys", "policy.yaml", "jwks_file: corp.json", "jwks_file: private.json")
        edit("private keys cut short", "policy.yaml", "jwks_file: corp.json", "jwks_file: cut.json")
        edit("a key as a value", "kbgate.yaml", "threads: 2", f'fence_key: "{self.fence_key[:16].decode()}"')
        edit("a key as a list", "kbgate.yaml", "audit_key_file: audit.key", f"audit_key_file: [{self.audit_key[:16].decode()}]")
        edit("a number that is a secret", "kbgate.yaml", "threads: 2", f"threads: {SUBJECT}")
        edit("a lone group", "policy.yaml", f"groups_any: [{GROUP}]", f"groups_any: {GROUP}")
        edit("no collections", "policy.yaml", "collections: [deals], ", "")
        edit("a lone subject", "policy.yaml", "challenge_scopes:", f"revoked: {{sub: {SUBJECT}}}\nchallenge_scopes:")
        edit("no tenant of that name", "policy.yaml", f'"{POOR}": poor', f'"{POOR}": rich')
        self.note_failure("the key as configuration", "serve", "--config", self.server.home / "token.pem")
        home, config = variant("token")
        (home / "token.pem").write_bytes(self.fence_key)
        self.note_failure("no key to sign with", "token", "--config", config, "--tenant", "acme", "--sub", SUBJECT, "--scope", "kb:read")

    # -- marks ------------------------------------------------------------------------------------

    def scalar(self) -> bytes:
        return self.issuer.key.private_numbers().private_value.to_bytes(32, "big")

    def needles(self) -> dict:
        return {
            "tokens": [piece for token in self.tokens.values() for part in token.split(".") for piece in windows(part)],
            "private claims": [b"e7canary", b"n7canary", b"b7canary", b"s7canary"],
            "subject": [SUBJECT.encode()],
            "tenants": [TENANT.encode(), POOR.encode(), STRANGER.encode()],
            "groups": [GROUP.encode()],
            "query": [b"q7canary"],
            "hidden document": [b"h7canary", b"merger closes"],
            "signing key": [*key_forms(self.scalar()), *(line.encode() for line in self.pem.splitlines()[1:-1])],
            "fence key": [b"f7canary", *key_forms(self.fence_key)],
            "audit key": [b"a7canary", *key_forms(self.audit_key)],
        }


def wait_for(condition) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_error(reply) -> bool:
    return reply.status >= 400 or b'"isError":true' in reply.body or b'"error"' in reply.body


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    with AuthorizationServer(kb.RESOURCE) as issuer:
        scene = Scene(tmp_path_factory.mktemp("secrets"), issuer)
        server = scene.server.start()
        try:
            for caller in scene.tokens:
                scene.ask(caller)
            scene.reload_nonsense()
            scene.run_commands()
            scene.talk_over_pipes()
            scene.visit_admin()
        finally:
            code = server.stop()
        assert code == 0, server.log_text()
        scene.start_wrongly()
    scene.places["log"] = server.log_text().encode()
    scene.places["audit"] = (server.home / "audit.jsonl").read_bytes()
    scene.places["error replies"] = b"".join(
        reply.body + str(reply.headers).encode() for _, reply in scene.replies if is_error(reply))
    return scene


NAMES = ("tokens", "private claims", "subject", "tenants", "groups", "query", "hidden document", "signing key", "fence key", "audit key")


@pytest.mark.parametrize("name", NAMES)
def test_no_mark_is_found_anywhere(scene, name):
    needles = scene.needles()
    assert set(needles) == set(NAMES) and len(scene.places) == 11
    found = {place: leaks(needles[name], text)[:3] for place, text in scene.places.items()}
    assert found == {place: [] for place in scene.places}


def test_a_mark_would_be_found(scene):
    for name, needles in scene.needles().items():
        assert needles, name
        for needle in needles:
            assert len(needle) >= 8 or needle.endswith(b"7canary"), (name, needle)
            assert leaks([needle], b"before" + needle.upper() + b"behind") == [needle]


def test_the_marks_were_in_play(scene):
    """Tokens opened what their marks open; what came back holds the document."""
    answers = {}
    for caller, reply in scene.replies:
        answers[caller] = answers.get(caller, b"") + reply.body
    assert VISIBLE.encode() in answers["member"] and HIDDEN_TEXT.encode() in answers["member"]
    assert HIDDEN_TITLE.encode() in answers["member"], "the group's mark opened the collection"
    assert VISIBLE.encode() in answers["outsider"]
    assert b"tenant/minute" in answers["poor"], "the second tenant's mark led to its budget"
    assert VISIBLE.encode() not in answers["stranger"]
    payload = scene.tokens["member"].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(payload + "=="))
    assert claims["email"] == PRIVATE["email"] and claims["address"] == PRIVATE["address"] and claims["groups"] == [GROUP]


def test_no_caller_without_the_group_got_a_byte_of_the_document(scene):
    for caller, reply in scene.replies:
        if caller != "member":
            said = reply.body + str(reply.headers).encode()
            # What a caller wrote himself may come back to him, as an id.
            assert not leaks(scene.needles()["hidden document"], said), (caller, reply.body)


def test_the_log_and_the_admin_port_say_what_they_should(scene):
    log = [json.loads(line) for line in scene.places["log"].decode().splitlines()]
    events = [line["event"] for line in log]
    assert {"serving", "policy_reload_failed", "policy_reloaded", "policy_recovered", "draining"} >= set(events) >= {"serving", "policy_reload_failed"}
    reasons = [line["reason"] for line in log if line["event"] == "policy_reload_failed"]
    assert len(reasons) >= 3 and all("policy.yaml" in reason for reason in reasons), "each says which file"
    metrics = scene.places["metrics"].decode()
    refused = dict(re.findall(r'^kbgate_tokens_refused_total\{reason="(\w+)"\} (\d+)$', metrics, re.M))
    assert sum(n != "0" for n in refused.values()) >= 4, "the operator learns why, from a fixed list"
    assert re.search(r'outcome="retryable"\} [1-9]', metrics) and re.search(r'outcome="invalid_input"\} [1-9]', metrics)
    assert b"ok" in scene.places["readyz"] and b"good" in scene.places["check"]
    assert {reply.status for _, reply in scene.replies} >= {200, 400, 401, 403, 404, 405}


def test_the_audit_names_callers_and_calls_by_keyed_hashes(scene):
    def keyed(kind: str, value: bytes) -> str:
        return hmac.new(scene.audit_key, length_prefixed(kind.encode(), value), hashlib.sha256).hexdigest()

    lines = [json.loads(line) for line in scene.places["audit"].decode().splitlines()]
    subject = hashlib.sha256(length_prefixed(scene.issuer.issuer.encode(), SUBJECT.encode())).digest()
    known = [line for line in lines if line["tenant"] in ("acme", "poor")]
    assert known and {line["subject"] for line in known} == {keyed("subject", subject)}
    call = json.dumps({"query": QUERY, "top_k": 6}, separators=(",", ":")).encode()
    asked = [line for line in lines if line.get("arguments") == keyed("arguments", call)]
    assert {line["tenant"] for line in asked} == {"acme", "poor"}
    assert any(line["outcome"] == "ok" and line["chunks"] for line in asked)
    assert len({line["filter"] for line in asked}) == 2, "the member's and the others'"


def test_what_does_not_start_says_why(scene):
    assert len(scene.failures) >= 24
    for what, code, message in scene.failures:
        assert code == 1 and len(message) > 20, (what, code, message)
    told = dict((what, message) for what, _, message in scene.failures)
    assert "fence_key_file" in told["short fence.key"] and "31 bytes" in told["short fence.key"]
    assert "token.pem" in told["the key as policy"]
    assert "jwks_file" in told["private keys cut short"]
    assert "kbgate.yaml:" in told["a key as a value"] and "fence_key" in told["a key as a value"]
    assert "policy.yaml:" in told["a lone group"]
