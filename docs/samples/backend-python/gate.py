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
        self.issuer, self.resource = issuer, resource
        basic = f"{quote(client_id, safe='')}:{quote(secret, safe='')}".encode()
        self._basic = {"authorization": "Basic " + b64encode(basic).decode()}
        self._ended = {}
        self._keys, self._keys_read_at = {}, None
        self._lease_ends = 0
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
        is_leased = now() < self._lease_ends and time.time() < claims["session_exp"]
        return is_leased and claims["sid"] not in self._ended

    def _decode(self, token, kind, algorithm, required, leeway=0):
        """Each kind of token has one algorithm: a token must not choose how it is verified."""
        header = jwt.get_unverified_header(token)
        if header.get("typ") != kind:
            raise jwt.InvalidTokenError("This is a token of another kind.")
        rules = {"issuer": self.issuer, "audience": self.resource, "leeway": leeway}
        key = self._keys[header["kid"], algorithm]
        return jwt.decode(token, key, [algorithm], {"require": ["iat", *required]}, **rules)

    def _follow(self):
        stream = None
        while True:
            try:
                if self._keys_read_at is None or now() - self._keys_read_at > 60:
                    self._read_keys()
                stream = stream or self._create_stream()
                self._poll(stream)
            except (OSError, ValueError, KeyError, jwt.InvalidTokenError) as error:
                if getattr(error, "code", None) == 404:
                    # Events were lost. A new stream begins with all that tokens of today can need.
                    stream, self._lease_ends = None, 0
                time.sleep(1)

    def _read_keys(self):
        server = self._call("/.well-known/oauth-authorization-server")
        keys = self._call(server["jwks_uri"])["keys"]
        self._keys = {(key["kid"], key["alg"]): jwt.PyJWK(key).key for key in keys}
        self._keys_read_at = now()

    def _create_stream(self):
        """One for each instance: an event that one of two readers acknowledges is gone for both."""
        transmitter = self._call("/.well-known/ssf-configuration")
        wanted = {"delivery": {"method": "urn:ietf:rfc:8936"}, "events_requested": [SESSION_REVOKED]}
        stream = self._call(transmitter["configuration_endpoint"], wanted, self._authorize())
        return {"url": stream["delivery"]["endpoint_url"], "ack": [], "token_until": 0}

    def _poll(self, stream):
        if now() > stream["token_until"]:
            stream.update(headers=self._authorize(), token_until=now() + 240)
        sent_at = now()
        poll = {"ack": stream["ack"], "returnImmediately": sent_at >= self._lease_ends}
        answer = self._call(stream["url"], poll, stream["headers"])
        for jti, token in answer["sets"].items():
            event = self._decode(token, "secevent+jwt", "RS256", ["jti"], MAX_SKEW_SECONDS)
            if event["jti"] == jti and SESSION_REVOKED in event["events"]:
                self._ended[event["sub_id"]["session"]["id"]] = sent_at
        stream["ack"] = list(answer["sets"])
        if not answer["moreAvailable"]:
            self._lease_ends = sent_at + LEASE_SECONDS
        self._ended = {sid: at for sid, at in self._ended.items() if sent_at - at < MEMORY_SECONDS}

    def _authorize(self):
        server = self._call("/.well-known/oauth-authorization-server")
        form = "grant_type=client_credentials&scope=ssf.manage+ssf.read"
        answer = self._call(server["token_endpoint"], form, self._basic)
        return {"authorization": "Bearer " + answer["access_token"]}

    def _call(self, url, body=None, headers=None):
        """Raises OSError, with the status in `code` if there was an answer."""
        is_form = isinstance(body, str)
        kind = "application/x-www-form-urlencoded" if is_form else "application/json"
        data = None if body is None else (body if is_form else json.dumps(body)).encode()
        headers = {"content-type": kind, **(headers or {})}
        request = urllib.request.Request(urljoin(self.issuer, url), data, headers)
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

    def redirect_request(self, *_):
        return None


NO_REDIRECTS = urllib.request.build_opener(_NoRedirects)
