# SPDX-License-Identifier: Apache-2.0
"""An OAuth authorization server for tests: client_credentials, on loopback, in a thread.

Metadata as RFC 8414 and OpenID Connect Discovery place it, a JWKS, and access tokens as RFC 9068
shapes them. `requests` keeps what clients asked for. With narrow_first the first token holds that
scope only, so a client has to step up.
"""

import base64
import json
import secrets
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote_plus, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

KEY_ID = "authorization-server-1"
OAUTH, OIDC = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"


def b64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Refusal(Exception):
    def __init__(self, status: int, error: str):
        super().__init__(error)
        self.status, self.error = status, error


class AuthorizationServer:
    def __init__(self, resource: str, scopes=("kb:read", "profile"), claims=None, narrow_first="", path="", places=(OAUTH, OIDC)):
        """path: of the issuer identifier, "/tenant" or nothing; places: where metadata is found."""
        self.resource, self.scopes, self.claims, self.narrow_first = resource, set(scopes), claims or {}, narrow_first
        self.client_id, self.client_secret = "agent-7", secrets.token_urlsafe(24)
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.requests = []  # (method, path, form) as they came
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.origin = f"http://127.0.0.1:{self.http.server_port}"
        self.issuer = self.origin + path
        # RFC 8414 section 3.1 inserts the well-known part before the path; Discovery also appends it.
        self.metadata_paths = {place + path for place in places} | {path + OIDC for place in places if place == OIDC}
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> "AuthorizationServer":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def jwks(self) -> dict:
        point = self.key.public_key().public_numbers()
        x, y = (b64url(n.to_bytes(32, "big")) for n in (point.x, point.y))
        return {"keys": [{"kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig", "alg": "ES256", "kid": KEY_ID}]}

    def save_jwks(self, file: Path) -> None:
        file.write_text(json.dumps(self.jwks()))

    def metadata(self) -> dict:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": self.origin + "/authorize",
            "token_endpoint": self.origin + "/token",
            "jwks_uri": self.origin + "/jwks.json",
            "scopes_supported": sorted(self.scopes),
            "response_types_supported": ["code"],
            "grant_types_supported": ["client_credentials"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            "code_challenge_methods_supported": ["S256"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["ES256"],
        }

    def mint(self, header=None, **changes) -> str:
        """A token signed by this server; a claim set to None is left out."""
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": self.resource, "sub": self.client_id, "client_id": self.client_id,
            "iat": now, "exp": now + 300, "jti": secrets.token_hex(12), "scope": "kb:read",
        } | self.claims | changes
        claims = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "ES256", "typ": "at+jwt", "kid": KEY_ID} | (header or {})
        unsigned = ".".join(b64url(json.dumps(part).encode()) for part in (header, claims))
        r, s = decode_dss_signature(self.key.sign(unsigned.encode(), ec.ECDSA(hashes.SHA256())))
        return unsigned + "." + b64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))

    def token_requests(self) -> list:
        """The forms the token endpoint got, in order."""
        return [form for method, path, form in self.requests if (method, path) == ("POST", "/token")]

    def _grant(self, form: dict, authorization: str) -> dict:
        if form.get("grant_type") != "client_credentials":
            raise Refusal(400, "unsupported_grant_type")
        if not self._knows(authorization):
            raise Refusal(401, "invalid_client")
        if form.get("resource") != self.resource:  # RFC 8707 section 2
            raise Refusal(400, "invalid_target")
        granted = set(form.get("scope", "profile").split())
        if not granted or granted - self.scopes:
            raise Refusal(400, "invalid_scope")
        if self.narrow_first and len(self.token_requests()) == 1:
            granted = {self.narrow_first}
        scope = " ".join(sorted(granted))
        return {"access_token": self.mint(scope=scope), "token_type": "Bearer", "expires_in": 300, "scope": scope}

    def _knows(self, authorization: str) -> bool:
        scheme, _, value = authorization.partition(" ")
        if scheme.lower() != "basic":
            return False
        name, _, secret = base64.b64decode(value).decode().partition(":")
        return (unquote_plus(name), unquote_plus(secret)) == (self.client_id, self.client_secret)

    def answer(self, method: str, target: str, form: dict, authorization: str) -> tuple:
        path = urlsplit(target).path
        self.requests.append((method, path, form))
        if method == "POST" and path == "/token":
            try:
                return 200, self._grant(form, authorization)
            except Refusal as refusal:
                return refusal.status, {"error": refusal.error}
        if method == "GET" and path in self.metadata_paths:
            return 200, self.metadata()
        if method == "GET" and path == "/jwks.json":
            return 200, self.jwks()
        return 404, {"error": "not_found"}


def _handler(server: AuthorizationServer):
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._serve({})

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self._serve({name: values[0] for name, values in parse_qs(body).items()})

        def _serve(self, form):
            status, document = server.answer(self.command, self.path, form, self.headers.get("Authorization", ""))
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler
