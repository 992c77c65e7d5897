"""A backend behind the gate: `/` answers who calls, `/events` stays open until the session ends.

Usage: RELAY_SECRET=… python3 backend.py ISSUER RESOURCE CLIENT_ID PORT
       python3 backend.py ADDRESS_OF_GATEHOUSE_GUARD PORT
"""

import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from refused import Refused


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        try:
            claims = self.server.gate.verify(token if scheme.lower() == "bearer" else "")
        except Refused as refused:
            self.send_response(refused.status)
            challenge = ("retry-after", "1") if refused.status == 503 else ("www-authenticate", "Bearer")
            self.send_header(*challenge)
            self.end_headers()
            return
        self.send_response(200)
        if self.path == "/events":
            self.stay_open(claims)
        else:
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps({"account": claims["sub"]}).encode())

    def stay_open(self, claims):
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(f"data: {claims['sub']}\n\n".encode())
        while self.server.gate.is_live(claims):
            time.sleep(0.05)
        self.wfile.write(b"event: ended\ndata:\n\n")

    def log_message(self, *_):
        """Logs nothing: the default has the query."""


def make_gate(arguments):
    if len(arguments) == 1:
        from sidecar import Sidecar

        return Sidecar(*arguments)
    from gate import Gate

    return Gate(*arguments, os.environ["RELAY_SECRET"])


if __name__ == "__main__":
    *arguments, port = sys.argv[1:]
    server = ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    server.daemon_threads = True
    server.gate = make_gate(arguments)
    print(f"Listening on http://127.0.0.1:{port}", flush=True)
    server.serve_forever()
