# SPDX-License-Identifier: Apache-2.0
"""One kbgate of its own: keys, policy, configuration, store, and a server that tests start and stop."""

import base64
import hashlib
import http.client
import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

TOP = Path(__file__).resolve().parents[2]
KBGATE = os.environ.get("KBGATE_BIN", str(TOP / "build" / "dev" / "kbgate"))
ISSUER = "http://127.0.0.1/tests"
# The port is free to change between starts, so the name of the service does not contain it.
RESOURCE = "http://kb.example/mcp"
MODERN = "2026-07-28"
LEGACY = "2025-11-25"

POLICY = """\
policy_version: 1
issuers:
  tests:
    iss: "{issuer}"
    jwks_file: jwks.json
    audiences: ["{resource}"]
    algs: [ES256]
    typ_any: true
    development: true
    claims:
      scopes: {{path: scope, kind: space_string}}
      groups: {{path: groups, kind: array}}
      tenant: {{path: tid, kind: string}}
    tenants: {{"acme": acme, "globex": globex, "meagre": meagre}}
grants:
  - id: public
    tenants: [acme, globex, meagre]
    when: {{scopes_all: ["kb:read"]}}
    allow: {{collections: [handbook, faq], doc_types: ["*"], labels: [public]}}
  - id: staff
    tenants: [acme]
    when: {{scopes_all: ["kb:staff"]}}
    allow: {{collections: [handbook, faq], doc_types: ["*"], labels: [public, internal]}}
  - id: legal
    tenants: [acme]
    when: {{scopes_all: ["kb:read"], groups_any: [legal]}}
    allow: {{collections: [contracts], doc_types: [contract], labels: [public, internal, legal]}}
  - id: everything
    tenants: [acme]
    when: {{scopes_all: ["kb:all"]}}
    allow: {{collections: ["*"], doc_types: ["*"], labels: ["*"]}}
  - id: nothing-there
    tenants: [acme]
    when: {{scopes_all: ["kb:nowhere"]}}
    allow: {{collections: [nowhere], doc_types: ["*"], labels: ["*"]}}
denies:
  - id: embargo
    unless: {{groups_any: [board]}}
    match: {{labels_any: [embargoed]}}
challenge_scopes: ["kb:read"]
"""

# acme and globex work without limits; meagre has one new answer a minute.
BUDGETS = """\
budgets:
  tenant: {per_minute: 0, burst: 1, per_day: 0}
  subject: {per_minute: 0, burst: 1, per_day: 0}
  tenants:
    meagre: {per_minute: 1, burst: 1, per_day: 100}
"""


@dataclass
class Reply:
    status: int
    headers: list  # (name, value) pairs as they came
    body: bytes

    def header(self, name: str):
        values = [v for n, v in self.headers if n.lower() == name.lower()]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    def json(self):
        return json.loads(self.body)


def run(*args, check=True, **options) -> subprocess.CompletedProcess:
    """kbgate with these arguments; its output as text."""
    done = subprocess.run([KBGATE, *map(str, args)], capture_output=True, text=True, timeout=120, **options)
    assert not check or done.returncode == 0, f"kbgate {args[0]}: exit {done.returncode}\n{done.stderr}"
    return done


