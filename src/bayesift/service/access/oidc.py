"""Sign-in at an OpenID provider: authorization code with PKCE, and the checks of its answer.

Authlib speaks the protocol and joserfc, by the same authors, verifies signatures. A sign-in that
has begun is kept in memory for ten minutes and used once; it belongs to the browser that holds its
cookie, so that a link of another person signs no browser in.
"""

from __future__ import annotations

import asyncio
import hmac
import io
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from authlib.integrations.requests_client import OAuth2Session
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import InvalidKeyIdError
from joserfc.jwk import KeySet
from requests import PreparedRequest, RequestException, Response
from requests.adapters import HTTPAdapter

from bayesift.errors import BayesiftError
from bayesift.service.access.callers import digest, new_token
from bayesift.service.access.single_sign_on import (
    BEGUN_SECONDS,
    Known,
    SingleSignOn,
    check_address,
)
from bayesift.service.errors import BusyError, UnavailableError, UnknownCallerError

CALLBACK = "/sign-in/callback"
Answer = TypeVar("Answer")
# Signatures that only the provider can make: neither none nor those by a shared secret.
_ALGORITHMS = [f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)] + [
    "EdDSA"
]
_LEEWAY_SECONDS = 60
_KEPT_SECONDS = 3600.0  # of the provider's description and keys
_KEY_PAUSE_SECONDS = 60.0  # between fetches because of a key that is not known
_TIMEOUT_SECONDS = 5.0  # of a connection, and of each read
_FINISH_SECONDS = 20.0
_MAX_BYTES = 1 << 20  # of an answer of the provider
_MAX_BEGUN = 10_000
_MAX_WAITING = 20
_THREADS = 2
_LOG = logging.getLogger("bayesift.service")


class _Begun(NamedTuple):
    browser: str
    nonce: str
    verifier: str
    until: float


class _Provider(NamedTuple):
    """What the provider says of itself, and its keys."""

    described: dict[str, Any]
    keys: KeySet
    since: float


class _Bounded(HTTPAdapter):
    """Ends answers that take too long or are too large."""

    def send(self, request: PreparedRequest, **options: Any) -> Response:  # type: ignore[override]
        options.update(stream=True, timeout=_TIMEOUT_SECONDS)
        answer = super().send(request, **options)
        body = answer.raw.read(_MAX_BYTES + 1, decode_content=True)
        answer.close()
        if len(body) > _MAX_BYTES:
            raise ValueError("an answer of the provider is too large")
        answer.raw = io.BytesIO(body)
        return answer


