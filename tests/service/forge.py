"""An OpenID provider that does whatever a test wants, also what no provider should."""

import base64
import hashlib
import hmac
import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "bayesift"
SECRET = "a secret of the client"
ADDRESS = "https://filter.example"


def new_key(name):
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"}, auto_kid=False)


class Forge:
    """A provider; its attributes may be changed at any time.

    Attributes
    ----------
    claims : of the ID token, besides those that every token has
    header : of the ID token
    key : signs; `published` are the keys that it tells
    seen : paths that were asked for
    broken : answers by path, instead of the right ones
    """

    def __init__(self, port):
        self.issuer = f"http://127.0.0.1:{port}"
        self.key = new_key("first")
        self.published = [self.key]
        self.claims = {}
        self.without = ()
        self.header = {"alg": "RS256", "kid": "first"}
        self.userinfo = {}
        self.seen = []
        self.broken = {}
        self._codes = {}

    def approve(self, address, **claims):
        """A person signs in at the address that their browser was sent to; returns the code."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        code = f"code-{len(self.seen)}-{time.monotonic_ns()}"
        self._codes[code] = {**asked, "claims": claims}
        return asked["state"], code

    def configuration(self):
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/jwks",
        }

    def answer(self, path, body, authorization):
        self.seen.append(path)
        if path in self.broken:
            return self.broken[path]
        if path == "/.well-known/openid-configuration":
            return 200, self.configuration()
        if path == "/jwks":
            return 200, {"keys": [key.as_dict(private=False) for key in self.published]}
        if path == "/userinfo":
            return 200, self.userinfo
        return self._token(body, authorization)

    def _token(self, body, authorization):
        asked = self._codes.pop(body["code"], None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        challenge = hashlib.sha256(body["code_verifier"].encode()).digest()
        if asked is None or (
            _encoded(challenge) != asked["code_challenge"]
            or body["redirect_uri"] != asked["redirect_uri"]
            or authorization != f"Basic {basic}"
        ):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "aud": CLIENT,
            "sub": "person-1",
            "nonce": asked["nonce"],
            "iat": now,
            "exp": now + 60,
            "preferred_username": "zoe",
            "groups": ["staff"],
            **self.claims,
            **asked["claims"],
        }
        for name in self.without:
            claims.pop(name, None)
        return 200, {
            "access_token": "an access token",
            "token_type": "Bearer",
            "expires_in": 60,
            "id_token": self.signed(claims),
        }

    def signed(self, claims):
        if self.header["alg"] in ("none", "HS256"):
            parts = (json.dumps(part).encode() for part in (self.header, claims))
            text = ".".join(_encoded(part) for part in parts)
            if self.header["alg"] == "none":
                return f"{text}."
            public = self.key.as_pem(private=False)  # as the secret
            return f"{text}.{_encoded(hmac.digest(public, text.encode(), 'sha256'))}"
        return jwt.encode(self.header, claims, self.key, algorithms=[self.header["alg"]])


def _encoded(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@contextmanager
def forging():
    """A provider that listens on this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._send({})

        def do_POST(self):
            body = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            self._send({name: values[0] for name, values in body.items()})

        def _send(self, body):
            status, answer = forge.answer(self.path, body, self.headers["authorization"])
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            if status == 302:
                self.send_header("location", "/jwks")
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    forge = Forge(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield forge
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
