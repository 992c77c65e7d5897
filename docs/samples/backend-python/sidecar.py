"""Admits requests through `gatehouse guard` on the same machine. Needs no package."""

import json
import threading
import time
import urllib.error
import urllib.request
from datetime import datetime
from http.client import HTTPException

from refused import Refused

REMEMBERED_SECONDS = 20 * 60  # longer than any token lives
SILENT_SECONDS = 15  # `gatehouse guard` writes a line every five seconds
# Tokens go to this machine alone, not through the proxy that `http_proxy` names.
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Sidecar:
    """Asks about each token, and follows the sessions that end."""

    def __init__(self, url):
        self._url = url
        self._ended = {}
        # What an access was admitted under. It is replaced when all that is open has to end.
        self._period = None
        threading.Thread(target=self._follow, daemon=True).start()

    def verify(self, token):
        """Returns the claims of a token whose session goes on. Raises Refused."""
        period = self._period
        if period is None:
            raise Refused(503)
        try:
            headers = {"authorization": f"Bearer {token}"}
            request = urllib.request.Request(self._url + "/verify", headers=headers)
            with DIRECT.open(request, timeout=10) as answer:
                access = json.load(answer)
        except urllib.error.HTTPError as error:
            raise Refused(401 if error.code in (400, 401, 403) else 503) from None
        except OSError:
            raise Refused(503) from None
        except ValueError:  # no header can have this text
            raise Refused(401) from None
        session_exp = datetime.fromisoformat(access["sessionExpiresAt"].replace("Z", "+00:00"))
        claims = {"sub": access["account"], "sid": access["sid"], "period": period}
        return {**claims, "session_exp": session_exp.timestamp()}

    def is_live(self, claims):
        """Returns True while an open connection may stay open."""
        is_current = claims["period"] is self._period and time.time() < claims["session_exp"]
        return is_current and claims["sid"] not in self._ended

    def _follow(self):
        while True:
            try:
                with DIRECT.open(self._url + "/ended", timeout=SILENT_SECONDS) as stream:
                    self._period = object()
                    for line in stream:
                        if line.startswith(b"data: "):
                            self._end(json.loads(line[6:])["sid"])
            except (OSError, ValueError, HTTPException):
                pass
            self._period = None
            time.sleep(1)

    def _end(self, sid):
        if sid is None:
            self._period = object()
            return
        at = time.monotonic()
        recent = {one: ended for one, ended in self._ended.items() if ended > at - REMEMBERED_SECONDS}
        self._ended = {**recent, sid: at}
