"""Signs up, stores settings from two devices, lists the devices and waits for updates.

Usage: python3 example.py http://127.0.0.1:3000
"""

import queue
import sys
import tempfile
import threading
from pathlib import Path

from gatehouse import Gatehouse, Refused, load_or_create_key


def main(server, directory):
    key = load_or_create_key(Path(directory, "device.key"))
    laptop = Gatehouse(server, Path(directory, "laptop.seen"))
    phone = Gatehouse(server, Path(directory, "phone.seen"))
    print("created:", laptop.log_in(key, create=True))
    print("created:", phone.log_in(key))
    print("devices:", len(laptop.devices()))

    updates = queue.Queue()

    def watch():
        try:
            phone.watch(updates.put)
        except Refused as refused:
            updates.put(refused.code)

    threading.Thread(target=watch, daemon=True).start()
    print("update:", updates.get())

    before = laptop.settings()
    print("settings:", *before)
    print("phone wrote:", phone.change_settings(lambda known: {**known, "theme": "dark"}))
    # This write expects the version before. The server answers with the phone's settings, and the
    # client adds to them.
    print("laptop wrote:", laptop.change_settings(lambda known: {**known, "font": 12}, before))
    print("settings:", *phone.settings())
    print("updates:", updates.get(), updates.get())

    phone.log_out()
    print("ended:", updates.get())
    try:
        laptop.log_in(load_or_create_key(Path(directory, "unknown.key")))
    except Refused as refused:
        print("unknown key:", refused.status, refused.code)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1], folder)
