#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A lock that is held for some time.

  hold.py hold FILE READY GO   locks FILE, makes READY; when GO exists, writes under the lock
  hold.py try FILE             prints whether FILE is locked
"""

import fcntl
import os
import sys
import time


def hold(name, ready, go_on):
    file = os.open(name, os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.lockf(file, fcntl.LOCK_EX)
    with open(ready, "w", encoding="ascii"):
        pass
    while not os.path.exists(go_on):
        time.sleep(0.05)
    os.pwrite(file, b"held", 0)


def try_lock(name):
    try:
        fcntl.lockf(os.open(name, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
        print("free")
    except BlockingIOError:
        print("locked")


if sys.argv[1] == "hold":
    hold(*sys.argv[2:])
else:
    try_lock(sys.argv[2])
