"""Tests the sample against the vectors in test/vectors, which every client can use."""

import json
import tempfile
import unittest
from pathlib import Path

from nacl.exceptions import CryptoError

import answers
import gatehouse

FOLDER = Path(__file__).parents[3] / "test/vectors"
VECTORS = FOLDER / "account-content.json"


class Content(unittest.TestCase):
    def setUp(self):
        self.vectors = json.loads(VECTORS.read_text())
        self.account = self.vectors["accountId"]
        self.key = gatehouse.content_key(bytes.fromhex(self.vectors["secret"]))

    def test_derives_the_content_key(self):
        self.assertEqual(self.key.hex(), self.vectors["contentKey"])

    def test_seals_and_opens_the_values(self):
        for value in self.vectors["values"]:
            plaintext, nonce = value["plaintext"].encode(), bytes.fromhex(value["nonce"])
            place = (self.key, value["purpose"], self.account)
            self.assertEqual(gatehouse.seal(*place, plaintext, nonce), value["sealed"])
            self.assertEqual(gatehouse.open_sealed(*place, value["sealed"]), plaintext)

    def test_seals_and_opens_the_settings(self):
        for value in self.vectors["settings"]:
            plaintext, nonce = value["plaintext"].encode(), bytes.fromhex(value["nonce"])
            sealed = gatehouse.seal_settings(
                self.key, self.account, value["rev"], plaintext, nonce
            )
            self.assertEqual(sealed, value["sealed"])
            self.assertEqual(gatehouse.digest_of(sealed), value["hash"])
            opened = gatehouse.open_settings(self.key, self.account, sealed)
            self.assertEqual(opened, (value["rev"], plaintext))
            with self.assertRaises(CryptoError):
                other = sealed.replace(f"2.{value['rev']}.", "2.7.", 1)
                gatehouse.open_settings(self.key, self.account, other)
        older = self.vectors["values"][0]
        opened = gatehouse.open_settings(self.key, self.account, older["sealed"])
        self.assertEqual(opened, (0, older["plaintext"].encode()))

    def test_refuses_older_settings_than_the_device_has_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "seen"))
            gatehouse.Seen(path).check(0, None)
            gatehouse.Seen(path).note(2, "two")
            for rev, value in [(1, "one"), (2, "another two"), (0, None), (0, "version 1")]:
                with self.assertRaises(gatehouse.OlderSettings):
                    gatehouse.Seen(path).check(rev, value)
            gatehouse.Seen(path).check(2, "two")
            gatehouse.Seen(path).check(3, "three")

    def test_refuses_a_value_of_another_account_or_another_client(self):
        sealed = gatehouse.seal(self.key, "settings", self.account, b"{}")
        with self.assertRaises(CryptoError):
            gatehouse.open_sealed(self.key, "settings", "another account", sealed)
        with self.assertRaises(ValueError):
            gatehouse.open_sealed(self.key, "settings", self.account, "bGVnYWN5")


class Answers(unittest.TestCase):
    def setUp(self):
        vectors = json.loads((FOLDER / "agent-requests.json").read_text())
        self.asked = vectors["requests"]
        secret = bytes.fromhex(vectors["secret"])
        self.requests = answers.AccountRequests(secret, vectors["accountId"])

    def test_seals_and_opens_the_requests(self):
        for asked in self.asked:
            id, plaintext = asked["requestId"], asked["plaintext"].encode()
            sealed = self.requests.seal_request(plaintext, id, bytes.fromhex(asked["nonce"]))
            self.assertEqual(sealed, asked["sealed"])
            request = json.loads(plaintext)
            opened = self.requests.open_request(id, sealed, [request["server"]])
            self.assertEqual(opened, (request, asked["digest"]))

    def test_signs_and_verifies_the_answers(self):
        for asked in self.asked:
            for answer in asked["answers"]:
                id, plaintext = asked["requestId"], answer["plaintext"].encode()
                sealed = self.requests.seal_answer(id, plaintext, bytes.fromhex(answer["nonce"]))
                self.assertEqual(sealed, answer["sealed"])
                choice = self.requests.open_answer(id, asked["digest"], sealed)
                self.assertEqual(choice, json.loads(plaintext)["choice"])

    def test_refuses_what_is_of_another_request_account_or_server(self):
        one, other = self.asked
        sealed, server = one["sealed"], json.loads(one["plaintext"])["server"]
        answer = one["answers"][0]["sealed"]
        stranger = answers.AccountRequests(bytes(32), self.requests.account_id)
        for refused in [
            lambda: self.requests.open_request(other["requestId"], sealed, [server]),
            lambda: self.requests.open_request(one["requestId"], sealed, ["https://other.example"]),
            lambda: stranger.open_request(one["requestId"], sealed, [server]),
            lambda: self.requests.open_answer(other["requestId"], other["digest"], answer),
            lambda: self.requests.open_answer(one["requestId"], other["digest"], answer),
            lambda: self.requests.open_answer(one["requestId"], one["digest"], "1.AAAA"),
        ]:
            self.assertRaises(answers.NotAuthentic, refused)


class Challenge(unittest.TestCase):
    def check(self, origins, server):
        nonce = "A" * 43
        text = f"gatehouse-login-v1\n{origins}\n{nonce}\n1795227948852"
        gatehouse.check_challenge(text.encode(), server)

    def test_accepts_a_challenge_of_the_server(self):
        self.check("http://gate.svc https://gate.example.org", "https://gate.example.org:443/path")
        self.check("", "http://127.0.0.1:3000")
        self.check("", "http://localhost:3000")

    def test_refuses_a_challenge_of_another_server(self):
        for origins in ["", "https://other.example.org", "http://gate.example.org"]:
            with self.assertRaises(ValueError):
                self.check(origins, "https://gate.example.org")
        with self.assertRaises(ValueError):
            self.check("https://gate.example.org", "http://127.0.0.1:3000")

    def test_refuses_text_that_is_not_a_challenge(self):
        with self.assertRaises(ValueError):
            gatehouse.check_challenge(b"transfer\n\nall", "http://127.0.0.1:3000")


if __name__ == "__main__":
    unittest.main()
