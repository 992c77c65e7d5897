"""Asks for permission as a computer, and answers as a phone of the same account.

Usage: python3 ask.py http://127.0.0.1:3000
"""

import sys
import tempfile
import threading
import time
from pathlib import Path

from answers import AccountRequests, answer_waiting, ask_permission
from gatehouse import Gatehouse, load_or_create_key


def main(server, directory):
    key = load_or_create_key(Path(directory, "device.key"))
    computer, phone, thief = Gatehouse(server), Gatehouse(server), Gatehouse(server)
    computer.log_in(key, create=True)
    phone.log_in(key)
    thief.log_in(key)
    requests = AccountRequests(bytes(key), computer.account_id)
    # A stolen token comes without the key.
    stranger = AccountRequests(bytes(32), computer.account_id)

    def decide(request):
        command = request["tool"]["input"]["command"]
        print("phone sees:", command)
        return "allow" if command == "npm test" else "deny"

    def on_the_phone():
        """Waits for the request. A thief answers it first."""
        while not phone.call("GET", "/v1/requests")["requests"]:
            time.sleep(0.05)
        request_id = phone.call("GET", "/v1/requests")["requests"][0]["id"]
        forged = stranger.seal_answer(request_id, b'{"choice":"allow"}')
        thief.call("POST", f"/v1/requests/{request_id}/answer", {"sealed": forged})
        answer_waiting(phone, requests, decide)

    for command in ["npm test", "rm -rf ~"]:
        threading.Thread(target=on_the_phone, daemon=True).start()
        tool = {"name": "Bash", "input": {"command": command}}
        print("computer:", ask_permission(computer, requests, tool))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], folder)
