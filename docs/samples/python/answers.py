"""Requests of programs, and signed answers to them from another device of the account.

The format is described in docs/connect-a-client.md, "Ask, and answer from another device".
On Debian or Ubuntu install python3-cryptography too.
"""

import base64
import hashlib
import json
import os
import time

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey

import gatehouse

NONCE_BYTES = 12
SIGNATURE_BYTES = 64
MAX_INPUT_BYTES = 4096


class NotAuthentic(Exception):
    """A request or an answer that another key made, or that was made for another request."""


class AccountRequests:
    """Seals and opens the requests of an account, and the answers to them."""

    def __init__(self, secret, account_id):
        self.account_id = account_id
        self._keys = {
            "request": gatehouse.derive(secret, "gatehouse request v1"),
            "answer": gatehouse.derive(secret, "gatehouse answer seal v1"),
        }
        self._signer = SigningKey(gatehouse.derive(secret, "gatehouse answer v1"))

    def seal_request(self, plaintext, request_id, nonce=None):
        return self._seal("request", request_id, plaintext, nonce)

    def open_request(self, request_id, sealed, servers):
        """Returns the request and its digest. servers: the addresses that this device knows."""
        plaintext = self._open("request", request_id, sealed)
        request = json.loads(plaintext)
        if request["requestId"] != request_id or request["account"] != self.account_id:
            raise NotAuthentic("The request is another one.")
        if request["server"] not in servers:
            raise NotAuthentic("The request was asked at another server.")
        return request, digest(plaintext)

    def seal_answer(self, request_id, plaintext, nonce=None):
        signature = self._signer.sign(b"gatehouse-answer-v1\n" + plaintext).signature
        return self._seal("answer", request_id, signature + plaintext, nonce)

    def open_answer(self, request_id, request_digest, sealed):
        """Returns the choice of an answer to exactly this request. Its time is judged apart."""
        signed = self._open("answer", request_id, sealed)
        signature, plaintext = signed[:SIGNATURE_BYTES], signed[SIGNATURE_BYTES:]
        try:
            message = b"gatehouse-answer-v1\n" + plaintext
            self._signer.verify_key.verify(message, signature)
        except (BadSignatureError, ValueError):
            raise NotAuthentic("The signature is of another key.") from None
        answer = json.loads(plaintext)
        if (answer["v"], answer["requestId"], answer["digest"]) != (1, request_id, request_digest):
            raise NotAuthentic("The answer is for another request.")
        return answer["choice"]

    def _seal(self, purpose, request_id, plaintext, nonce):
        nonce = nonce or os.urandom(NONCE_BYTES)
        data = self._data(purpose, request_id)
        ciphertext = AESGCM(self._keys[purpose]).encrypt(nonce, plaintext, data)
        return "1." + to_base64url(nonce + ciphertext)

    def _open(self, purpose, request_id, sealed):
        try:
            version, text = sealed.split(".")
            data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            if version != "1":
                raise ValueError(version)
            nonce, ciphertext = data[:NONCE_BYTES], data[NONCE_BYTES:]
            associated = self._data(purpose, request_id)
            return AESGCM(self._keys[purpose]).decrypt(nonce, ciphertext, associated)
        except (InvalidTag, ValueError):
            raise NotAuthentic("It does not open with the key of this account.") from None

    def _data(self, purpose, request_id):
        return f"{purpose}\n{self.account_id}\n{request_id}".encode()


def ask_permission(client, requests, tool, seconds=600):
    """Asks the other devices. Returns "allow", "deny", or None without an answer in time.

    An answer counts once: this process forgets the request after it. A program that goes on after a
    crash records on the disk that a request is used.
    """
    request_id = to_base64url(os.urandom(16))
    asked_at, started = int(time.time() * 1000), time.monotonic()
    request = {
        **{"v": 1, "requestId": request_id, "kind": "permission", "tool": tool},
        **{"server": client.server, "account": client.account_id},
        **{"session": {"id": "sample", "title": "Python sample"}},
        **{"cwd": os.getcwd(), "host": os.uname().nodename},
        **{"askedAt": asked_at, "expiresAt": asked_at + seconds * 1000},
    }
    plaintext = json.dumps(request).encode()
    sealed = requests.seal_request(plaintext, request_id)
    body = {"id": request_id, "sealed": sealed, "expiresAt": request["expiresAt"]}
    client.call("POST", "/v1/requests", body)
    text = json.dumps(tool["input"], separators=(",", ":"), ensure_ascii=False)
    is_short = len(text.encode()) <= MAX_INPUT_BYTES
    while True:
        found = client.call("GET", f"/v1/requests/{request_id}?waitSeconds=20")
        # Both clocks: one of them may have been set back, or have stood still.
        is_late = time.monotonic() - started >= seconds
        if is_late or time.time() * 1000 >= request["expiresAt"] or found["state"] != "open":
            return None
        # Signed ones first: a thief with a token can send a denial.
        for answer in sorted(found["answers"], key=lambda one: "sealed" not in one):
            path = f"/v1/requests/{request_id}/answers/{answer['sessionId']}"
            try:
                choice = judge(requests, request_id, digest(plaintext), answer)
            except NotAuthentic:
                # It makes room for the true answer.
                client.call("DELETE", path)
                continue
            if choice == "deny" or (choice == "allow" and is_short):
                closing = f"/v1/requests/{request_id}?answeredBy={answer['sessionId']}"
                client.call("DELETE", closing)
                return choice
            client.call("DELETE", path)
        # A server that answers at once, with nothing that counts, is asked at a slower rate.
        time.sleep(0.5)


def judge(requests, request_id, request_digest, answer):
    """A denial needs no signature: any session of the account can send it."""
    if "sealed" not in answer:
        return "deny"
    return requests.open_answer(request_id, request_digest, answer["sealed"])


def answer_waiting(client, requests, decide):
    """Answers each open request with decide(request): "allow" or "deny"."""
    for listed in client.call("GET", "/v1/requests")["requests"]:
        request_id = listed["id"]
        sealed = client.call("GET", f"/v1/requests/{request_id}")["sealed"]
        request, request_digest = requests.open_request(request_id, sealed, [client.server])
        answer = {
            **{"v": 1, "requestId": request_id, "digest": request_digest},
            **{"choice": decide(request), "decidedAt": int(time.time() * 1000)},
        }
        sealed = requests.seal_answer(request_id, json.dumps(answer).encode())
        client.call("POST", f"/v1/requests/{request_id}/answer", {"sealed": sealed})


def digest(plaintext):
    return to_base64url(hashlib.sha256(plaintext).digest())


def to_base64url(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
