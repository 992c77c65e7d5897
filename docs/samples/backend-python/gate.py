"""Admits requests with access tokens of Gatehouse, with published standards alone.

On Debian or Ubuntu install python3-authlib, python3-cryptography, python3-httpx and python3-jwt.
"""

from contextlib import suppress
from email.utils import parsedate_to_datetime
from threading import Thread
from time import CLOCK_BOOTTIME, clock_gettime, sleep, time
from urllib.parse import quote_plus

import jwt
from authlib.integrations.httpx_client import OAuth2Client

from refused import Refused

LEASE_SECONDS = 30
MEMORY_SECONDS = 20 * 60  # longer than any token lives
MAX_SKEW_SECONDS = 60
SESSION_REVOKED = "https://schemas.openid.net/secevent/caep/event-type/session-revoked"


class Gate:
    """Verifies tokens offline, and learns from a stream of events which sessions have ended.

    The clock of the lease cannot be set, and runs while the machine sleeps.
    """

    def __init__(self, issuer, resource, client_id, secret):
        self._rules = {"issuer": issuer, "audience": resource}
        # This client follows no redirect, which would take the secret to another address.
        self._http = OAuth2Client(client_id, quote_plus(secret), base_url=f"{issuer}/v1", timeout=15)
        self._keys, self._ended, self._stream, self._lease_ends = {}, {}, None, 0
        Thread(target=self._follow, daemon=True).start()

    def verify(self, token):
        """Returns the claims of a token whose session goes on. Raises Refused."""
        with suppress(jwt.PyJWTError, KeyError, TypeError, RecursionError):
            claims = self._decode(token, "at+jwt", "ES256", ["exp", "sub", "sid", "session_exp"])
            # Any other client is a program of the person, which may do only what its "scope" names.
            if claims["client_id"] == "gatehouse" and self.is_live(claims):
                return claims
        raise Refused(401 if clock_gettime(CLOCK_BOOTTIME) < self._lease_ends else 503)

    def is_live(self, claims):
        """Returns True while an open connection may stay open: longer than its token is valid."""
        has_ended = claims["sid"] in self._ended or time() >= claims["session_exp"]
        return clock_gettime(CLOCK_BOOTTIME) < self._lease_ends and not has_ended

    def _decode(self, token, kind, algorithm, required):
        """Each kind of token has one algorithm: a token must not choose how it is verified."""
        header = jwt.get_unverified_header(token)
        if header.get("typ") != kind:
            raise jwt.InvalidTokenError("This is a token of another kind.")
        # A new token seems to be of the future where the clocks differ a little.
        options = {"require": ["iat", *required], "verify_iat": False}
        return jwt.decode(token, self._keys[header["kid"]].key, [algorithm], options, **self._rules)

    def _follow(self):
        """Whatever fails counts as no answer: the lease ends unless a later poll succeeds."""
        while True:
            try:
                # The token is valid for five minutes. Each poll waits for ten seconds at most.
                self._http.fetch_token("/oauth/token")
                for _ in range(6):
                    self._keys = jwt.PyJWKSet.from_dict(self._http.get("/oauth/jwks").json())
                    self._poll()
            except Exception:
                sleep(1)

    def _poll(self):
        """Acknowledges the events of the last poll, which are stored, and stores the next ones."""
        # One for each instance: an event that one of two readers acknowledges is gone for both.
        self._stream = self._stream or self._http.post("/ssf/streams", json={}).json()["delivery"]
        sent_at = clock_gettime(CLOCK_BOOTTIME)
        poll = {"ack": self._stream.get("ack", []), "returnImmediately": sent_at >= self._lease_ends}
        answer = self._http.post(self._stream["endpoint_url"], json=poll)
        if answer.status_code == 404:
            # Events were lost. A new stream begins with all that tokens of today can need.
            self._stream, self._lease_ends = None, 0
        if abs(parsedate_to_datetime(answer.headers["date"]).timestamp() - time()) > MAX_SKEW_SECONDS:
            raise ValueError("The clocks of this machine and of Gatehouse differ.")
        events = answer.json()  # an error has no "sets"
        for token in events["sets"].values():
            event = self._decode(token, "secevent+jwt", "RS256", ["jti"])
            if SESSION_REVOKED in event["events"]:
                self._ended[event["sub_id"]["session"]["id"]] = sent_at
        self._ended = {sid: at for sid, at in self._ended.items() if sent_at - at < MEMORY_SECONDS}
        self._stream["ack"] = list(events["sets"])
        if not events["moreAvailable"]:
            self._lease_ends = sent_at + LEASE_SECONDS
