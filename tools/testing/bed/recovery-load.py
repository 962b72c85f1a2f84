#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""How long a program that writes has to wait when its server comes back.

  recovery-load.py ROUNDS NAME=FOLDER=RESTART...

It writes 4 KiB by O_DIRECT to a file in each FOLDER, one after the other.  RESTART, a command,
takes the server of that away and starts it again.  Results: "pause EVENT NAME SECONDS", from
the moment when the server, or the RDMA device, is back until the first write has ended.
"""

import mmap
import os
import subprocess
import sys
import threading
import time

AWAY = 1
STEADY = 2


class Writer:
    """A program that writes"""

    def __init__(self, folder):
        self.page = mmap.mmap(-1, 4096)
        self.page.write(b"w" * 4096)
        self.file = os.open(f"{folder}/written", os.O_RDWR | os.O_CREAT | os.O_DIRECT, 0o600)
        self.ended = []
        self.stop = False
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        number = 0
        while not self.stop:
            number = (number + 1) % 256
            os.pwritev(self.file, [self.page], number * 4096)
            self.ended.append(time.monotonic())

    def end(self):
        self.stop = True
        self.thread.join()
        os.close(self.file)

    def after(self, when):
        """Waits for the first write that has begun then, or has waited for it; returns its end."""
        while True:
            ended = [end for end in self.ended[-1000:] if end > when]
            if ended:
                return ended[0]
            time.sleep(0.001)


def run(command):
    subprocess.run(command, shell=True, check=True)


def device_lost():
    """All connections are lost."""
    run("rdma link delete rx0")
    time.sleep(AWAY)
    run("rdma link add rx0 type rxe netdev dum0")


def pause(folder, event):
    writer = Writer(folder)
    time.sleep(STEADY)
    event()
    back = time.monotonic()
    waited = writer.after(back) - back
    time.sleep(STEADY)
    writer.end()
    return waited


def report(event, name, seconds):
    with open(os.environ["RESULTS"], "a", encoding="ascii") as results:
        print(f"pause {event} {name} {seconds:.3f}", file=results)


def main():
    rounds = int(sys.argv[1])
    peers = [peer.split("=", 2) for peer in sys.argv[2:]]
    for number in range(rounds):
        for name, folder, restart in peers[number % len(peers):] + peers[:number % len(peers)]:
            report("device", name, pause(folder, device_lost))
            report("server", name, pause(folder, lambda command=restart: run(command)))


main()
