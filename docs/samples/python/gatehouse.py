"""A client of a Gatehouse server: sign in, store settings, list devices, watch updates.

The protocol is described in docs/connect-a-client.md. On Debian or Ubuntu install
python3-nacl, python3-socketio and python3-websocket.
"""

import base64
import hashlib
import hmac
import ipaddress
import json
import os
import random
import re
import time
import urllib.error
import urllib.request
from urllib.parse import urlsplit

import nacl.bindings as sodium
import socketio
from nacl.signing import SigningKey

NONCE_BYTES = sodium.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES


class Refused(Exception):
    """An answer in the error shape. Programs read `code`; `message` is for people."""

    def __init__(self, status, problem):
        super().__init__(problem.get("message", f"The server answered with {status}."))
        self.status = status
        self.code = problem.get("code", "unexpected-answer")
        self.retry_after_seconds = problem.get("retryAfterSeconds")


def load_or_create_key(path):
    """Returns the device key in the file. It is stored before a server knows it: an account
    without its key is lost."""
    try:
        # 0600: the key gives full access to the account.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        with open(path, "rb") as file:
            return SigningKey(file.read())
    key = SigningKey.generate()
    with os.fdopen(descriptor, "wb") as file:
        file.write(bytes(key))
        file.flush()
        os.fsync(file.fileno())
    return key


class OlderSettings(Exception):
    """The server returned older settings than this device has seen, or none: an older client, a
    restored backup, or a server that deceives. Ask the person, then call `accept_settings`."""


class Seen:
    """The newest settings that a device has seen, in a file next to its key."""

    def __init__(self, path):
        self._path = path
        self.rev, self._hash = 0, None
        if path is not None and os.path.exists(path):
            with open(path) as file:
                self.rev, self._hash = json.load(file)

    def check(self, rev, value):
        """value: the sealed settings; None if the server has none."""
        is_missing = value is None and self._hash is not None
        is_other = rev == self.rev > 0 and digest_of(value) != self._hash
        if is_missing or rev < self.rev or is_other:
            raise OlderSettings

    def note(self, rev, value):
        if self._hash is None or rev > self.rev:
            self.rev, self._hash = rev, digest_of(value)
            if self._path is not None:
                with open(f"{self._path}.new", "w") as file:
                    json.dump([self.rev, self._hash], file)
                os.replace(f"{self._path}.new", self._path)