def ingest(store: Path, corpus: Path, *args) -> str:
    return run("ingest", "--store", store, corpus, *args).stderr


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def make_keys(home: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (home / "token.pem").write_bytes(pem)
    numbers = key.public_key().public_numbers()
    jwk = {"crv": "P-256", "kty": "EC", "x": b64url(numbers.x.to_bytes(32, "big")), "y": b64url(numbers.y.to_bytes(32, "big"))}
    thumbprint = hashlib.sha256(json.dumps(jwk, sort_keys=True, separators=(",", ":")).encode()).digest()
    jwk |= {"use": "sig", "alg": "ES256", "kid": b64url(thumbprint)}
    (home / "jwks.json").write_text(json.dumps({"keys": [jwk]}))
    (home / "fence.key").write_bytes(bytes(range(32)))  # fixed: answers are compared with snapshots
    (home / "audit.key").write_bytes(os.urandom(32))
    for name in ("token.pem", "fence.key", "audit.key"):
        (home / name).chmod(0o600)


class Service:
    """A folder with everything `kbgate serve` needs. Not started yet. With `like`, its keys and policy are those of
    that service."""

    def __init__(self, home: Path, store: Path | None = None, policy: str | None = None, config: str = "", budgets: str = BUDGETS,
                 like: "Service | None" = None):
        self.home = home
        self.store = store or home / "store"
        self.process = None
        self.url = self.admin = ""
        home.mkdir(parents=True, exist_ok=True)
        if like is None:
            make_keys(home)
            (home / "policy.yaml").write_text(policy or POLICY.format(issuer=ISSUER, resource=RESOURCE))
        shared = f"{like.home}/" if like else ""
        self.config = home / "kbgate.yaml"
        self.config.write_text(
            'listen: "127.0.0.1:0"\nadmin_listen: "127.0.0.1:0"\n'
            f'public_url: "{RESOURCE}"\npolicy_file: {shared}policy.yaml\nstore: "{self.store}"\n'
            f"fence_key_file: {shared}fence.key\naudit_key_file: {shared}audit.key\ntoken_key_file: {shared}token.pem\n"
            f'audit_file: "{home / "audit.jsonl"}"\n'
            "threads: 2\nworkers: 2\n" + config + budgets
        )

    # -- the process ------------------------------------------------------------------------------

    def start(self, env: dict | None = None) -> "Service":
        assert self.process is None
        self.log = open(self.home / "serve.log", "ab")
        self.process = subprocess.Popen(
            [KBGATE, "serve", "--config", str(self.config)], stdout=subprocess.PIPE, stderr=self.log,
            env=os.environ | (env or {}),
        )
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.process = None
            raise AssertionError(f"serve ended with {code}\n{self.log_text()}")
        ports = json.loads(line)
        self.host = ports["listening"]
        self.url, self.admin = f"http://{self.host}/mcp", f"http://{ports['admin']}"
        return self

    def stop(self, how=signal.SIGTERM) -> int:
        if self.process is None:
            return 0
        self.process.send_signal(how)
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        self.log.close()
        self.process = None
        return code

    def restart(self, env: dict | None = None) -> None:
        code = self.stop()
        assert code == 0, f"serve ended with {code}\n{self.log_text()}"
        self.start(env)

    def log_text(self) -> str:
        return (self.home / "serve.log").read_text(errors="replace")

    # -- tokens -----------------------------------------------------------------------------------

    def mint(self, scopes="kb:read", tenant="acme", sub="tester", groups=(), ttl="1h") -> str:
        args = [arg for group in groups for arg in ("--group", group)]
        done = run(
            "token", "--config", self.config, "--tenant", tenant, "--sub", sub, "--scope", scopes, "--ttl", ttl, *args
        )
        return done.stdout.strip()

    # -- requests ---------------------------------------------------------------------------------

    def request(self, method: str, path: str, token=None, headers=(), body=None, admin=False) -> Reply:
        """One request on a connection of its own; headers are (name, value) pairs, sent as they are."""
        host = self.admin.removeprefix("http://") if admin else self.host
        connection = http.client.HTTPConnection(host, timeout=30)
        try:
            headers = list(headers.items() if isinstance(headers, dict) else headers)
            names = {name.lower() for name, _ in headers}
            connection.putrequest(method, path, skip_host="host" in names, skip_accept_encoding=True)
            if token is not None:
                connection.putheader("Authorization", f"Bearer {token}")
            for name, value in headers:
                connection.putheader(name, value)
            if isinstance(body, str):
                body = body.encode()
            if body is not None and not names & {"content-length", "transfer-encoding"}:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            answer = connection.getresponse()
            return Reply(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def post(self, message, token=None, headers=()) -> Reply:
        """A JSON-RPC message (an object, or bytes as they are) to /mcp."""
        body = message if isinstance(message, (bytes, str)) else json.dumps(message)
        headers = list(headers.items() if isinstance(headers, dict) else headers)
        names = {name.lower() for name, _ in headers}
        for name, value in (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")):
            if name.lower() not in names:
                headers.append((name, value))
        return self.request("POST", "/mcp", token, headers, body)

    def rpc(self, method: str, params: dict | None, token: str, modern=False, id=1) -> Reply:
        params = dict(params or {})
        headers = [("MCP-Protocol-Version", MODERN if modern else LEGACY)]
        if modern:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            headers.append(("Mcp-Method", method))
            name = params.get("uri" if method == "resources/read" else "name")
            if isinstance(name, str) and method in ("tools/call", "resources/read", "prompts/get"):
                headers.append(("Mcp-Name", name if name.isascii() and name.isprintable() else encode_name(name)))
        return self.post({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, token, headers)

    def call(self, token: str, modern=False, **arguments) -> dict:
        """search_kb's whole result."""
        reply = self.rpc("tools/call", {"name": "search_kb", "arguments": arguments}, token, modern)
        assert reply.status == 200, (reply.status, reply.body)
        return reply.json()["result"]

    def search(self, token: str, query: str, **arguments) -> dict:
        """search_kb's structuredContent."""
        return self.call(token, query=query, **arguments)["structuredContent"]


def encode_name(value: str) -> str:
    """A header value that plain ASCII cannot carry (MCP 2026-07-28)."""
    return "=?base64?" + base64.b64encode(value.encode()).decode() + "?="
