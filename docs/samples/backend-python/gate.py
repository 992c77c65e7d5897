"""Admits requests with access tokens of Gatehouse, with published standards alone.

On Debian or Ubuntu install python3-jwt and python3-cryptography.
"""

import json
import threading
import time
import urllib.request
from base64 import b64encode
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urljoin

import jwt

from refused import Refused

LEASE_SECONDS = 30
MEMORY_SECONDS = 20 * 60  # longer than any token lives
MAX_SKEW_SECONDS = 60
SESSION_REVOKED = "https://schemas.openid.net/secevent/caep/event-type/session-revoked"


class Gate:
    """Verifies tokens offline, and learns from a stream of events which sessions have ended."""

    def __init__(self, issuer, resource, client_id, secret):
        self._issuer, self._rules = issuer, {"issuer": issuer, "audience": resource}
        basic = f"{quote(client_id, safe='')}:{quote(secret, safe='')}".encode()
        self._basic = "Basic " + b64encode(basic).decode()
        self._keys, self._ended, self._lease_ends = {}, {}, 0
        threading.Thread(target=self._follow, daemon=True).start()

    def verify(self, token):
        """Returns the claims of a token whose session goes on. Raises Refused."""
        if now() >= self._lease_ends:
            raise Refused(503)
        try:
            claims = self._decode(token, "at+jwt", "ES256", ["exp", "sub", "sid", "session_exp"])
        except (jwt.InvalidTokenError, KeyError, RecursionError):
            raise Refused(401) from None
        if claims["sid"] in self._ended:
            raise Refused(401)
        return claims

    def is_live(self, claims):
        """Returns True while an open connection may stay open: longer than its token is valid."""
        has_ended = claims["sid"] in self._ended or time.time() >= claims["session_exp"]
        return now() < self._lease_ends and not has_ended

    def _decode(self, token, kind, algorithm, required, leeway=0):
        """Each kind of token has one algorithm: a token must not choose how it is verified."""
        header = jwt.get_unverified_header(token)
        if header.get("typ") != kind:
            raise jwt.InvalidTokenError("This is a token of another kind.")
        key, options = self._keys[header["kid"], algorithm], {"require": ["iat", *required]}
        return jwt.decode(token, key, [algorithm], options, leeway=leeway, **self._rules)

    def _follow(self):
        """Whatever fails counts as no answer: the lease ends unless a later poll succeeds."""
        stream, done, renew_at = None, [], 0
        while True:
            try:
                if now() >= renew_at:
                    bearer, renew_at = self._renew(), now() + 60
                # One for each instance: an event that one of two readers acknowledges is gone for both.
                stream = stream or self._call("/v1/ssf/streams", {}, authorization=bearer)
                done = self._poll(stream["delivery"]["endpoint_url"], bearer, done)
            except Exception as error:
                if getattr(error, "code", None) == 404:
                    # Events were lost. A new stream begins with all that tokens of today can need.
                    stream, done, self._lease_ends = None, [], 0
                time.sleep(1)

    def _renew(self):
        """Reads the keys, and returns the authorization for the stream, which is valid for five minutes."""
        keys = self._call("/v1/oauth/jwks")["keys"]
        self._keys = {(key["kid"], key["alg"]): jwt.PyJWK(key).key for key in keys}
        form = b"grant_type=client_credentials&scope=ssf.manage+ssf.read"
        return "Bearer " + self._call("/v1/oauth/token", form, authorization=self._basic)["access_token"]

    def _poll(self, url, bearer, done):
        """Returns the events to acknowledge with the next poll."""
        sent_at = now()
        poll = {"ack": done, "returnImmediately": sent_at >= self._lease_ends}
        answer = self._call(url, poll, authorization=bearer)
        for jti, token in answer["sets"].items():
            event = self._decode(token, "secevent+jwt", "RS256", ["jti"], MAX_SKEW_SECONDS)
            if event["jti"] == jti and SESSION_REVOKED in event["events"]:
                self._ended[event["sub_id"]["session"]["id"]] = sent_at
        if not answer["moreAvailable"]:
            self._lease_ends = sent_at + LEASE_SECONDS
        self._ended = {sid: at for sid, at in self._ended.items() if sent_at - at < MEMORY_SECONDS}
        return list(answer["sets"])

    def _call(self, url, body=None, **headers):
        """Sends a dict as JSON, and bytes as a form. An error has the status of the answer as its `code`."""
        if isinstance(body, dict):
            body, headers["content-type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(urljoin(self._issuer, url), body, headers)
        with NO_REDIRECTS.open(request, timeout=15) as answer:
            skew = parsedate_to_datetime(answer.headers["date"]).timestamp() - time.time()
            # The poll itself may wait for ten seconds.
            if abs(skew) > MAX_SKEW_SECONDS + 10:
                raise ValueError("The clocks of this machine and of Gatehouse differ.")
            return json.load(answer)


def now():
    """Seconds of a clock that cannot be set back, and that runs while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the secret to another address."""

    redirect_request = lambda *_: None


NO_REDIRECTS = urllib.request.build_opener(_NoRedirects)