class Gatehouse:
    """A server, and one account on it after `log_in`.

    seen: path of a file of this device for this account; None = this program uses no settings.
    """

    def __init__(self, server, seen=None):
        self.server = server.rstrip("/")
        self.token = None
        self.account_id = None
        self._content_key = None
        self._seen = Seen(seen)

    def log_in(self, key, create=False, invitation=None):
        """Signs in with a device key. Returns true if this created the account.

        Pass create=True only with a key that this program has generated: a key that a person
        typed must not create an account.
        """
        challenge = base64.b64decode(self.call("POST", "/v1/auth/challenge", {})["challenge"])
        check_challenge(challenge, self.server)
        login = {
            "publicKey": to_base64(bytes(key.verify_key)),
            "challenge": to_base64(challenge),
            "signature": to_base64(key.sign(challenge).signature),
            "client": {"name": "Python sample", "platform": "python"},
            "create": create,
        }
        if invitation is not None:
            login["invitation"] = invitation
        answer = self.call("POST", "/v1/auth", login)
        self.token, self.account_id = answer["token"], answer["accountId"]
        self._content_key = content_key(bytes(key))
        return answer["created"]

    def settings(self):
        """Returns the settings document of the account, and its version."""
        answer = self.call("GET", "/v2/account/settings")
        return self._open(answer["content"]), answer["version"]

    def change_settings(self, change, base=None):
        """Writes change(document), and returns the new version.

        A conflict is an answer with status 200 and the stored content: the change is applied to
        that, so that nothing that another device has written is lost.

        base: a result of `settings`; None reads it now.
        """
        document, version = base or self.settings()
        while True:
            rev = self._seen.rev + 1
            plaintext = json.dumps(change(document)).encode()
            sealed = seal_settings(self._content_key, self.account_id, rev, plaintext)
            body = {"content": {"t": "encrypted", "c": sealed}, "expectedVersion": version}
            answer = self.call("POST", "/v2/account/settings", body)
            if answer["success"]:
                self._seen.note(rev, sealed)
                return answer["version"]
            document = self._open(answer["currentContent"])
            version = answer["currentVersion"]

    def accept_settings(self):
        """Writes the settings that the server has now under a higher revision: after OlderSettings,
        once the person has confirmed it."""
        answer = self.call("GET", "/v2/account/settings")
        base = self._open(answer["content"], is_accepted=True), answer["version"]
        return self.change_settings(lambda known: known, base)

    def devices(self):
        """Returns the sessions of the account, newest first: one for each device that signed in."""
        return self.call("GET", "/v1/account/sessions")["sessions"]

    def log_out(self):
        self.call("POST", "/v1/auth/logout", {})
        self.token = None

    def watch(self, on_change):
        """Calls on_change(kind) after each update, until the server refuses the token.

        kind is None after each (re)connection and each gap: updates may have been missed, so read
        everything that is shown. An update reports only that something changed.

        Raises Refused, for example with the code `token-revoked`.
        """
        attempt = 0
        while True:
            connection = _Updates(self.server, self.token, on_change)
            problem = connection.run()
            if problem is not None and "retryAfterSeconds" not in problem:
                raise Refused(problem.get("statusCode"), problem)
            attempt = 0 if connection.was_connected else attempt + 1
            least = (problem or {}).get("retryAfterSeconds", min(2**attempt, 60))
            # Jitter: a server that restarts is not called by all its clients at once.
            time.sleep(least * (1 + random.random() / 2))

    def call(self, method, path, body=None):
        """Sends a request, and returns the answer. Raises Refused, or OSError without an answer."""
        headers = {"accept": "application/json"}
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(self.server + path, data, headers, method=method)
        try:
            with NO_REDIRECTS.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, problem_of(error)) from None

    def _open(self, content, is_accepted=False):
        if content is None:
            is_accepted or self._seen.check(0, None)
            return {}
        if content["t"] != "encrypted":
            # The server could have made them: a client with the key reads sealed ones only.
            raise ValueError("The settings of this account are not end-to-end encrypted.")
        rev, plaintext = open_settings(self._content_key, self.account_id, content["c"])
        if not is_accepted:
            self._seen.check(rev, content["c"])
            self._seen.note(rev, content["c"])
        return json.loads(plaintext)


class _Updates:
    """One Socket.IO connection to /v1/updates."""

    def __init__(self, server, token, on_change):
        self.was_connected = False
        self._server = server
        self._token = token
        self._on_change = on_change
        self._seq = None
        self._problem = None
        # `watch` connects again, because it reads why a connection ended.
        self._socket = socketio.Client(reconnection=False)
        self._socket.on("hello", self._hello)
        self._socket.on("update", self._update)
        self._socket.on("closing", self._refused)
        self._socket.on("connect_error", self._connect_error)

    def run(self):
        """Returns after the connection has ended: with the reason, or None if there was none."""
        try:
            self._socket.connect(
                self._server,
                socketio_path="/v1/updates",
                transports=["websocket"],
                auth={"token": self._token, "clientType": "user-scoped"},
                wait_timeout=10,
            )
            self._socket.wait()
        except socketio.exceptions.ConnectionError:
            self._socket.disconnect()
        return self._problem

    def _hello(self, greeting):
        """The first event of a connection. The server repeats it after a lost update."""
        self.was_connected = True
        self._advance(greeting["seq"], greeting["seq"], None)

    def _update(self, update):
        self._advance(self._seq + 1, update["seq"], update["body"]["t"])

    def _advance(self, expected, seq, kind):
        self._seq = seq
        self._on_change(kind if seq == expected else None)

    def _refused(self, problem):
        self._problem = problem

    def _connect_error(self, error):
        """A refusal has the error shape in `data`; a network failure has a text."""
        if isinstance(error, dict):
            self._problem = error.get("data")


