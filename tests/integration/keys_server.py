# SPDX-License-Identifier: Apache-2.0
"""An issuer of the test's own: its signing keys, and an HTTPS server of its key set under a CA made here."""

import datetime
import ipaddress
import json
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

import service as kb

DAY = datetime.timedelta(days=1)


def encode(value) -> str:
    return kb.b64url(json.dumps(value, separators=(",", ":")).encode())


class SigningKey:
    def __init__(self, kid: str):
        self.kid = kid
        self.private = ec.generate_private_key(ec.SECP256R1())

    def jwk(self) -> dict:
        numbers = self.private.public_key().public_numbers()
        x, y = (kb.b64url(n.to_bytes(32, "big")) for n in (numbers.x, numbers.y))
        return {"kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig", "alg": "ES256", "kid": self.kid}

    def sign(self, issuer: str, kid: str | None = None, **claims) -> str:
        now = int(time.time())
        base = {"iss": issuer, "aud": kb.RESOURCE, "sub": "ann", "client_id": "c", "jti": "j", "tid": "acme",
                "scope": "kb:read", "iat": now, "exp": now + 600}
        unsigned = encode({"alg": "ES256", "typ": "at+jwt", "kid": kid or self.kid}) + "." + encode(base | claims)
        r, s = decode_dss_signature(self.private.sign(unsigned.encode(), ec.ECDSA(hashes.SHA256())))
        return unsigned + "." + kb.b64url(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


class Authority:
    """A CA; ca.pem holds its certificate."""

    def __init__(self, folder: Path, name="test CA"):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._builder(self.name, self.key).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True).sign(self.key, hashes.SHA256())
        self.file = folder / "ca.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject, key):
        now = datetime.datetime.now(datetime.timezone.utc)
        return (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
                .serial_number(x509.random_serial_number()).not_valid_before(now - DAY).not_valid_after(now + DAY))

    def issue(self, host="127.0.0.1") -> Path:
        """A file with a certificate for that host and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        try:
            name = x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            name = x509.DNSName(host)
        certificate = (self._builder(x509.Name([]), key)
                       .add_extension(x509.SubjectAlternativeName([name]), critical=True)
                       .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
                       .sign(self.key, hashes.SHA256()))
        file = self.folder / f"server-{host}.pem"
        file.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            + certificate.public_bytes(serialization.Encoding.PEM))
        return file


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def process_request(self, request, client_address):
        self.kept = getattr(self, "kept", []) + [request]
        super().process_request(request, client_address)

    def handle_error(self, request, client_address):
        """A client that refuses our certificate is what some tests are about."""


class KeysServer:
    """Serves answer() on https://127.0.0.1:port/jwks.json; requests lists (path, headers) as they came."""

    def __init__(self, certificate: Path, port=0):
        self.requests = []
        self.keys = []
        self.override = None  # (status, headers, body) or a callable that returns one
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                outer.requests.append((self.path, dict(self.headers)))
                status, headers, body = outer.answer()
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.http = _Server(("127.0.0.1", port), Handler)
        self.http.socket = context.wrap_socket(self.http.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.http.server_address[1]
        self.uri = f"https://127.0.0.1:{self.port}/jwks.json"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def answer(self):
        if callable(self.override):
            return self.override()
        if self.override:
            return self.override
        body = json.dumps({"keys": [key.jwk() for key in self.keys]}).encode()
        return 200, {"Content-Type": "text/html"}, body  # the type does not matter

    def close(self):
        """Closes connections that are kept alive too. May be called twice."""
        if self.thread.is_alive():
            self.http.shutdown()
            self.thread.join()
            self.http.server_close()
        for connection in getattr(self.http, "kept", []):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # closed already