class OpenIdProvider:
    """The provider of a service, and the sign-ins that have begun.

    What asks the provider waits for the network, and runs in threads of its own.
    """

    def __init__(
        self, settings: SingleSignOn, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = threading.Lock()  # of what has begun
        self._fetching = (
            threading.Lock()
        )  # of what is known; held while the network is waited for
        self._begun: OrderedDict[str, _Begun] = OrderedDict()
        self._known: _Provider | None = None
        self._keys_since = -_KEY_PAUSE_SECONDS
        self._pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="bayesift-sign-in")
        self._n_waiting = 0

    async def begin(self) -> tuple[str, str]:
        """Return where to send a browser, and the cookie that it needs when it comes back."""
        return await self._apart(self._begin)

    async def finish(self, state: str, code: str, cookie: str) -> Known:
        """Return the person whom the provider sent back."""
        with self._lock:
            begun = self._begun.pop(digest(state), None)
        if (
            begun is None
            or begun.until < self._clock()
            or not hmac.compare_digest(begun.browser, digest(cookie))
        ):
            raise UnknownCallerError(
                "this sign-in has expired or was begun in another browser; sign in again"
            )
        if not code:
            raise UnknownCallerError("the sign-in service did not sign you in")
        return await self._apart(lambda: self._finish(begun, code))

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _apart(self, ask: Callable[[], Answer]) -> Answer:
        """Run what waits for the provider; say its failures in one sentence."""
        if self._n_waiting >= _MAX_WAITING:
            raise BusyError("too many people are signing in; try again", seconds=5)
        self._n_waiting += 1
        try:
            asking = asyncio.get_running_loop().run_in_executor(self._pool, ask)
            return await asyncio.wait_for(asking, _FINISH_SECONDS)
        except (RequestException, OSError, TimeoutError) as error:
            _LOG.error("the OpenID provider does not answer: %s", _told(error))
            raise UnavailableError(
                "the sign-in service does not answer; try again later"
            ) from error
        except BayesiftError:
            raise
        except Exception as error:  # an answer may be anything
            _LOG.error("a sign-in was refused: %s", _told(error))
            raise UnknownCallerError(
                "the answer of the sign-in service is not valid; the log of the server says why"
            ) from error
        finally:
            self._n_waiting -= 1

    def _begin(self) -> tuple[str, str]:
        address = check_address(self._provider().described["authorization_endpoint"])
        state, nonce, verifier, cookie = (new_token() for _ in range(4))
        begun = _Begun(digest(cookie), nonce, verifier, self._clock() + BEGUN_SECONDS)
        with self._session() as session:
            there, _ = session.create_authorization_url(
                address, state=state, nonce=nonce, code_verifier=verifier
            )
        with self._lock:
            self._begun[digest(state)] = begun
            if len(self._begun) > _MAX_BEGUN:
                self._begun.popitem(last=False)
        return str(there), cookie

    def _finish(self, begun: _Begun, code: str) -> Known:
        described = self._provider().described
        with self._session() as session:
            token = session.fetch_token(
                check_address(described["token_endpoint"]),
                grant_type="authorization_code",
                code=code,
                code_verifier=begun.verifier,
            )
            claims = self._verified(token, begun.nonce)
            if self._settings.groups_claim not in claims and "userinfo_endpoint" in described:
                more = session.get(check_address(described["userinfo_endpoint"])).json()
                if more["sub"] != claims["sub"]:
                    raise ValueError("userinfo is about another person")
                claims = {**more, **claims}
        return Known.of_claims(claims, self._settings.groups_claim)

    def _verified(self, token: dict[str, Any], nonce: str) -> dict[str, Any]:
        """Return the claims of the ID token; raise if anything is wrong with it."""
        text = token["id_token"]
        try:
            decoded = jwt.decode(text, self._provider().keys, algorithms=_ALGORITHMS)
        except InvalidKeyIdError:
            decoded = jwt.decode(text, self._new_keys(), algorithms=_ALGORITHMS)
        claims = CodeIDToken(
            decoded.claims,
            decoded.header,
            options={
                "iss": {"essential": True, "value": self._settings.issuer},
                "aud": {"essential": True, "value": self._settings.client_id},
                "sub": {"essential": True},
            },
            params={
                "nonce": nonce,
                "client_id": self._settings.client_id,
                "access_token": token.get("access_token"),
            },
        )
        claims.validate(leeway=_LEEWAY_SECONDS)
        return dict(claims)

    def _provider(self) -> _Provider:
        """Return what the provider says of itself, fetched anew when that is old."""
        with self._fetching:
            known = self._known
            if known is None or known.since + _KEPT_SECONDS < self._clock():
                issuer = str(self._settings.issuer)
                place = issuer.rstrip("/") + "/.well-known/openid-configuration"
                described = self._fetched(place)
                if described["issuer"] != issuer:
                    raise ValueError(f"the provider names itself {described['issuer']!r}")
                known = _Provider(described, self._fetched_keys(described), self._clock())
                self._known = known
            return known

    def _new_keys(self) -> KeySet:
        """Return the keys of a provider that has changed them; seldom, or tokens could flood it."""
        known = self._provider()
        with self._fetching:
            if self._keys_since + _KEY_PAUSE_SECONDS < self._clock():
                self._keys_since = self._clock()
                self._known = known._replace(keys=self._fetched_keys(known.described))
            assert self._known is not None
            return self._known.keys

    def _fetched_keys(self, described: dict[str, Any]) -> KeySet:
        return KeySet.import_key_set(self._fetched(described["jwks_uri"]))  # type: ignore[arg-type]

    def _fetched(self, address: str) -> dict[str, Any]:
        with self._session() as session:
            answer = session.get(check_address(address), withhold_token=True)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def _session(self) -> Any:
        settings = self._settings
        session = OAuth2Session(
            settings.client_id,
            settings.secret,
            scope=settings.scope,
            redirect_uri=settings.public_url.rstrip("/") + CALLBACK,
            code_challenge_method="S256",
            leeway=0,  # the token is used at once, or never
        )
        session.max_redirects = 0
        for scheme in ("https://", "http://"):
            session.mount(scheme, _Bounded())
        return session


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error!s:.300}".replace("\n", " ")