def check_challenge(challenge, server):
    """Raises ValueError unless the challenge is for logins at this server. Another server could
    relay it, and would then be signed in to this account."""
    version, origins, *_ = challenge.decode().split("\n")
    if version != "gatehouse-login-v1":
        raise ValueError("This is not a challenge of a Gatehouse server.")
    listed = [origin_of(origin) for origin in origins.split()]
    if origin_of(server) not in listed and (listed or not is_private(urlsplit(server).hostname)):
        raise ValueError(f"The challenge is not for {server}.")


def origin_of(address):
    parts = urlsplit(address)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname, port


def is_private(host):
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def content_key(seed):
    return derive(seed, "gatehouse content v1")


def derive(seed, info):
    """HKDF-SHA-256 (RFC 5869) of the key's seed, with an empty salt, for one block of output."""
    extracted = hmac.digest(b"\0" * 32, seed, hashlib.sha256)
    return hmac.digest(extracted, info.encode() + b"\1", hashlib.sha256)


def seal(key, purpose, account_id, plaintext, nonce=None):
    """Seals a credential: purpose is `credential:` and the service."""
    return "1." + _encrypt(key, f"{purpose}\n{account_id}", plaintext, nonce)


def open_sealed(key, purpose, account_id, value):
    """Raises ValueError for a value of another form, which another client wrote: keep it as it is.
    Raises nacl.exceptions.CryptoError for a value that was sealed with another key."""
    version, _, text = value.partition(".")
    if version != "1":
        raise ValueError("Another client wrote this value.")
    return _decrypt(key, f"{purpose}\n{account_id}", text)


def seal_settings(key, account_id, rev, plaintext, nonce=None):
    return f"2.{rev}." + _encrypt(key, f"settings\n{account_id}\n{rev}", plaintext, nonce)


def open_settings(key, account_id, value):
    """Returns the revision, 0 for settings of version 1, and the plaintext. Raises as open_sealed."""
    found = re.fullmatch(r"2\.([1-9]\d{0,15})\.([\w-]*)", value, re.ASCII)
    if found is None:
        return 0, open_sealed(key, "settings", account_id, value)
    rev, text = int(found[1]), found[2]
    return rev, _decrypt(key, f"settings\n{account_id}\n{rev}", text)


def _encrypt(key, associated, plaintext, nonce):
    nonce = nonce or os.urandom(NONCE_BYTES)
    encrypt = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt
    data = nonce + encrypt(plaintext, associated.encode(), nonce, key)
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decrypt(key, associated, text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    nonce, sealed = data[:NONCE_BYTES], data[NONCE_BYTES:]
    decrypt = sodium.crypto_aead_xchacha20poly1305_ietf_decrypt
    return decrypt(sealed, associated.encode(), nonce, key)


def digest_of(value):
    return base64.urlsafe_b64encode(hashlib.sha256(value.encode()).digest()).decode().rstrip("=")


def to_base64(data):
    return base64.b64encode(data).decode()


def problem_of(error):
    """Returns the error shape; an empty one if a proxy answered in its place."""
    try:
        problem = json.load(error)
    except ValueError:
        return {}
    retry_after = error.headers.get("retry-after", "")
    if retry_after.isdigit():
        problem["retryAfterSeconds"] = int(retry_after)
    return problem


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token to another address."""

    def redirect_request(self, *_):
        return None


NO_REDIRECTS = urllib.request.build_opener(_NoRedirects)
